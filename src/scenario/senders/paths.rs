//! The paths of a sender, as it names them.

use crate::scenario::compile::Names;
use crate::scenario::fields::{self, Fields};
use crate::scenario::limits;
use crate::scenario::mistake::Mistake;
use crate::units::PathId;

/// Where a protocol of a single path gets it from.
#[derive(Clone, Copy)]
pub enum PathChoice<'n> {
    /// Its own `path`, out of these.
    Own(&'n Names),
    /// From `replicate`, around it.
    Given,
}

/// The key by which a sender names its paths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathKeys {
    /// `path`, which may be left out where there is only one.
    One,
    /// `paths`, at least so many.
    Several { least: usize },
}

impl PathChoice<'_> {
    /// The `path` of a protocol that has one.
    pub fn path(self, fields: &mut Fields, holder: &'static str) -> Option<PathId> {
        match self {
            Self::Own(paths) => paths.path_in(fields, holder),
            Self::Given => {
                if let Some((_, node)) = fields.take_entry("path") {
                    fields.mistakes.push(node.place.clone(), Mistake::InnerPath);
                }
                // `replicate` puts its own paths here.
                Some(PathId(0))
            }
        }
    }

    /// The names of the paths, for a protocol that cannot be replicated.
    pub fn own(
        &self,
        fields: &mut Fields,
        protocol: &'static str,
        reason: &'static str,
    ) -> Option<&Names> {
        match self {
            Self::Own(names) => Some(names),
            Self::Given => {
                let mistake = Mistake::CannotReplicate { protocol, reason };
                fields.mistakes.push(fields.place().clone(), mistake);
                fields.leave();
                None
            }
        }
    }
}

/// The `paths` of a protocol that has several, in the order written, none twice.
pub fn several(
    fields: &mut Fields,
    protocol: &'static str,
    least: usize,
    names: &Names,
) -> Option<Vec<PathId>> {
    let node = fields.require("paths", "paths: [a, b]")?;
    let mistakes = fields.mistakes;
    let items = fields::items(node, "`paths`", limits::PATHS, mistakes)?;
    if items.len() < least {
        mistakes.push(node.place.clone(), Mistake::TooFewPaths { protocol, least });
        return None;
    }
    let mut found: Vec<PathId> = Vec::new();
    for item in items {
        let name = fields::text(item, "paths", mistakes)?;
        let path = names.path(name, &item.place, mistakes)?;
        if found.contains(&path) {
            mistakes.push(item.place.clone(), Mistake::PathTwice { name: name.to_owned() });
            return None;
        }
        found.push(path);
    }
    Some(found)
}
