//! What the command line makes of a scenario: other repetitions, another seed, fewer senders.

use super::CommandError;
use crate::cli::What;
use crate::scenario::{self, limits, plan::Plan};

/// The plan as asked for, and the scenario's text as it is written.
pub fn plan(what: &What) -> Result<(Plan, String), CommandError> {
    let (mut plan, text) = scenario::load_with_text(&what.scenario)?;
    plan.repeat = what.repeat.unwrap_or(plan.repeat);
    plan.seed = what.seed.unwrap_or(plan.seed);
    select_senders(&mut plan, &what.senders, &what.without)?;
    let (count, limit) = (plan.messages_kept(), limits::MESSAGES_KEPT_IN_ALL);
    if count > limit {
        return Err(CommandError::TooManyMessages { repeat: plan.repeat, count, limit });
    }
    Ok((plan, text))
}

/// Keeps the senders that were named, in the order of the file; if none was, all but those to do
/// without.
fn select_senders(
    plan: &mut Plan,
    only: &[String],
    without: &[String],
) -> Result<(), CommandError> {
    let known = |name: &str| plan.senders.iter().any(|sender| sender.name == name);
    if let Some(name) = only.iter().chain(without).find(|name| !known(name)) {
        let known: Vec<_> = plan.senders.iter().map(|sender| sender.name.as_str()).collect();
        return Err(CommandError::NoSuchSender { name: name.clone(), known: known.join(", ") });
    }
    let keeps = |name: &String| (only.is_empty() || only.contains(name)) && !without.contains(name);
    plan.senders.retain(|sender| keeps(&sender.name));
    plan.claims.retain(|claim| keeps(&claim.sender));
    if plan.senders.is_empty() { Err(CommandError::NoSenderLeft) } else { Ok(()) }
}
