//! Requests to rtnetlink, gathered and sent together: one send for a whole namespace instead of one
//! round trip a request. Knows nothing of what the requests are for.

use std::io;
use std::os::fd::AsRawFd;

use netlink_packet_core::{
    NLM_F_ACK, NLM_F_ACK_TLVS, NLM_F_REQUEST, NetlinkHeader, NetlinkMessage, NetlinkPayload,
    NlasIterator,
};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_sys::protocols::NETLINK_ROUTE;
use netlink_sys::{Socket, SocketAddr};
use nix::errno::Errno;
use nix::sys::socket::{MsgFlags, recv};
use thiserror::Error;

use crate::namespace::NamespaceError;

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

    /// Sends everything from the namespace that the calling thread is in; `namespace` only serves
    /// messages. The first refusal is the error.
    pub(crate) fn send_from_here(self, namespace: &str) -> Result<(), NetlinkError> {
        Connection::from_here(namespace)?.ask(&self).map(drop)
    }
}

/// A socket to the kernel in one namespace, wherever the thread that uses it is.
pub(crate) struct Connection {
    socket: Socket,
    namespace: String,
    /// Where the kernel's answers are put.
    datagram: Vec<u8>,
}

/// The kernel's own limit on a datagram of its answers.
const LONGEST_DATAGRAM: usize = 32 * 1024;

impl Connection {
    /// To the namespace that the calling thread is in; `namespace` only serves messages.
    pub(crate) fn from_here(namespace: &str) -> Result<Self, NetlinkError> {
        let socket = open().map_err(|source| socket_error(namespace, source))?;
        Ok(Self { socket, namespace: namespace.to_owned(), datagram: vec![0; LONGEST_DATAGRAM] })
    }

    /// The name of the namespace.
    pub(crate) fn namespace(&self) -> &str {
        &self.namespace
    }

    /// Sends everything, and hands back what was asked for. The first refusal is the error.
    pub(crate) fn ask(&mut self, batch: &Batch) -> Result<Vec<RouteNetlinkMessage>, NetlinkError> {
        let requests = &batch.requests;
        let mut conversation = Conversation { connection: self, requests, told: Vec::new() };
        let mut first = 0;
        while first < requests.len() {
            first = conversation.send_from(first)?;
        }
        Ok(conversation.told)
    }

    /// One datagram of answers.
    fn receive(&mut self) -> Result<&[u8], NetlinkError> {
        let received = recv(self.socket.as_raw_fd(), &mut self.datagram, MsgFlags::MSG_TRUNC);
        let whole = received.map_err(io::Error::from).and_then(|length| {
            self.datagram.get(..length).ok_or_else(|| io::Error::from(Errno::EMSGSIZE))
        });
        whole.map_err(|source| socket_error(&self.namespace, source))
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
    connection: &'a mut Connection,
    requests: &'a [Request],
    /// What the kernel sent beside plain answers.
    told: Vec<RouteNetlinkMessage>,
}

impl Conversation<'_> {
    /// Sends as many requests as fit, from the one at `first`, and reads the answers. The index of
    /// the next request.
    fn send_from(&mut self, first: usize) -> Result<usize, NetlinkError> {
        let end = self.requests.len().min(first + MESSAGES_PER_SEND);
        let mut messages = Messages::default();
        let mut next = first;
        while next < end && messages.bytes.len() < BYTES_PER_SEND {
            messages.append(&self.requests[next], next as u32);
            next += 1;
        }
        let bytes = messages.with_the_last_acknowledged();
        let sent = self.connection.socket.send(&bytes, 0);
        sent.map_err(|source| socket_error(&self.connection.namespace, source))?;
        self.read_answers(next as u32 - 1)?;
        Ok(next)
    }

    /// Reads until the request numbered `last` is answered.
    fn read_answers(&mut self, last: u32) -> Result<(), NetlinkError> {
        let mut refused = None;
        loop {
            let (mut answered, mut understood) = (false, true);
            for answer in messages(self.connection.receive()?) {
                match answer {
                    Some(Message::Told(message)) => self.told.push(message),
                    Some(Message::Answer(answer)) => {
                        answered |= answer.request == last;
                        if answer.code != 0 {
                            refused.get_or_insert(answer);
                        }
                    }
                    None => understood = false,
                }
            }
            if !understood {
                return Err(self.not_understood(last));
            }
            if answered {
                return refused.map_or(Ok(()), |answer| Err(self.refusal(&answer)));
            }
        }
    }

    fn refusal(&self, answer: &Answer) -> NetlinkError {
        NetlinkError::Refused {
            purpose: self.purpose(answer.request),
            namespace: self.connection.namespace.clone(),
            errno: Errno::from_raw(answer.code.saturating_neg()),
            explanation: answer.explanation.clone(),
        }
    }

    fn not_understood(&self, last: u32) -> NetlinkError {
        let namespace = self.connection.namespace.clone();
        NetlinkError::Answer { purpose: self.purpose(last), namespace }
    }

    fn purpose(&self, sequence_number: u32) -> String {
        let request = self.requests.get(sequence_number as usize);
        request.map_or_else(|| "do what was asked".to_owned(), |request| request.purpose.clone())
    }
}

/// Netlink messages begin at multiples of this.
const ALIGNMENT: usize = 4;

/// Requests as bytes, one after the other.
#[derive(Default)]
struct Messages {
    bytes: Vec<u8>,
    /// Where the last one begins.
    last: usize,
}

impl Messages {
    fn append(&mut self, request: &Request, number: u32) {
        let mut header = NetlinkHeader::default();
        header.flags = NLM_F_REQUEST | request.flags;
        header.sequence_number = number;
        let mut message =
            NetlinkMessage::new(header, NetlinkPayload::InnerMessage(request.message.clone()));
        message.finalize();
        self.last = self.bytes.len();
        self.bytes.resize(self.last + message.buffer_len().next_multiple_of(ALIGNMENT), 0);
        message.serialize(&mut self.bytes[self.last..]);
    }

    /// The kernel tells of every refusal by itself, and works in order: once the last request is
    /// answered, all of them are.
    fn with_the_last_acknowledged(mut self) -> Vec<u8> {
        /// In `struct nlmsghdr`.
        const FLAGS: std::ops::Range<usize> = 6..8;
        if let Some([one, other]) = self.bytes[self.last..].get_mut(FLAGS) {
            let flags = u16::from_ne_bytes([*one, *other]) | NLM_F_ACK;
            [*one, *other] = flags.to_ne_bytes();
        }
        self.bytes
    }
}

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
