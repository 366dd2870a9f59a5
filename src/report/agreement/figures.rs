//! The figures of one sender on two engines, and whether they agree.

use super::losses::Losses;
use super::pair::{Pair, Value};
use super::{Agrees, runs_of};
use crate::recording::{Recording, delivered_figure};
use crate::report::table::Cell;
use crate::statistics::{Latency, Quantile};

/// How far the medians of the delivered messages may lie apart.
pub const P50_TOLERANCE_MS: f64 = 1.0;
/// How far the P99 of the delivered messages may lie apart, as a share of the reference.
pub const P99_TOLERANCE: f64 = 0.05;
/// … and so far in any case, which matters where there is next to no delay.
pub const P99_TOLERANCE_MS: f64 = 0.1;
/// How far a quantile of two single runs may lie apart by chance. Over 60 seeds of a minute with
/// medium loss it scatters by 2 to 6.4 %, depending on the sender: three standard deviations of a
/// difference.
const NOISE: f64 = 0.3;

/// The quantiles are of the delivered messages, in milliseconds.
#[derive(Debug)]
pub(super) struct Figures {
    pub(super) p50: Pair,
    pub(super) p99: Pair,
    pub(super) lost: Losses,
    pub(super) runs: usize,
}

impl Figures {
    /// `None`: one of both did not run it, or delivered nothing.
    pub(super) fn of(sender: &str, reference: &[Recording], other: &[Recording]) -> Option<Self> {
        let pair = |quantile| {
            let value = |recordings| quantile_of(sender, recordings, quantile);
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
        self.p50_verdict().max(self.p99_verdict()).max(self.lost.verdict())
    }

    pub(super) fn p50_verdict(&self) -> Agrees {
        match self.p50.apart().abs() <= P50_TOLERANCE_MS {
            true => Agrees::Yes,
            false => self.beyond_tolerance(self.p50),
        }
    }

    pub(super) fn p99_verdict(&self) -> Agrees {
        let close = self.p99.apart().abs() <= P99_TOLERANCE_MS;
        match close || self.p99.apart_share().abs() <= P99_TOLERANCE {
            true => Agrees::Yes,
            false => self.beyond_tolerance(self.p99),
        }
    }

    fn beyond_tolerance(&self, pair: Pair) -> Agrees {
        pair.beyond_tolerance(self.runs, pair.apart_share().abs() < NOISE)
    }

    pub(super) fn cells(&self) -> Vec<Cell> {
        let (lost, lost_by_other) = self.lost.totals();
        let number = |value: f64| Cell::new(format!("{value:.2}"));
        vec![
            number(self.p50.reference.value),
            number(self.p50.other.value),
            Cell::new(format!("{:+.2} ms", self.p50.apart())),
            number(self.p99.reference.value),
            number(self.p99.other.value),
            Cell::new(format!("{:+.1} %", self.p99.apart_share() * 100.0)),
            Cell::new(lost.to_string()),
            Cell::new(lost_by_other.to_string()),
        ]
    }
}

fn quantile_of(sender: &str, recordings: &[Recording], quantile: Quantile) -> Option<Value> {
    let runs = recordings.iter().filter(|one| one.sender == sender);
    let figure = delivered_figure(&runs.collect::<Vec<_>>(), quantile)?;
    let interval = figure.interval.map(Latency::as_ms_or_infinity);
    Some(Value { value: figure.value?.as_ms()?, interval })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::Interval;

    #[test]
    fn one_run_does_not_tell_noise_from_a_small_difference() {
        let pair = |other: f64| {
            let value = |value: f64| Value { value, interval: Interval::UNKNOWN };
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
