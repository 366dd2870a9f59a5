//! Bounds that hold for any number of samples, not only for many: for judging hundreds of figures
//! with next to no false alarm, where the normal distribution says too little about the tails.

use statrs::distribution::{Beta, ContinuousCDF};

use super::{CONFIDENCE, Interval};

/// How far a sum of deviations, each from what was to be expected given those before, strays to one
/// side with probability e^−`rarity` at most (Freedman, "On tail probabilities for martingales",
/// Annals of Probability 3, 1975). `variance` is the sum of theirs, and none of them exceeds
/// `most`.
pub fn stray(variance: f64, most: f64, rarity: f64) -> f64 {
    let jump = most * rarity / 3.0;
    jump + (jump * jump + 2.0 * rarity * variance).sqrt()
}

/// The logarithm of a bound on the probability that so many of independent or successive events
/// happen where `expected` are (Chernoff, for sums of unequal probabilities).
pub fn poisson_surprise(expected: f64, found: f64) -> f64 {
    if found == 0.0 {
        return -expected;
    }
    if expected <= 0.0 {
        return f64::NEG_INFINITY;
    }
    (found - expected - found * (found / expected).ln()).min(0.0)
}

/// Clopper and Pearson's: each side misses at most half of what [`CONFIDENCE`] leaves.
pub fn proportion(happened: u64, of: u64) -> Interval<f64> {
    if of == 0 {
        return Interval::UNKNOWN;
    }
    let missed = (1.0 - CONFIDENCE) / 2.0;
    let (happened, not) = (happened as f64, (of - happened) as f64);
    let beta = |a: f64, b: f64, p: f64| Beta::new(a, b).map_or(f64::NAN, |it| it.inverse_cdf(p));
    let low = if happened == 0.0 { 0.0 } else { beta(happened, not + 1.0, missed) };
    let high = if not == 0.0 { 1.0 } else { beta(happened + 1.0, not, 1.0 - missed) };
    Interval { low: Some(low), high: Some(high) }
}

#[cfg(test)]
mod tests {
    use statrs::distribution::{DiscreteCDF, Poisson};

    use super::*;

    #[test]
    fn a_proportion_has_the_interval_of_the_tables() {
        // 10 of 100: 4.90 % … 17.62 %; none of 30: up to 11.57 %.
        let Interval { low, high } = proportion(10, 100);
        assert!((low.unwrap() - 0.0490).abs() < 1e-4, "{low:?}");
        assert!((high.unwrap() - 0.1762).abs() < 1e-4, "{high:?}");
        let none = proportion(0, 30);
        assert_eq!(none.low, Some(0.0));
        assert!((none.high.unwrap() - 0.1157).abs() < 1e-4, "{none:?}");
        assert_eq!(proportion(30, 30).high, Some(1.0));
        assert_eq!(proportion(0, 0), Interval::UNKNOWN);
    }

    /// 5.7 standard deviations where the normal distribution would say 5.2.
    #[test]
    fn a_stray_is_a_little_more_than_the_normal_one() {
        let rarity = 16.8;
        assert!((stray(1e6, 1.0, rarity) / 1000.0 - 5.8).abs() < 0.05);
        assert!((stray(0.0, 3.0, rarity) - 2.0 * rarity).abs() < 1e-9);
    }

    #[test]
    fn a_surprise_bounds_the_exact_tail_of_poisson() {
        let exact = Poisson::new(20.0).unwrap();
        assert!(exact.sf(44).ln() <= poisson_surprise(20.0, 45.0));
        assert!(exact.cdf(5).ln() <= poisson_surprise(20.0, 5.0));
        assert_eq!(poisson_surprise(20.0, 20.0), 0.0);
        assert_eq!(poisson_surprise(0.0, 1.0), f64::NEG_INFINITY);
        assert_eq!(poisson_surprise(0.0, 0.0), 0.0);
    }
}
