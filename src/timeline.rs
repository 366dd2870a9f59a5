//! Every change of every path during a trial, sorted by time: the only source of change. Every
//! engine walks it.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::link::overrides::Overrides;
use crate::link::profile::{Correlated, LinkProfile, Loss};
use crate::units::{Direction, PathId, Probability};

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Timeline {
    /// Sorted by `at`; those of one instant apply in order.
    pub changes: Vec<Change>,
    /// The outages among them, for recovery times and for the shading of charts.
    pub outages: Vec<Outage>,
}

/// From `at` on, one direction of a path has this profile. A packet that is already on the link
/// keeps its fate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// Since the start of the workload.
    pub at: Duration,
    pub path: PathId,
    pub direction: Direction,
    pub profile: LinkProfile,
}

/// A path that loses everything, both ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outage {
    pub path: PathId,
    pub from: Duration,
    pub until: Duration,
}

/// One entry of a timeline as it is written: something that holds for a while.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    pub path: PathId,
    pub from: Duration,
    /// `None`: to the end of the trial.
    pub until: Option<Duration>,
    pub effect: Effect,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Everything is lost, both ways.
    Outage,
    /// Some settings are others, in one direction or in both.
    Set { direction: Option<Direction>, settings: Box<Overrides> },
}

impl Timeline {
    /// Resolves overlapping entries into changes. At any moment a direction has its first profile,
    /// with the settings of all entries that hold laid over it in the order in which they began
    /// (those of one instant in the order given); an outage goes above them all. So what is set
    /// during an outage is in force after it.
    ///
    /// `first` has the profiles of a path at the start, up and down, by [`PathId`].
    pub fn resolve(first: &[[LinkProfile; 2]], mut entries: Vec<Entry>) -> Self {
        entries.sort_by_key(|entry| entry.from);
        let mut changes = Vec::new();
        for (index, [up, down]) in first.iter().enumerate() {
            let path = PathId(u8::try_from(index).expect("a plan has few paths"));
            let own: Vec<&Entry> = entries.iter().filter(|entry| entry.path == path).collect();
            changes.extend(changes_of(path, Direction::Up, up, &own));
            changes.extend(changes_of(path, Direction::Down, down, &own));
        }
        changes.sort_by(Change::order);
        Self { changes, outages: merged_outages(&entries) }
    }

    /// The paths in an outage at this time of the workload.
    pub fn dark_paths(&self, at: Duration) -> Vec<PathId> {
        let dark = self.outages.iter().filter(|outage| outage.from <= at && at < outage.until);
        dark.map(|outage| outage.path).collect()
    }
}

impl Change {
    fn order(&self, other: &Self) -> Ordering {
        let key = |change: &Self| (change.at, change.path, change.direction);
        key(self).cmp(&key(other))
    }
}

fn changes_of(
    path: PathId,
    direction: Direction,
    first: &LinkProfile,
    entries: &[&Entry],
) -> Vec<Change> {
    let instants: BTreeSet<Duration> =
        entries.iter().flat_map(|entry| [Some(entry.from), entry.until]).flatten().collect();
    let mut changes = Vec::new();
    let mut current = first.clone();
    for at in instants {
        let profile = profile_at(at, direction, first, entries);
        if profile != current {
            current = profile.clone();
            changes.push(Change { at, path, direction, profile });
        }
    }
    changes
}

fn profile_at(
    at: Duration,
    direction: Direction,
    first: &LinkProfile,
    entries: &[&Entry],
) -> LinkProfile {
    let mut profile = first.clone();
    let mut dark = false;
    for entry in entries.iter().filter(|entry| entry.holds_at(at)) {
        match &entry.effect {
            Effect::Outage => dark = true,
            Effect::Set { direction: only, settings } => {
                if only.is_none_or(|only| only == direction) {
                    settings.apply(&mut profile);
                }
            }
        }
    }
    if dark { darkened(profile) } else { profile }
}

impl Entry {
    fn holds_at(&self, at: Duration) -> bool {
        self.from <= at && self.until.is_none_or(|until| at < until)
    }
}

/// Whether a link loses everything.
pub fn is_dark(profile: &LinkProfile) -> bool {
    *profile == darkened(profile.clone())
}

/// The same link, losing everything. Neither a duplicate nor a congestion mark may save a packet,
/// as they would in netem: it weighs a loss against a duplicate, and marks instead of dropping.
fn darkened(profile: LinkProfile) -> LinkProfile {
    let always = Correlated { probability: Probability::ALWAYS, correlation: Probability::NEVER };
    LinkProfile {
        loss: Loss::Random(always),
        duplicate: Correlated::default(),
        ecn: false,
        ..profile
    }
}

/// The outages of each path, those that overlap or touch made one. `entries` are sorted by when
/// they begin.
fn merged_outages(entries: &[Entry]) -> Vec<Outage> {
    let mut merged: Vec<Outage> = Vec::new();
    let outages = entries.iter().filter(|entry| entry.effect == Effect::Outage);
    for &Entry { path, from, until, .. } in outages {
        let until = until.unwrap_or(Duration::MAX);
        match merged.iter_mut().rev().find(|outage| outage.path == path) {
            Some(before) if from <= before.until => before.until = before.until.max(until),
            _ => merged.push(Outage { path, from, until }),
        }
    }
    merged
}

#[cfg(test)]
mod tests;
