//! The longest time in which nothing was delivered.

use std::time::Duration;

use super::{Gap, Message, Messages, Recording, Status};
use crate::protocol::Delivery;
use crate::units::nanos;

/// Open loop: something was due all the time, so the time before the first delivery and after the
/// last one counts, from the start of the workload to its end. With nothing delivered it is all of
/// it. What is delivered after the end is in no gap: there a sender that still delivers would look
/// worse than one that has lost the same messages.
pub fn longest_gap(recording: &Recording) -> Gap {
    match &recording.messages {
        Messages::Histogram(histogram) => histogram.longest_gap,
        Messages::Each(messages) => {
            let delivered = messages.iter().filter_map(|message| message.delivered);
            longest_between(delivered.collect(), nanos(told_until(recording, messages)))
        }
    }
}

/// Of an interrupted trial the last messages are left out, and so what was delivered from then on is
/// not known; but where they wait for one before them, nothing was.
fn told_until(recording: &Recording, messages: &[Message]) -> Duration {
    let periodic = recording.workload.periodic();
    let (duration, deadline, interval) =
        (periodic.duration, periodic.deadline, periodic.interval());
    let Status::Interrupted { after } = recording.status else { return duration };
    let last = messages.last().map(|message| Duration::from_nanos(message.scheduled));
    let left_out_from = last.map_or(Duration::ZERO, |last| last + interval);
    let young = after.saturating_sub(deadline);
    let Delivery { ordered, reliable } = recording.delivery;
    let all_wait = ordered && reliable && left_out_from + interval < young;
    duration.min(if all_wait { after } else { young.min(left_out_from) })
}

fn longest_between(mut delivered: Vec<u64>, end: u64) -> Gap {
    delivered.retain(|at| *at < end);
    delivered.push(end);
    delivered.sort_unstable();
    let mut longest = Gap::default();
    let mut from = 0;
    for until in delivered {
        // The first of equal ones is kept.
        if until - from > longest.until - longest.from {
            longest = Gap { from, until };
        }
        from = until;
    }
    longest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::sample;

    #[test]
    fn what_is_not_known_of_an_interrupted_trial_is_no_gap() {
        let deadline = Duration::from_millis(250);
        let (after, told) = (Duration::from_secs(10), Duration::from_secs(10) - deadline);
        let mut trial = sample::recording("quic-both", 0);
        let Messages::Each(messages) = &mut trial.messages else { panic!("each is kept") };
        messages.retain(|message| message.scheduled < nanos(told));
        trial.status = Status::Interrupted { after };
        let gap = longest_gap(&trial);
        assert!(gap.until <= nanos(told) && gap.until - gap.from < nanos(deadline) / 2, "{gap:?}");
    }

    /// Nothing arrives any more from 4 s on, and the trial is stopped at 5.7 s.
    #[test]
    fn what_waits_in_an_interrupted_trial_is_a_gap() {
        let seconds = |s: f64| nanos(Duration::from_secs_f64(s));
        let mut trial = sample::recording("kcp", 0);
        let Messages::Each(messages) = &mut trial.messages else { panic!("each is kept") };
        messages.retain(|message| message.delivered.is_some_and(|at| at < seconds(4.0)));
        let last = messages.iter().filter_map(|message| message.delivered).max().unwrap();
        trial.status = Status::Interrupted { after: Duration::from_secs_f64(5.7) };
        assert_eq!(longest_gap(&trial), Gap { from: last, until: seconds(5.7) });
        trial.delivery.ordered = false;
        assert!(longest_gap(&trial).until <= seconds(4.0), "others may have arrived");
    }

    #[test]
    fn the_edges_count() {
        let gap = |delivered: &[u64], end| {
            let gap = longest_between(delivered.to_vec(), end);
            (gap.from, gap.until)
        };
        assert_eq!(gap(&[], 60), (0, 60));
        assert_eq!(gap(&[50, 55], 60), (0, 50));
        assert_eq!(gap(&[5, 10], 60), (10, 60));
        assert_eq!(gap(&[30, 10, 20, 55], 60), (30, 55));
        assert_eq!(gap(&[30, 70], 61), (30, 61), "later ones are in none");
        assert_eq!(gap(&[70], 60), gap(&[], 60), "as if it were lost");
    }
}
