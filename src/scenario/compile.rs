//! The tree of a file → the plan. Each part reads what is its own and reports what is wrong with
//! it; a part that cannot be read does not keep the others from being looked at.

mod claim;
mod link;
mod names;
mod path;
mod profile;
mod sender;
mod timeline;
mod workload;

use std::sync::Arc;

pub use self::names::Names;
use self::profile::Profiles;
use self::sender::Around;
use super::diagnostic::Mistakes;
use super::fields::{self, Fields};
use super::file::{File, Place};
use super::limits;
use super::mistake::Mistake;
use super::plan::{PathPlan, Plan};
use super::tree;
use crate::timeline::Timeline;
use crate::workload::Workload;

/// The plan, or `None` with at least one mistake that says why.
pub fn compile(file: &Arc<File>, mistakes: &Mistakes) -> Option<Plan> {
    let root = tree::parse(file, mistakes)?;
    let place = file.start();
    let mut scenario = Fields::of(&root, "a scenario", &place, mistakes)?;
    version(&mut scenario);
    let name = name(&mut scenario);
    let about = scenario.prose("about").unwrap_or_default();
    let profiles = Profiles::beside(file, mistakes);
    let (path_names, paths) = path::paths(&mut scenario, &profiles);
    let vehicles = scenario.whole_number("vehicles", 1, limits::VEHICLES).unwrap_or(1);
    let workload = workload::workload(&mut scenario);
    let timeline = timeline(&mut scenario, &path_names, workload.as_ref(), paths.as_deref());
    let around = Around {
        names: &path_names,
        paths: paths.as_deref(),
        workload: workload.as_ref(),
        vehicles,
    };
    let (sender_names, senders) = sender::senders(&mut scenario, &around);
    let repeat = scenario.whole_number("repeat", 1, limits::REPEAT).unwrap_or(1);
    let seed = scenario.whole_number("seed", 0, u64::MAX).unwrap_or(1);
    let claims = claim::claims(&mut scenario, &sender_names);
    scenario.later(&["expect"]);
    scenario.finish();
    let plan = Plan {
        name: name?,
        about,
        paths: paths?,
        timeline: timeline?,
        workload: workload?,
        vehicles: u32::try_from(vehicles).expect("within limits::VEHICLES"),
        senders: senders?,
        repeat: u32::try_from(repeat).expect("within limits::REPEAT"),
        seed,
        claims: claims?,
    };
    check_messages(&plan, place, mistakes);
    Some(plan)
}

/// What one vehicle sends is looked at where its workload is read.
fn check_messages(plan: &Plan, place: Place, mistakes: &Mistakes) {
    let keep = plan.workload.periodic().keep;
    let of_trial = match (keep, plan.vehicles) {
        (_, 1) => u64::MAX,
        (keep, _) => limits::messages(keep),
    };
    let counts = [
        (plan.messages_of_trial(), of_trial),
        (plan.messages_kept(), limits::MESSAGES_KEPT_IN_ALL),
    ];
    if let Some((count, limit)) = counts.into_iter().find(|(count, limit)| count > limit) {
        let histogram_may = limits::histogram_may_hold(keep, plan.messages_of_trial());
        mistakes.push(place, Mistake::TooManyMessages { count, limit, histogram_may });
    }
}

fn version(scenario: &mut Fields) {
    let Some(node) = scenario.require("version", "version: 1") else { return };
    let mistakes = scenario.mistakes;
    let Some(text) = fields::text(node, "version", mistakes) else { return };
    if text != "1" {
        let mistake = Mistake::UnknownVersion { text: text.to_owned() };
        mistakes.push(node.place.clone(), mistake);
    }
}

fn name(scenario: &mut Fields) -> Option<String> {
    let node = scenario.require("name", "name: my-scenario")?;
    let text = fields::text(node, "name", scenario.mistakes)?;
    fields::name(text, &node.place, scenario.mistakes)
}

fn timeline(
    scenario: &mut Fields,
    path_names: &Names,
    workload: Option<&Workload>,
    paths: Option<&[PathPlan]>,
) -> Option<Timeline> {
    let end = workload.map(|workload| workload.periodic().duration);
    let entries = timeline::entries(scenario, path_names, end)?;
    let first: Vec<_> = paths?.iter().map(|path| [path.up.clone(), path.down.clone()]).collect();
    Some(Timeline::resolve(&first, entries))
}
