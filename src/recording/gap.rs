//! The longest time in which nothing was delivered.

use super::{Gap, Messages, Recording};
use crate::units::nanos;

/// Open loop: something was due all the time, so the time before the first delivery and after the
/// last one counts, from the start of the workload to its end (or to where it was interrupted).
/// With nothing delivered it is all of it.
pub fn longest_gap(recording: &Recording) -> Gap {
    match &recording.messages {
        Messages::Histogram(histogram) => histogram.longest_gap,
        Messages::Each(messages) => {
            let delivered = messages.iter().filter_map(|message| message.delivered).collect();
            longest_between(delivered, nanos(recording.measured()))
        }
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
