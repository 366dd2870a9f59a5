//! A queue of yes-or-no answers, eight to a byte.

use std::collections::VecDeque;

const WORD: usize = u64::BITS as usize;

/// Bits by position: the first one still held is at [`Bits::start`], which only moves up.
#[derive(Debug, Default)]
pub(super) struct Bits {
    words: VecDeque<u64>,
    /// Position of the first bit of the first word: a multiple of 64.
    base: u64,
    start: u64,
    end: u64,
}

impl Bits {
    pub(super) fn start(&self) -> u64 {
        self.start
    }

    pub(super) fn end(&self) -> u64 {
        self.end
    }

    pub(super) fn push(&mut self, bit: bool) {
        if self.end - self.base == (self.words.len() * WORD) as u64 {
            self.words.push_back(0);
        }
        self.end += 1;
        self.set(self.end - 1, bit);
    }

    /// `None` outside of what is held.
    pub(super) fn get(&self, position: u64) -> Option<bool> {
        let (word, mask) = self.place(position)?;
        Some(self.words[word] & mask != 0)
    }

    pub(super) fn set(&mut self, position: u64, bit: bool) {
        if let Some((word, mask)) = self.place(position) {
            let word = &mut self.words[word];
            *word = if bit { *word | mask } else { *word & !mask };
        }
    }

    pub(super) fn pop_front(&mut self) {
        if self.start < self.end {
            self.start += 1;
        }
        while self.start - self.base >= WORD as u64 {
            self.words.pop_front();
            self.base += WORD as u64;
        }
    }

    pub(super) fn pop_back(&mut self) -> Option<bool> {
        let last = self.get(self.end.checked_sub(1)?)?;
        self.end -= 1;
        Some(last)
    }

    #[cfg(test)]
    pub(super) fn capacity_bytes(&self) -> usize {
        self.words.capacity() * size_of::<u64>()
    }

    fn place(&self, position: u64) -> Option<(usize, u64)> {
        if !(self.start..self.end).contains(&position) {
            return None;
        }
        let offset = usize::try_from(position - self.base).ok()?;
        Some((offset / WORD, 1 << (offset % WORD)))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn behaves_as_a_plain_queue(steps in proptest::collection::vec((0_u8..5, any::<bool>(), 0_u64..300), 0..600)) {
            let mut bits = Bits::default();
            let mut plain = VecDeque::new();
            for (step, bit, at) in steps {
                match step {
                    0 | 1 => {
                        bits.push(bit);
                        plain.push_back(bit);
                    }
                    2 => {
                        bits.pop_front();
                        plain.pop_front();
                    }
                    3 => prop_assert_eq!(bits.pop_back(), plain.pop_back()),
                    _ => {
                        bits.set(bits.start() + at, bit);
                        if let Some(one) = plain.get_mut(at as usize) {
                            *one = bit;
                        }
                    }
                }
                prop_assert_eq!((bits.end() - bits.start()) as usize, plain.len());
                prop_assert_eq!(bits.get(bits.start() + at), plain.get(at as usize).copied());
            }
        }
    }
}
