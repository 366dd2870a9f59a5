//! The delay line: packets in the order in which they are to leave, those of one instant in order
//! of arrival.
//!
//! Most packets leave after all that are there, so they go to the end of a plain queue; only those
//! that jitter sends past another one pay for a heap.

use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, VecDeque};

use super::packet::Packet;

/// No instant is later, so that "never" can be.
pub(super) const LAST_INSTANT: i64 = i64::MAX - 1;

/// An instant in ns, negative where jitter reaches back before the clock began.
#[inline]
pub(super) fn after(instant: i64, ns: i64) -> i64 {
    instant.saturating_add(ns).min(LAST_INSTANT)
}

#[derive(Debug, Clone)]
pub(super) struct Entry<T> {
    pub due: i64,
    /// Place among all packets that ever entered.
    pub arrival: u64,
    pub packet: Packet<T>,
}

#[derive(Debug, Clone)]
pub(super) struct DelayLine<T> {
    /// Sorted by itself, since each is due no earlier than the one before.
    in_order: VecDeque<Entry<T>>,
    /// Each was due before the end of `in_order` when it came, hence before today's end too.
    overtaking: BinaryHeap<Reverse<Entry<T>>>,
}

impl<T> DelayLine<T> {
    pub fn new() -> Self {
        Self { in_order: VecDeque::new(), overtaking: BinaryHeap::new() }
    }

    pub fn len(&self) -> usize {
        self.in_order.len() + self.overtaking.len()
    }

    /// Entries come in order of arrival.
    #[inline]
    pub fn insert(&mut self, entry: Entry<T>) {
        if self.latest_due().is_none_or(|latest| entry.due >= latest) {
            self.in_order.push_back(entry);
        } else {
            self.overtaking.push(Reverse(entry));
        }
    }

    #[inline]
    pub fn earliest_due(&self) -> Option<i64> {
        let in_order = self.in_order.front()?.due;
        Some(self.overtaking.peek().map_or(in_order, |Reverse(first)| first.due.min(in_order)))
    }

    #[inline]
    pub fn latest_due(&self) -> Option<i64> {
        self.in_order.back().map(|last| last.due)
    }

    #[inline]
    pub fn take_earliest(&mut self) -> Option<Entry<T>> {
        match (self.overtaking.peek(), self.in_order.front()) {
            (Some(Reverse(overtaking)), Some(in_order)) if overtaking < in_order => {
                self.overtaking.pop().map(|Reverse(entry)| entry)
            }
            _ => self.in_order.pop_front(),
        }
    }
}

impl<T> Entry<T> {
    fn key(&self) -> (i64, u64) {
        (self.due, self.arrival)
    }
}

impl<T> Ord for Entry<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

impl<T> PartialOrd for Entry<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> PartialEq for Entry<T> {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl<T> Eq for Entry<T> {}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn entry(due: i64, arrival: u64) -> Entry<()> {
        Entry { due, arrival, packet: Packet::new(100, ()) }
    }

    proptest! {
        /// Against a list that is sorted anew each time; `None` takes the earliest.
        #[test]
        fn leaves_by_time_and_then_by_arrival(steps in prop::collection::vec(
            prop::option::weighted(0.6, 0..20i64), 0..200))
        {
            let mut line = DelayLine::new();
            let mut sorted: Vec<(i64, u64)> = Vec::new();
            for (arrival, step) in steps.into_iter().enumerate() {
                let arrival = arrival as u64;
                match step {
                    Some(due) => {
                        line.insert(entry(due, arrival));
                        sorted.push((due, arrival));
                        sorted.sort_unstable();
                    }
                    None => {
                        let first = (!sorted.is_empty()).then(|| sorted.remove(0));
                        prop_assert_eq!(line.take_earliest().map(|entry| entry.key()), first);
                    }
                }
                prop_assert_eq!(line.len(), sorted.len());
                prop_assert_eq!(line.earliest_due(), sorted.first().map(|first| first.0));
                prop_assert_eq!(line.latest_due(), sorted.last().map(|last| last.0));
            }
        }
    }
}
