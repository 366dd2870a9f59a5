//! Tells the first copy of something numbered from later ones, in constant memory.

/// A sliding window of numbers, as in the anti-replay window of IPsec (RFC 4303, section 3.4.3).
#[derive(Debug)]
pub(super) struct FirstCopy {
    seen: Vec<bool>,
    /// One more than the highest number seen.
    next: u64,
}

impl FirstCopy {
    /// Numbers that lag the highest one by `window` or more are taken for late copies.
    pub(super) fn new(window: usize) -> Self {
        Self { seen: vec![false; window], next: 0 }
    }

    /// Whether `number` is new; from now on it is not.
    pub(super) fn is_first(&mut self, number: u64) -> bool {
        let window = self.seen.len() as u64;
        let known = self
            .next
            .checked_sub(number.saturating_add(1))
            .is_some_and(|lag| lag >= window || self.seen[(number % window) as usize]);
        if known {
            return false;
        }
        if number >= self.next {
            self.forget(self.next.max(number.saturating_sub(window - 1))..number);
            self.next = number.saturating_add(1);
        }
        self.seen[(number % window) as usize] = true;
        true
    }

    fn forget(&mut self, numbers: std::ops::Range<u64>) {
        let window = self.seen.len() as u64;
        numbers.for_each(|number| self.seen[(number % window) as usize] = false);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn agrees_with_a_set(numbers in proptest::collection::vec(0_u64..300, 1..400)) {
            let mut window = FirstCopy::new(32);
            let mut seen = BTreeSet::new();
            for number in numbers {
                let highest = seen.last().copied().unwrap_or(0);
                let too_old = highest >= number + 32;
                prop_assert_eq!(window.is_first(number), !too_old && !seen.contains(&number));
                seen.insert(number);
            }
        }
    }
}
