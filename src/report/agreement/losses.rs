//! The numbers of lost messages of one sender on two engines, and whether they are apart by more
//! than chance.
//!
//! Losses that do not depend on one another scatter as Poisson's law has it, and so far the numbers
//! may always be apart. Where a queue is full or losses come in bursts they scatter by more: then
//! the runs have to tell by how much, or, where those are too few, the parts of the run.

use super::Agrees;
use super::pair::{Pair, Value};
use crate::recording::{Messages, Recording};
use crate::statistics::over_runs;

/// How many standard deviations of a difference.
pub const TOLERANCE_SIGMAS: f64 = 3.0;
/// Parts of a run: long enough that one knows little of the next, and enough of them to tell how far
/// they scatter.
const PARTS: usize = 40;

#[derive(Debug)]
pub(super) struct Losses {
    /// Run by run.
    reference: Vec<u64>,
    other: Vec<u64>,
    /// Of each part of each run, how many more the other engine lost than the reference.
    more: Vec<i64>,
    seed: u64,
}

impl Losses {
    pub(super) fn of(sender: &str, reference: &[Recording], other: &[Recording]) -> Self {
        let mine = |one: &&Recording| one.sender == sender;
        let lost = |recordings: &[Recording]| recordings.iter().filter(mine).map(lost).collect();
        let pairs = reference.iter().filter(mine).filter_map(|one| {
            let same = |two: &&Recording| mine(two) && two.repetition == one.repetition;
            Some((one, other.iter().find(same)?))
        });
        let more = pairs.flat_map(|(one, two)| {
            let parts = parts(&one.messages).into_iter().zip(parts(&two.messages));
            parts.map(|(one, two)| two.cast_signed() - one.cast_signed())
        });
        Self {
            reference: lost(reference),
            other: lost(other),
            more: more.collect(),
            seed: reference.first().map_or(0, |one| one.seed),
        }
    }

    /// In all runs, on the reference and on the other.
    pub(super) fn totals(&self) -> (u64, u64) {
        (self.reference.iter().sum(), self.other.iter().sum())
    }

    pub(super) fn verdict(&self) -> Agrees {
        let (reference, other) = self.totals();
        // The variance of a difference of counts is their sum.
        let allowed = TOLERANCE_SIGMAS * ((reference + other) as f64).sqrt();
        if reference.abs_diff(other) as f64 <= allowed {
            return Agrees::Yes;
        }
        let runs = self.reference.len().min(self.other.len());
        self.of_a_run().beyond_tolerance(runs, !self.is_beyond_scatter())
    }

    /// The mean of the runs.
    pub(super) fn of_a_run(&self) -> Pair {
        Pair { reference: self.mean(&self.reference), other: self.mean(&self.other) }
    }

    fn mean(&self, runs: &[u64]) -> Value {
        let mean = |drawn: &[u64]| {
            runs.iter().zip(drawn).map(|(lost, times)| lost * times).sum::<u64>() as f64
                / runs.len() as f64
        };
        let interval = over_runs(runs.len(), self.seed, mean);
        Value { value: mean(&vec![1; runs.len()]), interval }
    }

    /// Both engines met the same scenario with the same seed: if only chance sets the parts apart,
    /// their differences add up to no more than as many random steps of their lengths.
    fn is_beyond_scatter(&self) -> bool {
        let sum: i64 = self.more.iter().sum();
        let squares: f64 = self.more.iter().map(|more| (*more as f64).powi(2)).sum();
        sum.abs() as f64 > TOLERANCE_SIGMAS * squares.sqrt()
    }
}

fn lost(recording: &Recording) -> u64 {
    recording.messages.scheduled().saturating_sub(recording.messages.delivered())
}

/// The lost of each part of a run.
fn parts(messages: &Messages) -> Vec<u64> {
    match messages {
        Messages::Each(messages) => {
            let lost = messages.iter().map(|message| u64::from(message.delivered.is_none()));
            in_parts(&lost.collect::<Vec<_>>())
        }
        Messages::Histogram(histogram) => {
            let windows = histogram.windows.iter();
            let lost = windows.map(|window| window.scheduled.saturating_sub(window.delivered));
            in_parts(&lost.collect::<Vec<_>>())
        }
    }
}

fn in_parts(lost: &[u64]) -> Vec<u64> {
    let length = lost.len().div_ceil(PARTS).max(1);
    lost.chunks(length).map(|part| part.iter().sum()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::{Message, sample};

    /// Runs in which these messages get lost.
    fn runs(repeat: u32, is_lost: impl Fn(u32, usize) -> bool) -> Vec<Recording> {
        let run = |repetition| {
            let recording = sample::recording("kcp", repetition);
            let Messages::Each(messages) = &recording.messages else { panic!("each is kept") };
            let fate = |(number, message): (usize, &Message)| Message {
                delivered: (!is_lost(repetition, number)).then_some(message.scheduled + 40_000_000),
                ..*message
            };
            let messages = Messages::Each(messages.iter().enumerate().map(fate).collect());
            Recording { messages, ..recording }
        };
        (0..repeat).map(run).collect()
    }

    fn verdict(reference: &[Recording], other: &[Recording]) -> Agrees {
        Losses::of("kcp", reference, other).verdict()
    }

    #[test]
    fn losses_that_are_spread_out_may_be_as_far_apart_as_independent_ones() {
        let every = |n: usize| runs(1, move |_, number| number % n == 0);
        assert_eq!(verdict(&every(50), &every(50)), Agrees::Yes);
        // 60 and 94: three standard deviations are 37.
        assert_eq!(verdict(&every(50), &every(32)), Agrees::Yes);
        // 60 and 120: 40.
        assert_eq!(verdict(&every(50), &every(25)), Agrees::No);
    }

    #[test]
    fn one_run_with_bursts_does_not_tell_and_a_loss_all_along_does() {
        let burst = |from: usize| runs(1, move |_, number| (from..from + 100).contains(&number));
        let none = runs(1, |_, _| false);
        assert_eq!(verdict(&none, &burst(1000)), Agrees::TooFewRuns);
        // At another time, as many.
        assert_eq!(verdict(&burst(2000), &burst(1000)), Agrees::Yes);
        let bursts = runs(1, |_, number| number % 150 < 10);
        assert_eq!(verdict(&none, &bursts), Agrees::No);
    }

    #[test]
    fn five_runs_tell_how_far_bursts_scatter() {
        // A burst in three of five runs, and in all of another five but one.
        let bursts = |these: &'static [u32]| {
            runs(5, |run, number| these.contains(&run) && (1000..1100).contains(&number))
        };
        assert_eq!(verdict(&bursts(&[0, 2, 4]), &bursts(&[1, 2, 3, 4])), Agrees::WithinNoise);
        assert_eq!(verdict(&bursts(&[]), &bursts(&[0, 1, 2, 3, 4])), Agrees::No);
    }
}
