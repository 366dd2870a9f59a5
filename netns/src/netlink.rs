//! Requests to rtnetlink, gathered and sent together: one send for a whole namespace instead of one
//! round trip a request. Knows nothing of what the requests are for.

use std::io;

use netlink_packet_core::{
    NLM_F_ACK, NLM_F_ACK_TLVS, NLM_F_REQUEST, NetlinkHeader, NetlinkMessage, NetlinkPayload,
    NlasIterator,
};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_sys::protocols::NETLINK_ROUTE;
use netlink_sys::{Socket, SocketAddr};
use nix::errno::Errno;
use thiserror::Error;

use crate::namespace::{Namespace, NamespaceError};

/// The most messages in one send: the answers to as many fit into the default receive buffer of a
/// socket, even if each describes a whole link.
const MESSAGES_PER_SEND: usize = 25;
/// The most bytes in one send, well below the default send buffer.
const BYTES_PER_SEND: usize = 96 * 1024;

/// The kernel refused a request, or could not be asked.
#[derive(Debug, Error)]
pub enum NetlinkError {
    /// The kernel refused one request. Those after it in the same batch may have been carried out.
    #[error("cannot {purpose} in network namespace {namespace}: {errno}{}", text(.explanation))]
    Refused {
        /// What was to be done, such as `add address 10.0.1.1/24 to 4g`.
        purpose: String,
        /// The namespace it was to be done in.
        namespace: String,
        /// The kernel's error number.
        errno: Errno,
        /// The kernel's own words (extended acknowledgement), where it had any.
        explanation: Option<String>,
    },
    /// The socket failed.
    #[error("cannot talk to the kernel (rtnetlink) in network namespace {namespace}: {source}")]
    Socket {
        /// The namespace that the socket was in.
        namespace: String,
        /// What the kernel said.
        source: io::Error,
    },
    /// The kernel's answer was not understood.
    #[error(
        "the kernel's answer to `{purpose}` in network namespace {namespace} was not understood"
    )]
    Answer {
        /// What was asked for.
        purpose: String,
        /// The namespace that it was asked in.
        namespace: String,
    },
    /// A link did not come up, or an address did not become usable, within ten seconds.
    #[error("the links in network namespace {namespace} did not come up within ten seconds")]
    NotUp {
        /// The namespace they are in.
        namespace: String,
    },
    /// The namespace could not be entered.
    #[error(transparent)]
    Namespace(Box<NamespaceError>),
}

fn text(explanation: &Option<String>) -> String {
    explanation.as_ref().map(|text| format!(" ({text})")).unwrap_or_default()
}

/// Requests to the kernel in one namespace, in the order in which they are to be carried out.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    requests: Vec<Request>,
}

#[derive(Debug)]
struct Request {
    purpose: String,
    flags: u16,
    message: RouteNetlinkMessage,
}

impl Batch {
    /// `purpose` ends the sentence "cannot …" in an error.
    pub(crate) fn push(&mut self, purpose: String, flags: u16, message: RouteNetlinkMessage) {
        self.requests.push(Request { purpose, flags, message });
    }

    /// Sends everything from inside `namespace`. The first refusal is the error.
    pub(crate) fn send(self, namespace: &Namespace) -> Result<(), NetlinkError> {
        self.ask(namespace).map(drop)
    }

    /// … and hands back what was asked for.
    pub(crate) fn ask(
        self,
        namespace: &Namespace,
    ) -> Result<Vec<RouteNetlinkMessage>, NetlinkError> {
        let asked = namespace.run(|| self.ask_from_here(namespace.name()));
        asked.map_err(|error| NetlinkError::Namespace(Box::new(error)))?
    }

    /// Sends everything from the namespace that the calling thread is in; `namespace` only serves
    /// messages.
    pub(crate) fn send_from_here(self, namespace: &str) -> Result<(), NetlinkError> {
        self.ask_from_here(namespace).map(drop)
    }

    fn ask_from_here(self, namespace: &str) -> Result<Vec<RouteNetlinkMessage>, NetlinkError> {
        Connection::open_from_here(namespace)?.ask(&self)
    }
}

/// A socket that stays open, for requests that have to be made on time: it belongs to the namespace
/// of the thread that opened it, and works on any.
pub(crate) struct Connection {
    socket: Socket,
    namespace: String,
}

impl Connection {
    pub(crate) fn open_from_here(namespace: &str) -> Result<Self, NetlinkError> {
        let socket = open().map_err(|source| socket_error(namespace, source))?;
        Ok(Self { socket, namespace: namespace.to_owned() })
    }

    pub(crate) fn namespace(&self) -> &str {
        &self.namespace
    }

    /// Sends everything, and hands back what was asked for. The first refusal is the error.
    pub(crate) fn ask(&self, batch: &Batch) -> Result<Vec<RouteNetlinkMessage>, NetlinkError> {
        let Self { socket, namespace } = self;
        let requests = &batch.requests;
        let mut conversation = Conversation { socket, namespace, requests, told: Vec::new() };
        let mut first = 0;
        while first < requests.len() {
            first = conversation.send_from(first)?;
        }
        Ok(conversation.told)
    }
}

