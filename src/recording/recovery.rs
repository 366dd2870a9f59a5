//! How long after an outage a sender is back to what it was.
//!
//! A **window** is the messages scheduled within one second, or within the time of twenty messages
//! where that is longer; one begins at each message, but at most a hundred to a window. The **level
//! before** is the highest P99 of the windows that lie wholly within ten window lengths before the
//! outage, and before the first message that the outage itself held up: the highest, so that an
//! ordinary retransmission does not count as not recovered. Windows that the trace of another outage
//! touches are left out. The sender **has recovered** at the begin of the first window after the
//! outage whose P99 is at most a tenth above that level: from then on, what is sent arrives as it
//! did before. (Up to 99 messages a window that is every one of them; of a thousand, ten are above
//! their own P99 without anything being wrong.) The search ends where the next outage begins. Of
//! eleven stretches that are alike the last is the highest once in eleven times, so that a sender
//! that noticed nothing can seem not to be back at once; of several runs the median is shown.
//!
//! The **trace** of an outage begins with the first message that it held up and ends when the sender
//! has recovered from it, or where the search did. Where that is unknown it ends as long after the
//! outage as this lasted, or when the last message has arrived that was due before its end.
//!
//! A histogram has slices and not messages: a window is then as many slices as it takes, and begins
//! at each of them. Its P99 is the highest of its slices', before and after alike. The recovery
//! time has the resolution of one message (or a hundredth of a window), or of one slice.

use std::cell::OnceCell;
use std::ops::Range;
use std::time::Duration;

use crate::statistics::{Latency, Quantile};
use crate::timeline::Outage;
use crate::units::nanos;

use super::{Message, Messages, Window};

const WINDOW: Duration = Duration::from_secs(1);
const FEWEST_MESSAGES: f64 = 20.0;
const WINDOWS_BEFORE: u64 = 10;
const ALLOWANCE: f64 = 1.1;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Recovery {
    /// After the end of the outage. Zero: the first window already was as before.
    After(Duration),
    /// Not before the next outage began or the workload ended.
    Never,
    /// There is no level to come back to, since the outage began too soon after the start or after
    /// another one or the level was "lost" (more than 1 % of the messages were lost before it too);
    /// or no window after it, since the workload ended with it or another outage held on or began.
    Unknown,
}

impl Recovery {
    /// `None` if there are none; unknown if more than half are, which are left out else.
    pub fn median(recoveries: impl IntoIterator<Item = Recovery>) -> Option<Recovery> {
        let (unknown, mut known): (Vec<_>, Vec<_>) =
            recoveries.into_iter().partition(|recovery| *recovery == Recovery::Unknown);
        if unknown.len() > known.len() {
            return Some(Recovery::Unknown);
        }
        known.sort();
        let low = *known.get(known.len().checked_sub(1)? / 2)?;
        let high = known[known.len() / 2];
        Some(match (low, high) {
            (Recovery::After(low), Recovery::After(high)) => Recovery::After((low + high) / 2),
            // Half way to never is never.
            _ => high,
        })
    }
}

/// The windows of one trial, from which its recovery from any outage can be told.
pub struct Windows<'a> {
    kind: Kind<'a>,
    length: u64,
}

