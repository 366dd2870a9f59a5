//! A path that is dark for five seconds and comes back is used again, by both stacks: how soon is
//! decided by when the next probe is due, since nothing tells a sender that a path is back.

use std::time::Duration;

use impairlab::protocol::settings::{
    MpquicCongestion, MpquicScheduler, NoqCongestion, TquicSettings,
};

use crate::senders::{Build, NOQ_FIXED, mpquic_sender, noq_sender, tquic_from};
use crate::virtual_lab::{Path, Run, Work, run};

/// With some loss, so that no congestion window is wide enough to send on into the dark.
const PATHS: [Path; 2] = [Path::new(25.0, 5.0, 0.01), Path::new(40.0, 10.0, 0.02)];
const WORK: Work = Work { rate: 50, size: 600, duration: Duration::from_secs(40) };
/// Of path 0, in milliseconds.
const DARK: (u64, u64) = (10_000, 15_000);

/// From the end of the outage to when path 0 carries again what it carried before, in milliseconds:
/// the first second in which it has at least nine tenths of the second before the outage.
fn return_ms(run: &Run) -> Option<u64> {
    let start = run.trace.iter().find(|(_, side, _, size)| *side == 0 && *size > 600).unwrap().0;
    let data = |(at, side, path, size): &(u64, u8, u8, u16)| {
        (*side == 0 && *path == 0 && *size > 600).then(|| (*at - start) / 1_000_000)
    };
    let at: Vec<u64> = run.trace.iter().filter_map(data).collect();
    let in_second = |from: u64| at.iter().filter(|at| (from..from + 1_000).contains(at)).count();
    let before = in_second(DARK.0 - 1_000);
    (DARK.1..38_000)
        .step_by(20)
        .find(|from| 10 * in_second(*from) >= 9 * before)
        .map(|at| at - DARK.1)
}

fn through_the_outage(build: &Build, seed: u64) -> Option<u64> {
    let paths = [PATHS[0].dark(DARK.0, DARK.1), PATHS[1]];
    let run = run(&paths, WORK, seed, true, build);
    assert_eq!(run.delivered(), 2_000);
    return_ms(&run)
}

/// The next probe is due, at the latest, as long after the end of the outage as the outage was.
const DOUBLING: u64 = 5_500;

#[test]
fn a_path_that_comes_back_is_used_again() {
    let max_pto = Some(Duration::from_millis(500));
    let capped = TquicSettings { max_pto, ..TquicSettings::new() };
    let tquic = |scheduler| Box::new(mpquic_sender(scheduler, MpquicCongestion::Cubic, 7));
    let senders: [(&str, Build, u64); 6] = [
        ("tquic redundant", tquic(MpquicScheduler::Redundant), DOUBLING),
        ("tquic redundant, max-pto 500ms", Box::new(tquic_from(capped, 7)), 600),
        ("tquic minrtt", tquic(MpquicScheduler::MinRtt), DOUBLING),
        ("tquic round-robin", tquic(MpquicScheduler::RoundRobin), DOUBLING),
        ("noq, Cubic", Box::new(noq_sender(NoqCongestion::Cubic, 7)), DOUBLING),
        // Its window has room to send on, and the first message that gets through is noticed.
        ("noq, fixed window", Box::new(noq_sender(NOQ_FIXED, 7)), 0),
    ];
    for (name, build, limit_ms) in &senders {
        let back: Vec<Option<u64>> = (1..=6).map(|seed| through_the_outage(build, seed)).collect();
        println!("{name}: back after {back:?} ms");
        assert!(back.iter().all(|back| back.is_some_and(|back| back <= *limit_ms)), "{name}");
    }
}

/// Over the six runs; the sum, since a lucky probe can be sooner than a capped one.
#[test]
fn a_shorter_longest_probe_timeout_brings_redundancy_back_sooner() {
    let total = |max_pto| {
        let settings = TquicSettings { max_pto, ..TquicSettings::new() };
        let build: Build = Box::new(tquic_from(settings, 7));
        let back = |seed| through_the_outage(&build, seed).expect("the path comes back");
        (1..=6).map(back).sum::<u64>()
    };
    let (capped, doubling) = (total(Some(Duration::from_millis(500))), total(None));
    assert!(3 * capped < doubling, "{capped} {doubling}");
}
