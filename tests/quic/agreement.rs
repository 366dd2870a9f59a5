//! What theory says of two paths has to come out of each way of using them: tquic's redundant
//! scheduler, noq on its first path, and a quinn connection on each path with every message on
//! both. Three libraries that share no code for it check each other.

use std::time::Duration;

use impairlab::protocol::settings::{MpquicCongestion, MpquicScheduler, NoqCongestion};
use impairlab::protocol::settings::{QuicCongestion, QuicMode};

use crate::senders::{Build, both_ways, mpquic_sender, noq_sender, quic_settings};
use crate::virtual_lab::{Path, Run, Work, run};

const MINUTE: Work = Work { rate: 50, size: 600, duration: Duration::from_secs(60) };
const FAST: Path = Path::new(20.0, 0.0, 0.0);
const SLOW: Path = Path::new(30.0, 0.0, 0.0);

fn redundant() -> Build {
    Box::new(mpquic_sender(MpquicScheduler::Redundant, MpquicCongestion::Cubic, 7))
}

fn noq() -> Build {
    Box::new(noq_sender(NoqCongestion::Cubic, 7))
}

fn replicated(congestion: QuicCongestion, mode: QuicMode) -> Build {
    Box::new(both_ways(quic_settings(congestion, mode), 7))
}

fn copies() -> [(&'static str, Build); 3] {
    [
        ("tquic redundant", redundant()),
        ("quic on both", replicated(QuicCongestion::Cubic, QuicMode::Stream)),
        ("quic on both, NewReno", replicated(QuicCongestion::NewReno, QuicMode::StreamPerMessage)),
    ]
}

/// Every message is there after the shorter path's delay, and never later.
fn is_flat(run: &Run, delay_ms: f64) -> bool {
    run.delivered() == 3_000
        && [0.0, 0.5, 1.0].iter().all(|q| (run.quantile_ms(*q) - delay_ms).abs() < 0.1)
}

#[test]
fn on_two_clean_paths_all_of_them_take_as_long_as_the_shorter_one() {
    for paths in [[FAST, SLOW], [FAST, FAST]] {
        for (name, build) in copies().into_iter().chain([("noq", noq())]) {
            let run = run(&paths, MINUTE, 1, false, build);
            println!("{name}: P50 {:.3} ms", run.quantile_ms(0.5));
            assert!(is_flat(&run, 20.0), "{name}");
        }
    }
}

/// noq has no eye for the shorter path: whatever goes on its first one goes there.
#[test]
fn copies_find_the_shorter_path_in_any_order_and_noq_keeps_to_the_first() {
    for (name, build) in copies() {
        assert!(is_flat(&run(&[SLOW, FAST], MINUTE, 1, false, build), 20.0), "{name}");
    }
    assert!(is_flat(&run(&[SLOW, FAST], MINUTE, 1, false, noq()), 30.0));
}

/// The longest time between two deliveries, and the latest message, in milliseconds.
fn gap_and_worst(run: &Run) -> (f64, f64) {
    let mut at: Vec<u64> = run
        .latencies
        .iter()
        .zip(0..)
        .map(|(latency, id): (_, u64)| id * 20_000_000 + latency.unwrap())
        .collect();
    at.sort_unstable();
    let gap = at.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap();
    (gap as f64 / 1e6, run.quantile_ms(1.0))
}

/// At eight moments of the outage's begin, of one path and of the other.
#[test]
fn with_one_clean_path_dark_the_copies_leave_no_gap() {
    for from in (20_000..21_000).step_by(130) {
        let dark = |path: Path| path.dark(from, from + 5_000);
        for paths in [[dark(FAST), SLOW], [FAST, dark(SLOW)]] {
            for (name, build) in copies() {
                let (gap, worst) = gap_and_worst(&run(&paths, MINUTE, from, false, build));
                // The other path's delay, and the step from one delay to the other in the schedule.
                assert!(gap <= 30.1 && worst <= 30.1, "{name}: gap {gap}, worst {worst}");
            }
        }
    }
}

/// What redundancy is for, seen on what has none: the same outage stops noq.
#[test]
fn the_same_outage_stops_a_sender_without_copies() {
    let run = run(&[FAST.dark(20_000, 25_000), SLOW], MINUTE, 1, false, noq());
    let (gap, worst) = gap_and_worst(&run);
    println!("noq: gap {gap:.0} ms, worst {worst:.0} ms");
    assert!(gap > 5_000.0 && worst > 5_000.0);
}
