//! What changes during a run: outages as outages, and what else becomes of a link as what is set
//! from then on.
//!
//! A plan has the changes that can be seen, and no longer what was written to make them. An outage
//! hides what else happens to loss, duplicates and marks: that is written as set where it comes to
//! light. What changes when the workload ends, at which nothing can begin, is what was in force
//! until then: it is written as set **for** so long.

use std::time::Duration;

use super::{Item, link, name, print_duration};
use crate::link::profile::LinkProfile;
use crate::scenario::plan::{PathPlan, Plan};
use crate::timeline::Outage;
use crate::units::{Direction, PathId};

type Settings = Vec<(&'static str, String)>;

/// An entry that sets something.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Set {
    at: Duration,
    until: Option<Duration>,
    settings: Settings,
}

/// `None`: nothing happens.
pub(super) fn timeline(plan: &Plan) -> Option<Item> {
    let outages = plan.timeline.outages.iter().map(|it| (it.from, outage(plan, it)));
    let paths = (0..=u8::MAX).map(PathId).take(plan.paths.len());
    let mut entries: Vec<_> = outages.chain(paths.flat_map(|path| sets(plan, path))).collect();
    // Those of one instant stay in order.
    entries.sort_by_key(|(at, _)| *at);
    let below: Vec<Item> = entries.into_iter().map(|(_, line)| Item::line(line)).collect();
    (!below.is_empty()).then(|| Item::nested("timeline", below))
}

fn outage(plan: &Plan, outage: &Outage) -> String {
    let (at, length) = (print_duration(outage.from), outage.until.saturating_sub(outage.from));
    let (path, length) = (name(plan.path_name(outage.path)), print_duration(length));
    format!("- {{ at: {at}, path: {path}, outage: {length} }}")
}

/// What is set on a path, and when. What is the same both ways is one entry.
fn sets(plan: &Plan, path: PathId) -> Vec<(Duration, String)> {
    let [up, down] = Direction::BOTH.map(|direction| sets_of(plan, path, direction));
    let mut instants: Vec<Duration> = up.iter().chain(&down).map(|set| set.at).collect();
    instants.sort_unstable();
    instants.dedup();
    let at = |sets: &[Set], at: Duration| -> Vec<Set> {
        sets.iter().filter(|set| set.at == at).cloned().collect()
    };
    let name = name(plan.path_name(path));
    let lines = |instant| {
        let [up, down] = [at(&up, instant), at(&down, instant)];
        let print = |sets: Vec<Set>, direction: &str| -> Vec<(Duration, String)> {
            sets.iter().map(|set| (instant, set.print(name, direction))).collect()
        };
        match up == down {
            true => print(up, ""),
            false => [print(up, ", direction: up"), print(down, ", direction: down")].concat(),
        }
    };
    instants.into_iter().flat_map(lines).collect()
}

impl Set {
    fn print(&self, path: &str, direction: &str) -> String {
        let at = print_duration(self.at);
        let settings = self.settings.iter().map(|(key, value)| format!("{key}: {value}"));
        let settings = settings.collect::<Vec<_>>().join(", ");
        let length = self.until.map_or_else(String::new, |until| {
            format!(", for: {}", print_duration(until.saturating_sub(self.at)))
        });
        format!("- {{ at: {at}, path: {path}{direction}{length}, set: {{ {settings} }} }}")
    }
}

fn sets_of(plan: &Plan, path: PathId, direction: Direction) -> Vec<Set> {
    let end = plan.workload.periodic().duration;
    let lit = without_outages(plan, path, direction);
    let changes = || lit.windows(2).map(|pair| (&pair[0].1, &pair[1].1, pair[1].0));
    let at_the_end = changes().find(|(_, _, at)| *at >= end);
    let at_the_end = at_the_end.map(|(before, after, _)| differing(before, after));
    let at_the_end = at_the_end.unwrap_or_default();
    let ends = |key: &str| at_the_end.iter().any(|(ended, _)| *ended == key);
    let mut sets = uncovered_at(end, &lit[0].1, &at_the_end);
    for (before, after, at) in changes().filter(|(_, _, at)| *at < end) {
        let (passing, staying) =
            differing(before, after).into_iter().partition(|(key, _)| ends(key));
        sets.push(Set { at, until: Some(end), settings: passing });
        sets.push(Set { at, until: None, settings: staying });
    }
    sets.retain(|set| !set.settings.is_empty());
    sets
}

/// What was not so at the start and is so in the end lies below what was in force until then.
fn uncovered_at(end: Duration, first: &LinkProfile, at_the_end: &Settings) -> Vec<Set> {
    let (at, first) = (Duration::ZERO, link::settings(first));
    let uncovered: Settings =
        at_the_end.iter().filter(|setting| !first.contains(setting)).cloned().collect();
    let covers = |key: &str| uncovered.iter().any(|(covered, _)| *covered == key);
    let cover = first.into_iter().filter(|(key, _)| covers(key)).collect();
    vec![
        Set { at, until: None, settings: uncovered },
        Set { at, until: Some(end), settings: cover },
    ]
}

/// What one direction of a path is from when on, as if there were no outages; the first from the
/// start.
fn without_outages(
    plan: &Plan,
    path: PathId,
    direction: Direction,
) -> Vec<(Duration, LinkProfile)> {
    let PathPlan { up, down, .. } = &plan.paths[path.index()];
    let first = match direction {
        Direction::Up => up,
        Direction::Down => down,
    };
    let mut lit = vec![(Duration::ZERO, first.clone())];
    let changes = plan.timeline.changes.iter();
    for change in changes.filter(|it| (it.path, it.direction) == (path, direction)) {
        let mut profile = change.profile.clone();
        let before = &lit[lit.len() - 1].1;
        if plan.timeline.dark_paths(change.at).contains(&path) {
            profile.loss = before.loss.clone();
            profile.duplicate = before.duplicate;
            profile.ecn = before.ecn;
        }
        lit.push((change.at, profile));
    }
    lit
}

/// What is another in the second, as it is there.
fn differing(before: &LinkProfile, after: &LinkProfile) -> Settings {
    let both = link::settings(after).into_iter().zip(link::settings(before));
    both.filter(|(after, before)| after != before).map(|(after, _)| after).collect()
}
