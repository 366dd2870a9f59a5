//! Whether a recording that was read could have been measured. A file may have been edited or
//! damaged so that it still reads; no figure is computed from one that contradicts itself.

use std::time::Duration;

use thiserror::Error;

use super::receipt::{MOST_PROFILES, Receipt};
use super::volume::MOST_SLOTS;
use super::{
    EndSockets, FleetCost, LinkCount, Message, MessageHistogram, Messages, QdiscCounters,
    Recording, TcpFigures, Volume, WireCount,
};
use crate::link::profile::Distribution;
use crate::protocol::ShardCounts;
use crate::scenario::limits;
use crate::workload::Workload;

/// No counter of a trial comes near it, and thousands of them can be added up.
const MOST: u64 = 1 << 50;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Implausible {
    #[error("its workload has no rate, size or duration that can be")]
    Workload,
    #[error("it speaks of a path that it has no name for")]
    Path,
    #[error("it has a count or a time that no trial can reach")]
    Count,
    #[error("it has a message that was sent or delivered before it was due")]
    BeforeDue,
    #[error("its histogram does not add up")]
    Histogram,
    #[error("its receipts do not add up")]
    Receipt,
    #[error("it has slots of time that no trial can have")]
    Volume,
    #[error("its vehicles are not those of one trial")]
    Vehicles,
}

pub(super) fn check(recording: &Recording) -> Result<(), Implausible> {
    check_one(recording)?;
    check_others(recording)?;
    recording.others.iter().try_for_each(check_one)
}

/// Numbered in order, of the same trial, and without vehicles of their own.
fn check_others(recording: &Recording) -> Result<(), Implausible> {
    let same = |other: &Recording| {
        (&other.sender, other.repetition, other.engine, other.seed)
            == (&recording.sender, recording.repetition, recording.engine, recording.seed)
            && (&other.protocol, &other.workload) == (&recording.protocol, &recording.workload)
            && (&other.outages, &other.path_names) == (&recording.outages, &recording.path_names)
            && other.others.is_empty()
    };
    let mut numbered = recording.others.iter().zip(1..);
    let right = recording.vehicle == 0
        && recording.others.len() < limits::VEHICLES as usize
        && numbered.all(|(other, number)| other.vehicle == number && same(other));
    if right { Ok(()) } else { Err(Implausible::Vehicles) }
}

fn check_one(recording: &Recording) -> Result<(), Implausible> {
    check_workload(recording)?;
    check_paths(recording)?;
    check_counts(recording)?;
    check_volumes(recording)?;
    let receipts = recording.receipts.iter().chain(&recording.receipts_of_others);
    let receipts = receipts.flat_map(|path| [&path.up, &path.down]);
    receipts.into_iter().try_for_each(|receipts| check_receipts(receipts))?;
    match &recording.messages {
        Messages::Each(messages) => check_messages(messages),
        Messages::Histogram(histogram) => check_histogram(histogram),
    }
}

fn check_workload(recording: &Recording) -> Result<(), Implausible> {
    let periodic = recording.workload.periodic();
    let rate = 0.001..=limits::MESSAGE_RATE;
    let answer = match &recording.workload {
        Workload::Control(_) => periodic.size,
        Workload::Echo { response_size, .. } => *response_size,
    };
    let sizes = [periodic.size, answer].map(u64::from);
    let right = rate.contains(&periodic.rate)
        && sizes.iter().all(|size| limits::MESSAGE_SIZE.contains(size))
        && !periodic.duration.is_zero()
        && periodic.duration <= limits::DURATION;
    if right { Ok(()) } else { Err(Implausible::Workload) }
}

fn check_paths(recording: &Recording) -> Result<(), Implausible> {
    let wire = recording.wire.iter().map(|wire| wire.path);
    let outages = recording.outages.iter().map(|outage| outage.path);
    let receipts = recording.receipts.iter().chain(&recording.receipts_of_others);
    let receipts = receipts.map(|receipts| receipts.path);
    let volumes = recording.volumes.iter().map(|volume| volume.path);
    let sockets = recording.kernel_sockets.iter().flatten();
    let sockets = sockets.flat_map(|end| &end.connections).filter_map(|socket| socket.path);
    let all = wire.chain(volumes).chain(outages).chain(receipts).chain(sockets);
    let mut all = all.chain(recording.protocol.paths());
    let known = all.all(|path| path.index() < recording.path_names.len());
    if known { Ok(()) } else { Err(Implausible::Path) }
}

