//! The Internet checksum (RFC 1071).

/// The sum of 16-bit words, not yet folded. Sums of parts may be added if every part but the last
/// has an even length.
pub(super) fn sum(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<4>();
    // A 32-bit word is two 16-bit ones as far as the folded sum goes.
    let sum: u64 = words.iter().map(|word| u64::from(u32::from_be_bytes(*word))).sum();
    let mut last = [0; 4];
    last[..rest.len()].copy_from_slice(rest);
    sum + u64::from(u32::from_be_bytes(last))
}

pub(super) fn fold(mut sum: u64) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_sum_is_that_of_the_example_in_rfc_1071() {
        assert_eq!(fold(sum(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7])), 0xddf2);
    }

    proptest! {
        /// The definition: 16-bit words, each carry added at once, an odd byte padded with zero.
        #[test]
        fn four_bytes_at_a_time_give_the_same_as_two(
            bytes in prop::collection::vec(any::<u8>(), 0..3000))
        {
            let words = bytes.chunks(2).map(|word| {
                u16::from_be_bytes([word[0], word.get(1).copied().unwrap_or(0)])
            });
            let expected = words.fold(0_u16, |sum, word| {
                let (sum, carry) = sum.overflowing_add(word);
                sum + u16::from(carry)
            });
            prop_assert_eq!(fold(sum(&bytes)), expected);
        }
    }
}
