//! The facts of one trial, as they were measured: what `report` and every later comparison is
//! computed from.

mod columns;
mod engine_kind;
mod environment;
pub mod file;
pub mod format;
mod gap;
mod log;
mod messages;
mod path_back;
mod plausible;
mod qdisc;
pub mod receipt;
mod recovery;
#[cfg(test)]
pub(crate) mod sample;
mod sockets;
mod summary;
mod vehicles;
mod volume;
mod wire;

pub use engine_kind::EngineKind;
pub use environment::{Environment, TransportVersion};
pub use log::MessageLog;
pub use path_back::{NoLevel, PathBack};
pub use plausible::Implausible;
pub use qdisc::{Discrepancy, QdiscCounters};
pub use recovery::Recovery;
pub use sockets::{EndSockets, MptcpFigures, TcpFigures};
pub use summary::{
    AmplificationFigure, Figure, LongestGap, OfRuns, OutageFigures, PathInUse, Summary,
    WholeFigure, delivered_figure,
};
pub use vehicles::{VehicleCost, Vehicles};
pub use volume::Volume;
pub use wire::{Amplification, HandshakeCost};

use std::borrow::Cow;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use self::receipt::{PathReceipts, add_receipts};
use crate::protocol::{Delivery, ProtocolSettings, ProtocolStatistics, ShardCounts};
use crate::sum::add_fields;
use crate::timeline::Outage;
use crate::units::PathId;
use crate::workload::Workload;

/// Version of the format below; a reader refuses another one.
pub const FORMAT: u32 = 2;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Recording {
    pub format: u32,
    pub scenario: String,
    pub sender: String,
    pub protocol: ProtocolSettings,
    pub delivery: Delivery,
    pub repetition: u32,
    pub engine: EngineKind,
    pub seed: u64,
    pub workload: Workload,
    pub outages: Vec<Outage>,
    pub path_names: Vec<String>,
    pub status: Status,
    pub handshake: Handshake,
    /// Messages the sender took, those left out of `messages` by an interruption included: what was
    /// paid for on the wire.
    pub accepted: u64,
    pub messages: Messages,
    /// One entry a path of the plan, counted from the start of the workload.
    pub wire: Vec<PathWire>,
    /// What each path was asked for and what it did.
    pub receipts: Vec<PathReceipts>,
    /// Of the paths that have an outage. Recordings made before there were any have none.
    #[serde(default)]
    pub volumes: Vec<Volume>,
    pub statistics: ProtocolStatistics,
    /// What error correction did at the vehicle's end and the cloud's; `None`: the sender has none,
    /// or the recording is older than these counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_correction: Option<[ShardCounts; 2]>,
    /// What the kernel told of a sender that lives in it: the vehicle's end and the cloud's.
    #[serde(default)]
    pub kernel_sockets: Option<[EndSockets; 2]>,
    /// Real-time engines only.
    pub fidelity: Option<Fidelity>,
    /// Which of the vehicles this is, from 0.
    #[serde(default, skip_serializing_if = "is_first")]
    pub vehicle: u32,
    /// The other vehicles of the trial, in order: all that is said above is of the first one, as if
    /// it were alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<Recording>,
    /// What the links did to those together, which have no receipts of their own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub receipts_of_others: Vec<PathReceipts>,
    /// What all vehicles together cost this machine; `None` for a single one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<FleetCost>,
}

fn is_first(vehicle: &u32) -> bool {
    *vehicle == 0
}

/// Real processor time and memory of the transports of all vehicles together: what the library and
/// the state machine around it use, without sockets and system calls, of which `sim` has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FleetCost {
    /// From the start of the workload to the last delivery, microseconds.
    pub gateway_cpu_us: u64,
    pub vehicle_cpu_us: u64,
    /// Links, message logs and the loop itself.
    pub lab_cpu_us: u64,
    /// Bytes that were given back to the heap with the ends of all connections, after the last
    /// delivery. `None`: other trials were running, or the C library does not tell.
    pub gateway_heap_bytes: Option<u64>,
    pub vehicle_heap_bytes: Option<u64>,
}

impl Recording {
    /// What the links did to all vehicles together.
    pub fn receipts_of_all(&self) -> Cow<'_, [PathReceipts]> {
        if self.others.is_empty() {
            return Cow::Borrowed(&self.receipts);
        }
        let mut all = self.receipts.clone();
        add_receipts(&mut all, &self.receipts_of_others);
        Cow::Owned(all)
    }

    /// The trial of each vehicle.
    pub fn vehicles(&self) -> impl Iterator<Item = &Recording> {
        std::iter::once(self).chain(&self.others)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    Complete,
    /// Stopped by the user after this much of the workload.
    Interrupted {
        after: Duration,
    },
    /// The connection was given up; what is undelivered is lost.
    Closed {
        reason: String,
    },
}

