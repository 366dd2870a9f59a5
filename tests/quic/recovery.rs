//! Each setting of acknowledgements, loss detection and probes does on the wire what it says: on a
//! clean link of 30 ms each way, where every instant can be worked out by hand.

use std::time::Duration;

use impairlab::protocol::settings::{QuicCongestion, QuicMode, QuicTransport, TquicSettings};
use impairlab::protocol::{Protocol, Role};

use crate::senders::{FIXED, quic_from, quic_settings, tquic_from};
use crate::virtual_lab::{Lab, Path, Run, Work, run};

const PLAIN: Path = Path::new(30.0, 0.0, 0.0);
const ROUND_TRIP_MS: f64 = 60.0;

fn with(
    congestion: QuicCongestion,
    change: impl Fn(&mut QuicTransport),
) -> impl Fn(Role) -> Box<dyn Protocol> {
    let mut settings = quic_settings(congestion, QuicMode::Stream);
    change(&mut settings.transport);
    quic_from(settings, 1)
}

/// A message every millisecond for a second.
fn busy(path: Path, change: impl Fn(&mut QuicTransport)) -> Run {
    let work = Work { rate: 1_000, size: 600, duration: Duration::from_secs(1) };
    run(&[path], work, 1, true, with(FIXED, change))
}

/// Datagrams the server sent in the middle of the workload: acknowledgements, all of them.
fn acknowledgements(run: &Run) -> usize {
    let from_server = |(at, side, ..): &(u64, u8, u8, u16)| (*side == 1).then_some(*at);
    let all: Vec<u64> = run.trace.iter().filter_map(from_server).collect();
    let end = run.trace.iter().rfind(|(_, side, ..)| *side == 0).unwrap().0;
    let middle = (end - 900_000_000)..(end - 100_000_000);
    all.into_iter().filter(|at| middle.contains(at)).count()
}

/// 800 packets are counted. quinn skips a packet number now and then, and a gap is acknowledged at
/// once: hence the few more.
#[test]
fn the_ack_threshold_is_how_many_packets_go_unacknowledged() {
    for (threshold, expected) in [(0, 800), (1, 400), (3, 200), (9, 80)] {
        let acks = acknowledgements(&busy(PLAIN, |transport| transport.ack_threshold = threshold));
        assert!((expected..expected + 12).contains(&acks), "{threshold}: {acks} of {expected}");
    }
}

/// With a threshold that is never reached an acknowledgement comes every 25 ms (and the packet that
/// starts the wait), but for what is out of order.
#[test]
fn the_reordering_threshold_is_how_far_out_of_order_is_acknowledged_at_once() {
    let jittery = Path::new(30.0, 3.0, 0.0);
    let count = |reordering| {
        acknowledgements(&busy(jittery, |transport| {
            transport.ack_threshold = 1_000;
            transport.reordering_threshold = reordering;
        }))
    };
    let [never, at_once, from_three] = [0, 1, 3].map(count);
    assert!((28..36).contains(&never), "{never}");
    assert!(at_once > 300, "{at_once}");
    assert!(never + 20 < from_three && from_three + 100 < at_once, "{from_three} of {at_once}");
}

/// A hundred messages a second, each acknowledged at once; the one sent at 200 ms is lost.
fn latency_of_a_lost_message(change: impl Fn(&mut QuicTransport)) -> f64 {
    let work = Work { rate: 100, size: 600, duration: Duration::from_secs(1) };
    let sender = with(FIXED, |transport| {
        transport.ack_threshold = 0;
        change(transport);
    });
    let run = run(&[PLAIN.dark(195, 205)], work, 1, false, sender);
    assert_eq!(run.delivered(), 100);
    run.latencies[20].unwrap() as f64 / 1e6
}

/// The acknowledgement of the packet `threshold` later tells of the loss: it was sent 10 ms ×
/// threshold later, took a round trip, and the message then goes once more.
#[test]
fn the_packet_threshold_decides_after_how_many_packets_a_loss_is_seen() {
    for threshold in [3, 5, 12] {
        let latency = latency_of_a_lost_message(|transport| {
            transport.packet_threshold = threshold;
            transport.time_threshold = 8.0;
        });
        let expected = 10.0 * f64::from(threshold) + ROUND_TRIP_MS + 30.0;
        assert!((latency - expected).abs() < 0.001, "{threshold}: {latency} of {expected}");
    }
}

#[test]
fn the_time_threshold_decides_after_how_long_a_loss_is_seen() {
    for threshold in [1.25, 1.5, 3.0] {
        let latency = latency_of_a_lost_message(|transport| {
            transport.packet_threshold = 1_000;
            transport.time_threshold = threshold;
        });
        let expected = threshold * ROUND_TRIP_MS + 30.0;
        assert!((latency - expected).abs() < 0.001, "{threshold}: {latency} of {expected}");
    }
}

