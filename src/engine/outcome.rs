//! What an engine measured in one trial, and the recording made of it.

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
