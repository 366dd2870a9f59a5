//! What a sender cost on the wire, over its runs, and how well that is known.

use super::{total, units};
use crate::recording::wire::Traffic;
use crate::recording::{Amplification, Recording};
use crate::statistics::{Interval, over_runs};

/// Both directions, each with its interval over runs, so unknown with fewer than
/// [`FEWEST_RUNS`](crate::statistics::FEWEST_RUNS).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AmplificationFigure {
    pub value: Amplification,
    pub up: Interval<f64>,
    pub down: Interval<f64>,
}

impl AmplificationFigure {
    /// `trials` are of one sender of one plan. `None`: no message was accepted, or there are none.
    pub fn of(trials: &[&Recording]) -> Option<Self> {
        let seed = trials.first()?.seed;
        let trials: Vec<&Recording> = trials.iter().flat_map(|it| it.vehicles()).collect();
        let traffic = traffic(&trials);
        let interval = |part| interval(&traffic, seed, part);
        Some(Self {
            value: total(&traffic).amplification()?,
            up: interval(|amplification| amplification.up),
            down: interval(|amplification| amplification.down),
        })
    }
}

/// Of each run, or of what else is resampled.
pub(super) fn traffic(trials: &[&Recording]) -> Vec<Traffic> {
    units(trials, |group| {
        let each = group.iter().map(|trial| Traffic::of(trial));
        total(&each.collect::<Vec<_>>())
    })
}

pub(super) fn interval(
    traffic: &[Traffic],
    seed: u64,
    part: fn(Amplification) -> f64,
) -> Interval<f64> {
    if total(traffic).amplification().is_none() {
        return Interval::UNKNOWN;
    }
    over_runs(traffic.len(), seed, |drawn| {
        Traffic::weighted(traffic, drawn).amplification().map_or(f64::NAN, part)
    })
}