/// Bytes of a burst of 200 kB that leave before the first acknowledgement can have come.
fn first_flight(congestion: QuicCongestion, window: u64) -> u64 {
    let mut lab = Lab::new(&[PLAIN], 1, with(congestion, |t| t.initial_window = window));
    lab.connect();
    lab.impair();
    lab.run_until(lab.now + Duration::from_secs(1));
    lab.trace = Some(Vec::new());
    let start = lab.now;
    for _ in 0..200 {
        lab.send(0, &[7; 1_000]);
    }
    lab.run_until(start + Duration::from_millis(59));
    let sent = lab.trace.iter().flatten().filter(|(_, side, ..)| *side == 0);
    sent.map(|(.., size)| u64::from(*size)).sum()
}

#[test]
fn the_initial_window_is_what_is_sent_before_the_first_acknowledgement() {
    for congestion in [QuicCongestion::Cubic, QuicCongestion::NewReno] {
        for window in [4_800, 12_000, 60_000] {
            let sent = first_flight(congestion, window);
            // What the handshake had acknowledged has widened it by less than three packets.
            assert!((window - 1_200..window + 3_600).contains(&sent), "{congestion:?} {sent}");
        }
    }
}

/// How long 200 kB take when the path is dark for three seconds after the first tenth of a second.
fn transfer_through_an_outage(threshold: u32) -> Duration {
    let sender = with(QuicCongestion::NewReno, |transport| {
        transport.persistent_congestion_threshold = threshold;
        transport.initial_window = 60_000;
    });
    let mut lab = Lab::new(&[PLAIN.dark(100, 3_100)], 1, sender);
    lab.connect();
    lab.impair();
    let start = lab.now;
    for _ in 0..400 {
        lab.send(0, &[7; 1_000]);
    }
    while lab.delivered[1].len() < 400 {
        lab.step(start + Duration::from_secs(600));
    }
    lab.now.saturating_since(start)
}

/// Persistent congestion begins anew with two packets; without it the window is halved once.
#[test]
fn the_persistent_congestion_threshold_decides_whether_an_outage_resets_the_window() {
    let (reset, kept) = (transfer_through_an_outage(3), transfer_through_an_outage(1_000));
    assert!(reset > kept + Duration::from_millis(100), "{reset:?} {kept:?}");
}

/// Milliseconds between the datagrams that a redundant sender puts on a path that is dark, once its
/// workload is over: its probes, one or two at once.
fn probe_gaps_ms(settings: TquicSettings) -> Vec<f64> {
    let work = Work { rate: 50, size: 600, duration: Duration::from_secs(6) };
    let paths = [PLAIN, PLAIN.dark(5_000, 60_000)];
    let run = run(&paths, work, 1, true, tquic_from(settings, 7));
    let on = |wanted: u8| {
        let sent = move |(at, side, path, _): &(u64, u8, u8, u16)| {
            (*side == 0 && *path == wanted).then_some(*at as f64 / 1e6)
        };
        run.trace.iter().filter_map(sent)
    };
    // On the other path nothing is left to send once the last message is acknowledged.
    let over = on(0).fold(0.0, f64::max);
    let mut at: Vec<f64> = on(1).filter(|at| *at > over).collect();
    at.dedup_by(|a, b| *a - *b < 5.0);
    at.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

#[test]
fn tquic_probes_a_dark_path_less_and_less_often_up_to_the_longest_timeout() {
    let doubling = probe_gaps_ms(TquicSettings::new());
    assert!(doubling.len() >= 5, "{doubling:?}");
    assert!(doubling.windows(2).all(|gap| (gap[1] / gap[0] - 2.0).abs() < 0.05), "{doubling:?}");
    for max_pto in [200, 500] {
        let settings =
            TquicSettings { max_pto: Some(Duration::from_millis(max_pto)), ..TquicSettings::new() };
        let gaps = probe_gaps_ms(settings);
        let at_most = max_pto as f64 + 1.0;
        let capped = gaps.iter().filter(|gap| **gap > at_most - 2.0).count();
        assert!(gaps.iter().all(|gap| *gap < at_most) && capped > 10, "{gaps:?}");
    }
}

#[test]
fn tquic_doubles_its_probe_timeout_only_after_the_linear_ones() {
    let linear = |count| {
        let settings = TquicSettings { pto_linear_factor: count, ..TquicSettings::new() };
        let gaps = probe_gaps_ms(settings);
        let shortest = gaps.iter().copied().fold(f64::MAX, f64::min);
        gaps.iter().filter(|gap| **gap < 1.1 * shortest).count()
    };
    // Those of them that come after the last message are seen.
    let [none, some, more] = [0, 40, 60].map(linear);
    assert!(none <= 1 && some > 20 && more.abs_diff(some + 20) <= 1, "{none} {some} {more}");
}
