//! Reordering by gap: of the packets after every `gap` − 1, those that the draw picks go ahead of
//! the queue.

use super::profile;
use super::rng::{Correlation, Random, Taus113};

#[derive(Debug, Clone)]
pub(super) struct Reorder {
    gap: u32,
    /// Packets delayed since the last one that went ahead.
    delayed: u32,
    threshold: u32,
    correlation: Correlation,
}

impl Reorder {
    pub fn new(settings: Option<profile::Reorder>, random: &mut Random) -> Option<Self> {
        settings.map(|reorder| Self {
            gap: reorder.gap,
            delayed: 0,
            threshold: reorder.probability.as_u32(),
            correlation: Correlation::new(reorder.correlation, random),
        })
    }

    pub fn lean_on(&mut self, last: u32) {
        self.correlation.lean_on(last);
    }

    /// Draws only outside of the gap.
    pub fn goes_ahead(&mut self, seeded: &mut Taus113) -> bool {
        let within_gap = self.delayed < self.gap.saturating_sub(1);
        if within_gap || self.threshold < self.correlation.draw(seeded) {
            self.delayed = self.delayed.saturating_add(1);
            return false;
        }
        self.delayed = 0;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Probability;

    fn ahead(gap: u32, probability: f64, packets: usize) -> Vec<usize> {
        let probability = Probability::new(probability).expect("between 0 and 1");
        let settings = profile::Reorder { probability, correlation: Probability::NEVER, gap };
        let mut random = Random::new(5);
        let mut reorder = Reorder::new(Some(settings), &mut random).expect("there are settings");
        (1..=packets).filter(|_| reorder.goes_ahead(&mut random.seeded)).collect()
    }

    #[test]
    fn certain_reordering_sends_every_gapth_packet_ahead() {
        assert_eq!(ahead(5, 1.0, 20), [5, 10, 15, 20]);
        assert_eq!(ahead(1, 1.0, 3), [1, 2, 3]);
    }

    /// After the gap each packet is tried until one goes: on average gap − 1 + 1 / p from one to
    /// the next.
    #[test]
    fn likely_reordering_waits_for_the_draw() {
        let packets = 100_000;
        let mean = packets as f64 / ahead(5, 0.25, packets).len() as f64;
        assert!((mean - 8.0).abs() < 0.1, "{mean}");
    }

    #[test]
    fn the_gap_takes_no_draw() {
        let mut random = Random::new(5);
        let untouched = random.seeded.clone().draw();
        let settings = profile::Reorder {
            probability: Probability::ALWAYS,
            correlation: Probability::NEVER,
            gap: 3,
        };
        let mut reorder = Reorder::new(Some(settings), &mut random).expect("there are settings");
        assert!(!reorder.goes_ahead(&mut random.seeded) && !reorder.goes_ahead(&mut random.seeded));
        assert_eq!(random.seeded.draw(), untouched);
    }
}
