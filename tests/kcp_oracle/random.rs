//! Seeded, so that a scenario is the same everywhere.

use impairlab::splitmix::SplitMix64;

pub struct Random(SplitMix64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(SplitMix64::new(seed))
    }

    fn next(&mut self) -> u64 {
        self.0.next()
    }

    pub fn below(&mut self, end: u32) -> u32 {
        (self.next() % u64::from(end.max(1))) as u32
    }

    pub fn chance(&mut self, percent: u32) -> bool {
        self.below(100) < percent
    }

    pub fn bytes(&mut self, length: u32) -> Vec<u8> {
        (0..length).map(|_| self.next() as u8).collect()
    }
}
