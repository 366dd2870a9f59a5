//! How long after an outage a sender is back to what it was.
//!
//! A **window** is the messages scheduled in one stretch of time: one second, or the time of twenty
//! messages where that is longer. One begins at each message; those of a histogram are its slices,
//! one beginning where the last ends. The **level before** is the highest P99 of the windows that
//! lie wholly within ten window lengths before the outage (the highest, because the P99 of one
//! short window is close to its maximum and scatters). The sender **has recovered** at the begin of
//! the first window after the outage whose P99 is at most a tenth above that level: from then on,
//! what is sent arrives as it did before. The recovery time runs from the end of the outage to
//! there, with the resolution of one message (of one slice in a histogram).

use std::time::Duration;

use crate::statistics::{Distribution, Latency, Quantile};
use crate::timeline::Outage;

use super::{Message, Messages, Window};

const WINDOW: Duration = Duration::from_secs(1);
const FEWEST_MESSAGES: f64 = 20.0;
const WINDOWS_BEFORE: u32 = 10;
const ALLOWANCE: f64 = 1.1;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Recovery {
    /// After the end of the outage. Zero: it was not worse for it.
    After(Duration),
    /// Not before the end of the workload.
    Never,
    /// There is no level to come back to: the outage began too early, the workload ended with it,
    /// or the level was "lost" (more than 1 % of the messages were lost before it too).
    Unknown,
}

/// `rate` is the workload's, in messages per second.
pub fn recovery(messages: &Messages, outage: &Outage, rate: f64) -> Recovery {
    let length = WINDOW.max(Duration::from_secs_f64(FEWEST_MESSAGES / rate));
    let (from, until) = (nanos(outage.from), nanos(outage.until));
    match messages {
        Messages::Each(messages) => {
            let windows = Sliding { messages, length: nanos(length) };
            let before = windows.within(from.saturating_sub(nanos(length * WINDOWS_BEFORE)), from);
            judge(before, windows.within(until, u64::MAX), until)
        }
        Messages::Histogram(histogram) => {
            let longest = histogram
                .windows
                .iter()
                .map(|window| window.until.saturating_sub(window.from))
                .max();
            let before =
                from.saturating_sub(longest.unwrap_or(0).saturating_mul(u64::from(WINDOWS_BEFORE)));
            let slices = |from, until| slices(&histogram.windows, from, until);
            judge(slices(before, from), slices(until, u64::MAX), until)
        }
    }
}

/// Of each window its begin and its P99.
type Level = (u64, Latency);

fn judge(
    before: impl Iterator<Item = Level>,
    mut after: impl Iterator<Item = Level>,
    end: u64,
) -> Recovery {
    let level = before.map(|(_, p99)| p99).max().and_then(Latency::as_duration);
    let mut after = after.by_ref().peekable();
    let (Some(level), Some(_)) = (level, after.peek()) else { return Recovery::Unknown };
    let enough = Latency::from(level.mul_f64(ALLOWANCE));
    match after.find(|(_, p99)| *p99 <= enough) {
        Some((begin, _)) => Recovery::After(Duration::from_nanos(begin - end)),
        None => Recovery::Never,
    }
}

struct Sliding<'a> {
    /// By scheduled time.
    messages: &'a [Message],
    length: u64,
}

impl Sliding<'_> {
    /// The windows that lie wholly between two times; the last of all ends with the last message.
    fn within(&self, from: u64, until: u64) -> impl Iterator<Item = Level> {
        let first = self.place(from);
        let last = self.messages.last().map_or(0, |message| message.scheduled);
        // The messages of a window are due before its end, so one interval of them reaches past the
        // last.
        let until = until.min(last.saturating_add(self.interval()));
        let begins = self.messages[first..].iter().map(|message| message.scheduled);
        begins
            .take_while(move |begin| begin.saturating_add(self.length) <= until)
            .map(|begin| (begin, self.p99(begin)))
    }

    fn p99(&self, begin: u64) -> Latency {
        let window =
            &self.messages[self.place(begin)..self.place(begin.saturating_add(self.length))];
        let latencies =
            window.iter().map(|message| Latency::between(message.scheduled, message.delivered));
        Distribution::from_samples(latencies).quantile(Quantile::P99).unwrap_or(Latency::LOST)
    }

    fn place(&self, time: u64) -> usize {
        self.messages.partition_point(|message| message.scheduled < time)
    }

    fn interval(&self) -> u64 {
        match self.messages {
            [first, .., last] => {
                (last.scheduled - first.scheduled) / (self.messages.len() as u64 - 1)
            }
            _ => 0,
        }
    }
}

