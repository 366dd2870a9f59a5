//! Corruption: which bit of a frame flips. The engine flips it, since only the engine has the
//! bytes.

use super::packet::BitFlip;
use super::rng::Random;

/// Draws the byte, then the bit, evenly over the frame. `None` for a frame without bytes.
pub(super) fn bit_flip(length: u32, random: &mut Random) -> Option<BitFlip> {
    (length > 0).then(|| {
        let offset = random.entropy.below(length);
        BitFlip { offset, bit: random.entropy.below(8) as u8 }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bit_is_met_equally_often() {
        let (length, flips) = (5, 40_000);
        let mut random = Random::new(3);
        let mut met = [[0; 8]; 5];
        for _ in 0..flips {
            let flip = bit_flip(length, &mut random).expect("the frame has bytes");
            met[flip.offset as usize][usize::from(flip.bit)] += 1;
        }
        // 1,000 each, with a standard deviation of 31.
        assert!(met.iter().flatten().all(|&n| (850..1150).contains(&n)), "{met:?}");
    }

    #[test]
    fn an_empty_frame_has_no_bit() {
        assert_eq!(bit_flip(0, &mut Random::new(3)), None);
    }
}
