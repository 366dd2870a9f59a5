//! The messages of one sender on two engines, one by one: the same repetition, the same number.

use std::time::Duration;

use crate::recording::{Message, Messages, Recording};
use crate::report::figures;
use crate::report::table::Cell;

/// What is delivered no further apart than this counts as delivered at the same time: the time of a
/// real endpoint's own work, which virtual time charges for looking at the clock.
pub(super) const SAME: Duration = Duration::from_micros(20);
/// Two engines in virtual time agree message for message if this share of them is the same.
pub(super) const SAME_SHARE: f64 = 0.99;

/// Delivery times of every message of a sender on two engines.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct MessageAgreement {
    /// Scheduled on both engines.
    pub(super) compared: usize,
    /// Delivered, or lost, on both, at the same time.
    pub(super) same: usize,
    /// Delivered on one engine and lost on the other.
    pub(super) only_one: usize,
    /// How far apart those delivered on both are, ascending.
    apart_ns: Vec<u64>,
    /// The first that is not the same.
    pub(super) first_apart: Option<First>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct First {
    pub(super) repetition: u32,
    pub(super) scheduled_ns: u64,
}

impl MessageAgreement {
    /// `None` where one engine kept only a histogram, or ran nothing that the other ran.
    pub(super) fn of(sender: &str, reference: &[Recording], other: &[Recording]) -> Option<Self> {
        let mut agreement = Self::default();
        for one in reference.iter().filter(|one| one.sender == sender) {
            let same = |two: &&Recording| two.sender == sender && two.repetition == one.repetition;
            let Some(two) = other.iter().find(same) else { continue };
            let (Messages::Each(ours), Messages::Each(theirs)) = (&one.messages, &two.messages)
            else {
                return None;
            };
            let pairs = ours.iter().zip(theirs);
            pairs.for_each(|(ours, theirs)| agreement.compare(one.repetition, *ours, *theirs));
        }
        agreement.apart_ns.sort_unstable();
        (agreement.compared > 0).then_some(agreement)
    }

    fn compare(&mut self, repetition: u32, one: Message, two: Message) {
        self.compared += 1;
        let apart = one.delivered.zip(two.delivered).map(|(one, two)| one.abs_diff(two));
        self.apart_ns.extend(apart);
        let lost_on_both = one.delivered.is_none() && two.delivered.is_none();
        if lost_on_both || apart.is_some_and(|apart| u128::from(apart) <= SAME.as_nanos()) {
            self.same += 1;
        } else {
            let first = First { repetition, scheduled_ns: one.scheduled };
            self.first_apart.get_or_insert(first);
        }
        self.only_one += usize::from(one.delivered.is_some() != two.delivered.is_some());
    }

    pub(super) fn same_share(&self) -> f64 {
        self.same as f64 / self.compared as f64
    }

    pub(super) fn are_all_the_same(&self) -> bool {
        self.same == self.compared
    }

    pub(super) fn are_the_same(&self) -> bool {
        self.same_share() >= SAME_SHARE
    }

    /// As many as [`HEADINGS`], the sender's name left out.
    pub(super) fn cells(&self) -> Vec<Cell> {
        let count = |number: usize| Cell::new(figures::count(number as u64));
        let first = self.first_apart.map_or("–".to_owned(), |first| {
            let at = first.scheduled_ns as f64 / 1e9;
            format!("run {}, {at:.2} s", first.repetition)
        });
        vec![
            count(self.compared),
            Cell::new(format!("{:.2} %", self.same_share() * 100.0)),
            count(self.only_one),
            Cell::new(self.apart(0.5)),
            Cell::new(self.apart(0.99)),
            Cell::new(self.apart(1.0)),
            Cell::new(first),
        ]
    }

    /// The quantile of how far apart those delivered on both are.
    pub(super) fn apart_ns(&self, quantile: f64) -> Option<u64> {
        let rank = (self.apart_ns.len() as f64 * quantile).ceil() as usize;
        self.apart_ns.get(rank.saturating_sub(1)).copied()
    }

    fn apart(&self, quantile: f64) -> String {
        let value = self.apart_ns(quantile);
        value.map_or("–".to_owned(), |ns| figures::milliseconds(ns as f64 / 1e6))
    }
}

pub(super) const HEADINGS: [&str; 8] =
    ["sender", "messages", "same", "one only", "apart P50", "P99", "most", "first apart"];

#[cfg(test)]
mod tests {
    use std::slice;

    use super::*;
    use crate::recording::sample;

    fn later(recording: &Recording, ns: u64) -> Recording {
        let Messages::Each(messages) = &recording.messages else { panic!("each is kept") };
        let shifted = |message: &Message| Message {
            delivered: message.delivered.map(|at| at + ns),
            ..*message
        };
        let messages = Messages::Each(messages.iter().map(shifted).collect());
        Recording { messages, ..recording.clone() }
    }

    #[test]
    fn a_recording_is_the_same_as_itself_and_as_one_a_little_later() {
        let recording = sample::recording("kcp", 0);
        for (ns, same) in [(0, true), (20_000, true), (20_001, false)] {
            let other = later(&recording, ns);
            let agreement = MessageAgreement::of("kcp", slice::from_ref(&recording), &[other]);
            assert_eq!(agreement.map(|agreement| agreement.are_the_same()), Some(same), "{ns} ns");
        }
    }

    #[test]
    fn a_message_that_only_one_delivers_is_not_the_same() {
        let recording = sample::recording("kcp", 0);
        let mut other = recording.clone();
        let Messages::Each(messages) = &mut other.messages else { panic!("each is kept") };
        let delivered = messages.iter_mut().find(|message| message.delivered.is_some());
        delivered.expect("the sample delivers something").delivered = None;
        let agreement = MessageAgreement::of("kcp", &[recording], &[other]).expect("both ran");
        assert_eq!((agreement.only_one, agreement.compared - agreement.same), (1, 1));
        assert!(agreement.first_apart.is_some());
    }

    #[test]
    fn another_repetition_is_not_compared() {
        let (one, two) = (sample::recording("kcp", 0), sample::recording("kcp", 1));
        assert_eq!(MessageAgreement::of("kcp", &[one], &[two]), None);
    }
}
