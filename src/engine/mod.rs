//! Runs one trial and records it. The only layer, with `netns`, that touches clocks, sockets and
//! threads.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::link::profile::LinkProfile;
use crate::protocol::{Delivery, QlogBook};
use crate::recording::{Recording, Volume};
use crate::scenario::plan::{Plan, SenderPlan};
use crate::splitmix::{SplitMix64, mix};
use crate::units::{Direction, Instant, PathId};

mod bounds;
mod buffer;
mod carrier;
mod conductor;
mod endpoint;
pub mod environment;
mod error;
mod fidelity;
mod frame;
pub mod kernel_socket;
mod lab;
#[cfg(test)]
#[path = "../../tests/namespaces/mod.rs"]
mod namespaces;
pub mod netem;
mod outcome;
mod pace;
mod packet_socket;
mod real_clock;
mod receive_batch;
pub mod relay;
mod side_by_side;
pub mod sim;
mod snmp;
mod syscalls;
mod tap;
mod udp_overflows;
mod udp_socket;
pub mod uml;
mod waiter;
mod watch;
pub mod witness;

pub use crate::recording::EngineKind;
pub use error::EngineError;
pub use kernel_socket::KernelSocketError;
pub use lab::LabError;
pub use netem::NetemError;
pub use outcome::Outcome;
pub use pace::Pace;

/// One-way delay of every path while connections are set up, but for senders of the kernel. The link
/// is otherwise clean, so that no sender starts with a handicap, and paths are validated before the
/// first loss.
pub const CLEAN_DELAY: Duration = Duration::from_millis(2);
/// … and of those: a longer delay of the path is cut to this, so that they connect in time.
const LONGEST_CLEAN_DELAY: Duration = Duration::from_millis(250);
/// A sender that is not connected by then on a clean link never will be.
pub const CONNECT_LIMIT: Duration = Duration::from_secs(10);
/// From the moment all is connected to the start of the workload: acknowledgements of the handshake
/// die down.
pub const SETTLE: Duration = Duration::from_millis(100);
/// How long after the last scheduled message a reliable sender may still deliver.
pub const DRAIN_RELIABLE: Duration = Duration::from_secs(10);
/// The same for a sender that does not send again.
pub const DRAIN_UNRELIABLE: Duration = Duration::from_secs(2);
/// Bytes of an Ethernet header, which netem counts in a packet's length.
pub const ETHERNET_HEADER: u32 = 14;

/// One sender, once, through one plan.
#[derive(Debug, Clone)]
pub struct Trial {
    pub plan: Arc<Plan>,
    /// Index into `plan.senders`.
    pub sender: usize,
    /// From 0.
    pub repetition: u32,
    /// Whose random numbers, from 0: each vehicle has its own. An engine that runs a plan of
    /// several makes the others itself, from the trial of the first.
    pub vehicle: u32,
    /// Where its connections are logged, if that is asked for.
    pub qlog: Option<QlogBook>,
}

pub trait Engine: Sync {
    fn kind(&self) -> EngineKind;

    /// The kernel that trials run on, where it is not this machine's, as `uname -srvm` tells it.
    fn kernel(&self) -> Option<String> {
        None
    }

    /// Whether the plan can run on it, as far as that is known before the first trial.
    fn admit(&self, plan: &Plan) -> Result<(), EngineError>;

    /// How many trials may run side by side without spoiling one another.
    fn side_by_side(&self, plan: &Plan) -> usize;

    /// Runs a trial to its end, or until `events` answers `Break`: what was measured until then is
    /// kept and marked.
    fn run(
        &self,
        trial: &Trial,
        events: &mut dyn FnMut(Event) -> ControlFlow<()>,
    ) -> Result<Recording, EngineError>;
}

/// What a trial tells while it runs: a few times a second, on `sim` of its own time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// The workload has not started; told more often than the others, so that an interruption need
    /// not wait.
    Connecting,
    /// The connection is up and the workload starts now.
    Started {
        handshake: Duration,
    },
    Progress(Progress),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// Since the start of the workload.
    pub elapsed: Duration,
    pub sent: u64,
    pub delivered: u64,
    /// Of what was delivered since the last progress event; `None` if nothing was.
    pub p50: Option<Duration>,
    pub p99: Option<Duration>,
    /// Paths in an outage at this moment.
    pub dark: Vec<PathId>,
}

