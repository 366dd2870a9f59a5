//! What a trial on netem comes to, put together from its endpoints, its observer and the kernel.

use netns::{Held, Qdisc};

use super::changes::Shaped;
use super::error::NetemError;
use super::ledger::{Count, Remains};
use super::observer::Observed;
use crate::engine::conductor::Conducted;
use crate::engine::fidelity::{Damage, Lateness, Stalls, Timekeeping};
use crate::engine::lab::Lab;
use crate::engine::{Outcome, Pace};
use crate::recording::receipt::PathReceipts;
use crate::recording::{Handshake, PathWire, QdiscCounters};
use crate::units::{Direction, PathId};

pub(super) struct Measured {
    pub(super) pace: Pace,
    pub(super) conducted: Conducted,
    pub(super) shaped: Shaped,
    pub(super) observed: Observed,
    /// For each path up and down.
    pub(super) counters: Vec<[Counters; 2]>,
}

pub(super) fn outcome(measured: Measured) -> Outcome {
    let Measured { pace, conducted, shaped, observed, counters } = measured;
    let wire = |(id, (counts, kernel)): (u8, (&[Count; 2], [Counters; 2]))| {
        let ([up, down], kernel) = (counts, kernel.map(|way| way.netem));
        PathWire { path: PathId(id), up: up.link, down: down.link, kernel: Some(kernel) }
    };
    let receipts = |(id, [up, down]): (u8, &[Count; 2])| PathReceipts {
        path: PathId(id),
        up: up.receipts.clone(),
        down: down.receipts.clone(),
    };
    let each = observed.counts.iter().flatten();
    let strays = each.clone().map(|count| count.strays).sum();
    let damage = Damage { unseen: observed.unseen, strays, ..Damage::default() };
    let Conducted { connecting, accepted, messages, status, vehicle, cloud } = conducted;
    let timekeeping = Timekeeping {
        pace,
        packets: Lateness::sum(each.clone().map(|count| &count.packets)),
        changes: shaped.lateness,
        reads: Lateness::sum([&vehicle.reads, &cloud.reads]),
        stalls: Stalls::sum([shaped.stalls, vehicle.stalls, cloud.stalls]),
        realtime: shaped.realtime && vehicle.realtime && cloud.realtime,
        damage: [damage, vehicle.damage, cloud.damage].into_iter().sum(),
        sends: vehicle.sends,
        vehicle_cpu: vehicle.cpu,
        cloud_cpu: cloud.cpu,
        seedless: shaped.seedless,
        ..Timekeeping::default()
    };
    let handshake = |way: usize| observed.counts.iter().map(|both| both[way].handshake).sum();
    Outcome {
        handshake: Handshake { duration: connecting, up: handshake(0), down: handshake(1) },
        delivery: vehicle.delivery,
        statistics: vehicle.statistics,
        error_correction: vehicle.error_correction.zip(cloud.error_correction).map(<[_; 2]>::from),
        kernel_sockets: vehicle.sockets.zip(cloud.sockets).map(<[_; 2]>::from),
        wire: (0..).zip(observed.counts.iter().zip(counters)).map(wire).collect(),
        volumes: each.filter_map(|count| count.volume.clone()).collect(),
        receipts: (0..).zip(&observed.counts).map(receipts).collect(),
        accepted,
        messages,
        status,
        fidelity: Some(timekeeping.fidelity()),
    }
}

/// What the kernel has counted in one direction of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Counters {
    /// What the bucket behind it dropped is among its drops, and what waits in it among its queue.
    pub(super) netem: QdiscCounters,
    /// Packets that the bucket behind it had no room for.
    refused: u64,
}

impl Counters {
    pub(super) fn remains(&self) -> Remains {
        Remains { queued: self.netem.queued as usize, refused: self.refused }
    }
}

/// For each path up and down, since the lab was built.
pub(super) fn counters(lab: &Lab, paths: usize) -> Result<Vec<[Counters; 2]>, NetemError> {
    let held = lab.qdiscs()?;
    let of = |path: usize, direction| {
        let (link, _) = lab.exit(PathId(path as u8), direction);
        let on_link = |root| held.iter().find(|it| it.link == link && it.root == root);
        on_link(true).map(|root| together(root, on_link(false))).unwrap_or_default()
    };
    Ok((0..paths).map(|path| [of(path, Direction::Up), of(path, Direction::Down)]).collect())
}

fn together(root: &Qdisc, child: Option<&Qdisc>) -> Counters {
    let refused = child.map_or(0, |child| child.counters.drops.into());
    Counters { netem: counted(root), refused }
}

fn counted(qdisc: &Qdisc) -> QdiscCounters {
    let counters = &qdisc.counters;
    QdiscCounters {
        sent: counters.packets.into(),
        sent_bytes: counters.bytes,
        dropped: counters.drops.into(),
        overlimits: counters.overlimits.into(),
        requeues: counters.requeues.into(),
        queued: counters.queued.into(),
        queued_bytes: counters.queued_bytes.into(),
    }
}

/// What was counted up to the start of the workload is taken off.
pub(super) fn since(at_start: &[Held], counters: Vec<[Counters; 2]>) -> Vec<[Counters; 2]> {
    let mut before = at_start.iter().map(|held| together(&held.root, held.child.as_ref()));
    let after_start = |way: Counters| {
        let before = before.next().unwrap_or_default();
        let refused = way.refused.saturating_sub(before.refused);
        Counters { netem: way.netem.since(before.netem), refused }
    };
    let flat: Vec<_> = counters.into_iter().flatten().map(after_start).collect();
    flat.as_chunks::<2>().0.to_vec()
}
