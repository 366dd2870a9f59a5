use std::path::Path;
use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::link::profile::{
    Correlated, Distribution, Loss, Order, RateLimit, Reorder, Slot, SlotSpacing, TokenBucket,
};
use crate::scenario::load_str;
use crate::units::{Probability, Rate};

const SCENARIO: &str = "\
version: 1
name: written
about: \"a: 'quoted' #text\"
paths:
  4g: { profile: 4g-city-medium, up: { rate: 10Mbit/s } }
  5g: { delay: 25ms, loss: { gilbert-elliott: { p: 1%, r: 30% } }, slot: { min: 1ms, bytes: 9kB } }
timeline:
  - { at: 10s, path: 5g, set: { delay: 97ms, rate: 2Mbit/s }, direction: down, for: 20s }
  - { at: 20s, path: 4g, outage: 5s }
workload:
  echo: { rate: 2.5/s, size: 600B, response-size: 64B, duration: 60s, deadline: 250ms }
senders:
  udp: { udp: { path: 5g } }
  kcp: { replicate: { paths: [5g, 4g], copy: message, kcp: { mtu: 1200B, nc: 0 } } }
  quic: { quic: { path: 4g, congestion: { fixed-window: 64KiB }, mode: stream-per-message } }
  mpquic: { mpquic: { paths: [4g, 5g], scheduler: minrtt, congestion: copa } }
repeat: 3
seed: 18446744073709551615
claims:
  - { source: somebody, sender: kcp, p50: 70ms, amplification: 1.7, longest-gap: 5s }
";

fn read(text: &str) -> Plan {
    load_str(Path::new("written.yaml"), text).unwrap_or_else(|wrong| panic!("{wrong}\n{text}"))
}

#[test]
fn a_plan_is_written_as_a_scenario_that_says_everything() {
    insta::assert_snapshot!(scenario(&read(SCENARIO)));
}

#[test]
fn what_is_written_is_read_as_the_same_plan() {
    let plan = read(SCENARIO);
    let again = read(&scenario(&plan));
    let links = |plan: &Plan| -> Vec<_> {
        plan.paths
            .iter()
            .map(|path| (path.name.clone(), path.up.clone(), path.down.clone()))
            .collect()
    };
    assert_eq!(again.timeline.changes, plan.timeline.changes);
    assert_eq!(links(&again), links(&plan));
    assert_eq!(again.workload, plan.workload);
    assert_eq!(again.senders, plan.senders);
    assert_eq!(again.claims, plan.claims);
    let rest = |plan: &Plan| (plan.name.clone(), plan.about.clone(), plan.repeat, plan.seed);
    assert_eq!(rest(&again), rest(&plan));
}

fn percent() -> impl Strategy<Value = Probability> {
    (0u32..=1_000_000).prop_map(|n| {
        let percent: f64 = format!("{}.{:04}", n / 10_000, n % 10_000).parse().expect("a number");
        Probability::new(percent / 100.0).expect("at most 100 %")
    })
}

fn correlated() -> impl Strategy<Value = Correlated> {
    (percent(), percent())
        .prop_map(|(probability, correlation)| Correlated { probability, correlation })
}

fn duration() -> impl Strategy<Value = Duration> {
    (1u64..3_600_000_000_000).prop_map(Duration::from_nanos)
}

fn distribution() -> impl Strategy<Value = Distribution> {
    prop_oneof![
        Just(Distribution::Uniform),
        Just(Distribution::Normal),
        Just(Distribution::Pareto),
        Just(Distribution::ParetoNormal)
    ]
}

fn loss() -> impl Strategy<Value = Loss> {
    let certain = |correlated: &Correlated| !correlated.probability.is_never();
    let half = |p: Probability| Probability::new(p.as_f64() / 2.0).expect("half of it");
    prop_oneof![
        Just(Loss::None),
        correlated().prop_filter("else it is none", certain).prop_map(Loss::Random),
        (percent(), percent(), percent(), percent()).prop_map(
            |(p, r, one_minus_h, one_minus_k)| {
                Loss::GilbertElliott { p, r, one_minus_h, one_minus_k }
            }
        ),
        (percent(), percent(), percent()).prop_map(move |(a, b, p23)| Loss::FourState {
            p13: half(a),
            p31: half(b),
            p32: half(a),
            p23,
            p14: half(b),
        }),
    ]
}

fn rate() -> impl Strategy<Value = RateLimit> {
    (1u64..100_000_000_000, -10_000i32..10_000, 1u32..1000, -10_000i32..10_000, any::<bool>())
        .prop_map(|(bits, packet_overhead, cell, cell_overhead, cells)| RateLimit {
            rate: Rate::from_bits_per_second(bits).expect("not zero"),
            packet_overhead,
            cell_size: if cells { cell } else { 0 },
            cell_overhead: if cells { cell_overhead } else { 0 },
        })
}

fn bucket() -> impl Strategy<Value = TokenBucket> {
    (1u64..100_000_000_000, 1_514u32..1 << 30, 1_514u32..1 << 30).prop_map(
        |(bits, burst, queue)| TokenBucket {
            rate: Rate::from_bits_per_second(bits).expect("not zero"),
            burst,
            queue,
        },
    )
}

fn slot() -> impl Strategy<Value = Slot> {
    let spacing = prop_oneof![
        (duration(), duration())
            .prop_map(|(a, b)| { SlotSpacing::Between { min: a.min(b), max: a.max(b) } }),
        (duration(), duration(), distribution()).prop_map(|(delay, jitter, distribution)| {
            SlotSpacing::Distributed { delay, jitter, distribution }
        }),
    ];
    (spacing, 0u32..1000, 0u32..1_000_000).prop_map(|(spacing, packets, bytes)| Slot {
        spacing,
        packets,
        bytes,
    })
}

fn reordering() -> impl Strategy<Value = Reorder> {
    (correlated(), 1u32..1000).prop_map(|(Correlated { probability, correlation }, gap)| Reorder {
        probability,
        correlation,
        gap,
    })
}

prop_compose! {
    fn link_profile()(
        (delay, jitter, delay_correlation) in (duration(), duration(), percent()),
        distribution in distribution(),
        order in prop_oneof![Just(Order::Keep), Just(Order::ByTime)],
        loss in loss(),
        (duplicate, corrupt) in (correlated(), correlated()),
        reorder in prop::option::of(reordering()),
        rate in prop::option::of(rate()),
        bucket in prop::option::weighted(0.3, bucket()),
        slot in prop::option::of(slot()),
        (limit, ecn) in (1u32..1_000_000, any::<bool>()),
    ) -> LinkProfile {
        LinkProfile {
            delay, jitter, delay_correlation, distribution, order, loss, duplicate, corrupt,
            reorder, rate: rate.filter(|_| bucket.is_none()), bucket, limit, slot, ecn,
        }
    }
}

proptest! {
    #[test]
    fn every_link_is_read_as_it_was_written(up in link_profile(), down in link_profile()) {
        let mut plan = read(SCENARIO);
        plan.timeline = Timeline::default();
        plan.paths[0] = PathPlan { up: up.clone(), down: down.clone(), ..plan.paths[0].clone() };
        let again = read(&scenario(&plan));
        prop_assert_eq!(&again.paths[0].up, &up);
        prop_assert_eq!(&again.paths[0].down, &down);
    }
}
