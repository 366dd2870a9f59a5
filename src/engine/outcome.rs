//! What an engine measured in one trial, put together from its parts, and the recording made of it.

use super::conductor::Conducted;
use super::endpoint::Ended;
use super::fidelity::{Lateness, Stalls, Timekeeping};
use super::{ETHERNET_HEADER, Trial};
use crate::link::Counters;
use crate::protocol::{Delivery, ProtocolStatistics, ShardCounts};
use crate::recording::receipt::PathReceipts;
use crate::recording::{
    EndSockets, EngineKind, FORMAT, Fidelity, Handshake, LinkCount, Messages, PathWire, Recording,
    Status, Volume, WireCount,
};

#[derive(Debug)]
pub struct Outcome {
    pub handshake: Handshake,
    pub delivery: Delivery,
    pub statistics: ProtocolStatistics,
    pub error_correction: Option<[ShardCounts; 2]>,
    pub kernel_sockets: Option<[EndSockets; 2]>,
    pub wire: Vec<PathWire>,
    pub receipts: Vec<PathReceipts>,
    pub volumes: Vec<Volume>,
    pub accepted: u64,
    pub messages: Messages,
    pub status: Status,
    pub fidelity: Option<Fidelity>,
}

/// What an engine whose endpoints run by themselves saw of a trial between them.
pub struct Between {
    /// Up and down.
    pub handshake: [WireCount; 2],
    pub wire: Vec<PathWire>,
    pub receipts: Vec<PathReceipts>,
    pub volumes: Vec<Volume>,
    /// Of its own threads.
    pub timekeeping: Timekeeping,
}

impl Outcome {
    /// From the endpoints of a trial and what was between them.
    pub fn of(conducted: Conducted, between: Between) -> Self {
        let Conducted { connecting, accepted, messages, status, vehicle, cloud } = conducted;
        let timekeeping = between.timekeeping.with(&vehicle, &cloud);
        let [up, down] = between.handshake;
        Self {
            handshake: Handshake { duration: connecting, up, down },
            delivery: vehicle.delivery,
            statistics: vehicle.statistics,
            error_correction: both(vehicle.error_correction, cloud.error_correction),
            kernel_sockets: both(vehicle.sockets, cloud.sockets),
            wire: between.wire,
            receipts: between.receipts,
            volumes: between.volumes,
            accepted,
            messages,
            status,
            fidelity: Some(timekeeping.fidelity()),
        }
    }
}

fn both<T>(vehicle: Option<T>, cloud: Option<T>) -> Option<[T; 2]> {
    Some([vehicle?, cloud?])
}

impl Timekeeping {
    /// And of the endpoints.
    fn with(self, vehicle: &Ended, cloud: &Ended) -> Self {
        Self {
            reads: Lateness::sum([&vehicle.reads, &cloud.reads]),
            stalls: Stalls::sum([self.stalls, vehicle.stalls, cloud.stalls]),
            realtime: self.realtime && vehicle.realtime && cloud.realtime,
            damage: [self.damage, vehicle.damage, cloud.damage].into_iter().sum(),
            sends: vehicle.sends.clone(),
            vehicle_cpu: vehicle.cpu,
            cloud_cpu: cloud.cpu,
            ..self
        }
    }
}

impl Recording {
    pub fn new(trial: &Trial, engine: EngineKind, outcome: Outcome) -> Self {
        let plan = &trial.plan;
        Self {
            format: FORMAT,
            scenario: plan.name.clone(),
            sender: trial.sender().name.clone(),
            protocol: trial.sender().protocol.clone(),
            delivery: outcome.delivery,
            repetition: trial.repetition,
            engine,
            seed: plan.seed,
            workload: plan.workload.clone(),
            outages: plan.timeline.outages.clone(),
            path_names: plan.paths.iter().map(|path| path.name.clone()).collect(),
            status: outcome.status,
            handshake: outcome.handshake,
            accepted: outcome.accepted,
            messages: outcome.messages,
            wire: outcome.wire,
            receipts: outcome.receipts,
            volumes: outcome.volumes,
            statistics: outcome.statistics,
            error_correction: outcome.error_correction,
            kernel_sockets: outcome.kernel_sockets,
            fidelity: outcome.fidelity,
            vehicle: trial.vehicle,
            others: Vec::new(),
            receipts_of_others: Vec::new(),
            cost: None,
        }
    }
}

/// What a link counted, in bytes of IP packets.
pub fn link_count(counters: &Counters) -> LinkCount {
    let offered = counters.offered;
    LinkCount {
        offered: WireCount {
            packets: offered.packets,
            bytes: offered.bytes - offered.packets * u64::from(ETHERNET_HEADER),
        },
        lost: counters.lost.packets,
        overflowed: counters.overflowed.packets,
        duplicated: counters.duplicated.packets,
        corrupted: counters.corrupted.packets,
        marked: counters.marked.packets,
        delivered: counters.delivered.packets,
    }
}
