//! What the command line makes of a scenario: other repetitions, another seed, fewer senders.

use super::CommandError;
use crate::cli::What;
use crate::scenario::{self, limits, plan::Plan};

/// The plan as asked for, and the scenario's text as it is written.
pub fn plan(what: &What) -> Result<(Plan, String), CommandError> {
    let (mut plan, text) = scenario::load_with_text(&what.scenario)?;
    plan.repeat = what.repeat.unwrap_or(plan.repeat);
    plan.seed = what.seed.unwrap_or(plan.seed);
    select_senders(&mut plan, &trimmed(&what.senders), &trimmed(&what.without))?;
    let (count, limit) = (plan.messages_kept(), limits::MESSAGES_KEPT_IN_ALL);
    if count > limit {
        return Err(CommandError::TooManyMessages { repeat: plan.repeat, count, limit });
    }
    Ok((plan, text))
}

/// A blank after a comma, as people write lists, is no part of a name.
fn trimmed(names: &[String]) -> Vec<&str> {
    names.iter().map(|name| name.trim()).collect()
}

/// Keeps the senders that were named, in the order of the file; if none was, all but those to do
/// without.
fn select_senders(plan: &mut Plan, only: &[&str], without: &[&str]) -> Result<(), CommandError> {
    let is_known = |name: &str| plan.senders.iter().any(|sender| sender.name == name);
    if let Some(name) = only.iter().chain(without).find(|name| !is_known(name)) {
        let known: Vec<_> = plan.senders.iter().map(|sender| sender.name.as_str()).collect();
        let (name, known) = ((*name).to_owned(), known.join(", "));
        return Err(match name.is_empty() {
            true => CommandError::EmptySenderName { known },
            false => CommandError::NoSuchSender { name, known },
        });
    }
    let keeps = |name: &str| (only.is_empty() || only.contains(&name)) && !without.contains(&name);
    plan.senders.retain(|sender| keeps(&sender.name));
    plan.claims.retain(|claim| keeps(&claim.sender));
    if plan.senders.is_empty() { Err(CommandError::NoSenderLeft) } else { Ok(()) }
}
