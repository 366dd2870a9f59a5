//! What can be set on `quic` and `mpquic`.

mod earlier;

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::protocol::Delivery;
use crate::units::PathId;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "earlier::Quic")]
pub struct QuicSettings {
    pub path: PathId,
    pub congestion: QuicCongestion,
    pub mode: QuicMode,
    pub transport: QuicTransport,
}

impl QuicSettings {
    /// Cubic (RFC 9438), all messages on one stream, and the standard's values of everything else.
    pub fn new(path: PathId) -> Self {
        let (congestion, mode) = (QuicCongestion::Cubic, QuicMode::Stream);
        let transport = QuicTransport::new(congestion.usual_initial_window());
        Self { path, congestion, mode, transport }
    }
}

/// How a connection measures, acknowledges and finds losses: what RFC 9000, RFC 9002 and the ACK
/// frequency draft leave open, and quinn and noq have alike. Neither has a cap on the probe timeout
/// that could be set, probes without backoff, or another number of probes than two.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct QuicTransport {
    /// Taken for the round-trip time before it is measured: the first probe timeout is three times
    /// as long (RFC 9002, section 6.2.2).
    pub initial_rtt: Duration,
    /// Bytes of the congestion window at the start (RFC 9002, section 7.2). Does not count for a
    /// fixed window.
    pub initial_window: u64,
    /// A packet is lost when one sent so many packets later is acknowledged (RFC 9002, section
    /// 6.1.1).
    pub packet_threshold: u32,
    /// Or when it is older than so many round-trip times, and a later one is acknowledged (section
    /// 6.1.2).
    pub time_threshold: f64,
    /// Nothing acknowledged for so many probe timeouts is persistent congestion, and the window
    /// shrinks to its least (section 7.6).
    pub persistent_congestion_threshold: u32,
    /// What the other side may wait for before it acknowledges. In whole milliseconds.
    pub max_ack_delay: Duration,
    /// Packets the other side may receive without acknowledging them at once; 1 is an
    /// acknowledgement for every second packet (RFC 9000, section 13.2.2).
    pub ack_threshold: u32,
    /// How far out of order a packet has to be for the other side to acknowledge at once; 0: never
    /// for that (draft-ietf-quic-ack-frequency-04).
    pub reordering_threshold: u32,
}

impl QuicTransport {
    /// The standard's, but for the initial window, which depends on the controller.
    pub fn new(initial_window: u64) -> Self {
        Self {
            initial_rtt: Duration::from_millis(333),
            initial_window,
            packet_threshold: 3,
            time_threshold: 1.125,
            persistent_congestion_threshold: 3,
            max_ack_delay: Duration::from_millis(25),
            ack_threshold: 1,
            reordering_threshold: 1,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum QuicCongestion {
    Cubic,
    #[serde(rename = "newreno")]
    NewReno,
    Bbr,
    /// A congestion window of this many bytes that never changes.
    FixedWindow(u64),
}

impl QuicCongestion {
    /// Bytes: ten full packets (RFC 9002, section 7.2), and two hundred for BBR, which is no
    /// standard and has it so in quinn.
    pub fn usual_initial_window(self) -> u64 {
        match self {
            Self::Cubic | Self::NewReno => TEN_PACKETS,
            Self::Bbr => 20 * TEN_PACKETS,
            Self::FixedWindow(bytes) => bytes,
        }
    }
}

/// Of 1,200 bytes, the size all QUIC senders here have.
const TEN_PACKETS: u64 = 12_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum QuicMode {
    /// All messages on one ordered stream, each behind a length prefix.
    Stream,
    /// A unidirectional stream of its own for each message.
    StreamPerMessage,
    /// Unreliable DATAGRAM frames (RFC 9221).
    Datagram,
}

impl QuicMode {
    pub fn delivery(self) -> Delivery {
        match self {
            Self::Stream => Delivery { ordered: true, reliable: true },
            Self::StreamPerMessage => Delivery { ordered: false, reliable: true },
            Self::Datagram => Delivery { ordered: false, reliable: false },
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "earlier::Mpquic")]
pub struct MpquicSettings {
    pub paths: Vec<PathId>,
    pub stack: MpquicStack,
}

/// Two independent implementations, each with what it has.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MpquicStack {
    Tquic(TquicSettings),
    Noq(NoqSettings),
}

/// draft-ietf-quic-multipath-05; all messages on one stream.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TquicSettings {
    pub scheduler: MpquicScheduler,
    pub congestion: MpquicCongestion,
    /// RFC 9002 recommends 333 ms. In whole milliseconds.
    pub initial_rtt: Duration,
    /// The longest probe timeout; `None`: it doubles without an end (RFC 9002, section 6.2.1). In
    /// whole milliseconds.
    pub max_pto: Option<Duration>,
    /// Probe timeouts in a row before the first that is doubled.
    pub pto_linear_factor: u32,
}

impl TquicSettings {
    /// Redundant, with Cubic; all else as the standard has it.
    pub fn new() -> Self {
        Self {
            scheduler: MpquicScheduler::Redundant,
            congestion: MpquicCongestion::Cubic,
            initial_rtt: Duration::from_millis(333),
            max_pto: None,
            pto_linear_factor: 0,
        }
    }
}

impl Default for TquicSettings {
    fn default() -> Self {
        Self::new()
    }
}

/// draft-ietf-quic-multipath-21.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NoqSettings {
    pub scheduler: NoqScheduler,
    pub congestion: NoqCongestion,
    pub mode: QuicMode,
    pub transport: QuicTransport,
}

impl NoqSettings {
    /// Every path in use, with Cubic; all else as the standard has it.
    pub fn new() -> Self {
        let congestion = NoqCongestion::Cubic;
        Self {
            scheduler: NoqScheduler::FirstUnblocked,
            congestion,
            mode: QuicMode::Stream,
            transport: QuicTransport::new(congestion.usual_initial_window()),
        }
    }
}

impl Default for NoqSettings {
    fn default() -> Self {
        Self::new()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NoqScheduler {
    /// Each packet goes on the first path whose congestion window has room.
    FirstUnblocked,
    /// The first path only: the others are announced as a backup (PATH_STATUS_BACKUP), and taken
    /// when it has been closed.
    Backup,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NoqCongestion {
    Cubic,
    #[serde(rename = "newreno")]
    NewReno,
    /// A congestion window of this many bytes on each path that never changes.
    FixedWindow(u64),
}

impl NoqCongestion {
    /// Bytes: ten full packets (RFC 9002, section 7.2).
    pub fn usual_initial_window(self) -> u64 {
        match self {
            Self::Cubic | Self::NewReno => TEN_PACKETS,
            Self::FixedWindow(bytes) => bytes,
        }
    }
}

impl MpquicSettings {
    /// tquic, redundant, with Cubic.
    pub fn new(paths: Vec<PathId>) -> Self {
        Self { paths, stack: MpquicStack::Tquic(TquicSettings::new()) }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MpquicScheduler {
    Redundant,
    #[serde(rename = "minrtt")]
    MinRtt,
    RoundRobin,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MpquicCongestion {
    Cubic,
    Bbr,
    Bbr3,
    Copa,
}