fn slices(windows: &[Window], from: u64, until: u64) -> impl Iterator<Item = Level> {
    windows
        .iter()
        .filter(move |window| window.from >= from && window.until <= until && window.scheduled > 0)
        .map(|window| (window.from, slice_p99(window)))
}

/// A slice's own P99 is of what was delivered; with more than 1 % lost, the P99 of all is among the
/// lost.
fn slice_p99(window: &Window) -> Latency {
    let lost_too_many = window.delivered < Quantile::P99.rank(window.scheduled);
    if lost_too_many { Latency::LOST } else { Latency::from_nanos(window.p99) }
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::MessageHistogram;
    use crate::units::PathId;

    const OUTAGE: Outage =
        Outage { path: PathId(0), from: Duration::from_secs(20), until: Duration::from_secs(25) };

    /// 50 messages per second for 60 s, each with the latency in milliseconds that a function of
    /// its time gives.
    fn messages(latency_ms: impl Fn(f64) -> Option<f64>) -> Vec<Message> {
        (0..3000u64)
            .map(|id| {
                let scheduled = id * 20_000_000;
                let latency = latency_ms(scheduled as f64 / 1e9);
                let delivered = latency.map(|ms| scheduled + (ms * 1e6) as u64);
                Message { scheduled, sent: Some(scheduled), delivered }
            })
            .collect()
    }

    fn recovered(latency_ms: impl Fn(f64) -> Option<f64>) -> Recovery {
        recovery(&Messages::Each(messages(latency_ms)), &OUTAGE, 50.0)
    }

    #[test]
    fn it_ends_with_the_first_message_that_is_as_fast_as_before() {
        // Everything sent in the outage, and for 1.5 s after it, waits until 26.5 s.
        let reliable =
            |t: f64| Some(if (20.0..26.5).contains(&t) { (26.5 - t) * 1e3 } else { 40.0 });
        let Recovery::After(time) = recovered(reliable) else { panic!("no recovery") };
        assert!((time.as_secs_f64() - 1.46).abs() < 0.021, "{time:?}");
    }

    #[test]
    fn a_sender_that_did_not_notice_has_recovered_at_once() {
        assert_eq!(recovered(|_| Some(40.0)), Recovery::After(Duration::ZERO));
        assert_eq!(
            recovered(|t| (!(20.0..25.0).contains(&t)).then_some(40.0)),
            Recovery::After(Duration::ZERO)
        );
    }

    #[test]
    fn a_sender_that_stays_slow_never_recovers() {
        assert_eq!(recovered(|t| Some(if t < 20.0 { 40.0 } else { 60.0 })), Recovery::Never);
        assert_eq!(recovered(|t| (t < 20.0).then_some(40.0)), Recovery::Never);
    }

    #[test]
    fn without_a_level_before_it_is_unknown() {
        assert_eq!(recovered(|t| (t as u64).is_multiple_of(2).then_some(40.0)), Recovery::Unknown);
        let early = Outage { from: Duration::ZERO, ..OUTAGE };
        let steady = Messages::Each(messages(|_| Some(40.0)));
        assert_eq!(recovery(&steady, &early, 50.0), Recovery::Unknown);
        let late = Outage { until: Duration::from_secs(60), ..OUTAGE };
        assert_eq!(recovery(&steady, &late, 50.0), Recovery::Unknown);
        assert_eq!(recovery(&Messages::Each(Vec::new()), &OUTAGE, 50.0), Recovery::Unknown);
    }

    #[test]
    fn slices_of_a_histogram_tell_the_same_to_one_slice() {
        let windows = (0..60u64)
            .map(|second| Window {
                from: second * 1_000_000_000,
                until: (second + 1) * 1_000_000_000,
                scheduled: 50,
                delivered: if second == 25 { 40 } else { 50 },
                p99: if (20..27).contains(&second) { 900_000_000 } else { 40_000_000 },
                ..Window::default()
            })
            .collect();
        let histogram = Messages::Histogram(MessageHistogram { windows, ..Default::default() });
        let expected = Recovery::After(Duration::from_secs(2));
        assert_eq!(recovery(&histogram, &OUTAGE, 50.0), expected);
    }
}
