//! Which order statistic a quantile is, and how many samples it takes before it can be bounded from
//! above.

use std::fmt;

use super::CONFIDENCE;

/// A share of the samples between 0 and 1, both excluded.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Quantile(f64);

impl Quantile {
    pub const P50: Quantile = Quantile(0.5);
    pub const P99: Quantile = Quantile(0.99);
    pub const P999: Quantile = Quantile(0.999);
    /// The three that every table and chart shows.
    pub const SHOWN: [Quantile; 3] = [Self::P50, Self::P99, Self::P999];

    /// `None` outside of 0 … 1, ends excluded.
    pub fn new(share: f64) -> Option<Self> {
        (share > 0.0 && share < 1.0).then_some(Self(share))
    }

    pub const fn as_f64(self) -> f64 {
        self.0
    }

    /// The rank, from 1, of the sample that is this quantile: ⌈q·n⌉, the smallest sample that at
    /// least a share q of all samples does not exceed (the inverse of the empirical distribution;
    /// no interpolation, so that a figure is always a latency that was measured). Zero if there are
    /// no samples.
    pub fn rank(self, samples: u64) -> u64 {
        // q·n is meant exactly, and 0.99 is not: the allowance is far below one rank and above its
        // rounding error.
        let rank = (self.0 * samples as f64 - 1e-9 * samples.max(1) as f64).ceil() as u64;
        rank.max(1).min(samples)
    }

    /// The fewest independent samples with an upper bound: with fewer, even the largest lies below
    /// the quantile too often (q^n must be at most half of what the interval may miss). 368 for
    /// P99, 3,688 for P999.
    pub fn samples_needed(self) -> u64 {
        let missed = (1.0 - CONFIDENCE) / 2.0;
        (missed.ln() / self.0.ln()).ceil() as u64
    }
}

impl fmt::Display for Quantile {
    /// `P50`, `P99`, `P999`: the digits behind the point, as they are spoken.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = format!("{}", self.0);
        let digits = digits.trim_start_matches("0.");
        write!(f, "P{digits:0<2}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rank_is_exact_where_the_product_is_a_whole_number() {
        let ranks = [(100, 99), (700, 693), (3000, 2970), (368, 365), (1, 1), (0, 0)];
        for (samples, rank) in ranks {
            assert_eq!(Quantile::P99.rank(samples), rank, "{samples} samples");
        }
        assert_eq!(Quantile::P999.rank(3000), 2997);
        assert_eq!(Quantile::P999.rank(100_000_000), 99_900_000);
        assert_eq!(Quantile::P50.rank(5), 3);
    }

    #[test]
    fn the_samples_needed_are_the_published_ones() {
        assert_eq!(Quantile::P99.samples_needed(), 368);
        assert_eq!(Quantile::P999.samples_needed(), 3688);
        assert_eq!(Quantile::P50.samples_needed(), 6);
    }

    #[test]
    fn a_quantile_is_named_as_it_is_spoken() {
        let names = Quantile::SHOWN.map(|quantile| quantile.to_string());
        assert_eq!(names, ["P50", "P99", "P999"]);
    }
}
