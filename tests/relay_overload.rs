//! The relay engine asked for more than it can do, and interrupted: every trial ends by itself or
//! when told to. A program of its own, since a trial that takes all it can get disturbs those that
//! run beside it.

mod namespaces;
#[expect(dead_code, reason = "the other tests use more of it")]
mod relay_trials;

use std::ops::ControlFlow;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use impairlab::engine::relay::Relay;
use impairlab::engine::{Engine, EngineError, Event, Trial};
use impairlab::link::profile::{Correlated, Loss};
use impairlab::recording::{Message, Messages, Recording, Status};
use impairlab::units::Probability;
use impairlab::workload::{Periodic, Workload};
use relay_trials::{delayed, namespaces_or_skip, trial};

/// A million messages in a second: more than a thread can hand to the kernel.
fn overload() -> Trial {
    let mut trial = trial(delayed(5), delayed(5));
    let plan = Arc::make_mut(&mut trial.plan);
    let (rate, size, duration) = (1e6, 16, Duration::from_secs(1));
    let periodic = Periodic { rate, size, duration, ..plan.workload.periodic().clone() };
    plan.workload = Workload::Control(periodic);
    trial
}

/// Fails if the trial does not end, with a limit that no machine needs.
fn run_watched(
    trial: Trial,
    mut answer: impl FnMut(Event) -> ControlFlow<()> + Send + 'static,
) -> Result<Recording, EngineError> {
    let (sender, result) = mpsc::channel();
    thread::spawn(move || {
        // Nobody waits for it any more once the time is up.
        let _ = sender.send(Relay.run(&trial, &mut answer));
    });
    result.recv_timeout(Duration::from_secs(120)).expect("the trial ends")
}

fn messages(recording: &Recording) -> &[Message] {
    match &recording.messages {
        Messages::Each(messages) => messages,
        Messages::Histogram(_) => panic!("every message is kept"),
    }
}

#[test]
fn a_trial_that_asks_for_far_too_much_ends_and_is_spoilt() {
    namespaces_or_skip!();
    let recording = run_watched(overload(), |_| ControlFlow::Continue(())).expect("the trial runs");
    assert_eq!(recording.status, Status::Complete);
    assert_eq!(messages(&recording).len(), 1_000_000);
    let fidelity = recording.fidelity.expect("a real-time engine tells how well it kept time");
    assert!(fidelity.spoilt.is_some(), "{fidelity:?}");
    assert!(fidelity.send_lateness_p99_us > 1000.0, "{fidelity:?}");
}

#[test]
fn an_interruption_ends_an_overloaded_trial() {
    namespaces_or_skip!();
    let recording = run_watched(overload(), break_if(is_progress)).expect("it began");
    assert!(matches!(recording.status, Status::Interrupted { .. }), "{:?}", recording.status);
    assert!(!messages(&recording).is_empty());
}

#[test]
fn an_interruption_ends_a_trial_before_the_workload_at_its_start_and_in_the_drain() {
    namespaces_or_skip!();
    let mut dark = delayed(5);
    dark.loss =
        Loss::Random(Correlated { probability: Probability::ALWAYS, ..Correlated::default() });
    let trial = trial(dark, delayed(5));
    let connecting = |event: &Event| matches!(event, Event::Connecting);
    let result = run_watched(trial.clone(), break_if(connecting));
    assert!(matches!(result, Err(EngineError::Interrupted { .. })), "{result:?}");

    let started = |event: &Event| matches!(event, Event::Started { .. });
    let duration = trial.plan.workload.periodic().duration;
    let draining = move |event: &Event| match event {
        Event::Progress(progress) => progress.elapsed > duration,
        _ => false,
    };
    let at_start = run_watched(trial.clone(), break_if(started));
    let in_drain = run_watched(trial, break_if(draining));
    let [at_start, in_drain] = [at_start, in_drain].map(|result| result.expect("it began"));
    for recording in [&at_start, &in_drain] {
        assert!(matches!(recording.status, Status::Interrupted { .. }), "{:?}", recording.status);
    }
    assert!(messages(&at_start).is_empty(), "none was past its deadline");
    assert!(messages(&in_drain).iter().all(|message| message.delivered.is_none()));
    assert!(messages(&in_drain).len() > 200, "{}", messages(&in_drain).len());
}

fn break_if(moment: impl Fn(&Event) -> bool) -> impl FnMut(Event) -> ControlFlow<()> {
    move |event| if moment(&event) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}

fn is_progress(event: &Event) -> bool {
    matches!(event, Event::Progress(_))
}
