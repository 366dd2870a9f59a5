//! Whether something that has a probability happens to this packet. Used for loss, duplication and
//! corruption.

use super::profile::Correlated;
use super::rng::{Correlation, Random, Taus113};

#[derive(Debug, Clone)]
pub(super) struct Chance {
    /// Of 2³² − 1; it happens when the draw is not above it.
    threshold: u32,
    correlation: Correlation,
}

impl Chance {
    pub fn new(settings: Correlated, random: &mut Random) -> Self {
        Self {
            threshold: settings.probability.as_u32(),
            correlation: Correlation::new(settings.correlation, random),
        }
    }

    pub fn lean_on(&mut self, last: u32) {
        self.correlation.lean_on(last);
    }

    /// Draws only if the probability is not zero.
    #[inline]
    pub fn happens(&mut self, seeded: &mut Taus113) -> bool {
        self.threshold != 0 && self.threshold >= self.correlation.draw(seeded)
    }
}
