//! `paths`: each a profile, its own settings, and those of each direction, laid over one another.

use super::link;
use super::names::Names;
use super::profile::Profiles;
use crate::link::overrides::Overrides;
use crate::link::profile::LinkProfile;
use crate::scenario::fields::{self, Fields};
use crate::scenario::limits;
use crate::scenario::mistake::Mistake;
use crate::scenario::plan::PathPlan;
use crate::scenario::tree::{Key, Node};
use crate::units::{Direction, IpVersion};

/// The names of the paths, and the paths if all are right.
pub fn paths(scenario: &mut Fields, profiles: &Profiles) -> (Names, Option<Vec<PathPlan>>) {
    let mistakes = scenario.mistakes;
    let list = scenario
        .require("paths", "paths: { a: { delay: 40ms } }")
        .and_then(|node| fields::named(node, "paths", limits::PATHS, mistakes));
    let Some(list) = list else { return (Names(None), None) };
    let names = list.iter().map(|(key, _)| key.name.clone()).collect();
    let plans: Vec<Option<PathPlan>> =
        list.iter().map(|entry| path(entry, profiles, scenario)).collect();
    (Names(Some(names)), plans.into_iter().collect())
}

fn path((key, node): &(Key, Node), profiles: &Profiles, scenario: &Fields) -> Option<PathPlan> {
    let mistakes = scenario.mistakes;
    let name = fields::name(&key.name, &key.place, mistakes);
    let mut fields = Fields::of(node, "a path", &key.place, mistakes)?;
    let named = fields.text("profile");
    let profile = named.map(|(name, place)| profiles.find(name, place));
    let ip = fields.word("ip", &[("4", IpVersion::V4), ("6", IpVersion::V6)]).unwrap_or_default();
    let own = Layer::read(&mut fields);
    fields.finish();
    // A profile that is named but not found is a mistake already.
    let profile = match profile {
        Some(found) => Some(found?),
        None => None,
    };
    let layers = profile.iter().flat_map(|profile| &profile.layers).chain([&own]);
    let [up, down] = resolved(layers);
    if [&up, &down].into_iter().any(reorders_without_delay) {
        mistakes.push(key.place.clone(), Mistake::ReorderWithoutDelay);
    }
    Some(PathPlan {
        name: name?,
        profile: named.map(|(name, _)| name.to_owned()),
        sources: profile.map(|profile| profile.sources.clone()).unwrap_or_default(),
        ip,
        up,
        down,
    })
}

/// Settings of both directions, and those of one that go above them.
#[derive(Debug, Clone, Default)]
pub struct Layer {
    both: Overrides,
    up: Overrides,
    down: Overrides,
}

impl Layer {
    pub fn read(fields: &mut Fields) -> Self {
        let both = link::settings(fields);
        Self { both, up: one_way(fields, "up"), down: one_way(fields, "down") }
    }

    fn apply(&self, direction: Direction, profile: &mut LinkProfile) {
        self.both.apply(profile);
        match direction {
            Direction::Up => self.up.apply(profile),
            Direction::Down => self.down.apply(profile),
        }
    }
}

fn one_way(fields: &mut Fields, key: &'static str) -> Overrides {
    let mistakes = fields.mistakes;
    let Some((key, node)) = fields.take_entry(key) else { return Overrides::default() };
    let Some(mut inner) = Fields::of(node, "a direction", &key.place, mistakes) else {
        return Overrides::default();
    };
    let settings = link::settings(&mut inner);
    inner.finish();
    settings
}

fn resolved<'l>(layers: impl Iterator<Item = &'l Layer> + Clone) -> [LinkProfile; 2] {
    Direction::BOTH.map(|direction| {
        let mut profile = LinkProfile::default();
        layers.clone().for_each(|layer| layer.apply(direction, &mut profile));
        profile
    })
}

/// This can only be seen once all layers are there.
fn reorders_without_delay(profile: &LinkProfile) -> bool {
    profile.reorder.is_some() && profile.delay.is_zero()
}