fn clean_profile(delay: Duration) -> LinkProfile {
    LinkProfile { delay, limit: u32::MAX, ..LinkProfile::default() }
}

/// How long after the last scheduled message a sender may still deliver.
pub fn drain_limit(delivery: Delivery) -> Duration {
    if delivery.reliable { DRAIN_RELIABLE } else { DRAIN_UNRELIABLE }
}

impl Trial {
    /// The link while the connection is set up: nothing but a delay. That is short, but for senders
    /// of the kernel, whose TCP keeps the least round trip it has seen for five minutes, and takes
    /// packets for lost that overtake one another by a quarter of it: they meet the delay of the
    /// path itself.
    pub fn clean_profile(&self, path: PathId, direction: Direction) -> LinkProfile {
        let profile = self.plan.paths[path.index()].profile(direction);
        clean_profile(match self.sender().protocol.needs_a_kernel() {
            true => profile.delay.min(LONGEST_CLEAN_DELAY),
            false => CLEAN_DELAY,
        })
    }

    pub fn sender(&self) -> &SenderPlan {
        &self.plan.senders[self.sender]
    }

    /// The seed of one direction of a path after so many changes of it, 0 at the start: the same
    /// for every sender of a repetition and in every engine, so that each meets the same impairment
    /// (packet by packet, for as long as they send the same packets), and another one for the next
    /// repetition. Each change has its own, since the kernel's netem starts its generator anew with
    /// each: with one seed for all, the draws of the first packets would come again.
    pub fn link_seed(&self, path: PathId, direction: Direction, change: usize) -> u64 {
        let purpose = 2 * u64::from(path.0) + direction.index() as u64;
        let first = mix(self.repetition_seed() ^ mix(purpose + 1));
        match change {
            0 => first,
            _ => mix(first ^ mix(change as u64)),
        }
    }

    /// What is put on a path is kept over time, up, where the path has an outage: for the time that
    /// it takes until the path is used again.
    pub fn volume(&self, path: PathId, direction: Direction) -> Option<Volume> {
        let has_outage = self.plan.timeline.outages.iter().any(|outage| outage.path == path);
        let kept = has_outage && direction == Direction::Up;
        kept.then(|| Volume::new(path, self.plan.workload.periodic()))
    }

    /// When the workload starts, for a connection that is up now: at a whole second of the trial's
    /// clock, plus the phase between the application's schedule and the protocols' timers. The same
    /// in every engine.
    pub fn start_after(&self, connected: Instant) -> Instant {
        let settled = (connected + SETTLE).as_nanos();
        Instant::from_nanos(settled.next_multiple_of(1_000_000_000)) + self.phase()
    }

    fn phase(&self) -> Duration {
        const PURPOSE: u64 = 2_000_000;
        let periodic = self.plan.workload.periodic();
        let share = SplitMix64::new(self.repetition_seed() ^ mix(PURPOSE)).unit();
        periodic.phase.unwrap_or_else(|| periodic.interval().mul_f64(share))
    }

    /// The seed of everything else that is random: connection ids, keys. From the sender's name, so
    /// that it stays what it is whatever other senders a scenario has.
    pub fn protocol_seed(&self) -> u64 {
        const PURPOSE: u64 = 1_000_000;
        let of = |seed: u64, byte: u8| mix(seed ^ mix(u64::from(byte)));
        self.sender().name.bytes().fold(mix(self.repetition_seed() ^ mix(PURPOSE)), of)
    }

    fn repetition_seed(&self) -> u64 {
        const PURPOSE: u64 = 1 << 40;
        let first = mix(self.plan.seed ^ mix(u64::from(self.repetition)));
        match self.vehicle {
            0 => first,
            vehicle => mix(first ^ mix(PURPOSE + u64::from(vehicle))),
        }
    }
}