enum Kind<'a> {
    Each(Sliding<'a>),
    Histogram(Merged<'a>),
}

impl<'a> Windows<'a> {
    /// `rate` is the workload's, in messages per second.
    pub fn of(messages: &'a Messages, rate: f64) -> Self {
        let length = nanos(WINDOW.max(Duration::from_secs_f64(FEWEST_MESSAGES / rate)));
        let kind = match messages {
            Messages::Each(messages) => Kind::Each(Sliding::new(messages, length)),
            Messages::Histogram(histogram) => {
                Kind::Histogram(Merged { slices: &histogram.windows, length })
            }
        };
        Self { kind, length }
    }

    /// Of each of the outages of the sender's paths, which are all that it met, in any order.
    pub fn recoveries(&self, outages: &[Outage]) -> Vec<Recovery> {
        let mut order: Vec<usize> = (0..outages.len()).collect();
        order.sort_by_key(|place| (outages[*place].from, outages[*place].until));
        let mut recoveries = vec![Recovery::Unknown; outages.len()];
        let mut traces: Vec<Range<u64>> = Vec::new();
        for place in order {
            let outage = &outages[place];
            // Of those that are over by then nothing new begins.
            let later = outages.iter().filter(|other| other.until > outage.until);
            let next = later.map(|other| nanos(other.from)).min().unwrap_or(u64::MAX);
            let recovery = self.recovery(outage, next, &traces);
            traces.push(self.trace(outage, next, recovery));
            recoveries[place] = recovery;
        }
        recoveries
    }

    fn recovery(&self, outage: &Outage, next: u64, traces: &[Range<u64>]) -> Recovery {
        let (from, until) = (nanos(outage.from), nanos(outage.until));
        let held_up = self.first_held_up(from);
        let begin = held_up.saturating_sub(self.reach().saturating_mul(WINDOWS_BEFORE));
        let near: Vec<_> =
            traces.iter().filter(|it| it.end > begin && it.start < held_up).collect();
        let touched = |level: &Level| {
            near.iter().any(|trace| level.begin < trace.end && trace.start < level.end)
        };
        let before = self.within(begin, held_up).filter(|level| !touched(level));
        judge(before, self.within(until, next), until)
    }

    fn trace(&self, outage: &Outage, next: u64, recovery: Recovery) -> Range<u64> {
        let until = nanos(outage.until);
        let end = match recovery {
            Recovery::After(after) => until.saturating_add(nanos(after)),
            Recovery::Never => next,
            Recovery::Unknown => {
                let as_long = until.saturating_add(nanos(outage.until.saturating_sub(outage.from)));
                as_long.max(self.last_arrival(nanos(outage.from), until))
            }
        };
        self.first_held_up(nanos(outage.from))..end
    }

    /// The time of a window.
    fn reach(&self) -> u64 {
        match &self.kind {
            Kind::Each(_) => self.length,
            Kind::Histogram(windows) => windows.reach(),
        }
    }

    fn first_held_up(&self, outage: u64) -> u64 {
        match &self.kind {
            Kind::Each(windows) => windows.first_held_up(outage),
            Kind::Histogram(windows) => windows.first_held_up(outage),
        }
    }

    fn last_arrival(&self, from: u64, until: u64) -> u64 {
        match &self.kind {
            Kind::Each(windows) => windows.last_arrival(from, until),
            Kind::Histogram(windows) => windows.last_arrival(from, until),
        }
    }

    /// The windows that lie wholly between two times.
    fn within(&self, from: u64, until: u64) -> Box<dyn Iterator<Item = Level> + '_> {
        match &self.kind {
            Kind::Each(windows) => Box::new(windows.within(from, until)),
            Kind::Histogram(windows) => Box::new(windows.within(from, until)),
        }
    }
}

/// Of a window.
#[derive(Debug, Clone, Copy)]
struct Level {
    begin: u64,
    end: u64,
    p99: Latency,
}

fn judge(
    before: impl Iterator<Item = Level>,
    mut after: impl Iterator<Item = Level>,
    end: u64,
) -> Recovery {
    let level = before.map(|level| level.p99).max().and_then(Latency::as_duration);
    let (Some(level), Some(first)) = (level, after.next()) else { return Recovery::Unknown };
    let enough = Latency::from(level.mul_f64(ALLOWANCE));
    if first.p99 <= enough {
        return Recovery::After(Duration::ZERO);
    }
    match after.find(|level| level.p99 <= enough) {
        Some(back) => Recovery::After(Duration::from_nanos(back.begin.saturating_sub(end))),
        None => Recovery::Never,
    }
}

struct Sliding<'a> {
    /// By scheduled time.
    messages: &'a [Message],
    length: u64,
    /// Messages from the begin of one window to that of the next.
    step: usize,
    /// Of all windows, made when the first outage asks for them.
    levels: OnceCell<Vec<Level>>,
}

/// More windows would take time and tell nothing: they share all but a hundredth of their messages.
const WINDOWS_PER_LENGTH: usize = 100;

impl<'a> Sliding<'a> {
    fn new(messages: &'a [Message], length: u64) -> Self {
        let begin = messages.first().map_or(0, |message| message.scheduled);
        let in_one = messages.partition_point(|m| m.scheduled < begin.saturating_add(length));
        Self {
            messages,
            length,
            step: in_one.div_ceil(WINDOWS_PER_LENGTH).max(1),
            levels: OnceCell::new(),
        }
    }

    /// When the first message was due that was still under way when the outage began.
    fn first_held_up(&self, outage: u64) -> u64 {
        let before = &self.messages[..self.place(outage)];
        let held_up = before.iter().find(|m| m.delivered.is_some_and(|at| at > outage));
        held_up.map_or(outage, |message| message.scheduled)
    }

