//! What will be run: a scenario with every profile resolved, every default filled in and every
//! range checked.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::link::profile::LinkProfile;
use crate::protocol::ProtocolSettings;
use crate::timeline::Timeline;
use crate::units::{Direction, IpVersion, PathId};
use crate::workload::{Keep, Workload};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Lower-case letters, digits and dashes: it names the folder of the results.
    pub name: String,
    pub about: String,
    pub paths: Vec<PathPlan>,
    pub timeline: Timeline,
    pub workload: Workload,
    /// To one gateway, each with a connection, paths and random numbers of its own.
    #[serde(default = "one_vehicle")]
    pub vehicles: u32,
    pub senders: Vec<SenderPlan>,
    pub repeat: u32,
    pub seed: u64,
    pub claims: Vec<Claim>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PathPlan {
    pub name: String,
    /// The profile it came from, and that profile's own sources.
    pub profile: Option<String>,
    pub sources: Vec<String>,
    #[serde(default)]
    pub ip: IpVersion,
    pub up: LinkProfile,
    pub down: LinkProfile,
}

impl PathPlan {
    /// Of one direction, at the start of the workload.
    pub fn profile(&self, direction: Direction) -> &LinkProfile {
        match direction {
            Direction::Up => &self.up,
            Direction::Down => &self.down,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SenderPlan {
    pub name: String,
    pub protocol: ProtocolSettings,
}

/// What somebody published; the report puts what was measured beside it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    pub source: String,
    pub sender: String,
    pub p50: Option<Duration>,
    pub p99: Option<Duration>,
    pub p999: Option<Duration>,
    pub amplification: Option<f64>,
    pub longest_gap: Option<Duration>,
    /// Of all messages.
    #[serde(default)]
    pub mean: Option<Duration>,
    /// Of all messages of a run.
    #[serde(default)]
    pub worst: Option<Duration>,
}

fn one_vehicle() -> u32 {
    1
}

impl Plan {
    pub fn path_name(&self, path: PathId) -> &str {
        &self.paths[path.index()].name
    }

    /// Messages that all vehicles of one trial send together.
    pub fn messages_of_trial(&self) -> u64 {
        self.workload.periodic().count().saturating_mul(u64::from(self.vehicles))
    }

    /// Messages that the recordings of all trials keep together.
    pub fn messages_kept(&self) -> u64 {
        match self.workload.periodic().keep {
            Keep::Messages => self.messages_of_trial().saturating_mul(self.trials() as u64),
            Keep::Histogram => 0,
        }
    }

    /// Whether any of its senders can run in no engine without a kernel.
    pub fn needs_a_kernel(&self) -> bool {
        self.senders.iter().any(|sender| sender.protocol.needs_a_kernel())
    }

    /// Trials in all.
    pub fn trials(&self) -> usize {
        self.senders.len() * self.repeat as usize
    }
}
