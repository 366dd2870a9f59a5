//! The results as they are kept: one line of JSON for the surroundings, then one for each run.

use std::error::Error;

use impairlab::statistics::{Distribution, Latency};
use serde::{Deserialize, Serialize};

use crate::lab::Wire;
use crate::setup::Setup;

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Line {
    Environment(Environment),
    Run(Box<Run>),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Environment {
    pub kernel: String,
    pub kcptun: String,
    pub impairlab: String,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Run {
    pub setup: Setup,
    pub seed: u64,
    /// Measured, the warm-up not among it.
    pub seconds: u64,
    /// While nothing is out of order there is one; the outage has before, during and after.
    pub phases: Vec<Phase>,
    /// From the first measured message until the last had returned; absent for sockperf, whose
    /// start and end are its own.
    pub wire: Option<Wire>,
    /// By netem over the whole run, the warm-up included, and the packets that it was out of.
    pub lost: [u32; 2],
    pub met: [u64; 2],
    /// What sockperf printed, by percentile, in milliseconds.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub printed: Vec<(f64, f64)>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Phase {
    pub name: String,
    /// Due in this phase.
    pub messages: u64,
    pub up: Counts,
    pub down: Counts,
    pub round_trip: Counts,
}

/// How often each latency occurred, in steps of 0.1 ms, rounded to the nearest; what is missing of
/// the messages was lost.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Counts(Vec<(u32, u32)>);

const STEP_NANOS: u64 = 100_000;

impl Counts {
    pub fn of(latencies: impl Iterator<Item = u64>) -> Self {
        let mut steps: Vec<u64> =
            latencies.map(|nanos| (nanos + STEP_NANOS / 2) / STEP_NANOS).collect();
        steps.sort_unstable();
        let counted = steps.chunk_by(|a, b| a == b).map(|same| {
            let step = u32::try_from(same[0]).unwrap_or(u32::MAX);
            (step, u32::try_from(same.len()).unwrap_or(u32::MAX))
        });
        Self(counted.collect())
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn distribution(&self, messages: u64) -> Distribution {
        let there: u64 = self.0.iter().map(|(_, count)| u64::from(*count)).sum();
        let lost = messages.saturating_sub(there);
        let counts = self.0.iter().map(|(step, count)| {
            (Latency::from_nanos(u64::from(*step) * STEP_NANOS), u64::from(*count))
        });
        Distribution::from_counts(counts.chain([(Latency::LOST, lost)]))
    }
}

/// Every line of a file of results.
pub fn read(text: &str) -> Result<Vec<Line>, Box<dyn Error>> {
    let parse = |(number, line): (usize, &str)| {
        serde_json::from_str(line).map_err(|error| format!("line {}: {error}", number + 1).into())
    };
    text.lines().enumerate().filter(|(_, line)| !line.is_empty()).map(parse).collect()
}
