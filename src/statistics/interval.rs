//! The interval of a quantile from the order statistics of one sample. No shape of the distribution
//! is assumed, only that the samples are independent; where they are not, `bootstrap` resamples
//! whole runs instead.

use statrs::distribution::{Binomial, DiscreteCDF};

use super::{Distribution, Latency, Quantile};

/// Of every interval in this project.
pub const CONFIDENCE: f64 = 0.95;

/// Where the true value lies with [`CONFIDENCE`]; a side is `None` where the samples are too few to
/// bound it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval<T> {
    pub low: Option<T>,
    pub high: Option<T>,
}

impl<T> Interval<T> {
    pub const UNKNOWN: Interval<T> = Interval { low: None, high: None };

    /// In another unit; what is smaller stays so.
    pub fn map<U>(self, to: impl Fn(T) -> U) -> Interval<U> {
        Interval { low: self.low.map(&to), high: self.high.map(&to) }
    }

    pub fn is_bounded(&self) -> bool {
        self.low.is_some() && self.high.is_some()
    }
}

/// The samples whose ranks enclose the quantile: the number of samples below it is binomial (n, q),
/// whatever their distribution, so P(X₍ₗ₎ ≤ quantile < X₍ᵤ₎) = P(l ≤ B ≤ u − 1); each side misses
/// at most 2.5 %.
pub fn order_statistics(distribution: &Distribution, quantile: Quantile) -> Interval<Latency> {
    let samples = distribution.count();
    let Ok(below) = Binomial::new(quantile.as_f64(), samples) else {
        return Interval::UNKNOWN;
    };
    let missed = (1.0 - CONFIDENCE) / 2.0;
    // The largest l with P(B ≤ l − 1) ≤ missed: the first k with P(B ≤ k) above it, or n if there
    // is none.
    let low = first(samples, |rank| below.cdf(rank) > missed).unwrap_or(samples);
    // The smallest u with P(B ≤ u − 1) ≥ 1 − missed.
    let high = first(samples, |rank| below.cdf(rank) >= 1.0 - missed).map(|rank| rank + 1);
    Interval {
        low: distribution.ranked(low),
        high: high.and_then(|rank| distribution.ranked(rank)),
    }
}

/// The first of 0 … samples − 1 for which a condition holds that stays true once it is.
fn first(samples: u64, holds: impl Fn(u64) -> bool) -> Option<u64> {
    let (mut low, mut high) = (0, samples);
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) { high = middle } else { low = middle + 1 }
    }
    (low < samples).then_some(low)
}

#[cfg(test)]
mod tests;
