//! What can be asked of the messages of a trial, whether each was kept or only a histogram of them.

use std::time::Duration;

use super::{Message, MessageHistogram, Messages, Recording, Status, Window};
use crate::statistics::{Distribution, Latency};
use crate::units::nanos;

impl Recording {
    /// How much of the workload was measured.
    pub fn measured(&self) -> Duration {
        let whole = self.workload.periodic().duration;
        match &self.status {
            Status::Interrupted { after } => whole.min(*after),
            Status::Complete | Status::Closed { .. } => whole,
        }
    }
}

impl Message {
    pub fn latency(&self) -> Latency {
        Latency::between(self.scheduled, self.delivered)
    }
}

impl Messages {
    pub fn scheduled(&self) -> u64 {
        match self {
            Self::Each(messages) => messages.len() as u64,
            Self::Histogram(histogram) => histogram.scheduled,
        }
    }

    pub fn refused(&self) -> u64 {
        match self {
            Self::Each(messages) => count(messages, |message| message.sent.is_none()),
            Self::Histogram(histogram) => histogram.refused,
        }
    }

    pub fn delivered(&self) -> u64 {
        match self {
            Self::Each(messages) => count(messages, |message| message.delivered.is_some()),
            Self::Histogram(histogram) => histogram.delivered,
        }
    }

    /// Past the deadline, lost ones included.
    pub fn late(&self, deadline: Duration) -> u64 {
        let deadline = Latency::from(deadline);
        match self {
            Self::Each(messages) => count(messages, |message| message.latency() > deadline),
            Self::Histogram(histogram) => {
                histogram.late + histogram.scheduled.saturating_sub(histogram.delivered)
            }
        }
    }

    /// Those scheduled in a stretch of time. Of a histogram: its slices that lie wholly within,
    /// each with its worst latency and its counts, and nothing else; `None` if there is no such
    /// slice.
    pub fn scheduled_within(&self, from: Duration, until: Duration) -> Option<Messages> {
        let (from, until) = (nanos(from), nanos(until));
        match self {
            Self::Each(messages) => {
                let place = |time| messages.partition_point(|message| message.scheduled < time);
                let (first, end) = (place(from), place(until));
                Some(Self::Each(messages[first..end.max(first)].to_vec()))
            }
            Self::Histogram(histogram) => {
                let within = |window: &&Window| from <= window.from && window.until <= until;
                let mut windows = histogram.windows.iter().filter(within).peekable();
                windows.peek()?;
                Some(Self::Histogram(sum(windows)))
            }
        }
    }

    /// Lost ones at the top.
    pub fn latencies(&self) -> Distribution {
        match self {
            Self::Each(messages) => {
                Distribution::from_samples(messages.iter().map(Message::latency))
            }
            Self::Histogram(histogram) => {
                let lost = histogram.scheduled.saturating_sub(histogram.delivered);
                let delivered =
                    histogram.latencies.iter().map(|(nanos, n)| (Latency::from_nanos(*nanos), *n));
                Distribution::from_counts(delivered.chain([(Latency::LOST, lost)]))
            }
        }
    }
}

fn sum<'a>(windows: impl Iterator<Item = &'a Window>) -> MessageHistogram {
    windows.fold(MessageHistogram::default(), |mut sum, window| {
        sum.scheduled += window.scheduled;
        sum.delivered += window.delivered;
        sum.latencies.extend((window.delivered > 0).then_some((window.max, window.delivered)));
        sum
    })
}

fn count(messages: &[Message], which: impl Fn(&Message) -> bool) -> u64 {
    messages.iter().filter(|message| which(message)).count() as u64
}
