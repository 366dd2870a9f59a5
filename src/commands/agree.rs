//! `agree`: the same plan on two engines, and whether their figures agree. How a user decides to
//! trust the lab.

use std::convert::Infallible;
use std::io::Write;
use std::sync::Arc;

use super::engine_choice::{self, Chosen};
use super::{CommandError, Ending, selection, trials};
use crate::cli::{EngineChoice, What};
use crate::progress::Display;
use crate::recording::Recording;
use crate::report::agreement::{Agreement, Agrees};
use crate::report::terminal::Style;
use crate::report::{Report, summarise};
use crate::scenario::plan::Plan;

pub fn run(what: &What, out: &mut dyn Write) -> Result<Ending, CommandError> {
    let plan = Arc::new(selection::plan(what)?.0);
    let display = Arc::new(Display::new(what.quiet));

    let other = engine_choice::choose(EngineChoice::Relay)?;
    let reference = engine_choice::choose(EngineChoice::Sim)?;
    let names = (reference.engine.kind().to_string(), other.engine.kind().to_string());
    let Some(other) = report(other, &plan, &display)? else { return Ok(Ending::Interrupted) };
    let Some(reference) = report(reference, &plan, &display)? else {
        return Ok(Ending::Interrupted);
    };
    let agreement = Agreement::between(&reference, &other);
    let text = agreement.render((&names.0, &names.1), Style::detect());
    write!(out, "{text}").map_err(CommandError::Output)?;
    Ok(match (agreement.verdict(), agreement.spoilt()) {
        (Agrees::Yes | Agrees::WithinNoise, _) => Ending::Done,
        (Agrees::No | Agrees::TooFewRuns, Some(_)) => Ending::Spoilt,
        (Agrees::TooFewRuns, None) => Ending::Undecided,
        (Agrees::No, None) => Ending::Disagreement,
    })
}

/// `None` if it was interrupted: half a run has nothing to be compared with.
fn report(
    chosen: Chosen,
    plan: &Arc<Plan>,
    display: &Arc<Display>,
) -> Result<Option<Report>, CommandError> {
    let jobs = chosen.engine.side_by_side(plan).clamp(1, plan.trials());
    let runtime = tokio::runtime::Runtime::new().map_err(CommandError::Runtime)?;
    let keep = |_: &Recording| Ok::<(), Infallible>(());
    let all = trials::run_all(chosen.engine, plan, jobs, display, keep);
    let Ok(outcome) = runtime.block_on(all);
    if let Some(error) = outcome.errors.into_iter().next() {
        return Err(CommandError::Trial(error));
    }
    Ok((!outcome.interrupted).then(|| summarise(plan, &outcome.recordings)))
}