fn check_counts(recording: &Recording) -> Result<(), Implausible> {
    let count = |count: &WireCount| [count.packets, count.bytes];
    let link = |link: &LinkCount| {
        let LinkCount { offered, lost, overflowed, duplicated, corrupted, marked, delivered } =
            link;
        let [packets, bytes] = count(offered);
        [packets, bytes, *lost, *overflowed, *duplicated, *corrupted, *marked, *delivered]
    };
    let wire = recording.wire.iter().flat_map(|wire| [link(&wire.up), link(&wire.down)]).flatten();
    let kernel = recording.wire.iter().filter_map(|wire| wire.kernel).flatten().flat_map(qdisc);
    let handshake = [&recording.handshake.up, &recording.handshake.down].map(count);
    let statistics = recording.statistics;
    let sockets = recording.kernel_sockets.iter().flatten().flat_map(end_sockets);
    let others = [statistics.discarded]
        .into_iter()
        .chain(recording.cost.iter().flat_map(cost))
        .chain(statistics.retransmissions)
        .chain(recording.error_correction.iter().flatten().flat_map(shards))
        .chain(sockets)
        .chain(kernel)
        .chain(handshake.into_iter().flatten());
    let right = recording.accepted <= limits::MESSAGES_COUNTED
        && recording.handshake.duration <= Duration::from_nanos(MOST)
        && wire.chain(others).all(|count| count <= MOST);
    if right { Ok(()) } else { Err(Implausible::Count) }
}

fn cost(cost: &FleetCost) -> impl Iterator<Item = u64> {
    let FleetCost { gateway_cpu_us, vehicle_cpu_us, lab_cpu_us, .. } = *cost;
    let bytes = [cost.gateway_heap_bytes, cost.vehicle_heap_bytes];
    [gateway_cpu_us, vehicle_cpu_us, lab_cpu_us].into_iter().chain(bytes.into_iter().flatten())
}

fn shards(counts: &ShardCounts) -> [u64; 5] {
    let ShardCounts { data, parity, recovered, known, failed } = *counts;
    [data, parity, recovered, known, failed]
}

fn qdisc(counters: QdiscCounters) -> [u64; 7] {
    let QdiscCounters { sent, sent_bytes, dropped, overlimits, requeues, queued, queued_bytes } =
        counters;
    [sent, sent_bytes, dropped, overlimits, requeues, queued, queued_bytes]
}

fn check_volumes(recording: &Recording) -> Result<(), Implausible> {
    let right = |volume: &Volume| {
        (1..=MOST).contains(&volume.slot) && volume.bytes.len() <= MOST_SLOTS as usize
    };
    if recording.volumes.iter().all(right) { Ok(()) } else { Err(Implausible::Volume) }
}

fn end_sockets(end: &EndSockets) -> Vec<u64> {
    let figures = |tcp: &TcpFigures| {
        let segments = [tcp.segments_sent, tcp.segments_received, tcp.retransmitted];
        let data = [tcp.data_segments_sent, tcp.data_segments_received, tcp.spurious];
        let bytes = [tcp.bytes_sent, tcp.bytes_retransmitted, tcp.bytes_acknowledged];
        let times = [tcp.rtt_us, tcp.rtt_variation_us, tcp.rto_us];
        let others = [tcp.bytes_received, tcp.congestion_window, tcp.segment_size];
        let optional = [tcp.timeouts, tcp.min_rtt_us, Some(tcp.bytes_unsent)].into_iter().flatten();
        [segments, data, bytes, times, others].into_iter().flatten().chain(optional)
    };
    let mptcp = end.mptcp.iter().flat_map(|mptcp| {
        let bytes = [mptcp.bytes_sent, mptcp.bytes_received, mptcp.reinjected_bytes];
        bytes.into_iter().flatten().chain([mptcp.subflows])
    });
    let connections = end.connections.iter().flat_map(figures);
    connections.chain(mptcp).chain([end.retransmitted_in_namespace]).collect()
}

/// Of one direction of a path.
fn check_receipts(receipts: &[Receipt]) -> Result<(), Implausible> {
    let right = receipts.len() <= MOST_PROFILES + 1 && receipts.iter().all(adds_up);
    if right { Ok(()) } else { Err(Implausible::Receipt) }
}

