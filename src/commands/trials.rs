//! Runs all trials of a plan, side by side as far as the engine can without spoiling them, and
//! stops them cleanly.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::signal::unix::SignalKind;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::error::EXIT_INTERRUPTED;
use crate::engine::{Engine, EngineError, Trial};
use crate::progress::Display;
use crate::protocol::{Qlog, QlogBook};
use crate::recording::Recording;
use crate::scenario::plan::Plan;

/// What came of the trials of one run: recordings in the order of the plan, first all senders of
/// repetition 1.
#[derive(Debug, Default)]
pub struct Outcome {
    pub recordings: Vec<Recording>,
    pub errors: Vec<EngineError>,
    /// Ctrl-C, or a request to end.
    pub interrupted: bool,
}

/// Set once, by the first Ctrl-C or SIGTERM: running trials end and keep what they measured,
/// waiting ones never start.
pub type Stop = Arc<AtomicBool>;

/// What a trial leaves.
pub struct Done {
    pub recording: Recording,
    /// None unless they were asked for, and the sender has connections to log.
    pub qlogs: Vec<Qlog>,
}

/// `done` is called with what each trial leaves as it comes in, so that it is on disk before the
/// next trial ends.
pub async fn run_all<E>(
    engine: Arc<dyn Engine + Send>,
    plan: &Arc<Plan>,
    jobs: usize,
    qlog: bool,
    display: &Arc<Display>,
    mut done: impl FnMut(&Done) -> Result<(), E>,
) -> Result<Outcome, E> {
    let stop = stop_on_signals();
    let places = Arc::new(Semaphore::new(jobs));
    let mut running = JoinSet::new();
    for (order, trial) in trials(plan, qlog).into_iter().enumerate() {
        let (engine, display, stop) = (engine.clone(), display.clone(), stop.clone());
        let places = places.clone();
        running.spawn(async move {
            let _place = places.acquire_owned().await.ok()?;
            let sender = trial.sender().name.clone();
            let run = move || run_one(engine.as_ref(), &trial, &display, &stop);
            // A panic, of a transport under test perhaps, costs its own trial and no other.
            let result = tokio::task::spawn_blocking(run).await;
            let result = result.unwrap_or(Some(Err(EngineError::Crashed { sender })));
            Some((order, result?))
        });
    }
    let outcome = collect(&mut running, &stop, &mut done).await;
    if outcome.is_err() {
        stop.store(true, Ordering::Relaxed);
        while running.join_next().await.is_some() {}
    }
    outcome
}

async fn collect<E>(
    running: &mut JoinSet<Option<(usize, Result<Done, EngineError>)>>,
    stop: &Stop,
    done: &mut impl FnMut(&Done) -> Result<(), E>,
) -> Result<Outcome, E> {
    let mut recordings = Vec::new();
    let mut errors = Vec::new();
    while let Some(joined) = running.join_next().await {
        match joined.expect("a panic of a trial ends in its own thread") {
            Some((order, Ok(left))) => {
                done(&left)?;
                recordings.push((order, left.recording));
            }
            Some((_, Err(error))) => errors.push(error),
            None => {}
        }
    }
    recordings.sort_by_key(|(order, _)| *order);
    let recordings = recordings.into_iter().map(|(_, recording)| recording).collect();
    Ok(Outcome { recordings, errors, interrupted: stop.load(Ordering::Relaxed) })
}

/// Interleaved, so that a slow change of the host meets all senders alike.
fn trials(plan: &Arc<Plan>, qlog: bool) -> Vec<Trial> {
    let of_repetition = |repetition| {
        let trial = move |sender| Trial {
            plan: plan.clone(),
            sender,
            repetition,
            vehicle: 0,
            qlog: qlog.then(QlogBook::default),
        };
        (0..plan.senders.len()).map(trial)
    };
    (0..plan.repeat).flat_map(of_repetition).collect()
}

/// `None` if the run was stopped before this trial began.
fn run_one(
    engine: &dyn Engine,
    trial: &Trial,
    display: &Display,
    stop: &AtomicBool,
) -> Option<Result<Done, EngineError>> {
    if stop.load(Ordering::Relaxed) {
        return None;
    }
    let mut shown = display.trial(trial);
    let result = engine.run(trial, &mut |event| {
        shown.event(&event);
        match stop.load(Ordering::Relaxed) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    });
    match &result {
        Ok(recording) => shown.finish(&recording.status),
        Err(_) => shown.fail(),
    }
    let qlogs = trial.qlog.as_ref().map_or_else(Vec::new, QlogBook::take);
    Some(result.map(|recording| Done { recording, qlogs }))
}

/// The first signal asks the trials to stop, and lets what they measured be written; a second one
/// ends the program at once.
fn stop_on_signals() -> Stop {
    let stop = Stop::default();
    let asked = stop.clone();
    tokio::spawn(async move {
        loop {
            any_signal().await;
            if asked.swap(true, Ordering::Relaxed) {
                std::process::exit(i32::from(EXIT_INTERRUPTED));
            }
        }
    });
    stop
}

/// Ctrl-C, a request to end, or the terminal going away (unless `nohup` says not to mind).
async fn any_signal() {
    let signal = |kind| async move {
        match tokio::signal::unix::signal(kind) {
            Ok(mut signal) => drop(signal.recv().await),
            Err(_) => std::future::pending().await,
        }
    };
    tokio::select! {
        () = signal(SignalKind::interrupt()) => {}
        () = signal(SignalKind::terminate()) => {}
        () = signal(SignalKind::hangup()), if !hangup_ignored() => {}
    }
}

/// Read before a handler of our own takes the place of what was inherited.
pub(super) fn hangup_ignored() -> bool {
    const HANGUP: u64 = 1;
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .is_some_and(|ignored| ignored & HANGUP != 0)
}
