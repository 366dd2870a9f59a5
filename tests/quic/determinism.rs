//! One seed, one run: every datagram of every QUIC sender leaves at the same nanosecond with the
//! same size, whatever the thread and the process did before. Each child process tells the
//! fingerprint of its runs, and all must agree.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::process::Command;
use std::time::Duration;

use crate::senders::{FIXED, NOQ_FIXED, mpquic_sender, noq_from, noq_settings, quic_sender};
use crate::virtual_lab::{Path, Work, run};
use impairlab::protocol::settings::{MpquicCongestion, MpquicScheduler, NoqCongestion};
use impairlab::protocol::settings::{QuicCongestion, QuicMode};
use impairlab::protocol::{Protocol, Role};

const PATHS: [Path; 2] =
    [Path::new(40.0, 10.0, 0.02).dark(20_000, 22_000), Path::new(25.0, 5.0, 0.01)];
const WORK: Work = Work { rate: 50, size: 600, duration: Duration::from_secs(60) };

fn fingerprint(build: impl Fn(Role) -> Box<dyn Protocol>) -> u64 {
    let run = run(&PATHS, WORK, 3, true, build);
    assert!(run.trace.len() > 3000);
    let mut hasher = DefaultHasher::new();
    (run.trace, run.latencies, run.bytes, run.retransmissions).hash(&mut hasher);
    hasher.finish()
}

fn fingerprints(seed: u64) -> Vec<(String, u64)> {
    use MpquicScheduler::{MinRtt, Redundant, RoundRobin};
    use QuicMode::{Datagram, Stream, StreamPerMessage};
    let mut all = Vec::new();
    for congestion in [QuicCongestion::Cubic, QuicCongestion::NewReno, QuicCongestion::Bbr, FIXED] {
        for mode in [Stream, StreamPerMessage, Datagram] {
            let name = format!("quic-{congestion:?}-{mode:?}");
            all.push((name, fingerprint(quic_sender(congestion, mode, seed))));
        }
    }
    for congestion in [
        MpquicCongestion::Cubic,
        MpquicCongestion::Bbr,
        MpquicCongestion::Bbr3,
        MpquicCongestion::Copa,
    ] {
        for scheduler in [Redundant, MinRtt, RoundRobin] {
            let name = format!("mpquic-{congestion:?}-{scheduler:?}");
            all.push((name, fingerprint(mpquic_sender(scheduler, congestion, seed))));
        }
    }
    for congestion in [NoqCongestion::Cubic, NoqCongestion::NewReno, NOQ_FIXED] {
        for mode in [Stream, StreamPerMessage, Datagram] {
            let name = format!("noq-{congestion:?}-{mode:?}");
            all.push((name, fingerprint(noq_from(noq_settings(congestion, mode), seed))));
        }
    }
    all
}

/// Not a test of its own: what a child process runs.
#[test]
#[ignore = "run by the other tests, as a child process"]
fn child() {
    for (name, fingerprint) in fingerprints(7) {
        println!("fingerprint {name} {fingerprint:016x}");
    }
}

fn told_by_a_child() -> String {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "determinism::child", "--ignored", "--nocapture", "--test-threads=1"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> =
        text.lines().filter_map(|line| line.split("fingerprint ").nth(1)).collect();
    lines.join("\n")
}

#[test]
fn the_same_seed_gives_the_same_run_in_every_process() {
    let told: BTreeSet<String> = (0..3).map(|_| told_by_a_child()).collect();
    let here: Vec<String> =
        fingerprints(7).iter().map(|(name, print)| format!("{name} {print:016x}")).collect();
    assert_eq!(here.len(), 33);
    assert_eq!(told, BTreeSet::from([here.join("\n")]));
}

#[test]
fn what_a_thread_did_before_does_not_matter() {
    let bbr = || fingerprint(mpquic_sender(MpquicScheduler::Redundant, MpquicCongestion::Bbr, 7));
    let first = std::thread::spawn(bbr).join().unwrap();
    let after_others = std::thread::spawn(move || {
        fingerprint(mpquic_sender(MpquicScheduler::MinRtt, MpquicCongestion::Bbr3, 99));
        bbr()
    });
    assert_eq!(first, after_others.join().unwrap());
}

#[test]
fn the_seed_decides_the_dice_of_bbr() {
    let prints: BTreeSet<u64> = (0..4)
        .map(|seed| {
            fingerprint(mpquic_sender(MpquicScheduler::Redundant, MpquicCongestion::Bbr3, seed))
        })
        .collect();
    assert!(prints.len() > 1, "no seed made a difference");
}
