//! Random profiles, random packets and changes of profile on the way: the link and the reference
//! must agree on every packet, to the nanosecond and to the bit, however the link is polled.

use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;

use super::reference::Reference;
use crate::link::profile::{
    Correlated, Distribution, LinkProfile, Loss, Order, RateLimit, Reorder, Slot, SlotSpacing,
};
use crate::link::rng::Taus113;
use crate::link::{Departed, Link, Packet, Pushed};
use crate::units::{Instant, Probability, Rate};

const PACKETS: u32 = 2_000;

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn link_and_reference_agree(
        before in profile(), after in profile(), seed in any::<u64>(), mean_gap_us in 1..4_000u32)
    {
        let traffic = Traffic { before, after, packets: packets(seed, mean_gap_us) };
        let expected = traffic.through_reference(seed);
        prop_assert_eq!(&traffic.through_link(seed, Polling::Punctual), &expected);
        prop_assert_eq!(&traffic.through_link(seed, Polling::Late), &expected);
        prop_assert_eq!(&traffic.through_link(seed, Polling::Never), &expected);
    }
}

struct Traffic {
    before: LinkProfile,
    /// From the middle packet on.
    after: LinkProfile,
    packets: Vec<(Instant, Packet<u32>)>,
}

#[derive(Debug, PartialEq)]
struct Outcome {
    pushed: Vec<Pushed>,
    departed: Vec<Departed<u32>>,
}

#[derive(Clone, Copy)]
enum Polling {
    /// At each wakeup.
    Punctual,
    /// Only when the next packet is pushed.
    Late,
    /// Once, at the end.
    Never,
}

impl Traffic {
    fn through_link(&self, seed: u64, polling: Polling) -> Outcome {
        let mut link = Link::new(&self.before, seed);
        let mut outcome = Outcome { pushed: Vec::new(), departed: Vec::new() };
        for (number, (now, packet)) in self.packets.iter().enumerate() {
            match polling {
                Polling::Punctual => poll_at_wakeups(&mut link, *now, &mut outcome.departed),
                Polling::Late => outcome.departed.extend(std::iter::from_fn(|| link.pop(*now))),
                Polling::Never => {}
            }
            if number == self.packets.len() / 2 {
                link.set_profile(*now, &self.after, !seed);
            }
            outcome.pushed.push(link.push(*now, packet.clone()));
            assert_conserved(&link);
        }
        poll_at_wakeups(&mut link, Instant::FAR_FUTURE, &mut outcome.departed);
        assert!(link.is_empty());
        assert_eq!(link.counters().delivered.packets, outcome.departed.len() as u64);
        outcome
    }

    fn through_reference(&self, seed: u64) -> Outcome {
        let ns = |instant: Instant| instant.as_nanos() as i64;
        let mut reference = Reference::new(&self.before, seed);
        let mut pushed = Vec::new();
        for (number, (now, packet)) in self.packets.iter().enumerate() {
            if number == self.packets.len() / 2 {
                reference.change(ns(*now), &self.after, !seed);
            }
            pushed.push(reference.enqueue(ns(*now), packet.clone()));
        }
        reference.fire_timers(i64::MAX);
        let departed = reference
            .sent
            .into_iter()
            .map(|(time, packet)| Departed { due: Instant::from_nanos(time as u64), packet });
        Outcome { pushed, departed: departed.collect() }
    }
}

fn poll_at_wakeups(link: &mut Link<u32>, until: Instant, departed: &mut Vec<Departed<u32>>) {
    while let Some(wakeup) = link.next_wakeup().filter(|&wakeup| wakeup <= until) {
        while let Some(packet) = link.pop(wakeup) {
            assert_eq!(packet.due, wakeup);
            departed.push(packet);
        }
    }
}

fn assert_conserved(link: &Link<u32>) {
    let c = link.counters();
    assert_eq!(
        c.offered.packets + c.duplicated.packets,
        c.lost.packets + c.overflowed.packets + c.delivered.packets + link.len() as u64
    );
}

