//! What is told of outages that lie near one another, and of trials that were stopped in one, on
//! `sim` with real senders.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use impairlab::engine::sim::Sim;
use impairlab::engine::{Engine, Event, Trial};
use impairlab::recording::{Recording, Recovery, Status, Summary};
use impairlab::scenario::plan::Plan;

use super::lab::{latencies_ms, plan, simulate};

/// 20 ms one way; the second of two outages ends at 29 s.
fn scenario(sender: &str, before: &str) -> Plan {
    plan(&format!(
        "
paths: {{ a: {{ delay: 20ms }} }}
timeline: [ {before} {{ at: 24s, path: a, outage: 5s }} ]
workload: {{ control: {{ rate: 50/s, size: 600B, duration: 60s, deadline: 250ms }} }}
senders: {{ it: {{ {sender}: {{ path: a }} }} }}
"
    ))
}

const BEFORE: &str = "{ at: 16s, path: a, outage: 3s },";

fn recoveries(recording: &Recording) -> Vec<Recovery> {
    let summary = Summary::of(&[recording]).expect("one trial");
    summary.outages.iter().map(|outage| outage.recovery).collect()
}

/// When the first of fifty messages in a row was due none of which took a tenth longer than the
/// slowest before any outage.
fn settled(recording: &Recording, after: Duration) -> Option<Duration> {
    let latencies = latencies_ms(recording);
    let slowest = latencies[250..750].iter().copied().fold(0.0, f64::max);
    let first = usize::try_from(after.as_millis() / 20).expect("a few");
    let fast =
        latencies[first..].windows(50).position(|it| it.iter().all(|ms| *ms <= 1.1 * slowest));
    Some(Duration::from_millis(20) * u32::try_from(fast?).expect("a few"))
}

#[test]
fn the_outage_before_changes_nothing_of_how_recovery_is_found() {
    for sender in ["udp", "kcp", "quic"] {
        let near = simulate(&scenario(sender, BEFORE)).remove(0);
        let alone = simulate(&scenario(sender, "")).remove(0);
        let end = Duration::from_secs(29);
        for recording in [near, alone] {
            let found = recoveries(&recording);
            let settled = settled(&recording, end).expect("it comes back");
            println!("{sender}: {found:?}, settled after {settled:?}");
            assert_eq!(found.last(), Some(&Recovery::After(settled)), "{sender}");
        }
    }
}

/// Stopped 3 s into the outage.
fn stopped(sender: &str) -> Recording {
    let plan = Arc::new(scenario(sender, ""));
    let trial = Trial { plan, sender: 0, repetition: 0, vehicle: 0, qlog: None };
    let mut stop = |event: Event| match event {
        Event::Progress(progress) if progress.elapsed >= Duration::from_secs(27) => {
            ControlFlow::Break(())
        }
        _ => ControlFlow::Continue(()),
    };
    Sim.run(&trial, &mut stop).expect("the trial runs")
}

#[test]
fn what_is_under_way_when_a_trial_is_stopped_is_not_lost() {
    for sender in ["kcp", "quic"] {
        let recording = stopped(sender);
        let Status::Interrupted { after } = recording.status else { panic!("it was not stopped") };
        let summary = Summary::of(&[&recording]).expect("one trial");
        assert_eq!(summary.lost, 0, "{sender}");
        assert!(recording.accepted > summary.messages + 100, "{sender}: what was due in the dark");
        assert_eq!(summary.outages[0].outage.until, after, "{sender}");
        let gap = summary.longest_gap.gap;
        assert_eq!(u128::from(gap.until), after.as_nanos(), "{sender}: the silence is known");
        assert!((23.9e9..24.1e9).contains(&(gap.from as f64)), "{sender}: {gap:?}");
    }
}

#[test]
fn what_an_unreliable_sender_had_lost_when_the_trial_was_stopped_is_lost() {
    let recording = stopped("udp");
    let Status::Interrupted { after } = recording.status else { panic!("it was not stopped") };
    let summary = Summary::of(&[&recording]).expect("one trial");
    // Due from 24 s until a deadline before it was stopped.
    let dark = (after - Duration::from_millis(24_250)).as_secs_f64() * 50.0;
    assert!((summary.lost as f64 - dark).abs() < 1.5, "{} of {dark}", summary.lost);
}
