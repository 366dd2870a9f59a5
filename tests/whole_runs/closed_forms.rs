//! Whole runs in virtual time against formulas that know nothing of our code.

use std::path::Path;

use impairlab::recording::{Figure, Summary};
use impairlab::statistics::Latency;

use super::lab::{latencies_ms, longest_gap_ms, messages, plan, quantile, simulate};

/// How many standard deviations a count of independent events may be off: one wrong alarm in
/// 15,000.
const SIGMAS: f64 = 4.0;

#[test]
fn netem_seed_vector_drops_the_packets_the_kernel_drops() {
    let mut vector = plan(
        "paths: { p: { loss: 10% } }
workload: { control: { rate: 50/s, size: 100B, duration: 500ms, deadline: 250ms } }
senders: { udp: { udp: {} } }",
    );
    vector.seed = 1;
    let link_seed = impairlab::engine::Trial {
        plan: vector.clone().into(),
        sender: 0,
        repetition: 0,
        vehicle: 0,
        qlog: None,
    }
    .link_seed(impairlab::units::PathId(0), impairlab::units::Direction::Up, 0);
    assert_ne!(link_seed, 42_424_242, "a plan's seed is not a link's seed");
    let mut link = impairlab::link::Link::new(&vector.paths[0].up, 42_424_242);
    let lost = (1..=25).filter(|_| {
        let packet = impairlab::link::Packet::new(100, ());
        link.push(impairlab::units::Instant::ZERO, packet) == impairlab::link::Pushed::Lost
    });
    assert_eq!(lost.collect::<Vec<_>>(), [5, 12, 24]);
}

#[test]
fn two_replicated_udp_paths_lose_the_product() {
    let plan = plan(
        "paths: { a: { delay: 40ms, loss: 10% }, b: { delay: 25ms, loss: 20% } }
workload: { control: { rate: 500/s, size: 100B, duration: 120s, deadline: 250ms } }
senders:
  datagrams: { replicate: { paths: [a, b], copy: datagram, udp: {} } }
  messages: { replicate: { paths: [a, b], copy: message, udp: {} } }",
    );
    for recording in simulate(&plan) {
        let messages = messages(&recording);
        let count = messages.len() as f64;
        let lost = messages.iter().filter(|message| message.delivered.is_none()).count() as f64;
        let (expected, spread) = (count * 0.02, (count * 0.02 * 0.98).sqrt());
        assert!(
            (lost - expected).abs() <= SIGMAS * spread,
            "{}: lost {lost}, expected {expected} ± {spread:.0}",
            recording.sender
        );
    }
}

#[test]
fn two_replicated_udp_paths_are_as_fast_as_the_faster_of_both() {
    let plan = plan(
        "paths:
  a: { delay: 40ms, jitter: 10ms, distribution: normal, loss: 10% }
  b: { delay: 25ms, jitter: 8ms, distribution: normal, loss: 20% }
workload: { control: { rate: 500/s, size: 100B, duration: 100s, deadline: 250ms } }
senders:
  a: { udp: { path: a } }
  b: { udp: { path: b } }
  both: { replicate: { paths: [a, b], copy: message, udp: {} } }",
    );
    let each: Vec<Vec<f64>> = simulate(&plan).iter().map(latencies_ms).collect();
    let share = |of: &[f64], within: f64| {
        of.iter().filter(|latency| **latency <= within).count() as f64 / of.len() as f64
    };
    // Dvoretzky-Kiefer-Wolfowitz: no empirical distribution of n samples is further than this from
    // the true one, but once in 1,000; three are compared.
    let bound = 3.0 * ((2.0_f64 / 0.001).ln() / (2.0 * each[2].len() as f64)).sqrt();
    for within in (5..=80).map(f64::from) {
        let expected = 1.0 - (1.0 - share(&each[0], within)) * (1.0 - share(&each[1], within));
        let measured = share(&each[2], within);
        assert!((measured - expected).abs() < bound, "{within} ms: {measured} not {expected}");
    }
    assert!(bound < 0.03);
}

#[test]
fn an_outage_moves_the_quantiles_of_a_reliable_path_by_what_it_lasts() {
    let plan = plan(
        "paths: { p: { delay: 40ms } }
timeline: [{ at: 20s, path: p, outage: 5s }]
workload: { control: { rate: 50/s, size: 600B, duration: 60s, deadline: 250ms } }
senders:
  kcp: { kcp: { flush-at-once: true } }
  quic: { quic: { congestion: { fixed-window: 4MiB } } }",
    );
    for recording in simulate(&plan) {
        let latencies = latencies_ms(&recording);
        assert!(latencies.iter().all(|latency| latency.is_finite()), "nothing is lost");
        // QUIC sends all that was lost at once; KCP each segment when its own timer says so.
        let catch_up_ms = if recording.sender == "quic" { 20.0 } else { 600.0 };
        // The first delivery after the outage tells how long the sender itself took to notice that
        // it was over.
        let noticed_ms = messages(&recording)
            .iter()
            .filter_map(|message| message.delivered)
            .filter(|at| *at >= 25_000_000_000)
            .min()
            .map_or(f64::INFINITY, |at| at as f64 / 1e6 - 25_000.0);
        for share in [0.99, 0.999] {
            let dark = 5_000.0 - (1.0 - share) * 60_000.0;
            let measured = quantile(&latencies, share);
            // Messages fall due every 20 ms.
            let at_least = dark + noticed_ms - 20.0;
            let at_most = dark + noticed_ms + catch_up_ms;
            assert!(
                (at_least..=at_most).contains(&measured),
                "{} P{}: {measured} ms, not within {at_least} and {at_most}",
                recording.sender,
                share * 100.0
            );
        }
    }
}

