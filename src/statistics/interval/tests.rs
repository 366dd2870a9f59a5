use super::*;
use crate::splitmix::SplitMix64;

/// Latencies 1, 2, …, n: a rank is then its own latency.
fn ranks(samples: u64) -> Distribution {
    Distribution::from_samples((1..=samples).map(Latency::from_nanos))
}

/// P(B ≤ k) summed term by term, each from its logarithm (0.1⁴⁰⁰ is no f64): slow, and independent
/// of the library.
fn binomial_cdf(samples: u64, share: f64, k: u64) -> f64 {
    let mut term = samples as f64 * (1.0 - share).ln();
    let mut sum = term.exp();
    for i in 1..=k {
        term += ((samples - i + 1) as f64 / i as f64 * share / (1.0 - share)).ln();
        sum += term.exp();
    }
    sum
}

#[test]
fn an_upper_bound_of_p99_takes_368_samples_and_of_p999_3688() {
    for (quantile, needed) in [(Quantile::P99, 368), (Quantile::P999, 3688)] {
        assert_eq!(order_statistics(&ranks(needed - 1), quantile).high, None);
        let at_the_limit = order_statistics(&ranks(needed), quantile);
        assert_eq!(at_the_limit.high, Some(Latency::from_nanos(needed)), "{quantile}");
    }
}

#[test]
fn the_ranks_are_those_of_the_binomial_summed_term_by_term() {
    for samples in [10, 25, 100, 400, 700] {
        for quantile in [Quantile::P50, Quantile::new(0.9).unwrap(), Quantile::P99] {
            let cdf = |k| binomial_cdf(samples, quantile.as_f64(), k);
            let low = (1..=samples).rev().find(|rank| cdf(rank - 1) <= 0.025);
            let high = (1..=samples).find(|rank| cdf(rank - 1) >= 0.975);
            let expected =
                Interval { low: low.map(Latency::from_nanos), high: high.map(Latency::from_nanos) };
            assert_eq!(
                order_statistics(&ranks(samples), quantile),
                expected,
                "{samples} {quantile}"
            );
        }
    }
}

#[test]
fn the_interval_covers_the_true_quantile_of_a_known_distribution() {
    let mut random = SplitMix64::new(7);
    for (quantile, samples) in [(Quantile::P50, 101), (Quantile::P99, 1000), (Quantile::P999, 4000)]
    {
        // Exponential with mean 1: the quantile is −ln(1 − q).
        let truth = Latency::from_nanos((-(1.0 - quantile.as_f64()).ln() * 1e9) as u64);
        let trials = 1000;
        let covered = (0..trials)
            .filter(|_| {
                let sample = (0..samples).map(|_| (-random.unit().ln() * 1e9) as u64);
                let distribution = Distribution::from_samples(sample.map(Latency::from_nanos));
                let interval = order_statistics(&distribution, quantile);
                interval.low.unwrap() <= truth && truth <= interval.high.unwrap()
            })
            .count();
        // 95 % or more is promised; 1,000 trials scatter by 0.7 % (one standard deviation).
        assert!(covered >= 930, "{quantile}: {covered} of {trials}");
    }
}

#[test]
fn a_quantile_among_the_lost_is_bounded_by_lost() {
    let distribution =
        Distribution::from_counts([(Latency::from_nanos(5), 900), (Latency::LOST, 100)]);
    let interval = order_statistics(&distribution, Quantile::P99);
    assert_eq!(interval, Interval { low: Some(Latency::LOST), high: Some(Latency::LOST) });
}

#[test]
fn nothing_measured_is_nothing_known() {
    assert_eq!(order_statistics(&Distribution::default(), Quantile::P99), Interval::UNKNOWN);
}
