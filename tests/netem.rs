//! The engine netem on a kernel that has it: on this machine's if it does, else in a User-Mode
//! Linux guest, which this program starts itself in. Asserts which impairment each packet met, and
//! never how soon.

mod one_sender;

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use impairlab::engine::netem::Netem;
use impairlab::engine::sim::Sim;
use impairlab::engine::{Engine, Pace, Trial};
use impairlab::link::profile::{Correlated, LinkProfile, Loss, RateLimit};
use impairlab::protocol::ProtocolSettings;
use impairlab::protocol::settings::UdpSettings;
use impairlab::recording::{Message, Messages, Recording, Status};
use impairlab::timeline::Change;
use impairlab::units::{Direction, PathId, Probability, Rate};
use impairlab::workload::{Keep, Periodic, Workload};

const PATH: PathId = PathId(0);

/// Leaves the test where the kernel has no netem: `in_a_guest` then runs it.
macro_rules! netem_or_skip {
    () => {
        if let Err(error) = Netem::probe() {
            eprintln!("skipped here: {error}");
            return;
        }
    };
}

#[test]
fn in_a_guest() {
    if Netem::probe().is_ok() {
        return;
    }
    let own = std::env::current_exe().expect("a program knows where it is");
    let mut guest = Command::new(env!("CARGO_BIN_EXE_impairlab"));
    guest.args(["exec", "--engine", "uml", "--"]).arg(own).arg("--test-threads=1");
    let status = guest.status().expect("impairlab runs");
    assert!(status.success(), "the tests in the guest ended with {status}");
}

fn run(trial: &Trial) -> Recording {
    let netem = Netem::new(Pace::of_this_kernel());
    netem.run(trial, &mut |_| ControlFlow::Continue(())).expect("the trial runs")
}

fn messages(recording: &Recording) -> &[Message] {
    match &recording.messages {
        Messages::Each(messages) => messages,
        Messages::Histogram(_) => panic!("every message is kept"),
    }
}

fn delayed(ms: u64) -> LinkProfile {
    LinkProfile { delay: Duration::from_millis(ms), limit: 100_000, ..LinkProfile::default() }
}

fn lossy(percent: f64) -> Loss {
    let probability = Probability::new(percent / 100.0).expect("a probability");
    Loss::Random(Correlated { probability, ..Correlated::default() })
}

/// Plain UDP for a second.
fn trial(rate: f64, up: LinkProfile, changes: Vec<Change>) -> Trial {
    let udp = ProtocolSettings::Udp(UdpSettings { path: PATH });
    let periodic = Periodic {
        rate,
        size: 200,
        duration: Duration::from_secs(1),
        deadline: Duration::from_millis(500),
        keep: Keep::Messages,
        phase: Some(Duration::ZERO),
    };
    let paths = vec![one_sender::path("path", up, LinkProfile::default())];
    let mut trial = one_sender::trial("netem-test", udp, Workload::Control(periodic), paths);
    Arc::make_mut(&mut trial.plan).timeline.changes = changes;
    trial
}

