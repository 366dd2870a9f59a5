//! The tables behind `normal`, `pareto` and `paretonormal` jitter, computed once, when first used.
//! Each holds the quantiles of its distribution at (i + ½) / 4096 in units of jitter / 8192, so
//! that a uniform draw of an index is a draw from the distribution. Sixteen bits reach ±4 jitters,
//! and what lies beyond is clipped there, as in iproute2's tables.

use std::f64::consts::PI;
use std::sync::{Arc, LazyLock};

use super::delay::SCALE;
use super::profile::Distribution;

const ENTRIES: usize = 4096;

/// Samples in units of jitter / 8192; `None` for the uniform distribution, which needs none.
pub fn table(distribution: &Distribution) -> Option<Arc<[i16]>> {
    static NORMAL: LazyLock<Arc<[i16]>> = LazyLock::new(|| clipped(normal_quantiles()));
    static PARETO: LazyLock<Arc<[i16]>> = LazyLock::new(|| clipped(pareto_quantiles()));
    static PARETO_NORMAL: LazyLock<Arc<[i16]>> =
        LazyLock::new(|| clipped(pareto_normal_quantiles()));
    match distribution {
        Distribution::Uniform => None,
        Distribution::Normal => Some(NORMAL.clone()),
        Distribution::Pareto => Some(PARETO.clone()),
        Distribution::ParetoNormal => Some(PARETO_NORMAL.clone()),
        Distribution::Table(table) => Some(table.clone()),
    }
}

/// The same, with a table for the uniform distribution as well: where the kernel draws from a table
/// in any case. It never lets go of one that it was given for the delay; and slots follow the seed
/// only if there is one.
///
/// From −1 to 1 in steps of 2 / 8192, neither end included. Half as long as the kernel allows, so
/// that it fits into a message beside a second table.
pub fn table_or_even(distribution: &Distribution) -> Arc<[i16]> {
    const LAST: i16 = SCALE as i16 - 1;
    static EVEN: LazyLock<Arc<[i16]>> = LazyLock::new(|| (-LAST..=LAST).step_by(2).collect());
    table(distribution).unwrap_or_else(|| EVEN.clone())
}

fn clipped(quantiles: impl Iterator<Item = f64>) -> Arc<[i16]> {
    // A float that is out of range becomes the nearest i16.
    quantiles.map(|quantile| (quantile * SCALE as f64).round() as i16).collect()
}

fn probabilities() -> impl Iterator<Item = f64> {
    (0..ENTRIES).map(|i| (i as f64 + 0.5) / ENTRIES as f64)
}

/// Mean 0, standard deviation 1.
fn normal_quantiles() -> impl Iterator<Item = f64> {
    let upper: Vec<f64> = probabilities()
        .skip(ENTRIES / 2)
        .scan(0.0, |last, probability| {
            *last = normal_quantile_from(*last, probability);
            Some(*last)
        })
        .collect();
    let lower: Vec<f64> = upper.iter().rev().map(|quantile| -quantile).collect();
    lower.into_iter().chain(upper)
}

/// Newton's method from a quantile below the one sought: Φ is concave there, so that it never
/// overshoots.
fn normal_quantile_from(mut x: f64, probability: f64) -> f64 {
    const STEPS: usize = 20;
    for _ in 0..STEPS {
        x += (probability - normal_cdf(x)) / normal_density(x);
    }
    x
}

fn normal_density(x: f64) -> f64 {
    (-x * x / 2.0).exp() / (2.0 * PI).sqrt()
}

/// Φ(x) = ½ + φ(x)·(x + x³/3 + x⁵/15 + …), for x of at most 5 (Marsaglia, "Evaluating the normal
/// distribution", Journal of Statistical Software 11, 2004).
fn normal_cdf(x: f64) -> f64 {
    const TERMS: usize = 100;
    let mut term = x;
    let mut sum = 0.0;
    for n in 1..=TERMS {
        sum += term;
        term *= x * x / (2 * n + 1) as f64;
    }
    0.5 + normal_density(x) * sum
}