/// What it cost to get connected, on a clean link: how long it took, and all that was sent before
/// the workload started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Handshake {
    pub duration: Duration,
    pub up: WireCount,
    pub down: WireCount,
}

/// All times are nanoseconds since the start of the workload.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Messages {
    /// In the order they were scheduled.
    Each(#[serde(with = "columns")] Vec<Message>),
    Histogram(MessageHistogram),
}

/// Nanoseconds since the start of the workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    pub scheduled: u64,
    /// `None`: refused by the sender.
    pub sent: Option<u64>,
    /// `None`: lost, which counts as infinitely late.
    pub delivered: Option<u64>,
}

/// What is left of the messages where only a histogram is kept.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct MessageHistogram {
    pub scheduled: u64,
    pub refused: u64,
    pub delivered: u64,
    /// Delivered, but past the deadline.
    pub late: u64,
    /// Latency in nanoseconds (three significant digits) and how many messages had it, ascending.
    pub latencies: Vec<(u64, u64)>,
    /// The longest time in which nothing was delivered.
    pub longest_gap: Gap,
    /// Equal slices of the workload by scheduled time, at most [`MAX_WINDOWS`] of them.
    pub windows: Vec<Window>,
}

pub const MAX_WINDOWS: usize = 600;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Gap {
    pub from: u64,
    pub until: u64,
}

/// The messages scheduled in one slice of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Window {
    pub from: u64,
    pub until: u64,
    pub scheduled: u64,
    pub delivered: u64,
    /// Of the delivered ones, nanoseconds; zero where there is none.
    pub p50: u64,
    pub p99: u64,
    pub max: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathWire {
    pub path: PathId,
    pub up: LinkCount,
    pub down: LinkCount,
    /// What the kernel itself counted, up and down, where it impairs the path.
    #[serde(default)]
    pub kernel: Option<[QdiscCounters; 2]>,
}

/// IP packets and their bytes (IP header included, Ethernet not), as the sender put them on the
/// wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct WireCount {
    pub packets: u64,
    pub bytes: u64,
}

add_fields!(WireCount { packets, bytes });

/// What went into one direction of a path, and what became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct LinkCount {
    pub offered: WireCount,
    /// Dropped by the loss model (outages included).
    pub lost: u64,
    /// Dropped because the queue was full.
    pub overflowed: u64,
    pub duplicated: u64,
    pub corrupted: u64,
    pub marked: u64,
    pub delivered: u64,
}

/// How well a real-time engine kept time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Fidelity {
    /// Whether the kernel travels in time: then nothing waits for a processor, and what is late is
    /// so by the engine's own doing.
    #[serde(default)]
    pub virtual_time: bool,
    /// Lateness of packets as they left the link, real minus asked: microseconds at these
    /// quantiles. `None` where it is not known what was asked: netem draws its own delays, so there
    /// only packets of a link count that delays all of them alike.
    pub lateness_p50_us: Option<f64>,
    pub lateness_p99_us: Option<f64>,
    pub lateness_max_us: Option<f64>,
    /// How late the latest change of the timeline was made: microseconds. On the relay, packets
    /// that the kernel received after its due time meet it all the same.
    pub change_lateness_max_us: f64,
    /// How late the workload's own sends were: microseconds.
    pub send_lateness_p99_us: f64,
    pub send_lateness_max_us: f64,
    /// How long datagrams waited for their endpoint to read them: microseconds.
    pub read_lateness_p99_us: f64,
    pub read_lateness_max_us: f64,
    /// Times the host did not run a thread of the engine for more than 5 ms, as each of them
    /// noticed, and the longest.
    pub stalls: u64,
    pub longest_stall_us: f64,
    /// Whether SCHED_FIFO was granted.
    pub realtime: bool,
    /// Packets lost or refused outside of the link, or not seen by those who count them.
    pub damaged_packets: u64,
    /// Processor time of each side's endpoint during the workload, its system calls included:
    /// microseconds.
    pub vehicle_cpu_us: f64,
    pub cloud_cpu_us: f64,
    /// What this kernel could not do, and the result is good all the same: a line each.
    #[serde(default)]
    pub limitations: Vec<String>,
    /// One line if the result is spoilt by the host.
    pub spoilt: Option<String>,
}
