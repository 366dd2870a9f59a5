//! The interval of any figure over runs, by resampling whole runs: the only unit that is
//! independent when an outage or a queue makes the messages of a run depend on one another.

use std::cmp::Ordering;

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

use crate::splitmix::SplitMix64;

use super::{CONFIDENCE, Interval};

/// With fewer runs there are too few different resamples for an interval.
pub const FEWEST_RUNS: usize = 5;

/// At most this many resamples, and fewer (but never below [`FEWEST_RESAMPLES`]) where there are
/// many runs.
const MOST_RESAMPLES: usize = 2000;
const FEWEST_RESAMPLES: usize = 400;
/// Runs × resamples aimed at, so that a thousand runs take no longer than a hundred.
const EFFORT: usize = 100_000;

/// `statistic` sees how often each run was drawn. The percentile interval is widened as Hesterberg
/// advises ("What Teachers Should Know About the Bootstrap", 2015, section 4): plain, it is too
/// narrow with few runs.
pub fn over_runs<T: PartialOrd + Copy>(
    runs: usize,
    seed: u64,
    statistic: impl Fn(&[u64]) -> T,
) -> Interval<T> {
    if runs < FEWEST_RUNS {
        return Interval::UNKNOWN;
    }
    let mut random = SplitMix64::new(seed);
    let mut drawn = vec![0; runs];
    let resamples = (EFFORT / runs).clamp(FEWEST_RESAMPLES, MOST_RESAMPLES);
    let mut figures: Vec<T> = (0..resamples)
        .map(|_| {
            draw(&mut drawn, &mut random);
            statistic(&drawn)
        })
        .collect();
    figures.sort_by(|a, b| a.partial_cmp(b).unwrap_or(Ordering::Equal));
    let cut = (missed_each_side(runs) * resamples as f64).floor() as usize;
    Interval { low: figures.get(cut).copied(), high: figures.get(resamples - 1 - cut).copied() }
}

fn draw(drawn: &mut [u64], random: &mut SplitMix64) {
    drawn.fill(0);
    for _ in 0..drawn.len() {
        drawn[below(random, drawn.len())] += 1;
    }
}

/// The share to cut on each side: what Student's t with n − 1 degrees and the factor √(n / (n − 1))
/// make of 2.5 %.
fn missed_each_side(runs: usize) -> f64 {
    let runs = runs as f64;
    let student = StudentsT::new(0.0, 1.0, runs - 1.0).expect("at least one degree of freedom");
    let t = student.inverse_cdf((1.0 + CONFIDENCE) / 2.0);
    Normal::standard().cdf(-(runs / (runs - 1.0)).sqrt() * t)
}

/// Uniform over 0 … limit − 1, by multiplication (Lemire 2019); the bias is below limit / 2⁶⁴.
fn below(random: &mut SplitMix64, limit: usize) -> usize {
    ((u128::from(random.next()) * limit as u128) >> 64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::{Distribution, Latency, Quantile};

    /// The mean of twelve uniforms, shifted and scaled to mean 0 and variance 1: normal enough for
    /// coverage.
    fn normal(random: &mut SplitMix64) -> f64 {
        (0..12).map(|_| random.unit()).sum::<f64>() - 6.0
    }

    fn weighted(runs: &[f64], drawn: &[u64]) -> f64 {
        runs.iter().zip(drawn).map(|(value, times)| value * *times as f64).sum::<f64>()
            / runs.len() as f64
    }

    #[test]
    fn fewer_than_five_runs_have_no_interval() {
        assert_eq!(over_runs(4, 1, |_| 1.0), Interval::UNKNOWN);
        assert!(over_runs(5, 1, |_| 1.0).is_bounded());
    }

    #[test]
    fn the_same_seed_gives_the_same_interval() {
        let runs: Vec<f64> = (0..20).map(f64::from).collect();
        let interval = |seed| over_runs(20, seed, |drawn| weighted(&runs, drawn));
        assert_eq!(interval(3), interval(3));
        assert_ne!(interval(3), interval(4));
    }

    /// The widening against a table: for 5 runs t is 2.776, so the cut is Φ(−3.104) = 0.00095.
    #[test]
    fn the_cut_is_that_of_the_table_for_five_runs_and_tends_to_a_fortieth() {
        assert!((missed_each_side(5) - 0.000_955).abs() < 0.000_02);
        assert!((missed_each_side(10_000) - 0.025).abs() < 0.000_1);
    }

    #[test]
    fn it_covers_the_mean_of_runs_about_as_often_as_promised() {
        let mut random = SplitMix64::new(11);
        for (runs, at_least) in [(5, 860), (10, 910), (30, 925)] {
            let covered = (0..1000)
                .filter(|trial| {
                    let values: Vec<f64> = (0..runs).map(|_| normal(&mut random)).collect();
                    let interval = over_runs(runs, *trial, |drawn| weighted(&values, drawn));
                    interval.low.unwrap() <= 0.0 && 0.0 <= interval.high.unwrap()
                })
                .count();
            assert!(covered >= at_least, "{runs} runs: {covered} of 1000");
        }
    }

    /// Each run has an offset of its own, so its messages depend on one another: order statistics
    /// over all messages are then far too sure of themselves, and runs are the unit that is not.
    #[test]
    fn dependent_messages_are_covered_by_runs_and_not_by_pooled_ranks() {
        let mut random = SplitMix64::new(5);
        let truth = Latency::from_nanos(1_000_000);
        let (mut by_runs, mut by_messages) = (0, 0);
        for seed in 0..200 {
            let runs: Vec<Distribution> = (0..10).map(|_| offset_run(&mut random)).collect();
            let pooled = |drawn: &[u64]| {
                let counts = runs.iter().zip(drawn);
                let all =
                    counts.flat_map(|(run, times)| run.counts().map(move |(l, n)| (l, n * times)));
                Distribution::from_counts(all).quantile(Quantile::P50)
            };
            let interval = over_runs(runs.len(), seed, pooled);
            by_runs += usize::from(
                interval.low <= Some(Some(truth)) && Some(Some(truth)) <= interval.high,
            );
            let naive = super::super::order_statistics(&Distribution::pooled(&runs), Quantile::P50);
            by_messages += usize::from(naive.low <= Some(truth) && Some(truth) <= naive.high);
        }
        assert!(by_runs >= 172, "by runs {by_runs} of 200");
        assert!(by_messages < 100, "by messages {by_messages} of 200");
    }

    fn offset_run(random: &mut SplitMix64) -> Distribution {
        let offset = normal(random);
        Distribution::from_samples((0..50).map(|_| {
            let value = 1e6 + 1e5 * (offset + 0.3 * normal(random));
            Latency::from_nanos(value as u64)
        }))
    }
}