/// Shape 3 from 1 up, less its mean of 1½, over its *variance* of ¾: NIST Net's formula, which
/// iproute2 kept. Half of what it yields lies below the mean by a little and the rest above it by
/// much.
fn pareto_quantiles() -> impl Iterator<Item = f64> {
    const SHAPE: f64 = 3.0;
    probabilities().map(|p| ((1.0 - p).powf(-1.0 / SHAPE) - 1.5) * 4.0 / 3.0)
}

/// A quarter of the normal quantile and three quarters of the (clipped) Pareto quantile, as NIST
/// Net mixes them.
fn pareto_normal_quantiles() -> impl Iterator<Item = f64> {
    let limit = f64::from(i16::MAX) / SCALE as f64;
    normal_quantiles()
        .zip(pareto_quantiles())
        .map(move |(normal, pareto)| 0.25 * normal + 0.75 * pareto.min(limit))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(distribution: &Distribution) -> Vec<f64> {
        let table = table(distribution).expect("has a table");
        table.iter().map(|&sample| f64::from(sample) / SCALE as f64).collect()
    }

    fn mean(samples: &[f64]) -> f64 {
        samples.iter().sum::<f64>() / samples.len() as f64
    }

    fn variance(samples: &[f64]) -> f64 {
        let mean = mean(samples);
        samples.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / samples.len() as f64
    }

    #[test]
    fn normal_cdf_has_its_known_values() {
        for (x, p) in [(0.0, 0.5), (1.0, 0.841_344_746_068_543), (3.0, 0.998_650_101_968_370)] {
            assert!((normal_cdf(x) - p).abs() < 1e-14, "{x}");
        }
    }

    #[test]
    fn normal_has_mean_0_and_deviation_1_and_its_known_quantiles() {
        let normal = samples(&Distribution::Normal);
        assert_eq!(normal.len(), ENTRIES);
        assert_eq!(mean(&normal), 0.0);
        assert!((variance(&normal) - 1.0).abs() < 1e-3);
        for (p, quantile) in [(0.75, 0.674_490), (0.975, 1.959_964), (0.999, 3.090_232)] {
            let index = (p * ENTRIES as f64) as usize;
            assert!(normal[index - 1] < quantile && quantile < normal[index + 1], "{p}");
        }
    }

    /// E[min(X, c)] and E[min(X, c)²] of a Pareto variable of shape 3 that is clipped at c = 4 · ¾
    /// + 1½.
    #[test]
    fn pareto_has_the_moments_of_its_clipped_closed_form() {
        let c: f64 = 4.5;
        let clipped_mean = 1.5 - 1.0 / (2.0 * c * c);
        let clipped_variance = 3.0 - 2.0 / c - clipped_mean * clipped_mean;
        let pareto = samples(&Distribution::Pareto);
        assert!((mean(&pareto) - (clipped_mean - 1.5) * 4.0 / 3.0).abs() < 1e-3);
        assert!((variance(&pareto) - clipped_variance * 16.0 / 9.0).abs() < 1e-3);
        assert!((pareto[0] + 2.0 / 3.0).abs() < 1e-3);
        assert_eq!(pareto[ENTRIES - 1], f64::from(i16::MAX) / SCALE as f64);
    }

    #[test]
    fn pareto_normal_mixes_the_means() {
        let mixed = samples(&Distribution::ParetoNormal);
        let pareto = samples(&Distribution::Pareto);
        assert!((mean(&mixed) - 0.75 * mean(&pareto)).abs() < 1e-4);
        // At the median: ¼ · 0 + ¾ · (2^⅓ − 1½) · 4/3.
        assert!((mixed[ENTRIES / 2] - (2f64.cbrt() - 1.5)).abs() < 1e-3);
    }

    #[test]
    fn quantiles_never_fall() {
        for distribution in [Distribution::Normal, Distribution::Pareto, Distribution::ParetoNormal]
        {
            assert!(samples(&distribution).is_sorted(), "{distribution:?}");
        }
    }
}