fn adds_up(receipt: &Receipt) -> bool {
    let did = &receipt.did;
    let asked = receipt.asked.as_ref();
    let has_table =
        asked.is_none_or(|profile| profile.distribution != Distribution::Table([].into()));
    let struck = did.lost.saturating_add(did.marked);
    let fates = [did.lost, did.overflowed, did.left];
    let fates = fates.iter().try_fold(0_u64, |sum, count| sum.checked_add(*count));
    let most = [did.entered, did.copies, did.spells, did.backlog.asked, did.backlog.took];
    let times = [did.delay.squares, did.delay.beyond_squares, did.delay.variance];
    let more_times = [did.delay.square_variance, did.delay.late, did.delay.late_squares];
    has_table
        && most.iter().all(|count| *count <= MOST)
        && did.settled <= did.entered
        && fates == Some(did.settled)
        && did.bursts <= struck
        && did.marked.max(did.corrupted) <= did.left
        && did.delay.count.checked_add(did.ahead) == Some(did.left)
        && did.overtaking.count <= did.delay.count
        && did.backlog.periods <= did.backlog.packets
        && did.backlog.packets <= did.delay.count
        && did.backlog.late.unsigned_abs() <= MOST
        && receipt.slack_ns <= MOST
        && times
            .into_iter()
            .chain(more_times)
            .chain([did.overtaking.expected])
            .all(|sum| sum >= 0.0)
}

fn check_messages(messages: &[Message]) -> Result<(), Implausible> {
    for message in messages {
        let Message { scheduled, sent, delivered } = *message;
        if [Some(scheduled), sent, delivered].into_iter().flatten().any(|time| time > MOST) {
            return Err(Implausible::Count);
        }
        if [sent, delivered].into_iter().flatten().any(|time| time < scheduled) {
            return Err(Implausible::BeforeDue);
        }
    }
    Ok(())
}

