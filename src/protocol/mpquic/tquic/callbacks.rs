//! What tquic tells while it works: packets to send, stream data to read, the end of the
//! connection. It calls back in the middle of a call to its endpoint, so all of it lands in one
//! cell that the owner empties afterwards.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use tquic::{Connection, PacketInfo, PacketSendHandler, TransportHandler};

use crate::protocol::Datagram;
use crate::protocol::framing::Deframer;
use crate::protocol::mpquic::ends::path_of;

/// What the callbacks have left behind.
#[derive(Debug, Default)]
pub struct Mailbox {
    pub outgoing: VecDeque<Datagram>,
    pub received: VecDeque<Vec<u8>>,
    /// tquic's number of the connection, once there is one.
    pub connection: Option<u64>,
    /// The handshake is done, and this is the stream for what this side sends.
    pub stream: Option<u64>,
    /// The reason, if it is over.
    pub closed: Option<String>,
    deframer: Deframer,
}

#[derive(Debug, Clone)]
pub struct Callbacks {
    pub mailbox: Rc<RefCell<Mailbox>>,
}

impl TransportHandler for Callbacks {
    fn on_conn_created(&mut self, connection: &mut Connection) {
        let mut mailbox = self.mailbox.borrow_mut();
        mailbox.connection = mailbox.connection.or(connection.index());
    }

    fn on_conn_established(&mut self, connection: &mut Connection) {
        match connection.stream_uni_new(URGENCY, false) {
            Ok(stream) => {
                self.mailbox.borrow_mut().stream = Some(stream);
                self.be_quiet(connection, stream);
            }
            Err(error) => self.fail(connection, format!("no stream: {error}")),
        }
    }

    fn on_conn_closed(&mut self, connection: &mut Connection) {
        let mut mailbox = self.mailbox.borrow_mut();
        mailbox.closed.get_or_insert_with(|| reason(connection));
        mailbox.stream = None;
    }

    fn on_stream_created(&mut self, connection: &mut Connection, stream: u64) {
        self.be_quiet(connection, stream);
    }

    fn on_stream_readable(&mut self, connection: &mut Connection, stream: u64) {
        let mut buffer = [0; 8192];
        while let Ok((length, _end)) = connection.stream_read(stream, &mut buffer) {
            let mut mailbox = self.mailbox.borrow_mut();
            let Mailbox { deframer, received, .. } = &mut *mailbox;
            let read = deframer.push(&buffer[..length], |message| received.push_back(message));
            drop(mailbox);
            if let Err(error) = read {
                return self.fail(connection, error.to_string());
            }
        }
    }

    fn on_stream_writable(&mut self, _connection: &mut Connection, _stream: u64) {}

    fn on_stream_closed(&mut self, _connection: &mut Connection, _stream: u64) {}

    fn on_new_token(&mut self, _connection: &mut Connection, _token: Vec<u8>) {}
}

impl Callbacks {
    /// A stream that can be written would keep the connection "ready", and its endpoint awake every
    /// millisecond.
    fn be_quiet(&self, connection: &mut Connection, stream: u64) {
        // It fails on a stream that the peer writes: there is nothing to be quiet about.
        let _ = connection.stream_want_write(stream, false);
    }

    fn fail(&self, connection: &mut Connection, reason: String) {
        // It fails if the connection is closing already.
        let _ = connection.close(true, UNREADABLE, reason.as_bytes());
        self.mailbox.borrow_mut().closed.get_or_insert(reason);
    }
}

impl PacketSendHandler for Callbacks {
    fn on_packets_send(&self, packets: &[(Vec<u8>, PacketInfo)]) -> tquic::Result<usize> {
        let mut mailbox = self.mailbox.borrow_mut();
        for (payload, info) in packets {
            if let Some(path) = path_of(info.src) {
                mailbox.outgoing.push_back(Datagram::new(path, payload.clone()));
            }
        }
        Ok(packets.len())
    }
}

/// All streams are alike.
const URGENCY: u8 = 0;

/// The application error code of a stream that is not made of messages.
const UNREADABLE: u64 = 1;

fn reason(connection: &Connection) -> String {
    if connection.is_handshake_timeout() {
        return "the handshake took too long".into();
    }
    if connection.is_idle_timeout() {
        return "timed out".into();
    }
    if connection.is_reset() {
        return "reset by peer".into();
    }
    let told = |side: &str, code: u64, reason: &[u8]| {
        format!("closed by {side}: error {code} {}", String::from_utf8_lossy(reason))
    };
    match (connection.local_error(), connection.peer_error()) {
        (Some(error), _) => told("this side", error.error_code, &error.reason),
        (None, Some(error)) => told("peer", error.error_code, &error.reason),
        (None, None) => "closed".into(),
    }
}
