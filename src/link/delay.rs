//! Delay: a draw around a mean, evenly or by a table of a distribution's quantiles.

use std::sync::Arc;
use std::time::Duration;

use super::distribution;
use super::profile::LinkProfile;
use super::rng::{Correlation, Random, Taus113};

#[derive(Debug, Clone)]
pub(super) struct Delay {
    spread: Spread,
    correlation: Correlation,
}

impl Delay {
    /// `from_a_table`: whatever the distribution.
    pub fn new(profile: &LinkProfile, from_a_table: bool, random: &mut Random) -> Self {
        let distribution = &profile.distribution;
        let table = match from_a_table {
            true => Some(distribution::table_or_even(distribution)),
            false => distribution::table(distribution),
        };
        Self {
            spread: Spread::new(profile.delay, profile.jitter, table),
            correlation: Correlation::new(profile.delay_correlation, random),
        }
    }

    pub fn lean_on(&mut self, last: u32) {
        self.correlation.lean_on(last);
    }

    /// In ns. Jitter that exceeds the delay makes it negative: the packet then sorts before those
    /// due now.
    #[inline]
    pub fn draw(&mut self, seeded: &mut Taus113) -> i64 {
        self.spread.draw(|| self.correlation.draw(seeded))
    }
}

/// A mean and what is scattered around it.
#[derive(Debug, Clone)]
pub(super) struct Spread {
    mean_ns: i64,
    /// Half the width of the uniform distribution; the unit of a table. netem caps it at 2³¹ − 1
    /// ns.
    sigma_ns: i32,
    /// Samples in units of sigma / [`SCALE`]; `None`: uniform.
    table: Option<Arc<[i16]>>,
}

/// What one sigma is in a table.
pub(super) const SCALE: i64 = 8192;

impl Spread {
    pub fn new(mean: Duration, sigma: Duration, table: Option<Arc<[i16]>>) -> Self {
        assert!(table.as_deref() != Some(&[]), "a profile never holds an empty table");
        Self {
            mean_ns: i64::try_from(mean.as_nanos()).unwrap_or(i64::MAX),
            sigma_ns: i32::try_from(sigma.as_nanos()).unwrap_or(i32::MAX),
            table,
        }
    }

    /// Draws only if there is something to scatter.
    #[inline]
    pub fn draw(&self, random: impl FnOnce() -> u32) -> i64 {
        if self.sigma_ns == 0 {
            return self.mean_ns;
        }
        let sigma = i64::from(self.sigma_ns);
        let offset = match &self.table {
            None => i64::from(random()) % (2 * sigma) - sigma,
            Some(table) => scaled(sigma, i64::from(table[random() as usize % table.len()])),
        };
        self.mean_ns.saturating_add(offset)
    }
}

/// `sigma · sample / SCALE`, rounded half away from zero.
#[inline]
fn scaled(sigma: i64, sample: i64) -> i64 {
    let product = sigma * sample;
    (product + product.signum() * SCALE / 2) / SCALE
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::profile::Distribution;

    const MS: Duration = Duration::from_millis(1);

    fn spread(mean: Duration, sigma: Duration, distribution: &Distribution) -> Spread {
        Spread::new(mean, sigma, distribution::table(distribution))
    }

    #[test]
    fn no_jitter_takes_no_draw() {
        let none = spread(40 * MS, Duration::ZERO, &Distribution::Normal);
        assert_eq!(none.draw(|| panic!("drew")), 40_000_000);
    }

    #[test]
    fn uniform_runs_from_mean_minus_sigma_to_just_below_mean_plus_sigma() {
        let uniform = spread(40 * MS, 10 * MS, &Distribution::Uniform);
        assert_eq!(uniform.draw(|| 0), 30_000_000);
        assert_eq!(uniform.draw(|| 19_999_999), 49_999_999);
        assert_eq!(uniform.draw(|| 20_000_000), 30_000_000);
    }

    #[test]
    fn a_table_is_in_units_of_sigma_over_8192_and_rounds_half_away_from_zero() {
        let table = Distribution::Table(Arc::from([8192, -8192, 1, -1, i16::MAX]));
        let ms = spread(40 * MS, 10 * MS, &table);
        assert_eq!(ms.draw(|| 0), 50_000_000);
        assert_eq!(ms.draw(|| 6), 30_000_000);
        // 10,000,000 / 8,192 = 1,220.7
        assert_eq!(ms.draw(|| 2), 40_001_221);
        assert_eq!(ms.draw(|| 3), 39_998_779);
        let half = spread(Duration::ZERO, Duration::from_nanos(4096), &table);
        assert_eq!((half.draw(|| 2), half.draw(|| 3)), (1, -1));
    }

    #[test]
    fn jitter_beyond_the_delay_is_negative() {
        let table = Distribution::Table(Arc::from([i16::MIN]));
        assert_eq!(spread(MS, MS, &table).draw(|| 0), -3_000_000);
    }

    #[test]
    fn jitter_is_capped_as_netem_caps_it() {
        let table = Distribution::Table(Arc::from([i16::MIN]));
        let widest = spread(Duration::ZERO, Duration::MAX, &table);
        assert_eq!(widest.draw(|| 0), -4 * i64::from(i32::MAX));
    }
}
