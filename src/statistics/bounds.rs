//! Bounds that hold for any number of samples, not only for many: for judging hundreds of figures
//! with next to no false alarm, where the normal distribution says too little about the tails.

use statrs::distribution::{Beta, ContinuousCDF, Normal};

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

/// Clopper and Pearson's: each side misses at most half of what [`CONFIDENCE`] leaves. With so many
/// events that it makes no difference, Wilson's.
pub fn proportion(happened: u64, of: u64) -> Interval<f64> {
    if of == 0 {
        return Interval::UNKNOWN;
    }
    let (happened, not) = (happened as f64, (of - happened) as f64);
    let (low, high) = if happened * not / (happened + not) > MANY_EVENTS {
        wilson(happened, not)
    } else {
        clopper_pearson(happened, not)
    };
    Interval { low: Some(low), high: Some(high) }
}

/// The variance of a count from which Wilson's interval is the exact one to 0.3 % of its width.
/// statrs' beta distribution cannot go on for ever: it takes 140 terms of a series for any count,
/// which is too few for halves of 10⁸.
const MANY_EVENTS: f64 = 1e4;

const MISSED_EACH_SIDE: f64 = (1.0 - CONFIDENCE) / 2.0;

fn clopper_pearson(happened: f64, not: f64) -> (f64, f64) {
    let low = match happened {
        0.0 => 0.0,
        _ => beta_quantile(happened, not + 1.0, MISSED_EACH_SIDE),
    };
    let high = match not {
        0.0 => 1.0,
        _ => beta_quantile(happened + 1.0, not, 1.0 - MISSED_EACH_SIDE),
    };
    (low, high)
}

/// By halving: the inverse that statrs has never comes back for some counts of millions.
fn beta_quantile(a: f64, b: f64, probability: f64) -> f64 {
    let Ok(beta) = Beta::new(a, b) else { return f64::NAN };
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..f64::MANTISSA_DIGITS + 10 {
        let middle = f64::midpoint(low, high);
        if beta.cdf(middle) < probability { low = middle } else { high = middle }
    }
    f64::midpoint(low, high)
}

/// The shares from which what was found is as far as [`CONFIDENCE`] allows (Wilson, JASA 22, 1927).
fn wilson(happened: f64, not: f64) -> (f64, f64) {
    let (count, z) = (happened + not, Normal::standard().inverse_cdf(1.0 - MISSED_EACH_SIDE));
    let middle = happened + z * z / 2.0;
    let half = z * (happened * not / count + z * z / 4.0).sqrt();
    ((middle - half) / (count + z * z), (middle + half) / (count + z * z))
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

    /// Against scipy's `beta.ppf`, on both sides of [`MANY_EVENTS`].
    #[test]
    fn a_proportion_of_millions_has_the_exact_interval() {
        for (happened, of, low, high) in [
            (3, 10_000_000, 6.186_721_656e-8, 8.767_270_541e-7),
            (0, 8_000_000, 0.0, 4.611_098_255e-7),
            (25_000, 50_000, 0.495_607_494_0, 0.504_392_506_0),
            (45_000, 1_000_000, 0.044_594_509_66, 0.045_408_128_45),
            (241_217, 8_123_456, 0.029_577_269_52, 0.029_810_843_65),
            (9_989_900, 10_000_000, 0.998_970_117_3, 0.999_009_592_8),
            (50_000_000, 100_000_000, 0.499_901_996_8, 0.500_098_003_2),
        ] {
            let found = proportion(happened, of);
            let slack = 0.003 * (high - low);
            assert!((found.low.unwrap() - low).abs() <= slack, "{happened} of {of}: {found:?}");
            assert!((found.high.unwrap() - high).abs() <= slack, "{happened} of {of}: {found:?}");
        }
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
