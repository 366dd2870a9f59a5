//! `agree`: the same plan on several engines, and whether they agree. How a user decides to trust
//! the lab.

use std::convert::Infallible;
use std::io::{self, Write};
use std::sync::Arc;

use super::engine_choice::{self, Chosen};
use super::{CommandError, Ending, OutputError, selection, trials};
use crate::cli::{AgreeArgs, EngineChoice};
use crate::progress::Display;
use crate::report::agreement::{self, Agreement, Agrees, Ran};
use crate::report::summarise;
use crate::report::terminal::Style;
use crate::scenario::plan::Plan;

pub fn run(args: &AgreeArgs, out: &mut dyn Write) -> Result<Ending, CommandError> {
    let plan = Arc::new(selection::plan(&args.what)?.0);
    let display = Arc::new(Display::new(args.what.quiet));
    let chosen = choose_all(&plan, &args.engines)?;
    for engine in &chosen {
        engine.engine.admit(&plan).map_err(CommandError::Refused)?;
    }
    let (agreements, interrupted) =
        compare(chosen, &plan, &display, |agreement| match args.json {
            true => Ok(()),
            false => writeln!(out, "{}", agreement.render(Style::detect())),
        })?;
    let ending = match interrupted {
        true => Ending::Interrupted,
        false => agreements.iter().map(ending_of).fold(Ending::Done, Ending::worse),
    };
    if args.json {
        let text = agreement::document(&plan, &agreements, interrupted, ending.code());
        out.write_all(text.as_bytes()).map_err(OutputError)?;
    }
    Ok(ending)
}

/// Each of the others with the first, each shown as soon as it is known; and whether that was
/// interrupted.
fn compare(
    chosen: Vec<Chosen>,
    plan: &Arc<Plan>,
    display: &Arc<Display>,
    mut show: impl FnMut(&Agreement) -> io::Result<()>,
) -> Result<(Vec<Agreement>, bool), CommandError> {
    let mut reference: Option<Ran> = None;
    let mut agreements = Vec::new();
    for engine in chosen {
        let Some(ran) = run_on(engine, plan, display)? else { return Ok((agreements, true)) };
        let Some(reference) = &reference else {
            reference = Some(ran);
            continue;
        };
        let agreement = Agreement::between(reference, &ran);
        show(&agreement).map_err(OutputError)?;
        agreements.push(agreement);
    }
    Ok((agreements, false))
}

/// All of them before the first trial: half an hour later is too late to hear that one is missing.
fn choose_all(plan: &Plan, engines: &[EngineChoice]) -> Result<Vec<Chosen>, CommandError> {
    let mut chosen: Vec<Chosen> = Vec::new();
    for engine in engines {
        let engine = engine_choice::choose_for(plan, *engine)?;
        let kind = engine.engine.kind();
        if chosen.iter().any(|other| other.engine.kind() == kind) {
            return Err(CommandError::SameEngineTwice { engine: kind });
        }
        chosen.push(engine);
    }
    if chosen.len() < 2 { Err(CommandError::OneEngine) } else { Ok(chosen) }
}

/// `None` if it was interrupted: half a run has nothing to be compared with.
fn run_on(
    chosen: Chosen,
    plan: &Arc<Plan>,
    display: &Arc<Display>,
) -> Result<Option<Ran>, CommandError> {
    let engine = chosen.engine.kind();
    display.say(&format!("engine {engine}"));
    let jobs = chosen.engine.side_by_side(plan).clamp(1, plan.trials());
    let runtime = tokio::runtime::Runtime::new().map_err(CommandError::Runtime)?;
    let keep = |_: &trials::Done| Ok::<(), Infallible>(());
    let all = trials::run_all(chosen.engine, plan, jobs, false, display, keep);
    let Ok(outcome) = runtime.block_on(all);
    if let Some(error) = outcome.errors.into_iter().next() {
        return Err(CommandError::Trial(error));
    }
    let report = summarise(plan, &outcome.recordings);
    let ran = Ran { engine, report, recordings: outcome.recordings };
    Ok((!outcome.interrupted).then_some(ran))
}

fn ending_of(agreement: &Agreement) -> Ending {
    match (agreement.verdict(), agreement.spoilt()) {
        (Agrees::Yes | Agrees::InFigures | Agrees::WithinNoise, _) => Ending::Done,
        (Agrees::No | Agrees::TooFewRuns, Some(_)) => Ending::Spoilt,
        (Agrees::TooFewRuns, None) => Ending::Undecided,
        (Agrees::No, None) => Ending::Disagreement,
    }
}