/// The shipped scenario, ten seeds: what its users take from it.
#[test]
fn redundant_senders_have_no_gap_in_the_outage_and_single_paths_have_all_of_it() {
    let scenario = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios/handover-5s.yaml");
    let mut plan = impairlab::scenario::load(&scenario).expect("a shipped scenario");
    plan.repeat = 10;
    for recording in simulate(&plan) {
        let gap_ms = longest_gap_ms(&recording);
        let redundant = recording.protocol.paths().len() > 1;
        let expected = if redundant { 0.0..=250.0 } else { 4_900.0..=8_000.0 };
        assert!(
            expected.contains(&gap_ms),
            "{}, run {}: a gap of {gap_ms} ms, not {expected:?}",
            recording.sender,
            recording.repetition
        );
    }
}

#[test]
fn an_echo_takes_the_way_up_and_the_way_down() {
    let plan = plan(
        "paths: { p: { up: { delay: 40ms }, down: { delay: 25ms } } }
workload: { echo: { rate: 50/s, size: 600B, response-size: 200B, duration: 5s, deadline: 250ms } }
senders: { udp: { udp: {} } }",
    );
    let recordings = simulate(&plan);
    assert!(latencies_ms(&recordings[0]).iter().all(|latency| *latency == 65.0));
    let wire = recordings[0].wire[0];
    assert_eq!((wire.up.offered.bytes, wire.down.offered.bytes), (250 * 628, 250 * 228));
}

/// Of the same trial, each message and the histogram: three significant digits.
#[test]
fn a_histogram_tells_the_same_as_each_message() {
    let of_trial = |keep: &str| {
        let plan = plan(&format!(
            "paths: {{ a: {{ delay: 40ms, jitter: 10ms, loss: 3% }}, b: {{ delay: 25ms, loss: 1% }} }}
timeline: [{{ at: 20s, path: a, outage: 5s }}]
workload: {{ control: {{ rate: 50/s, size: 600B, duration: 60s, deadline: 250ms, keep: {keep} }} }}
senders:
  udp: {{ udp: {{ path: a }} }}
  kcp: {{ kcp: {{ path: a }} }}
  mpquic: {{ mpquic: {{ paths: [a, b] }} }}"
        ));
        let recordings = simulate(&plan);
        recordings
            .iter()
            .map(|recording| Summary::of(&[recording]).expect("one"))
            .collect::<Vec<_>>()
    };
    for (each, histogram) in of_trial("messages").iter().zip(of_trial("histogram")) {
        let counts = |summary: &Summary| (summary.messages, summary.delivered, summary.late);
        assert_eq!(counts(each), counts(&histogram), "{}", each.sender);
        assert_eq!(each.longest_gap.gap, histogram.longest_gap.gap, "{}", each.sender);
        assert_eq!(each.amplification, histogram.amplification, "{}", each.sender);
        for (one, other) in each.quantiles.iter().zip(histogram.quantiles) {
            let ms = |figure: &Figure| figure.value.map(Latency::as_ms_or_infinity).expect("one");
            let (one, other) = (ms(one), ms(&other));
            assert!(one == other || (one / other - 1.0).abs() < 0.001, "{one} or {other}");
        }
    }
}

#[test]
fn rate_spaces_packets_by_their_length_and_the_queue_holds_what_it_is_told() {
    // 1,000 messages a second of 600 B into 1 Mbit/s: 642 B with all headers take 5.136 ms each.
    let plan = plan(
        "paths: { p: { rate: 1Mbit/s, queue: 20 } }
workload: { control: { rate: 1000/s, size: 600B, duration: 2s, deadline: 250ms } }
senders: { udp: { udp: {} } }",
    );
    let recordings = simulate(&plan);
    let mut arrivals: Vec<u64> =
        messages(&recordings[0]).iter().filter_map(|message| message.delivered).collect();
    arrivals.sort_unstable();
    assert!(arrivals.windows(2).all(|pair| pair[1] - pair[0] == 5_136_000), "{arrivals:?}");
    // Sent within 2 s, and the 20 that the queue held at the end.
    let served = 2_000_000_000_u64.div_euclid(5_136_000);
    assert!((served..=served + 21).contains(&(arrivals.len() as u64)), "{}", arrivals.len());
    let wire = recordings[0].wire[0].up;
    assert_eq!(wire.offered.packets, 2000);
    assert_eq!(wire.overflowed + wire.delivered, 2000);
}

#[test]
fn a_sender_does_the_same_whatever_others_a_scenario_has() {
    let with = |others: &str| {
        let plan = plan(&format!(
            "paths: {{ a: {{ delay: 40ms, jitter: 10ms, loss: 2% }}, b: {{ delay: 25ms, loss: 2% }} }}
workload: {{ control: {{ rate: 50/s, size: 600B, duration: 20s, deadline: 250ms }} }}
senders:
{others}  noq: {{ mpquic: {{ paths: [a, b], stack: noq }} }}
  tquic: {{ mpquic: {{ paths: [a, b] }} }}"
        ));
        let mut recordings = simulate(&plan);
        recordings.split_off(recordings.len() - 2)
    };
    assert!(with("") == with("  udp: { udp: { path: a } }\n  quic: { quic: { path: a } }\n"));
}
