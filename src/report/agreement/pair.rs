//! A figure of one sender on two engines: how far it lies apart, and whether that is more than
//! noise. How far it may lie apart is the figure's own affair.

use super::Agrees;
use crate::statistics::{FEWEST_RUNS, Interval};

/// From so many runs on an interval holds nearly as often as it says, but for the rarest of runs.
pub const TRUSTED_RUNS: usize = 20;

/// Both in one unit; lost is infinite.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pair {
    pub(super) reference: Value,
    pub(super) other: Value,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Value {
    pub(super) value: f64,
    pub(super) interval: Interval<f64>,
}

impl Pair {
    pub(super) fn apart(self) -> f64 {
        self.other.value - self.reference.value
    }

    /// Of nothing, everything else is infinitely far off.
    pub(super) fn apart_share(self) -> f64 {
        if self.apart() == 0.0 { 0.0 } else { self.apart() / self.reference.value }
    }

    /// What to make of a difference beyond its tolerance: noise if both intervals are known and
    /// have a value in common. If one is not known, or few runs were resampled for them, such
    /// intervals being a little too sure of themselves, nobody can tell where it may be chance.
    pub(super) fn beyond_tolerance(self, runs: usize, may_be_chance: bool) -> Agrees {
        // With fewer than are resampled, an interval is one of messages that say nothing of each
        // other.
        let is_trusted = !(FEWEST_RUNS..TRUSTED_RUNS).contains(&runs);
        match self.reference.bounds().zip(self.other.bounds()) {
            Some((one, two)) if one.0 <= two.1 && two.0 <= one.1 => Agrees::WithinNoise,
            Some(_) if is_trusted => Agrees::No,
            _ if may_be_chance => Agrees::TooFewRuns,
            _ => Agrees::No,
        }
    }
}

impl Value {
    fn bounds(self) -> Option<(f64, f64)> {
        self.interval.low.zip(self.interval.high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(reference: [f64; 2], other: [f64; 2]) -> Pair {
        let value = |[low, high]: [f64; 2]| Value {
            value: (low + high) / 2.0,
            interval: Interval { low: Some(low), high: Some(high) },
        };
        Pair { reference: value(reference), other: value(other) }
    }

    #[test]
    fn disjoint_intervals_of_few_runs_are_no_last_word_where_chance_may_do_as_much() {
        let disjoint = pair([96.0, 104.0], [112.0, 120.0]);
        let apart = |runs, may_be_chance| disjoint.beyond_tolerance(runs, may_be_chance);
        assert_eq!(apart(FEWEST_RUNS, true), Agrees::TooFewRuns);
        assert_eq!(apart(TRUSTED_RUNS - 1, true), Agrees::TooFewRuns);
        assert_eq!(apart(FEWEST_RUNS, false), Agrees::No);
        assert_eq!(apart(TRUSTED_RUNS, true), Agrees::No);
        assert_eq!(apart(1, true), Agrees::No, "an interval of independent messages");
        let overlapping = pair([96.0, 104.0], [103.0, 120.0]);
        assert_eq!(overlapping.beyond_tolerance(5, true), Agrees::WithinNoise);
    }

    #[test]
    fn of_nothing_everything_else_is_infinitely_far_off() {
        assert_eq!(pair([0.0, 0.0], [0.0, 0.0]).apart_share(), 0.0);
        assert_eq!(pair([0.0, 0.0], [1.0, 1.0]).apart_share(), f64::INFINITY);
        assert_eq!(pair([100.0, 100.0], [95.0, 95.0]).apart_share(), -0.05);
    }
}
