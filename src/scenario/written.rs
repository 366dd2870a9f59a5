//! The way back: a plan as the YAML of a scenario that says everything. What is printed here can be
//! read again, and gives the same paths, changes, workload, senders and claims; only the names of
//! profiles are comments by then.

mod link;

pub use link::settings as link_settings;

use std::fmt::Write;

use super::plan::{Claim, PathPlan, Plan};
use super::quantity::{print_duration, print_size};
use super::senders::{self, PathKeys};
use crate::link::profile::LinkProfile;
use crate::protocol::ProtocolSettings;
use crate::timeline::{Change, Timeline};
use crate::units::{Direction, IpVersion, PathId};
use crate::workload::{Keep, Workload};

/// A line of YAML and what is indented below it.
struct Item {
    line: String,
    below: Vec<Item>,
}

impl Item {
    fn value(key: &str, value: impl std::fmt::Display) -> Self {
        Self { line: format!("{key}: {value}"), below: Vec::new() }
    }

    fn nested(key: &str, below: Vec<Item>) -> Self {
        Self { line: format!("{key}:"), below }
    }

    fn line(line: String) -> Self {
        Self { line, below: Vec::new() }
    }

    fn print(&self, depth: usize, text: &mut String) {
        writeln!(text, "{:indent$}{}", "", self.line, indent = 2 * depth)
            .expect("a String takes everything");
        self.below.iter().for_each(|item| item.print(depth + 1, text));
    }
}

/// A scenario that says what `plan` does, with every default filled in.
pub fn scenario(plan: &Plan) -> String {
    let mut text = String::new();
    items(plan).iter().for_each(|item| item.print(0, &mut text));
    text
}

fn items(plan: &Plan) -> Vec<Item> {
    let mut items = vec![
        Item::value("version", 1),
        Item::value("name", &plan.name),
        Item::value("about", quoted(&plan.about)),
        Item::nested("paths", plan.paths.iter().map(path).collect()),
    ];
    if !plan.timeline.changes.is_empty() {
        items.push(timeline(plan));
    }
    if plan.vehicles > 1 {
        items.push(Item::value("vehicles", plan.vehicles));
    }
    items.push(Item::nested("workload", vec![workload(&plan.workload)]));
    let senders = plan.senders.iter().map(|sender| {
        let protocol = protocol(&sender.protocol, plan);
        Item::nested(&sender.name, vec![protocol])
    });
    items.push(Item::nested("senders", senders.collect()));
    items.push(Item::value("repeat", plan.repeat));
    items.push(Item::value("seed", plan.seed));
    if !plan.claims.is_empty() {
        items.push(Item::nested("claims", plan.claims.iter().map(claim).collect()));
    }
    items
}

fn protocol(settings: &ProtocolSettings, plan: &Plan) -> Item {
    let mut below = options(settings);
    let names: Vec<&str> = settings.paths().iter().map(|path| plan.path_name(*path)).collect();
    let paths = match senders::Sender::of(settings).paths {
        PathKeys::One => Item::value("path", names.join(", ")),
        PathKeys::Several { .. } => Item::value("paths", format!("[{}]", names.join(", "))),
    };
    below.insert(0, paths);
    if let ProtocolSettings::Replicate(outer) = settings {
        // Its paths are those of `replicate`, and may not be written again.
        below.push(Item::nested(outer.protocol.keyword(), options(&outer.protocol)));
    }
    Item::nested(settings.keyword(), below)
}

fn options(settings: &ProtocolSettings) -> Vec<Item> {
    let options = senders::written(settings).into_iter();
    options.map(|(key, value)| Item::value(key, value)).collect()
}

fn path(path: &PathPlan) -> Item {
    let mut below = Vec::new();
    below.extend(path.profile.iter().map(|name| Item::line(format!("# profile {name}"))));
    below.extend(path.sources.iter().map(|source| Item::line(format!("# {}", one_line(source)))));
    if path.ip == IpVersion::V6 {
        below.push(Item::value("ip", 6));
    }
    if path.up == path.down {
        below.extend(settings(&path.up));
    } else {
        below.push(Item::nested("up", settings(&path.up)));
        below.push(Item::nested("down", settings(&path.down)));
    }
    Item::nested(&path.name, below)
}

fn settings(profile: &LinkProfile) -> Vec<Item> {
    link::settings(profile).into_iter().map(|(key, value)| Item::value(key, value)).collect()
}

fn timeline(plan: &Plan) -> Item {
    let Timeline { changes, outages } = &plan.timeline;
    let mut below: Vec<Item> = outages
        .iter()
        .map(|outage| {
            let (from, until) = (print_duration(outage.from), print_duration(outage.until));
            let path = plan.path_name(outage.path);
            Item::line(format!("# {path} is dark from {from} to {until}"))
        })
        .collect();
    below.extend(changes.iter().enumerate().map(|(index, change)| {
        let before = profile_before(plan, &changes[..index], change.path, change.direction);
        changed(plan, before, change)
    }));
    Item::nested("timeline", below)
}

fn profile_before<'p>(
    plan: &'p Plan,
    earlier: &'p [Change],
    path: PathId,
    direction: Direction,
) -> &'p LinkProfile {
    let first = &plan.paths[path.index()];
    let same = |change: &&Change| change.path == path && change.direction == direction;
    match (earlier.iter().rev().find(same), direction) {
        (Some(change), _) => &change.profile,
        (None, Direction::Up) => &first.up,
        (None, Direction::Down) => &first.down,
    }
}

fn changed(plan: &Plan, before: &LinkProfile, change: &Change) -> Item {
    let before = link::settings(before);
    let differing: Vec<String> = link::settings(&change.profile)
        .into_iter()
        .zip(before)
        .filter(|(after, before)| after != before)
        .map(|((key, value), _)| format!("{key}: {value}"))
        .collect();
    let (at, path) = (print_duration(change.at), plan.path_name(change.path));
    let (direction, set) = (change.direction, differing.join(", "));
    Item::line(format!("- {{ at: {at}, path: {path}, direction: {direction}, set: {{ {set} }} }}"))
}

fn workload(workload: &Workload) -> Item {
    let periodic = workload.periodic();
    let keep = match periodic.keep {
        Keep::Messages => "messages",
        Keep::Histogram => "histogram",
    };
    let mut below = vec![
        Item::value("rate", format!("{}/s", periodic.rate)),
        Item::value("size", print_size(periodic.size.into())),
        Item::value("duration", print_duration(periodic.duration)),
        Item::value("deadline", print_duration(periodic.deadline)),
        Item::value("keep", keep),
    ];
    below.extend(periodic.phase.map(|phase| Item::value("phase", print_duration(phase))));
    if let Workload::Echo { response_size, .. } = workload {
        below.push(Item::value("response-size", print_size((*response_size).into())));
    }
    Item::nested(workload.keyword(), below)
}

fn claim(claim: &Claim) -> Item {
    let durations = [
        ("p50", claim.p50),
        ("p99", claim.p99),
        ("p999", claim.p999),
        ("mean", claim.mean),
        ("worst", claim.worst),
        ("longest-gap", claim.longest_gap),
    ];
    let mut below = vec![Item::value("sender", &claim.sender)];
    for (key, duration) in durations {
        below.extend(duration.map(|duration| Item::value(key, print_duration(duration))));
    }
    below.extend(claim.amplification.map(|ratio| Item::value("amplification", ratio)));
    Item { line: format!("- source: {}", quoted(&claim.source)), below }
}

/// A JSON string is also a YAML one.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