/// 10,000 packets a second across 100 changes between two delays that nothing could confuse. Only
/// what was sent while a change was being made may meet either.
#[test]
fn there_is_never_a_moment_without_the_right_impairment() {
    netem_or_skip!();
    let profiles = [20, 320].map(delayed);
    let instants: Vec<Duration> =
        (0..100).map(|number| Duration::from_micros(9_850 * (number + 1) + 50)).collect();
    let change = |(number, at): (usize, &Duration)| Change {
        at: *at,
        path: PATH,
        direction: Direction::Up,
        profile: profiles[(number + 1) % 2].clone(),
    };
    let changes = instants.iter().enumerate().map(change).collect();
    let recording = run(&trial(10_000.0, profiles[0].clone(), changes));

    let fidelity = recording.fidelity.as_ref().expect("netem tells how well it kept time");
    let late = (fidelity.change_lateness_max_us * 1e3) as u64;
    // From the time that a message was sent to its packet's entry; and a change begins before its
    // instant by as much as it is expected to take.
    let (early, way) = if fidelity.virtual_time { (5_000, 5_000) } else { (50_000, 2_000_000) };
    let mut surely = 0;
    for message in messages(&recording) {
        let sent = message.sent.expect("udp refuses nothing");
        let took = message.delivered.expect("nothing is lost") - sent;
        let before = instants.partition_point(|at| at.as_nanos() as u64 <= sent);
        let near = |at: &Duration| {
            let at = at.as_nanos() as u64;
            (at.saturating_sub(early + way)..at + late + early).contains(&sent)
        };
        let doubtful = instants[before.saturating_sub(1)..].iter().take(2).any(near);
        let (fast, slow) = (took >= 20_000_000, took >= 320_000_000);
        assert!(fast, "a packet without impairment: {message:?}");
        if !doubtful {
            surely += 1;
            assert_eq!(slow, before % 2 == 1, "sent at {sent} after {before} changes: {took} ns");
        }
    }
    assert!(surely > messages(&recording).len() / 2, "{surely}, changes up to {late} ns late");
    assert_eq!(recording.wire[0].discrepancies(), []);
    assert_eq!(recording.status, Status::Complete);
}

fn lost(recording: &Recording) -> BTreeSet<usize> {
    let messages = messages(recording).iter().enumerate();
    messages.filter(|(_, message)| message.delivered.is_none()).map(|(id, _)| id).collect()
}

/// Each change starts the draws anew with its own seed, so the same packets are lost on sim.
#[test]
fn loses_the_packets_that_the_link_model_loses_before_and_after_a_change() {
    netem_or_skip!();
    let profile = |percent| LinkProfile { loss: lossy(percent), ..delayed(20) };
    let at = Duration::from_micros(502_500);
    let change = Change { at, path: PATH, direction: Direction::Up, profile: profile(30.0) };
    let trial = trial(200.0, profile(10.0), vec![change]);
    let recording = run(&trial);
    let expected = Sim.run(&trial, &mut |_| ControlFlow::Continue(())).expect("sim runs");
    assert!(lost(&expected).len() > 20);
    assert_eq!(lost(&recording), lost(&expected));
    assert_eq!(recording.wire[0].up, expected.wire[0].up);
    assert_eq!(recording.wire[0].discrepancies(), []);
}

/// What went in and came out, as the observer saw it, is what the link model counts.
#[test]
fn the_observer_counts_what_the_link_model_counts() {
    netem_or_skip!();
    let always = Correlated { probability: Probability::ALWAYS, ..Correlated::default() };
    let corrupted = run(&trial(200.0, LinkProfile { corrupt: always, ..delayed(5) }, Vec::new()));
    let up = corrupted.wire[0].up;
    assert_eq!((up.offered.packets, up.corrupted, up.delivered, up.lost), (200, 200, 200, 0));

    let twice = run(&trial(200.0, LinkProfile { duplicate: always, ..delayed(5) }, Vec::new()));
    let up = twice.wire[0].up;
    assert_eq!((up.offered.packets, up.duplicated, up.delivered, up.lost), (200, 200, 400, 0));

    // 200 packets of 242 bytes a second into 19,360 bytes a second, with room for ten.
    let rate = Rate::from_bits_per_second(154_880).expect("a rate");
    let limit = RateLimit { rate, packet_overhead: 0, cell_size: 0, cell_overhead: 0 };
    let narrow = LinkProfile { rate: Some(limit), limit: 10, ..LinkProfile::default() };
    let narrow = trial(200.0, narrow, Vec::new());
    let (recording, expected) =
        (run(&narrow), Sim.run(&narrow, &mut |_| ControlFlow::Continue(())));
    let (up, expected) = (recording.wire[0].up, expected.expect("sim runs").wire[0].up);
    assert!(expected.overflowed > 50, "{expected:?}");
    assert_eq!((up.overflowed, up.lost), (expected.overflowed, 0));
    for recording in [&corrupted, &twice, &recording] {
        assert_eq!(recording.wire[0].discrepancies(), []);
        assert_eq!(recording.fidelity.as_ref().map(|fidelity| fidelity.damaged_packets), Some(0));
    }
}
