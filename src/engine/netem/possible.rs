//! Whether the kernel's netem can do what a plan asks for, known before anything runs. Pure: knows
//! plans, and no kernel.

use super::error::NetemError;
use super::options::options;
use crate::link::profile::LinkProfile;
use crate::scenario::plan::Plan;
use crate::units::{Direction, PathId};

/// The first profile of the plan that it cannot do, at the start or later, is an error.
pub fn possible(plan: &Plan) -> Result<(), NetemError> {
    let first = plan.paths.iter().zip(0..).flat_map(|(path, id)| {
        [(PathId(id), Direction::Up, &path.up), (PathId(id), Direction::Down, &path.down)]
    });
    let changes = plan.timeline.changes.iter();
    let later = changes.map(|change| (change.path, change.direction, &change.profile));
    first.chain(later).try_for_each(|(path, direction, profile)| {
        possible_here(plan.path_name(path), direction, profile)
    })
}

fn possible_here(
    path: &str,
    direction: Direction,
    profile: &LinkProfile,
) -> Result<(), NetemError> {
    match options(profile, None) {
        Ok(_) => Ok(()),
        Err(source) => Err(NetemError::Impossible { path: path.to_owned(), direction, source }),
    }
}
