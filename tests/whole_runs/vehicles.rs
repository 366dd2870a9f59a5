//! Many vehicles on one gateway: each is as if it were alone, and all together keep to the closed
//! formulas.

use std::collections::HashSet;

use impairlab::recording::{Messages, Recording, Summary};
use impairlab::statistics::{Latency, Quantile};

use super::lab::{messages, plan, simulate};

const SENDERS: &str = "senders:
  udp: { udp: { path: a } }
  kcp: { kcp: { path: a } }
  quic: { quic: { path: a, congestion: bbr } }
  mpquic: { mpquic: { paths: [a, b], scheduler: redundant } }
  datagrams: { replicate: { paths: [a, b], copy: datagram, quic: {} } }
  messages: { replicate: { paths: [a, b], copy: message, kcp: {} } }";

fn many(vehicles: u32, workload: &str, senders: &str) -> Vec<Recording> {
    simulate(&plan(&format!(
        "paths:
  a: {{ delay: 40ms, jitter: 10ms, distribution: normal, loss: 5% }}
  b: {{ delay: 25ms, jitter: 8ms, loss: 5% }}
timeline: [ {{ at: 500ms, path: a, outage: 300ms }} ]
vehicles: {vehicles}
workload: {{ control: {{ rate: 50/s, size: 600B, deadline: 250ms, {workload} }} }}
{senders}"
    )))
}

/// What the first vehicle did, without what is told of the others.
fn first(recording: &Recording) -> Recording {
    let (others, receipts_of_others) = (Vec::new(), Vec::new());
    Recording { others, receipts_of_others, cost: None, ..recording.clone() }
}

#[test]
fn the_first_of_many_does_what_it_does_alone() {
    let alone = many(1, "duration: 2s", SENDERS);
    let together = many(5, "duration: 2s", SENDERS);
    for (alone, together) in alone.iter().zip(&together) {
        assert_eq!(together.others.len(), 4, "{}", alone.sender);
        assert!(first(together) == *alone, "{}", alone.sender);
    }
}

#[test]
fn each_has_random_numbers_of_its_own_and_the_same_ones_again() {
    let [one, again] = [0, 1].map(|_| many(5, "duration: 2s", SENDERS));
    for (one, again) in one.iter().zip(&again) {
        assert!(one.others == again.others, "{}", one.sender);
        assert!(one.receipts_of_others == again.receipts_of_others, "{}", one.sender);
        let distinct: HashSet<String> =
            one.vehicles().map(|vehicle| format!("{:?}", messages(vehicle))).collect();
        assert_eq!(distinct.len(), 5, "{}", one.sender);
    }
}

#[test]
fn a_thousand_vehicles_run_and_lose_what_the_links_ask_for() {
    let senders = "senders: { udp: { udp: { path: b } }, quic: { quic: { path: b } } }";
    for recording in many(1000, "duration: 1s", senders) {
        let summary = Summary::of(&[&recording]).unwrap();
        assert_eq!((summary.messages, summary.runs), (50_000, 1));
        let spread = summary.vehicles.as_ref().unwrap();
        assert_eq!(spread.count, 1000);
        let cost = recording.cost.unwrap();
        assert!(cost.gateway_cpu_us > 0 && cost.vehicle_cpu_us > 0, "{cost:?}");
        match recording.sender.as_str() {
            "udp" => {
                // 5 % of 50,000, give or take four standard deviations.
                assert!((2300..=2700).contains(&summary.lost), "{}", summary.lost);
                assert_eq!(spread.worst, Latency::LOST);
            }
            _ => assert_eq!(summary.lost, 0),
        }
        assert!(summary.amplification_interval.is_bounded(), "vehicles are as good as runs");
    }
}

#[test]
fn a_histogram_of_each_counts_the_same_messages() {
    let senders = "senders: { kcp: { kcp: { path: a } } }";
    let each = &many(20, "duration: 20s", senders)[0];
    let histogram = &many(20, "duration: 20s, keep: histogram", senders)[0];
    for (each, histogram) in each.vehicles().zip(histogram.vehicles()) {
        assert!(matches!(histogram.messages, Messages::Histogram(_)));
        assert_eq!(each.messages.delivered(), histogram.messages.delivered());
        assert_eq!(each.messages.scheduled(), histogram.messages.scheduled());
        let p99 = |of: &Recording| {
            of.messages.latencies().quantile(Quantile::P99).unwrap().as_ms().unwrap()
        };
        let (exact, coarse) = (p99(each), p99(histogram));
        assert!((coarse / exact - 1.0).abs() < 0.01, "{exact} ms, {coarse} ms");
    }
}

#[test]
fn the_spread_is_that_of_the_vehicles_one_by_one() {
    let recording = &many(7, "duration: 4s", "senders: { kcp: { kcp: { path: a } } }")[0];
    let mut tails: Vec<Latency> = recording
        .vehicles()
        .map(|vehicle| {
            Summary::of(&[&first(vehicle)]).unwrap().figure(Quantile::P99).unwrap().value
        })
        .map(Option::unwrap)
        .collect();
    let worst = tails.iter().max().copied().unwrap();
    let at = tails.iter().position(|p99| *p99 == worst).unwrap();
    tails.sort();
    let spread = Summary::of(&[recording]).unwrap().vehicles.unwrap();
    assert_eq!((spread.best, spread.median, spread.worst), (tails[0], tails[3], tails[6]));
    assert_eq!(spread.worst_vehicle as usize, at);
}
