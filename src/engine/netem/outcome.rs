//! What a trial on netem comes to, put together from its endpoints, its observer and the kernel.

use netns::{Held, Qdisc};

use super::changes::Shaped;
use super::error::NetemError;
use super::ledger::{Count, Remains};
use super::observer::Observed;
use crate::engine::conductor::Conducted;
use crate::engine::fidelity::{Damage, Lateness, Timekeeping};
use crate::engine::lab::Lab;
use crate::engine::outcome::Between;
use crate::engine::{Outcome, Pace};
use crate::recording::receipt::PathReceipts;
use crate::recording::{PathWire, QdiscCounters};
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
    let timekeeping = timekeeping(&measured);
    let Measured { conducted, observed, counters, .. } = measured;
    let wire = |(id, (counts, kernel)): (u8, (&[Count; 2], [Counters; 2]))| {
        let ([up, down], kernel) = (counts, kernel.map(|way| way.netem));
        PathWire { path: PathId(id), up: up.link, down: down.link, kernel: Some(kernel) }
    };
    let receipts = |(id, [up, down]): (u8, &[Count; 2])| PathReceipts {
        path: PathId(id),
        up: up.receipts.clone(),
        down: down.receipts.clone(),
    };
    let handshake =
        |way: Direction| observed.counts.iter().map(|both| both[way.index()].handshake).sum();
    let each = observed.counts.iter().flatten();
    let between = Between {
        handshake: Direction::BOTH.map(handshake),
        wire: (0..).zip(observed.counts.iter().zip(counters)).map(wire).collect(),
        receipts: (0..).zip(&observed.counts).map(receipts).collect(),
        volumes: each.filter_map(|count| count.volume.clone()).collect(),
        timekeeping,
    };
    Outcome::of(conducted, between)
}

/// Of the threads beside the endpoints.
fn timekeeping(measured: &Measured) -> Timekeeping {
    let Measured { pace, shaped, observed, .. } = measured;
    let each = observed.counts.iter().flatten();
    let strays = each.clone().map(|count| count.strays).sum();
    Timekeeping {
        pace: *pace,
        packets: Lateness::sum(each.map(|count| &count.packets)),
        changes: shaped.lateness.clone(),
        stalls: shaped.stalls,
        realtime: shaped.realtime,
        damage: Damage { unseen: observed.unseen, strays, ..Damage::default() },
        seedless: shaped.seedless,
        ..Timekeeping::default()
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
