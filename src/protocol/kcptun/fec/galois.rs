//! Arithmetic in the field of 256 elements that Reed-Solomon codes for storage and networks agree
//! on: polynomials over bits, modulo x⁸ + x⁴ + x³ + x² + 1. Addition is exclusive or.

const MODULUS: u16 = 0x11d;
/// Nonzero elements; the powers of x repeat after as many.
const ORDER: usize = 255;

struct Tables {
    /// Twice over, so that a sum of two logarithms needs no reduction.
    powers: [u8; 2 * ORDER],
    logarithms: [u8; 256],
}

static TABLES: Tables = Tables::new();

impl Tables {
    const fn new() -> Self {
        let mut tables = Self { powers: [0; 2 * ORDER], logarithms: [0; 256] };
        let (mut power, mut exponent) = (1_u16, 0);
        while exponent < ORDER {
            tables.powers[exponent] = power as u8;
            tables.powers[exponent + ORDER] = power as u8;
            tables.logarithms[power as usize] = exponent as u8;
            power <<= 1;
            if power > 0xff {
                power ^= MODULUS;
            }
            exponent += 1;
        }
        tables
    }
}

pub fn product(a: u8, b: u8) -> u8 {
    if a == 0 || b == 0 {
        return 0;
    }
    TABLES.powers[logarithm(a) + logarithm(b)]
}

/// `divisor` is not 0.
pub fn quotient(dividend: u8, divisor: u8) -> u8 {
    debug_assert!(divisor != 0);
    if dividend == 0 {
        return 0;
    }
    TABLES.powers[logarithm(dividend) + ORDER - logarithm(divisor)]
}

fn logarithm(element: u8) -> usize {
    usize::from(TABLES.logarithms[usize::from(element)])
}

/// Multiplies many bytes by the same element: its products with the low and the high half of a byte
/// are all there is to know.
#[derive(Debug, Clone)]
pub struct Multiplier {
    low: [u8; 16],
    high: [u8; 16],
}

impl Multiplier {
    pub fn new(factor: u8) -> Self {
        let half = |shift: u32| std::array::from_fn(|half| product(factor, (half as u8) << shift));
        Self { low: half(0), high: half(4) }
    }

    /// Adds the products of `bytes` to the front of `sum`, which is at least as long.
    pub fn add_products(&self, bytes: &[u8], sum: &mut [u8]) {
        debug_assert!(bytes.len() <= sum.len());
        for (byte, sum) in bytes.iter().zip(sum) {
            *sum ^= self.low[usize::from(byte & 0x0f)] ^ self.high[usize::from(byte >> 4)];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By the definition: shift, add, reduce.
    fn product_by_hand(a: u8, b: u8) -> u8 {
        let sum =
            (0..8).filter(|bit| b >> bit & 1 == 1).fold(0, |sum, bit| sum ^ u16::from(a) << bit);
        let reduce = |value: u16, bit: u32| {
            if value >> bit & 1 == 1 { value ^ (MODULUS << (bit - 8)) } else { value }
        };
        (8..16).rev().fold(sum, reduce) as u8
    }

    #[test]
    fn every_product_and_quotient_is_that_of_the_definition() {
        for a in 0..=255 {
            let multiplier = Multiplier::new(a);
            for b in 0..=255 {
                let expected = product_by_hand(a, b);
                assert_eq!(product(a, b), expected);
                let mut sum = [0x5a];
                multiplier.add_products(&[b], &mut sum);
                assert_eq!(sum, [0x5a ^ expected]);
                if a != 0 {
                    assert_eq!(quotient(expected, a), b);
                }
            }
        }
    }
}
