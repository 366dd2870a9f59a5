//! Every change of every path during a trial, sorted by time: the only source of change. Both engines walk it.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::link::profile::LinkProfile;
use crate::units::{Direction, PathId};

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Timeline {
    /// Sorted by `at`; those of one instant apply in order.
    pub changes: Vec<Change>,
    /// The outages among them, for recovery times and for the shading of charts.
    pub outages: Vec<Outage>,
}

/// From `at` on, one direction of a path has this profile. A packet that is already on the link keeps its fate.
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

impl Timeline {
    /// The paths in an outage at this time of the workload.
    pub fn dark_paths(&self, at: Duration) -> Vec<PathId> {
        let dark = self.outages.iter().filter(|outage| outage.from <= at && at < outage.until);
        dark.map(|outage| outage.path).collect()
    }
}