/// Gaps evenly from 0 to twice the mean; every sixteenth packet follows the one before it at once.
fn packets(seed: u64, mean_gap_us: u32) -> Vec<(Instant, Packet<u32>)> {
    let mut random = Taus113::new(seed ^ 0x7a11);
    let mut now = Instant::from_nanos(10_000_000_000);
    (0..PACKETS)
        .map(|number| {
            let gap_ns = u64::from(random.below(2 * mean_gap_us)) * 1_000;
            if random.below(16) > 0 {
                now = now + Duration::from_nanos(gap_ns);
            }
            let mut packet = Packet::new(60 + random.below(1_455), number);
            packet.ecn_capable = random.below(2) == 0;
            (now, packet)
        })
        .collect()
}

fn profile() -> impl Strategy<Value = LinkProfile> {
    let timing = (micros(60_000), micros(30_000), probability(), distribution(), order());
    let fates = (loss(), correlated(), correlated(), reorder(), any::<bool>());
    let capacity = (prop::option::of(rate()), 1..200u32, prop::option::weighted(0.3, slot()));
    (timing, fates, capacity).prop_map(|(timing, fates, (rate, limit, slot))| {
        let (delay, jitter, delay_correlation, distribution, order) = timing;
        let (loss, duplicate, corrupt, reorder, ecn) = fates;
        LinkProfile {
            delay,
            jitter,
            delay_correlation,
            distribution,
            order,
            loss,
            duplicate,
            corrupt,
            reorder,
            rate,
            bucket: None,
            limit,
            slot,
            ecn,
        }
    })
}

/// Zero as often as not.
fn micros(most: u64) -> impl Strategy<Value = Duration> {
    prop_oneof![Just(0), 0..most].prop_map(Duration::from_micros)
}

fn probability() -> impl Strategy<Value = Probability> {
    prop_oneof![2 => Just(0.0), 4 => 0.0..=1.0, 1 => Just(1.0)]
        .prop_map(|value| Probability::new(value).expect("between 0 and 1"))
}

fn correlated() -> impl Strategy<Value = Correlated> {
    (probability(), probability())
        .prop_map(|(probability, correlation)| Correlated { probability, correlation })
}

fn distribution() -> impl Strategy<Value = Distribution> {
    let table = prop::collection::vec(any::<i16>(), 1..50);
    prop_oneof![
        Just(Distribution::Uniform),
        Just(Distribution::Normal),
        Just(Distribution::Pareto),
        Just(Distribution::ParetoNormal),
        table.prop_map(|table| Distribution::Table(Arc::from(table))),
    ]
}

fn order() -> impl Strategy<Value = Order> {
    prop_oneof![2 => Just(Order::ByTime), 1 => Just(Order::Keep)]
}

fn loss() -> impl Strategy<Value = Loss> {
    let chain = || [probability(), probability(), probability(), probability(), probability()];
    prop_oneof![
        Just(Loss::None),
        correlated().prop_map(Loss::Random),
        chain().prop_map(|[p, r, one_minus_h, one_minus_k, _]| Loss::GilbertElliott {
            p,
            r,
            one_minus_h,
            one_minus_k
        }),
        chain().prop_map(|[p13, p31, p32, p23, p14]| Loss::FourState { p13, p31, p32, p23, p14 }),
    ]
}

fn reorder() -> impl Strategy<Value = Option<Reorder>> {
    let reorder = (probability(), probability(), 1..10u32)
        .prop_map(|(probability, correlation, gap)| Reorder { probability, correlation, gap });
    prop::option::weighted(0.3, reorder)
}

fn rate() -> impl Strategy<Value = RateLimit> {
    (100_000..100_000_000u64, -14..100i32, prop_oneof![Just(0), 20..200u32], -5..20i32).prop_map(
        |(bits, packet_overhead, cell_size, cell_overhead)| RateLimit {
            rate: Rate::from_bits_per_second(bits).expect("not zero"),
            packet_overhead,
            cell_size,
            cell_overhead,
        },
    )
}

fn slot() -> impl Strategy<Value = Slot> {
    let between = (micros(20_000), micros(20_000))
        .prop_map(|(a, b)| SlotSpacing::Between { min: a.min(b), max: a.max(b) });
    let distributed = (micros(20_000), micros(10_000), distribution()).prop_map(
        |(delay, jitter, distribution)| SlotSpacing::Distributed { delay, jitter, distribution },
    );
    (prop_oneof![between, distributed], 0..20u32, prop_oneof![Just(0), 0..20_000u32])
        .prop_map(|(spacing, packets, bytes)| Slot { spacing, packets, bytes })
}