fn check_histogram(histogram: &MessageHistogram) -> Result<(), Implausible> {
    let MessageHistogram { scheduled, refused, delivered, late, .. } = *histogram;
    let latencies = histogram.latencies.iter().try_fold(0_u64, |sum, (latency, count)| {
        sum.checked_add(*count).filter(|_| *latency <= MOST)
    });
    let windows = histogram.windows.iter().try_fold(0_u64, |sum, window| {
        let right = window.from < window.until && window.until <= MOST && window.max <= MOST;
        sum.checked_add(window.scheduled).filter(|_| right && window.delivered <= window.scheduled)
    });
    let right = scheduled <= MOST
        && delivered.checked_add(refused).is_some_and(|known| known <= scheduled)
        && late <= delivered
        && latencies == Some(delivered)
        && windows == Some(scheduled)
        && histogram.longest_gap.from <= histogram.longest_gap.until
        && histogram.longest_gap.until <= MOST;
    if right { Ok(()) } else { Err(Implausible::Histogram) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::profile::{LinkProfile, RateLimit, Reorder};
    use crate::recording::receipt::judge::{What, judge};
    use crate::recording::receipt::{Backlog, Tally};
    use crate::recording::{Summary, sample};
    use crate::units::{PathId, Probability, Rate};

    fn edited(edit: impl Fn(&mut Recording)) -> Result<(), Implausible> {
        let mut recording = sample::recording("mpquic", 0);
        edit(&mut recording);
        check(&recording)
    }

    fn with_rate(rate: f64) -> impl Fn(&mut Recording) {
        move |recording| {
            let Workload::Control(periodic) = &mut recording.workload else { panic!("control") };
            periodic.rate = rate;
        }
    }

    fn with_message(message: Message) -> impl Fn(&mut Recording) {
        move |recording| recording.messages = Messages::Each(vec![message])
    }

    #[test]
    fn what_cannot_have_been_measured_is_refused() {
        assert_eq!(edited(|_| ()), Ok(()));
        for rate in [0.0, -5.0, 1e-300, f64::NAN, f64::INFINITY] {
            assert_eq!(edited(with_rate(rate)), Err(Implausible::Workload), "{rate}");
        }
        assert_eq!(edited(|it| it.wire[0].path = PathId(9)), Err(Implausible::Path));
        assert_eq!(edited(|it| it.receipts[0].path = PathId(9)), Err(Implausible::Path));
        assert_eq!(edited(|it| it.receipts[0].up[0].did.lost += 1), Err(Implausible::Receipt));
        let edit = |it: &mut Recording| it.receipts[0].up[0].did.delay.variance = -1.0;
        assert_eq!(edited(edit), Err(Implausible::Receipt));
        assert_eq!(edited(|it| it.wire[0].up.offered.bytes = u64::MAX), Err(Implausible::Count));
        let retransmissions = Some(u64::MAX);
        let edit = |it: &mut Recording| it.statistics.retransmissions = retransmissions;
        assert_eq!(edited(edit), Err(Implausible::Count));
        let shards = [ShardCounts { known: u64::MAX, ..ShardCounts::default() }; 2];
        let edit = |it: &mut Recording| it.error_correction = Some(shards);
        assert_eq!(edited(edit), Err(Implausible::Count));
        let early = Message { scheduled: 20, sent: Some(20), delivered: Some(10) };
        assert_eq!(edited(with_message(early)), Err(Implausible::BeforeDue));
        let slotless = Volume { path: PathId(0), slot: 0, bytes: vec![1] };
        assert_eq!(edited(|it| it.volumes = vec![slotless.clone()]), Err(Implausible::Volume));
        let never = Message { scheduled: u64::MAX, sent: None, delivered: None };
        assert_eq!(edited(with_message(never)), Err(Implausible::Count));
        let histogram = MessageHistogram { scheduled: 3, ..Default::default() };
        let edit = |it: &mut Recording| it.messages = Messages::Histogram(histogram.clone());
        assert_eq!(edited(edit), Err(Implausible::Histogram));
        assert_eq!(
            edited(|it| if let Workload::Control(p) = &mut it.workload {
                p.duration = Duration::ZERO;
            }),
            Err(Implausible::Workload)
        );
    }

    #[test]
    fn what_cannot_be_added_up_is_refused() {
        assert_eq!(edited(|it| it.accepted = MOST), Err(Implausible::Count));
        assert_eq!(edited(|it| it.handshake.duration = Duration::MAX), Err(Implausible::Count));
        let cost = |us, bytes| FleetCost {
            gateway_cpu_us: us,
            vehicle_cpu_us: us,
            lab_cpu_us: us,
            gateway_heap_bytes: None,
            vehicle_heap_bytes: bytes,
        };
        assert_eq!(edited(|it| it.cost = Some(cost(1, None))), Ok(()));
        for wrong in [cost(u64::MAX, None), cost(1, Some(u64::MAX))] {
            assert_eq!(edited(|it| it.cost = Some(wrong)), Err(Implausible::Count));
        }
        let edit = |it: &mut Recording| {
            let request = it.workload.periodic().clone();
            it.workload = Workload::Echo { request, response_size: u32::MAX };
        };
        assert_eq!(edited(edit), Err(Implausible::Workload));
    }

    /// As many as there can be, all of them late.
    fn largest(asked: LinkProfile) -> Receipt {
        let mut did = Tally { entered: MOST, settled: MOST, left: MOST, ..Tally::default() };
        (did.spells, did.copies) = (MOST, MOST);
        (did.delay.count, did.ahead) = (MOST / 2, MOST / 2);
        did.backlog = Backlog {
            packets: MOST / 2,
            periods: MOST / 2,
            asked: MOST,
            took: MOST,
            late: MOST as i64,
        };
        Receipt { asked: Some(asked), did, unseen: Vec::new(), slack_ns: MOST }
    }

    #[test]
    fn nothing_that_is_plausible_is_too_much_to_count_with() {
        let rate = Rate::from_bits_per_second(8).expect("not zero");
        let limited = LinkProfile {
            rate: Some(RateLimit { rate, packet_overhead: 0, cell_size: 0, cell_overhead: 0 }),
            ..LinkProfile::default()
        };
        let (probability, correlation) = (Probability::new(0.5).expect("half"), Probability::NEVER);
        let reordered = LinkProfile {
            delay: Duration::from_secs(1),
            reorder: Some(Reorder { probability, correlation, gap: u32::MAX }),
            ..LinkProfile::default()
        };
        let receipts = [limited, reordered].map(largest).to_vec();
        let mut trial = sample::recording("mpquic", 0);
        trial.accepted = limits::MESSAGES_COUNTED;
        trial.receipts[0].up = receipts;
        assert_eq!(check(&trial), Ok(()));
        let [limited, reordered] = &trial.receipts[0].up[..] else { panic!("two receipts") };
        let told = |receipt, what| {
            let judged = judge(receipt).into_iter().find(|it| it.what == what);
            judged.is_some_and(|it| it.did.is_some())
        };
        assert!(told(limited, What::Rate) && told(reordered, What::Ahead));
        let summary = Summary::of(&vec![&trial; 1000]).expect("there are runs");
        assert!(summary.amplification.is_some());
    }
}
