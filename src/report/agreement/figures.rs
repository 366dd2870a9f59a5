//! The figures of one sender on two engines, and whether they agree.

use super::losses::Losses;
use super::{Agrees, beyond_tolerance, runs_of};
use crate::recording::{Recording, delivered_figure};
use crate::report::table::Cell;
use crate::statistics::{Interval, Latency, Quantile};

/// How far the medians of the delivered messages may lie apart.
pub const P50_TOLERANCE_MS: f64 = 1.0;
/// How far the P99 of the delivered messages may lie apart, as a share of the reference.
pub const P99_TOLERANCE: f64 = 0.05;
/// … and so far in any case, which matters where there is next to no delay.
const P99_TOLERANCE_MS: f64 = 0.1;
/// How far a quantile of two single runs may lie apart by chance. Over 60 seeds of a minute with
/// medium loss it scatters by 2 to 6.4 %, depending on the sender: three standard deviations of a
/// difference.
const NOISE: f64 = 0.3;

#[derive(Debug)]
pub(super) struct Figures {
    p50: Pair,
    p99: Pair,
    lost: Losses,
    runs: usize,
}

/// A quantile of the delivered messages, of the reference and of the other engine.
#[derive(Debug, Clone, Copy)]
struct Pair {
    reference: Value,
    other: Value,
}

#[derive(Debug, Clone, Copy)]
struct Value {
    ms: f64,
    interval: Interval<Latency>,
}

impl Figures {
    /// `None`: one of both did not run it, or delivered nothing.
    pub(super) fn of(sender: &str, reference: &[Recording], other: &[Recording]) -> Option<Self> {
        let pair = |quantile| {
            let value = |recordings| Value::of(sender, recordings, quantile);
            Some(Pair { reference: value(reference)?, other: value(other)? })
        };
        Some(Self {
            p50: pair(Quantile::P50)?,
            p99: pair(Quantile::P99)?,
            lost: Losses::of(sender, reference, other),
            runs: runs_of(sender, reference, other),
        })
    }

    pub(super) fn verdict(&self) -> Agrees {
        let p50 = match self.p50.apart_ms().abs() <= P50_TOLERANCE_MS {
            true => Agrees::Yes,
            false => self.p50.beyond_tolerance(self.runs),
        };
        let close = self.p99.apart_ms().abs() <= P99_TOLERANCE_MS;
        let p99 = match close || self.p99.apart_share().abs() <= P99_TOLERANCE {
            true => Agrees::Yes,
            false => self.p99.beyond_tolerance(self.runs),
        };
        p50.max(p99).max(self.lost.verdict())
    }

    pub(super) fn cells(&self) -> Vec<Cell> {
        let (lost, lost_by_other) = self.lost.totals();
        let number = |value: f64| Cell::new(format!("{value:.2}"));
        vec![
            number(self.p50.reference.ms),
            number(self.p50.other.ms),
            Cell::new(format!("{:+.2} ms", self.p50.apart_ms())),
            number(self.p99.reference.ms),
            number(self.p99.other.ms),
            Cell::new(format!("{:+.1} %", self.p99.apart_share() * 100.0)),
            Cell::new(lost.to_string()),
            Cell::new(lost_by_other.to_string()),
        ]
    }
}

impl Value {
    fn of(sender: &str, recordings: &[Recording], quantile: Quantile) -> Option<Self> {
        let runs = recordings.iter().filter(|one| one.sender == sender);
        let figure = delivered_figure(&runs.collect::<Vec<_>>(), quantile)?;
        Some(Self { ms: figure.value?.as_ms()?, interval: figure.interval })
    }
}

impl Pair {
    fn apart_ms(self) -> f64 {
        self.other.ms - self.reference.ms
    }

    /// Of nothing, everything else is infinitely far off.
    fn apart_share(self) -> f64 {
        if self.apart_ms() == 0.0 { 0.0 } else { self.apart_ms() / self.reference.ms }
    }

    fn beyond_tolerance(self, runs: usize) -> Agrees {
        let few_may_be = self.apart_share().abs() < NOISE;
        beyond_tolerance(self.reference.interval, self.other.interval, runs, few_may_be)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_run_does_not_tell_noise_from_a_small_difference() {
        let pair = |other: f64| {
            let value = |ms: f64| Value { ms, interval: Interval::UNKNOWN };
            Pair { reference: value(100.0), other: value(other) }
        };
        let verdict = |p50: f64, p99: f64| {
            let lost = Losses::of("none", &[], &[]);
            Figures { p50: pair(p50), p99: pair(p99), lost, runs: 1 }.verdict()
        };
        assert_eq!(verdict(100.9, 104.9), Agrees::Yes);
        assert_eq!(verdict(100.0, 107.0), Agrees::TooFewRuns);
        assert_eq!(verdict(100.0, 150.0), Agrees::No);
        assert_eq!(verdict(102.0, 100.0), Agrees::TooFewRuns);
        assert_eq!(verdict(140.0, 100.0), Agrees::No);
    }
}
