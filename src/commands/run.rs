//! `run`: a scenario in; a table on standard output, and a folder with recordings, summary and
//! charts.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use super::{CommandError, Ending, OutputError, engine_choice, selection, trials};
use crate::cli::RunArgs;
use crate::engine::{Engine, environment};
use crate::progress::{Display, warn};
use crate::protocol::Qlog;
use crate::protocol::qlog::LOG_LIMIT;
use crate::recording::Recording;
use crate::report::impairment::Impairment;
use crate::report::{Report, Results, figures, json, terminal};
use crate::scenario::plan::Plan;

pub fn run(args: &RunArgs, out: &mut dyn Write) -> Result<Ending, CommandError> {
    let (plan, text) = selection::plan(&args.what)?;
    let plan = Arc::new(plan);
    let display = Arc::new(Display::new(args.what.quiet));
    let chosen = engine_choice::choose_for(&plan, args.engine)?;
    chosen.notice.iter().for_each(|notice| display.say(notice));
    chosen.engine.admit(&plan).map_err(CommandError::Refused)?;
    let results = prepare_results(args, &plan, &text, chosen.engine.as_ref())?;
    let jobs = jobs(args, &plan, chosen.engine.as_ref());
    announce(&display, &plan, chosen.engine.as_ref(), jobs);

    let runtime = tokio::runtime::Runtime::new().map_err(CommandError::Runtime)?;
    let outcome = runtime.block_on(trials::run_all(
        chosen.engine,
        &plan,
        jobs,
        args.qlog,
        &display,
        |done: &trials::Done| {
            results.write_qlogs(&done.recording, &done.qlogs)?;
            done.qlogs.iter().for_each(|log| warn_of_full(&done.recording, log));
            results.write_recording(&done.recording)
        },
    ))?;
    outcome.errors.iter().for_each(|error| warn(&format!("error: {error}")));
    if outcome.recordings.is_empty() {
        return if outcome.interrupted {
            Ok(Ending::Interrupted)
        } else {
            Err(CommandError::NothingRan)
        };
    }
    let report = results.finish(&plan, &outcome.recordings, args.sort)?;
    print(args, &report, results.folder(), out).map_err(OutputError)?;
    Ok(ending(args, &outcome, &report))
}

fn warn_of_full(recording: &Recording, log: &Qlog) {
    if log.left_out > 0 {
        let (sender, repetition) = (&recording.sender, recording.repetition);
        let left_out = figures::plural(log.left_out, "record");
        let limit = LOG_LIMIT >> 20;
        warn(&format!(
            "warning: the qlog of {sender}, repetition {repetition}, is full at {limit} MiB: \
             it lacks {left_out}"
        ));
    }
}

/// The folder is made and proven writable before the first trial, not found wanting after the last.
fn prepare_results(
    args: &RunArgs,
    plan: &Plan,
    text: &str,
    engine: &dyn Engine,
) -> Result<Results, CommandError> {
    #[expect(clippy::disallowed_methods, reason = "the time of day that names the results folder")]
    let now = SystemTime::now();
    let id = format!("{}-{}", engine.kind(), std::process::id());
    let results = Results::create(&args.results, &plan.name, now, &id)?;
    let mut environment = environment::gather(engine.kind(), now);
    environment.kernel = engine.kernel().unwrap_or(environment.kernel);
    let described = results
        .write_scenario(text)
        .and_then(|()| results.write_plan(plan))
        .and_then(|()| results.write_environment(&environment));
    match described {
        Ok(()) => Ok(results),
        Err(error) => {
            results.discard();
            Err(error.into())
        }
    }
}

fn jobs(args: &RunArgs, plan: &Plan, engine: &dyn Engine) -> usize {
    let wanted = args.jobs.map_or_else(|| engine.side_by_side(plan), usize::from);
    wanted.clamp(1, plan.trials())
}

fn announce(display: &Display, plan: &Plan, engine: &dyn Engine, jobs: usize) {
    let (name, kind) = (&plan.name, engine.kind());
    let trials = figures::plural(plan.trials() as u64, "trial");
    let seconds = plan.workload.periodic().duration.as_secs_f64();
    display.say(&format!("{name}: {trials} of {seconds} s on engine {kind}, {jobs} side by side"));
}

fn print(
    args: &RunArgs,
    report: &Report,
    folder: &Path,
    out: &mut dyn Write,
) -> std::io::Result<()> {
    if args.json {
        return writeln!(out, "{}", json::summary(report));
    }
    write!(out, "{}", terminal::render(report, terminal::Style::detect()))?;
    writeln!(out, "\nResults, charts and recordings: {}", folder.display())
}

/// An impairment that is wrong though the host kept time outweighs all that the host did; where the
/// host spoilt the very trials, it is to blame, and `--strict` says so.
fn ending(args: &RunArgs, outcome: &trials::Outcome, report: &Report) -> Ending {
    let spoilt = |recording: &Recording| {
        recording.fidelity.as_ref().is_some_and(|fidelity| fidelity.spoilt.is_some())
    };
    let impairment = report.impairment.as_ref();
    let spoilt =
        outcome.recordings.iter().any(spoilt) || impairment.is_some_and(Impairment::is_spoilt);
    if outcome.interrupted {
        Ending::Interrupted
    } else if !outcome.errors.is_empty() {
        Ending::Incomplete
    } else if impairment.is_some_and(Impairment::disagrees_unspoilt) {
        Ending::WrongImpairment
    } else if args.strict && spoilt {
        Ending::Spoilt
    } else if impairment.is_some_and(Impairment::disagrees) {
        Ending::WrongImpairment
    } else {
        Ending::Done
    }
}
