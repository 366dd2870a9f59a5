use std::path::Path;
use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::link::overrides::Overrides;
use crate::link::profile::{
    Correlated, Distribution, Loss, Order, RateLimit, Reorder, Slot, SlotSpacing, TokenBucket,
};
use crate::scenario::{load, load_str, quantity};
use crate::timeline::{Effect, Entry, Timeline};
use crate::units::{Direction, PathId, Probability, Rate};

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

/// All but where the settings of a path came from, which are comments in what is written.
fn without_profiles(mut plan: Plan) -> Plan {
    for path in &mut plan.paths {
        (path.profile, path.sources) = (None, Vec::new());
    }
    plan
}

fn assert_read_back(plan: Plan) {
    let text = scenario(&plan);
    assert_eq!(read(&text), without_profiles(plan), "{text}");
}

#[test]
fn what_is_written_is_read_as_the_same_plan() {
    assert_read_back(read(SCENARIO));
}

#[test]
fn every_shipped_scenario_is_read_as_it_was_written() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    let mut outages = 0;
    for entry in std::fs::read_dir(&folder).expect("the shipped scenarios").flatten() {
        if entry.path().extension().is_some_and(|extension| extension == "yaml") {
            let plan = load(&entry.path()).unwrap_or_else(|wrong| panic!("{wrong}"));
            outages += plan.timeline.outages.len();
            assert_read_back(plan);
        }
    }
    assert!(outages > 0);
}

/// Names and texts that YAML could take for something else.
#[test]
fn what_looks_like_something_else_is_read_as_it_was_written() {
    for name in ["null", "true", "no", "404", "1e5", "007", "0x1f", "1-2", "2026-12-01", "nan"] {
        let text = SCENARIO
            .replace("name: written", &format!("name: \"{name}\""))
            .replace("5g: {", &format!("\"{name}\": {{"))
            .replace("path: 5g", &format!("path: \"{name}\""))
            .replace("[5g, 4g]", &format!("[\"{name}\", 4g]"))
            .replace("[4g, 5g]", &format!("[4g, \"{name}\"]"))
            .replace("kcp: { rep", &format!("\"{name}\": {{ rep"))
            .replace("sender: kcp", &format!("sender: \"{name}\""));
        let plan = read(&text);
        assert_eq!((&plan.name[..], &plan.paths[1].name[..]), (name, name));
        assert_read_back(plan);
    }
}

/// What is left of 100 % is no number of its own: 1 − 0.07 is not 0.93.
#[test]
fn every_probability_is_read_as_it_was_written() {
    for percent in (1..1000).map(|tenths| format!("{}.{}%", tenths / 10, tenths % 10)) {
        let loss = format!("gilbert-elliott: {{ p: {percent} }}");
        assert_read_back(read(&SCENARIO.replace("gilbert-elliott: { p: 1%, r: 30% }", &loss)));
    }
    for p in ["0.00000000000001%", "33.3333333333333333%", "0.7%", "99.9999999999999%"] {
        assert_read_back(read(&SCENARIO.replace("p: 1%, r: 30%", &format!("p: {p}"))));
    }
}

#[test]
fn a_table_is_written_in_full() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let samples: String =
        (0..16_384).map(|i| format!("{}\n", (i * 7_919) % 65_536 - 32_768)).collect();
    std::fs::write(folder.path().join("a.dist"), samples).expect("a new file");
    std::fs::write(folder.path().join("b.dist"), "-1 0 1").expect("a new file");
    let tables = SCENARIO
        .replace("5g: { delay: 25ms,", "5g: { delay: 25ms, distribution: { table: a.dist },")
        .replace("slot: { min: 1ms,", "slot: { delay: 1ms, distribution: { table: b.dist },")
        .replace("set: { delay: 97ms,", "set: { distribution: { table: b.dist },");
    let plan = load_str(&folder.path().join("tables.yaml"), &tables);
    let plan = plan.unwrap_or_else(|wrong| panic!("{wrong}"));
    assert_eq!(plan.timeline.changes.len(), 6);
    assert_read_back(plan);
}

