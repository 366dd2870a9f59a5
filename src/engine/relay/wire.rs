//! The relay without a trial: two links between two interfaces, for programs that bring their own
//! senders, and for benchmarks.

use std::sync::Arc;
use std::time::Duration;

use netns::Namespace;

use super::Running;
use super::middle::{Middle, Path, Relayed};
use super::one_way::OneWay;
use crate::engine::EngineError;
use crate::engine::LabError;
use crate::engine::bounds::Bounds;
use crate::engine::fidelity::Timekeeping;
use crate::engine::pace::Pace;
use crate::engine::packet_socket::PacketSocket;
use crate::link::profile::LinkProfile;
use crate::recording::{Fidelity, LinkCount};
use crate::splitmix::mix;
use crate::timeline::Change;
use crate::units::{Direction, Instant};

/// What the two links of a [`Wire`] do.
#[derive(Debug, Clone)]
pub struct WirePlan {
    pub up: LinkProfile,
    pub down: LinkProfile,
    pub seed: u64,
    /// Sorted by time, which counts from the start of the wire; their path does not matter.
    pub changes: Vec<Change>,
}

/// Joins two interfaces of a namespace until it is dropped: what comes out of the first goes up
/// into the second, and the other way down. Only IP packets; neighbours have to be static.
#[must_use = "it relays only as long as it is there"]
pub struct Wire(Running);

/// What a wire did.
#[derive(Debug)]
pub struct WireReport {
    pub up: LinkCount,
    pub down: LinkCount,
    pub fidelity: Fidelity,
    /// Processor time of the relay, the kernel's work for it included, waiting awake not.
    pub cpu: Duration,
}

impl Wire {
    /// `interfaces`: the indexes of the vehicle's and of the cloud's side, both in `namespace` and
    /// without addresses.
    pub fn start(
        namespace: &Namespace,
        interfaces: [u32; 2],
        plan: WirePlan,
    ) -> Result<Self, EngineError> {
        let open = |index| {
            let failed = |source| LabError::Socket { socket: "relay's packet", path: 0, source };
            PacketSocket::open(index, interfaces.len()).map_err(failed)
        };
        let [vehicle, cloud] = interfaces;
        let both = namespace.run(|| Ok::<_, LabError>((open(vehicle)?, open(cloud)?)));
        let sockets = both.map_err(LabError::from)??;
        let bounds = Arc::new(Bounds::new(Pace::Real));
        let running = Running::start(Arc::clone(&bounds), move || {
            let path = Path::new(sockets, plan.link(Direction::Up), plan.link(Direction::Down));
            Middle::new(vec![path], bounds)
        })?;
        Ok(Self(running))
    }

    /// Stops it; what is still on the links is lost.
    pub fn end(self) -> Result<WireReport, EngineError> {
        Ok(self.0.end()?.into())
    }
}

impl WirePlan {
    fn link(&self, direction: Direction) -> OneWay {
        let (profile, seed) = match direction {
            Direction::Up => (&self.up, self.seed),
            Direction::Down => (&self.down, !self.seed),
        };
        let mine = self.changes.iter().filter(|change| change.direction == direction);
        let seed = |number| mix(seed ^ number as u64);
        OneWay::with(profile, mine.cloned(), seed, Instant::ZERO)
    }
}

impl From<Relayed> for WireReport {
    fn from(relayed: Relayed) -> Self {
        let only = relayed.wire.first();
        let (up, down) = only.map_or_else(Default::default, |wire| (wire.up, wire.down));
        let timekeeping = Timekeeping {
            packets: relayed.packets,
            stamps: relayed.stamps,
            changes: relayed.changes,
            stalls: relayed.stalls,
            realtime: relayed.realtime,
            damage: relayed.damage,
            ..Timekeeping::default()
        };
        Self { up, down, fidelity: timekeeping.fidelity(), cpu: relayed.cpu }
    }
}
