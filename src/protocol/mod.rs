//! The senders under test: state machines without sockets, clocks or threads, so that the same code
//! runs in virtual and in real time. Each file is one protocol; `build` is the one table that knows
//! them all. `clock` and `entropy` make the clock and the randomness arguments for libraries that
//! fetch them themselves; `framing` puts messages on a byte stream.

pub mod build;
pub mod clock;
pub mod entropy;
mod first_copy;
pub mod framing;
pub mod kcp;
pub mod kcptun;
pub mod mpquic;
pub mod qlog;
pub mod quic;
pub mod replicate;
pub mod settings;
mod ticking;
pub mod udp;
pub mod udp_arq;

pub use build::{BuildError, build};
pub use kcptun::fec::ShardCounts;
pub use qlog::{Qlog, QlogBook};
pub use settings::ProtocolSettings;
pub use ticking::Ticking;

use serde::{Deserialize, Serialize};

use crate::units::{Instant, PathId};

/// One side of a connection: no sockets, no clock, no threads.
///
/// The driver (an engine) calls `send` and `receive` as things happen, and after each of them, and
/// whenever the instant of the last [`Output::Wait`] has come, calls `poll` until it says `Wait`
/// again. `now` never goes back, and may stand still: what [`build()`] gives counts on from there.
pub trait Protocol {
    /// Takes a whole message for delivery to the other side.
    fn send(&mut self, now: Instant, message: &[u8]) -> Sent;

    /// Takes a UDP payload that arrived on a path. Garbage is dropped and never panics.
    fn receive(&mut self, now: Instant, datagram: Datagram);

    /// Fires the timers that are due, then says what is to be done next.
    fn poll(&mut self, now: Instant) -> Output;

    /// Whether messages can be sent: handshake done and every path of the sender usable.
    fn state(&self) -> State;

    /// What the protocol promises of the messages it delivers.
    fn delivery(&self) -> Delivery;

    fn statistics(&self) -> ProtocolStatistics {
        ProtocolStatistics::default()
    }

    /// What this end's error correction did; `None`: it has none.
    fn error_correction(&self) -> Option<ShardCounts> {
        None
    }

    /// Logs every connection in this book, as far as there are connections that can be logged. To be
    /// called before the first `poll`.
    fn log_in(&mut self, _book: &QlogBook) {}

    /// A local address changed or an interface went down or up.
    fn path_changed(&mut self, _now: Instant, _path: PathId, _change: PathChange) {}
}

/// What `poll` asks the driver to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output {
    /// Send this UDP payload on this path.
    Transmit(Datagram),
    /// Hand this whole message to the application.
    Deliver(Vec<u8>),
    /// Nothing to do before this instant (`None`: before something arrives).
    Wait(Option<Instant>),
}

/// A UDP payload on one path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Datagram {
    pub path: PathId,
    pub payload: Vec<u8>,
    pub ecn: Ecn,
}

impl Datagram {
    /// A datagram that does not take part in explicit congestion notification.
    pub fn new(path: PathId, payload: Vec<u8>) -> Self {
        Self { path, payload, ecn: Ecn::NotCapable }
    }
}

/// The two ECN bits of the IP header (RFC 3168, section 5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(u8)]
pub enum Ecn {
    #[default]
    NotCapable = 0b00,
    Capable1 = 0b01,
    Capable0 = 0b10,
    CongestionExperienced = 0b11,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sent {
    Accepted,
    /// A stated limit of the protocol is reached (its send buffer is full, the connection is
    /// closed).
    Refused,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    Connecting,
    Established,
    /// For ever: the reason is one line for the report.
    Closed(String),
}

/// An ordered stream's head-of-line wait is part of its latency, so it is told beside every figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delivery {
    pub ordered: bool,
    pub reliable: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ProtocolStatistics {
    /// Segments (KCP) or packets declared lost (QUIC) and sent again; `None` where the protocol has
    /// no such thing.
    pub retransmissions: Option<u64>,
    /// Datagrams that arrived and were dropped as garbage or as duplicates.
    pub discarded: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathChange {
    NewLocalAddress,
    Down,
    Up,
}

/// The two sides of a connection. The client is the vehicle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Role {
    Client,
    Server,
}
