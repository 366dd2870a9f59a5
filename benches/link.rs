//! Packets per second through the link model alone: one push and one pop each, in virtual time;
//! and past a witness alone: one entry and one exit each.

use std::collections::VecDeque;
use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use impairlab::engine::witness::Witness;
use impairlab::link::profile::{
    Correlated, Distribution, LinkProfile, Loss, Order, RateLimit, Slot, SlotSpacing,
};
use impairlab::link::{Link, Packet};
use impairlab::units::{Instant, Probability, Rate};

const PACKETS: u32 = 10_000;

fn through(profile: &LinkProfile, gap: Duration) -> Instant {
    let mut link = Link::new(profile, 1);
    let mut now = Instant::ZERO;
    let mut latest = Instant::ZERO;
    for number in 0..PACKETS {
        now = now + gap;
        link.push(now, Packet::new(642, number));
        while let Some(departed) = link.pop(now) {
            latest = departed.due;
        }
    }
    while let Some(departed) = link.pop(Instant::FAR_FUTURE) {
        latest = departed.due;
    }
    latest
}

/// Each packet leaves when as many are on the link as fit into 40 ms.
fn past(profile: &LinkProfile, gap: Duration) -> usize {
    let mut witness = Witness::new(profile);
    let on_the_link = (40_000_000 / gap.as_nanos() + 1) as usize;
    let mut tickets = VecDeque::with_capacity(on_the_link);
    let mut now = Instant::ZERO;
    for _ in 0..PACKETS {
        now = now + gap;
        tickets.push_back(witness.entered(now, 642));
        if tickets.len() >= on_the_link {
            tickets.pop_front().into_iter().for_each(|ticket| witness.left(ticket, now));
        }
    }
    witness.finish().len()
}

fn p(value: f64) -> Probability {
    Probability::new(value).expect("between 0 and 1")
}

/// 4G with medium loss: 40 ± 10 ms, 2 %.
fn mobile() -> LinkProfile {
    let chance = Correlated { probability: p(0.02), correlation: p(0.0) };
    LinkProfile {
        delay: Duration::from_millis(40),
        jitter: Duration::from_millis(10),
        distribution: Distribution::Normal,
        loss: Loss::Random(chance),
        limit: 100_000,
        ..LinkProfile::default()
    }
}

fn rate(bits_per_second: u64) -> RateLimit {
    let rate = Rate::from_bits_per_second(bits_per_second).expect("not zero");
    RateLimit { rate, packet_overhead: 24, cell_size: 0, cell_overhead: 0 }
}

fn profiles() -> [(&'static str, LinkProfile); 5] {
    let slot = Slot {
        spacing: SlotSpacing::Between {
            min: Duration::from_millis(5),
            max: Duration::from_millis(15),
        },
        packets: 0,
        bytes: 0,
    };
    [
        ("transparent", LinkProfile::default()),
        ("mobile", mobile()),
        ("mobile, order kept", LinkProfile { order: Order::Keep, ..mobile() }),
        ("mobile, 40 Mbit/s", LinkProfile { rate: Some(rate(40_000_000)), ..mobile() }),
        ("mobile, slots", LinkProfile { slot: Some(slot), ..mobile() }),
    ]
}

fn link(criterion: &mut Criterion) {
    for (gap_name, gap) in [("50/s", 20_000_000), ("10k/s", 100_000), ("1M/s", 1_000)] {
        let mut group = criterion.benchmark_group(format!("link at {gap_name}"));
        group.throughput(Throughput::Elements(PACKETS.into()));
        for (name, profile) in profiles() {
            group.bench_function(name, |bencher| {
                bencher.iter(|| through(black_box(&profile), Duration::from_nanos(gap)));
            });
        }
        group.finish();
    }
}

fn witness(criterion: &mut Criterion) {
    let gap = Duration::from_micros(100);
    let mut group = criterion.benchmark_group("witness at 10k/s");
    group.throughput(Throughput::Elements(PACKETS.into()));
    for (name, profile) in profiles() {
        group.bench_function(name, |bencher| bencher.iter(|| past(black_box(&profile), gap)));
    }
    group.finish();
}

criterion_group!(benches, link, witness);
criterion_main!(benches);