fn open() -> io::Result<Socket> {
    let mut socket = Socket::new(NETLINK_ROUTE)?;
    socket.bind_auto()?;
    socket.connect(&SocketAddr::new(0, 0))?;
    // An error comes with the kernel's explanation, and without a copy of the whole request.
    socket.set_ext_ack(true)?;
    socket.set_cap_ack(true)?;
    // The kernel has answered before `send` returns, so there is never anything to wait for.
    socket.set_non_blocking(true)?;
    Ok(socket)
}

fn socket_error(namespace: &str, source: io::Error) -> NetlinkError {
    NetlinkError::Socket { namespace: namespace.to_owned(), source }
}

struct Conversation<'a> {
    socket: &'a Socket,
    namespace: &'a str,
    requests: &'a [Request],
    /// What the kernel sent beside plain answers.
    told: Vec<RouteNetlinkMessage>,
}

impl Conversation<'_> {
    /// Sends as many requests as fit, from the one at `first`, and reads the answers. The index of
    /// the next request.
    fn send_from(&mut self, first: usize) -> Result<usize, NetlinkError> {
        let end = self.requests.len().min(first + MESSAGES_PER_SEND);
        let mut bytes = Vec::new();
        let mut next = first;
        while next < end && bytes.len() < BYTES_PER_SEND {
            append(&mut bytes, &self.requests[next], next as u32);
            next += 1;
        }
        self.socket.send(&bytes, 0).map_err(|source| socket_error(self.namespace, source))?;
        self.read_answers(next as u32 - 1)?;
        Ok(next)
    }

    /// Reads until the request numbered `last` is answered.
    fn read_answers(&mut self, last: u32) -> Result<(), NetlinkError> {
        let mut refusal = None;
        loop {
            let (datagram, _) = self
                .socket
                .recv_from_full()
                .map_err(|source| socket_error(self.namespace, source))?;
            for answer in messages(&datagram) {
                match answer.ok_or_else(|| self.not_understood(last))? {
                    Message::Told(message) => self.told.push(message),
                    Message::Answer(answer) => {
                        if answer.code != 0 {
                            refusal.get_or_insert_with(|| self.refusal(&answer));
                        }
                        if answer.request == last {
                            return refusal.map_or(Ok(()), Err);
                        }
                    }
                }
            }
        }
    }

    fn refusal(&self, answer: &Answer) -> NetlinkError {
        NetlinkError::Refused {
            purpose: self.purpose(answer.request),
            namespace: self.namespace.to_owned(),
            errno: Errno::from_raw(answer.code.saturating_neg()),
            explanation: answer.explanation.clone(),
        }
    }

    fn not_understood(&self, last: u32) -> NetlinkError {
        NetlinkError::Answer { purpose: self.purpose(last), namespace: self.namespace.to_owned() }
    }

    fn purpose(&self, sequence_number: u32) -> String {
        let request = self.requests.get(sequence_number as usize);
        request.map_or_else(|| "do what was asked".to_owned(), |request| request.purpose.clone())
    }
}

fn append(bytes: &mut Vec<u8>, request: &Request, number: u32) {
    let mut header = NetlinkHeader::default();
    header.flags = NLM_F_REQUEST | NLM_F_ACK | request.flags;
    header.sequence_number = number;
    let mut message =
        NetlinkMessage::new(header, NetlinkPayload::InnerMessage(request.message.clone()));
    message.finalize();
    let start = bytes.len();
    bytes.resize(start + message.buffer_len().next_multiple_of(ALIGNMENT), 0);
    message.serialize(&mut bytes[start..]);
}

/// Netlink messages begin at multiples of this.
const ALIGNMENT: usize = 4;

/// What the kernel sends back.
enum Message {
    Told(RouteNetlinkMessage),
    Answer(Answer),
}

/// What the kernel says to one request, after all else that it had to tell.
struct Answer {
    request: u32,
    /// A negative error number, or 0.
    code: i32,
    explanation: Option<String>,
}

/// The messages in one datagram; `None` in place of one that cannot be read, which is then the
/// last.
fn messages(datagram: &[u8]) -> impl Iterator<Item = Option<Message>> {
    let mut rest = datagram;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let Ok(message) = NetlinkMessage::<RouteNetlinkMessage>::deserialize(rest) else {
            rest = &[];
            return Some(None);
        };
        let length = (message.header.length as usize).next_multiple_of(ALIGNMENT);
        rest = rest.get(length..).unwrap_or_default();
        Some(sort(message))
    })
}

fn sort(message: NetlinkMessage<RouteNetlinkMessage>) -> Option<Message> {
    let header = message.header;
    match message.payload {
        NetlinkPayload::InnerMessage(message) => Some(Message::Told(message)),
        NetlinkPayload::Error(error) => Some(Message::Answer(Answer {
            request: header.sequence_number,
            code: error.code.map_or(0, |code| code.get()),
            explanation: (header.flags & NLM_F_ACK_TLVS != 0)
                .then(|| explanation(&error.header))
                .flatten(),
        })),
        _ => None,
    }
}

/// The text among the attributes that follow the header of the request in an answer
/// (`NLMSGERR_ATTR_MSG`).
fn explanation(request_header_and_attributes: &[u8]) -> Option<String> {
    const REQUEST_HEADER: usize = 16;
    const TEXT: u16 = 1;
    let attributes = request_header_and_attributes.get(REQUEST_HEADER..)?;
    let text =
        NlasIterator::new(attributes).flatten().find(|attribute| attribute.kind() == TEXT)?;
    let text = String::from_utf8_lossy(text.value());
    Some(text.trim_end_matches('\0').to_owned())
}