    /// Of the messages due between two times.
    fn last_arrival(&self, from: u64, until: u64) -> u64 {
        let (first, end) = (self.place(from), self.place(until));
        let due = &self.messages[first..end.max(first)];
        due.iter().filter_map(|message| message.delivered).max().unwrap_or(0)
    }

    /// The last of all ends with the last message.
    fn within(&self, from: u64, until: u64) -> impl Iterator<Item = Level> {
        let levels = self.levels.get_or_init(|| self.all_levels());
        let first = levels.partition_point(|level| level.begin < from);
        levels[first..].iter().copied().take_while(move |level| level.end <= until)
    }

    fn all_levels(&self) -> Vec<Level> {
        // The messages of a window are due before its end, so one interval of them reaches past the
        // last.
        let last = self.messages.last().map_or(0, |message| message.scheduled);
        let end = last.saturating_add(self.interval());
        let begins = self.messages.iter().step_by(self.step).map(|message| message.scheduled);
        begins
            .map(|begin| (begin, begin.saturating_add(self.length)))
            .take_while(|(_, until)| *until <= end)
            .map(|(begin, end)| Level { begin, end, p99: self.p99(begin, end) })
            .collect()
    }

    fn p99(&self, begin: u64, end: u64) -> Latency {
        let window = &self.messages[self.place(begin)..self.place(end)];
        let mut latencies: Vec<Latency> = window.iter().map(Message::latency).collect();
        let rank =
            usize::try_from(Quantile::P99.rank(latencies.len() as u64)).unwrap_or(usize::MAX);
        match latencies.len() {
            0 => Latency::LOST,
            // Only this one is wanted, so nothing is sorted.
            count => *latencies.select_nth_unstable(rank.clamp(1, count) - 1).1,
        }
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

struct Merged<'a> {
    /// By time, each beginning where the last ends.
    slices: &'a [Window],
    length: u64,
}

impl Merged<'_> {
    /// When the first slice begins whose slowest message may have been under way when the outage
    /// began.
    fn first_held_up(&self, outage: u64) -> u64 {
        let before = self.slices.iter().take_while(|slice| slice.from < outage);
        let mut held_up = before.filter(|slice| slice.from.saturating_add(slice.max) > outage);
        held_up.next().map_or(outage, |slice| slice.from)
    }

    /// The time of as many slices as make a window.
    fn reach(&self) -> u64 {
        let slice = self.slices.first().map_or(1, |slice| slice.until.saturating_sub(slice.from));
        self.length.div_ceil(slice.max(1)).saturating_mul(slice)
    }

    /// At the latest, of the messages due between two times.
    fn last_arrival(&self, from: u64, until: u64) -> u64 {
        let due = self.slices.iter().filter(|slice| slice.from < until && from < slice.until);
        due.map(|slice| slice.until.saturating_add(slice.max)).max().unwrap_or(0)
    }

    /// Those that have messages.
    fn within(&self, from: u64, until: u64) -> impl Iterator<Item = Level> {
        let first = self.slices.partition_point(|slice| slice.from < from);
        let last = self.slices.partition_point(|slice| slice.until <= until);
        let slices = &self.slices[first..last.max(first)];
        (0..slices.len()).filter_map(|begin| self.window(&slices[begin..]))
    }

    /// The first of these slices that are long enough together.
    fn window(&self, slices: &[Window]) -> Option<Level> {
        let begin = slices.first()?.from;
        let long =
            slices.iter().position(|slice| slice.until >= begin.saturating_add(self.length))?;
        let window = &slices[..=long];
        let end = slices[long].until;
        let sum = |part: fn(&Window) -> u64| window.iter().map(part).sum::<u64>();
        let (scheduled, delivered) = (sum(|slice| slice.scheduled), sum(|slice| slice.delivered));
        // A slice's own P99 is of what was delivered; with more than 1 % lost, the P99 of all is
        // among the lost.
        let worst = || {
            window.iter().map(|slice| slice.p99).max().map_or(Latency::LOST, Latency::from_nanos)
        };
        let lost_too_many = delivered < Quantile::P99.rank(scheduled);
        let p99 = if lost_too_many { Latency::LOST } else { worst() };
        (scheduled > 0).then_some(Level { begin, end, p99 })
    }
}

#[cfg(test)]
mod tests;
