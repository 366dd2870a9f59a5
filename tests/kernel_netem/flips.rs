//! Which bits of corrupted frames flip. The kernel draws them from its own entropy; all should be
//! met equally often.

use std::fmt;

/// Pieces of a frame, equally long.
const PIECES: usize = 64;
/// What the statistic of 63 degrees of freedom exceeds once in 10⁶ times.
const RARE: f64 = 131.7;
/// Fewer would not tell anything.
const ENOUGH: u32 = 64 * 50;

pub struct Flips {
    count: u32,
    observed: [f64; PIECES],
    expected: [f64; PIECES],
}

impl Default for Flips {
    fn default() -> Self {
        Self { count: 0, observed: [0.0; PIECES], expected: [0.0; PIECES] }
    }
}

impl Flips {
    /// A bit of a frame of so many bytes.
    pub fn add(&mut self, bit: u32, length: u32) {
        let bits = 8 * length as usize;
        self.count += 1;
        self.observed[bit as usize * PIECES / bits] += 1.0;
        for (piece, expected) in self.expected.iter_mut().enumerate() {
            let begins = |piece: usize| (piece * bits).div_ceil(PIECES);
            *expected += (begins(piece + 1) - begins(piece)) as f64 / bits as f64;
        }
    }

    pub fn are_even(&self) -> bool {
        self.count >= ENOUGH && self.chi_square() < RARE
    }

    fn chi_square(&self) -> f64 {
        let pairs = self.observed.iter().zip(&self.expected);
        pairs.map(|(observed, expected)| (observed - expected).powi(2) / expected).sum()
    }
}

impl fmt::Display for Flips {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} flipped bits, chi-square of where {:.1} (63 degrees of freedom; above {RARE} once \
             in a million times)",
            self.count,
            self.chi_square()
        )
    }
}