#[test]
fn changes_are_written_whatever_they_overlap_with() {
    for timeline in [
        // Until the very end.
        "{ at: 50s, path: 5g, set: { delay: 97ms }, for: 10s }",
        "{ at: 50s, path: 5g, outage: 10s }",
        // The end of one uncovers another, which was covered from its begin.
        "{ at: 10s, path: 5g, set: { delay: 97ms } }, \
         { at: 10s, path: 5g, set: { delay: 25ms }, for: 50s }",
        // Within an outage, at its begin and at its end.
        "{ at: 20s, path: 5g, outage: 10s }, \
         { at: 20s, path: 5g, set: { delay: 1ms, loss: 3% } }, \
         { at: 25s, path: 5g, set: { ecn: true, jitter: 9ms, duplicate: 5% } }, \
         { at: 30s, path: 5g, set: { loss: 5% }, direction: up }",
        "{ at: 50s, path: 5g, outage: 10s }, { at: 55s, path: 5g, set: { loss: 3% } }",
        // Nothing to be seen of it.
        "{ at: 20s, path: 5g, outage: 10s }, { at: 25s, path: 5g, set: { loss: 3% }, for: 2s }",
        // As dark as an outage, and none.
        "{ at: 20s, path: 5g, set: { loss: 100% }, for: 5s }, { at: 22s, path: 5g, outage: 1s }",
    ] {
        let (before, rest) = SCENARIO.split_once("timeline:\n").expect("a timeline");
        let (_, after) = rest.split_once("workload:").expect("a workload");
        let text = format!("{before}timeline: [{timeline}]\nworkload:{after}");
        assert_read_back(read(&text));
    }
}

fn percent() -> impl Strategy<Value = Probability> {
    (0u32..=1_000_000).prop_map(|n| {
        let percent = format!("{}.{:04}%", n / 10_000, n % 10_000);
        quantity::probability(&percent).expect("at most 100 %")
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
        Just(Distribution::ParetoNormal),
        prop::collection::vec(any::<i16>(), 1..40)
            .prop_map(|samples| Distribution::Table(samples.into())),
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

/// Settings of another link, some of them.
fn overrides() -> impl Strategy<Value = Overrides> {
    fn some<T>(chosen: u16, bit: u16, value: T) -> Option<T> {
        (chosen & 1 << bit != 0).then_some(value)
    }
    (link_profile(), 1u16..1 << 12).prop_map(|(it, chosen)| Overrides {
        delay: some(chosen, 0, it.delay),
        jitter: some(chosen, 1, it.jitter),
        delay_correlation: some(chosen, 2, it.delay_correlation),
        distribution: some(chosen, 3, it.distribution),
        order: some(chosen, 4, it.order),
        loss: some(chosen, 5, it.loss),
        duplicate: some(chosen, 6, it.duplicate),
        corrupt: some(chosen, 7, it.corrupt),
        reorder: some(chosen, 8, it.reorder),
        // Written under one key, and so never apart.
        rate: some(chosen, 9, it.rate),
        bucket: some(chosen, 9, it.bucket),
        limit: some(chosen, 10, it.limit),
        slot: some(chosen, 11, it.slot),
        ecn: some(chosen, 5, it.ecn),
    })
}

/// In steps of 5 s, so that much happens at once; within the 60 s of the workload.
fn entry() -> impl Strategy<Value = Entry> {
    let direction = prop::option::of(prop_oneof![Just(Direction::Up), Just(Direction::Down)]);
    let effect = prop_oneof![
        1 => Just(Effect::Outage),
        3 => (direction, overrides()).prop_map(|(direction, settings)| Effect::Set {
            direction,
            settings: Box::new(settings),
        }),
    ];
    let step = |n: u64| Duration::from_secs(5 * n);
    (0u8..2, 0u64..12, 1u64..=12, any::<bool>(), effect).prop_map(
        move |(path, from, length, ends, effect)| {
            let until = Some(step((from + length).min(12)));
            let until = until.filter(|_| ends || effect == Effect::Outage);
            Entry { path: PathId(path), from: step(from), until, effect }
        },
    )
}

proptest! {
    #[test]
    fn every_timeline_is_read_as_it_was_written(
        first in [link_profile(), link_profile(), link_profile(), link_profile()],
        entries in prop::collection::vec(entry(), 0..8),
        (repeat, seed) in (1u32..1000, any::<u64>()),
        about in "[^\\p{Cc}\\s]{0,20}",
    ) {
        let mut plan = read(SCENARIO);
        let [a, b, c, d] = first;
        let first = [[a, b], [c, d]];
        for (path, [up, down]) in plan.paths.iter_mut().zip(first.clone()) {
            (path.up, path.down) = (up, down);
        }
        plan.timeline = Timeline::resolve(&first, entries);
        plan.name = "other".to_owned();
        plan.claims.clear();
        (plan.repeat, plan.seed, plan.about) = (repeat, seed, about);
        let text = scenario(&plan);
        prop_assert_eq!(read(&text), without_profiles(plan), "{}", text);
    }

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
