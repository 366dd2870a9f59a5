//! Frames that left with a wrong bit where it is not plain which they had been. Two small datagrams of
//! one flow may differ in two bits only, one of the payload and one of its checksum: with either of
//! them flipped, what leaves may have been the one or the other. Each leaves whole but for one, which
//! tells; if the other got lost, their delays have to.

use super::{Exit, Key, Ledger};

/// What left, and all that it may have been.
pub(super) struct Doubt {
    exit: Exit,
    keys: Vec<Key>,
}

impl Ledger {
    pub(super) fn leave_with_a_wrong_bit(&mut self, exit: Exit) {
        let known = exit.print.key.before_a_flip().filter(|key| self.by_key.contains_key(key));
        let mut doubt = Doubt { exit, keys: known.collect() };
        self.forget_the_impossible(&mut doubt);
        match doubt.keys.len() {
            0 => self.count.strays += 1,
            1 => self.decide(&doubt),
            _ => self.doubts.push(doubt),
        }
    }

    /// A frame with this key has left whole: perhaps none is left that a doubt may be about.
    pub(super) fn explains_no_other(&mut self, key: Key) {
        for mut doubt in self.take_doubts(|doubt| doubt.keys.contains(&key)) {
            self.forget_the_impossible(&mut doubt);
            match doubt.keys.len() {
                1 => self.decide(&doubt),
                _ => self.doubts.push(doubt),
            }
        }
    }

    /// The oldest frame is about to be settled, whatever became of it.
    pub(super) fn decide_what_the_first_explains(&mut self) {
        let Some(key) = self.entries.front().map(|entry| entry.print.key) else { return };
        for doubt in self.take_doubts(|doubt| doubt.keys.contains(&key)) {
            self.decide(&doubt);
        }
    }

    pub(super) fn decide_all(&mut self) {
        for doubt in self.take_doubts(|_| true) {
            self.decide(&doubt);
        }
    }

    fn take_doubts(&mut self, these: impl Fn(&Doubt) -> bool) -> Vec<Doubt> {
        self.doubts.extract_if(.., |doubt| these(doubt)).collect()
    }

    /// Where nothing is copied, a frame that has left cannot leave again.
    fn forget_the_impossible(&self, doubt: &mut Doubt) {
        let before = doubt.exit.before;
        let possible = |key: &Key| {
            let numbers = self.by_key.get(key).into_iter().flatten();
            let mut came = numbers.filter(|number| **number < before);
            came.any(|number| !self.entry(*number).left || self.entry(*number).terms.copies)
        };
        if doubt.keys.iter().any(possible) {
            doubt.keys.retain(possible);
        }
    }

    /// For the frame that has not left and whose delay is the likeliest; else for a copy.
    fn decide(&mut self, doubt: &Doubt) {
        let exit = &doubt.exit;
        let numbers = doubt.keys.iter().filter_map(|key| self.numbered(*key, exit.before));
        let likeliest = numbers.min_by_key(|number| {
            let entry = self.entry(*number);
            let took = exit.stamp.saturating_sub(entry.stamp);
            (entry.left, took.abs_diff(entry.terms.delay.as_nanos() as u64))
        });
        match likeliest {
            Some(number) => self.put_down(number, exit, true),
            None => self.count.strays += 1,
        }
    }
}
