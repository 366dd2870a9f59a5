//! The longest time in which nothing was delivered.

use std::time::Duration;

use super::{Gap, Messages, Recording, Status};
use crate::units::nanos;
use crate::workload::Periodic;

/// Open loop: something was due all the time, so the time before the first delivery and after the
/// last one counts, from the start of the workload to its end. With nothing delivered it is all of
/// it.
pub fn longest_gap(recording: &Recording) -> Gap {
    match &recording.messages {
        Messages::Histogram(histogram) => histogram.longest_gap,
        Messages::Each(messages) => {
            let end = nanos(told_until(recording));
            let interrupted = matches!(recording.status, Status::Interrupted { .. });
            let delivered = messages.iter().filter_map(|message| message.delivered);
            let told = delivered.filter(|at| !interrupted || *at <= end);
            longest_between(told.collect(), end)
        }
    }
}

/// Of an interrupted trial the messages of the last deadline are left out, and so what was delivered
/// then is not known.
fn told_until(recording: &Recording) -> Duration {
    let Periodic { duration, deadline, .. } = *recording.workload.periodic();
    match recording.status {
        Status::Interrupted { after } => duration.min(after.saturating_sub(deadline)),
        Status::Complete | Status::Closed { .. } => duration,
    }
}

fn longest_between(mut delivered: Vec<u64>, end: u64) -> Gap {
    delivered.sort_unstable();
    delivered.push(end.max(delivered.last().copied().unwrap_or(0)));
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
        assert_eq!(gap(&[30, 70], 60), (30, 70));
    }
}
