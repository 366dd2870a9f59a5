//! The way back: a plan as the YAML of a scenario that says everything, tables of samples included.
//! What is printed here is read as the same plan; only the names and sources of profiles are
//! comments by then.

mod link;
mod timeline;

pub use link::in_short as link_settings;

use std::fmt::Write;

use super::plan::{Claim, PathPlan, Plan};
use super::quantity::{print_duration, print_size};
use super::senders::{self, PathKeys};
use crate::link::profile::LinkProfile;
use crate::protocol::ProtocolSettings;
use crate::units::IpVersion;
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
        Item::value("name", name(&plan.name)),
        Item::value("about", quoted(&plan.about)),
        Item::nested("paths", plan.paths.iter().map(path).collect()),
    ];
    items.extend(timeline::timeline(plan));
    if plan.vehicles > 1 {
        items.push(Item::value("vehicles", plan.vehicles));
    }
    items.push(Item::nested("workload", vec![workload(&plan.workload)]));
    let senders = plan.senders.iter().map(|sender| {
        let protocol = protocol(&sender.protocol, plan);
        Item::nested(name(&sender.name), vec![protocol])
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
    let paths = settings.paths().into_iter();
    let names: Vec<&str> = paths.map(|path| name(plan.path_name(path))).collect();
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
    Item::nested(name(&path.name), below)
}

fn settings(profile: &LinkProfile) -> Vec<Item> {
    link::settings(profile).into_iter().map(|(key, value)| Item::value(key, value)).collect()
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
    let mut below = vec![Item::value("sender", name(&claim.sender))];
    for (key, duration) in durations {
        below.extend(duration.map(|duration| Item::value(key, print_duration(duration))));
    }
    below.extend(claim.amplification.map(|ratio| Item::value("amplification", ratio)));
    Item { line: format!("- source: {}", quoted(&claim.source)), below }
}

/// The one name that YAML takes for nothing at all.
fn name(name: &str) -> &str {
    if name == "null" { "\"null\"" } else { name }
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
