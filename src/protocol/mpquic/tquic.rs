//! tquic's endpoint behind [`Protocol`], one ordered stream each way, over one or more paths. Must
//! not know of sockets; tquic reads the clock itself and is shown the `now` of each call instead
//! (see `clock`).
//!
//! The client adds the paths after the first once the handshake is done, and a side is established
//! when it has validated all of them. That has to happen on a clean, fast link: tquic asks again
//! for a path's answer after 25 ms whatever the round-trip time, and above about 50 ms its
//! questions, of 1,200 bytes each, can keep a path from ever coming up. A path in an outage is not
//! given up, and is used again once its probes get through.
//!
//! Nothing differs between two runs of one seed but the content of encrypted bytes: connection ids,
//! path challenges and the dice of BBR and BBR3 come from the seed wherever `entropy` can decide
//! them; BoringSSL's keys do not. Two endpoints that are built in one thread one after the other
//! share its dice; build both before either runs.
//!
//! As tquic 1.6.0 does it: a packet that was declared lost and is acknowledged after all is taken
//! out of what is in flight twice. When that leaves nothing, the last packet before a silence is
//! not probed for, and if it is lost too, not sent again until there is something new to send. A
//! steady flow does not show it; the last message of a run is lost to it about once in some hundred
//! runs at 2 % loss. It does not migrate either: a new local address goes unused.
//!
//! Limit: [`SEND_BUFFER`] bytes that the other side has not read yet. What is beyond is refused.

mod callbacks;
mod config;

use std::cell::RefCell;
use std::io;
use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use thiserror::Error;
use tquic::connection::path::PathState;
use tquic::{Connection, Endpoint, PacketInfo};

use super::ends::ends;
use crate::protocol::clock::{self, VirtualNow};
use crate::protocol::entropy::{self, SeedStream};
use crate::protocol::framing::{self, MAX_MESSAGE};
use crate::protocol::settings::TquicSettings;
use crate::protocol::{
    Datagram, Delivery, Output, Protocol, ProtocolStatistics, Role, Sent, State,
};
use crate::units::{Instant, PathId};
use callbacks::{Callbacks, Mailbox};

/// Bytes on their way to the other side's application; tquic's flow-control window. At 50 messages
/// of 600 bytes a second: more than two minutes of an outage.
pub const SEND_BUFFER: u64 = 4 << 20;

#[derive(Debug, Error)]
pub enum TquicError {
    #[error("tquic did not take its configuration: {0}")]
    Config(#[from] tquic::Error),
    #[error("the certificate of mpquic could not be put in memory: {0}")]
    Identity(io::Error),
}

/// One side of a multipath QUIC connection. It stays in the thread that built it.
pub fn build(
    paths: &[PathId],
    settings: &TquicSettings,
    role: Role,
    seed: u64,
) -> Result<Tquic, TquicError> {
    let mut entropy = SeedStream::new(seed, role as u64);
    config::settle_thread_dice(entropy);
    let mailbox = Rc::new(RefCell::new(Mailbox::default()));
    let callbacks = Callbacks { mailbox: mailbox.clone() };
    let config = config::config(paths.len(), settings, role, &mut entropy)?;
    let endpoint = Endpoint::new(
        Box::new(config),
        role == Role::Server,
        Box::new(callbacks.clone()),
        Rc::new(callbacks),
    );
    Ok(Tquic {
        role,
        paths: paths.to_vec(),
        added: 1,
        endpoint,
        mailbox,
        unwritten: Bytes::new(),
        wake: Some(Instant::ZERO),
        state: State::Connecting,
        lost: 0,
        discarded: 0,
        entropy,
    })
}

pub struct Tquic {
    role: Role,
    paths: Vec<PathId>,
    /// How many of them tquic knows.
    added: usize,
    endpoint: Endpoint,
    mailbox: Rc<RefCell<Mailbox>>,
    /// The end of a message that began in front of a window too short for it.
    unwritten: Bytes,
    /// When tquic has to work again; zero: at once.
    wake: Option<Instant>,
    state: State,
    lost: u64,
    discarded: u64,
    entropy: SeedStream,
}

impl Protocol for Tquic {
    fn send(&mut self, now: Instant, message: &[u8]) -> Sent {
        if self.state != State::Established
            || message.len() > MAX_MESSAGE
            || !self.unwritten.is_empty()
        {
            return Sent::Refused;
        }
        self.unwritten = framing::frame(message);
        self.inside(now, Self::write);
        self.wake = Some(Instant::ZERO);
        Sent::Accepted
    }

    fn receive(&mut self, now: Instant, datagram: Datagram) {
        self.inside(now, |tquic| tquic.handle(now, datagram));
        self.wake = Some(Instant::ZERO);
    }

    fn poll(&mut self, now: Instant) -> Output {
        if let Some(output) = self.collected() {
            return output;
        }
        if self.wake.is_some_and(|wake| wake <= now) {
            self.inside(now, |tquic| tquic.turn(now));
        }
        self.collected().unwrap_or(Output::Wait(self.wake))
    }

    fn state(&self) -> State {
        self.state.clone()
    }

