use statrs::distribution::{Binomial, DiscreteCDF};

use super::*;

fn packets(count: u64) -> Packets {
    Packets { count, spells: 1 }
}

fn near(found: f64, right: f64, share: f64) {
    assert!((found - right).abs() <= share * right.abs(), "{found} instead of {right}");
}

#[test]
fn independent_losses_are_binomial_in_geometric_runs() {
    let (p, n) = (0.02, 3000);
    let chain = LossChain::independent(p);
    let (share, run) = chain.long_run();
    near(share, p, 1e-9);
    near(run.unwrap(), 1.0 / (1.0 - p), 1e-9);
    let (mean, variance) = chain.moments(Count::LOST, packets(n));
    near(mean, 60.0, 1e-12);
    near(variance, 60.0 * 0.98, 1e-9);
}

/// Gilbert, "Capacity of a burst-noise channel" (1960): p / (p + r) of the packets find the bad
/// state, and stay 1 / r in it.
#[test]
fn gilbert_elliott_has_its_closed_forms() {
    let (p, r, bad, good) = (0.01, 0.25, 0.8, 0.001);
    let found_bad = p / (p + r);
    let chain = LossChain::gilbert_elliott([p, r, bad, good]);
    near(chain.long_run().0, found_bad * bad + (1.0 - found_bad) * good, 1e-9);
    let (share, run) = LossChain::gilbert_elliott([p, r, 1.0, 0.0]).long_run();
    near(share, found_bad, 1e-9);
    near(run.unwrap(), 1.0 / r, 1e-9);
}

/// The variance of the time a two-state chain spends in one of them: n π(1 − π)(1 + λ) / (1 − λ) in
/// the long run, λ = 1 − p − r.
#[test]
fn the_count_of_a_chain_scatters_more() {
    let (p, r, n) = (0.01, 0.25, 1_000_000);
    let chain = LossChain::gilbert_elliott([p, r, 1.0, 0.0]);
    let (bad, lambda) = (p / (p + r), 1.0 - p - r);
    let (mean, variance) = chain.moments(Count::LOST, packets(n));
    near(mean, n as f64 * bad, 1e-4);
    near(variance, n as f64 * bad * (1.0 - bad) * (1.0 + lambda) / (1.0 - lambda), 1e-3);
    // Two links of half the length begin in the good state twice.
    let halves = chain.moments(Count::LOST, Packets { count: n, spells: 2 });
    assert!(halves.0 < mean);
    near(halves.0, mean, 1e-4);
}

/// Salsano, Ludovici, Ordine (2009): the four states in equilibrium.
#[test]
fn the_four_states_have_their_closed_forms() {
    let [p13, p31, p32, p23, p14] = [0.02, 0.3, 0.1, 0.4, 0.01];
    let chain = LossChain::four_state([p13, p31, p32, p23, p14]);
    let weights = [p31 / p13, p32 / p23, 1.0, p14 * p31 / p13];
    let all: f64 = weights.iter().sum();
    near(chain.long_run().0, (weights[2] + weights[3]) / all, 1e-9);
}

#[test]
fn a_chain_that_alternates_has_an_equilibrium() {
    let (share, run) = LossChain::gilbert_elliott([1.0, 1.0, 1.0, 0.0]).long_run();
    near(share, 0.5, 1e-9);
    near(run.unwrap(), 1.0, 1e-9);
}

/// Chernoff's bound lies above the exact tail, and not far.
#[test]
fn a_surprise_bounds_the_exact_tail() {
    let (p, n) = (0.02, 3000);
    let chain = LossChain::independent(p);
    let exact = Binomial::new(p, n).unwrap();
    for found in [80, 100, 120] {
        let bound = chain.surprise(Count::LOST, packets(n), f64::from(found));
        let tail = exact.sf(found as u64 - 1).ln();
        assert!(tail <= bound && bound < tail + 4.0, "{found}: {bound} and {tail}");
    }
    for found in [40, 30, 20] {
        let bound = chain.surprise(Count::LOST, packets(n), f64::from(found));
        let tail = exact.cdf(found as u64).ln();
        assert!(tail <= bound && bound < tail + 4.0, "{found}: {bound} and {tail}");
    }
}

#[test]
fn what_is_impossible_is_a_surprise() {
    let certain = -16.8;
    let never = LossChain::independent(0.0);
    assert!(never.surprise(Count::LOST, packets(1000), 1.0) < certain);
    assert_eq!(never.surprise(Count::LOST, packets(1000), 0.0), 0.0);
    let always = LossChain::independent(1.0);
    assert!(always.surprise(Count::LOST, packets(1000), 999.0) < certain);
    assert_eq!(always.surprise(Count::LOST, packets(1000), 1000.0), 0.0);
    assert_eq!(never.surprise(Count::LOST, packets(0), 0.0), 0.0);
}

/// Trials add up to whole packets, however few each had.
#[test]
fn spells_hold_all_packets() {
    for (count, spells) in [(258, 20), (5_259, 20), (3, 20), (7, 7), (0, 5), (10, 0)] {
        let packets = Packets { count, spells };
        let [(short, many), (long, some)] = packets.spells();
        assert_eq!(short * many + long * some, count);
        let always = LossChain::independent(1.0);
        near(always.moments(Count::LOST, packets).0, count as f64, 1e-12);
        assert_eq!(always.surprise(Count::LOST, packets, count as f64), 0.0);
        let (mean, variance) = LossChain::independent(0.25).moments(Count::LOST, packets);
        near(mean, 0.25 * count as f64, 1e-9);
        near(variance, 0.1875 * count as f64, 1e-9);
    }
}