    fn delivery(&self) -> Delivery {
        Delivery { ordered: true, reliable: true }
    }

    /// Retransmissions are packets declared lost on any path; the copies of the redundant scheduler
    /// are not among them.
    fn statistics(&self) -> ProtocolStatistics {
        ProtocolStatistics { retransmissions: Some(self.lost), discarded: self.discarded }
    }
}

impl Tquic {
    /// Everything tquic does happens in here: at `now`, with the seed's randomness.
    fn inside<T>(&mut self, now: Instant, work: impl FnOnce(&mut Self) -> T) -> T {
        let _now = VirtualNow::enter(now);
        entropy::seeded(self, |tquic| &mut tquic.entropy, work)
    }

    /// What is there to do without asking tquic.
    fn collected(&mut self) -> Option<Output> {
        let mut mailbox = self.mailbox.borrow_mut();
        if let Some(message) = mailbox.received.pop_front() {
            return Some(Output::Deliver(message));
        }
        mailbox.outgoing.pop_front().map(Output::Transmit)
    }

    fn handle(&mut self, now: Instant, mut datagram: Datagram) {
        let (local, remote) = ends(self.role, datagram.path);
        let info = PacketInfo { src: remote, dst: local, time: clock::to_std(now) };
        let before = self.packets_received();
        // What it complains of shows below, as a packet that was not taken.
        let _ = self.endpoint.recv(&mut datagram.payload, &info);
        if self.packets_received() == before {
            self.discarded += 1;
        }
    }

    fn packets_received(&mut self) -> u64 {
        self.connection().map_or(0, |connection| connection.stats().recv_count)
    }

    fn connection(&mut self) -> Option<&mut Connection> {
        let index = self.mailbox.borrow().connection?;
        self.endpoint.conn_get_mut(index)
    }

    /// Lets tquic do all it can at this instant.
    fn turn(&mut self, now: Instant) {
        self.connect();
        for _ in 0..ROUNDS {
            // Its timers are looked at each time: while anything is queued, `timeout` hides that
            // one is overdue.
            self.endpoint.on_timeout(clock::to_std(now));
            self.write();
            // An error is a connection's own, and shows in its state.
            let _ = self.endpoint.process_connections();
            if self.endpoint.timeout() != Some(tquic::TIMER_GRANULARITY) {
                break;
            }
        }
        self.wake = self.endpoint.timeout().map(|timeout| now + timeout + PACER_SLACK);
        self.note_state();
    }

    fn connect(&mut self) {
        if self.role == Role::Server || self.state != State::Connecting {
            return;
        }
        if self.mailbox.borrow().connection.is_none() {
            let (local, remote) = ends(self.role, self.paths[0]);
            if let Err(error) = self.endpoint.connect(local, remote, None, None, None, None) {
                self.state = State::Closed(format!("could not connect: {error}"));
            }
        } else if self.mailbox.borrow().stream.is_some() {
            self.add_paths();
        }
    }

    /// A path needs a connection id of its own, which the server sends after the handshake.
    fn add_paths(&mut self) {
        while self.added < self.paths.len() {
            let (local, remote) = ends(self.role, self.paths[self.added]);
            let added = self.added;
            let Some(connection) = self.connection() else { return };
            if connection.dcid_iter().count() <= added
                || connection.add_path(local, remote).is_err()
            {
                return;
            }
            self.added += 1;
        }
    }

    fn write(&mut self) {
        if self.unwritten.is_empty() {
            return;
        }
        let unwritten = self.unwritten.clone();
        let Some(stream) = self.mailbox.borrow().stream else { return };
        let Some(connection) = self.connection() else { return };
        // An error is a full window: the rest waits.
        let written = connection.stream_write(stream, unwritten, false).unwrap_or(0);
        self.unwritten = self.unwritten.slice(written..);
    }

    fn note_state(&mut self) {
        if let Some(reason) = &self.mailbox.borrow().closed {
            self.state = State::Closed(reason.clone());
        }
        if let Some(connection) = self.connection() {
            self.lost = connection.stats().lost_count;
        }
        if self.state == State::Connecting && self.mailbox.borrow().stream.is_some() {
            self.state = self.paths_state();
        }
    }

    fn paths_state(&mut self) -> State {
        let paths = self.paths.clone();
        for path in &paths {
            let (local, remote) = ends(self.role, *path);
            let Some(connection) = self.connection() else { return State::Connecting };
            if paths.len() > 1 && !connection.is_multipath() {
                return State::Closed("the other side does not speak multipath".into());
            }
            match connection.get_path(local, remote).map(|path| path.state()) {
                Ok(PathState::Validated) => {}
                Ok(PathState::Failed) => {
                    return State::Closed(format!("path {} could not be validated", path.0));
                }
                _ => return State::Connecting,
            }
        }
        State::Established
    }
}

/// Passes over the queues at one instant; one does all there is but in rare cases.
const ROUNDS: usize = 4;

/// tquic's pacer loses fractions of a byte: woken exactly when it asks, it would find a byte
/// missing, for ever.
const PACER_SLACK: Duration = Duration::from_micros(10);
