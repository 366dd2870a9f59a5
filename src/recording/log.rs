//! Collects what happens to the messages of a trial while it runs. Knows no clock: every time is
//! passed in, counted from the start of the workload.

mod bits;
mod each;
mod histogram;

use std::time::Duration;

use self::each::EachLog;
use self::histogram::HistogramLog;
use super::Messages;
use crate::units::nanos;
use crate::workload::{Keep, Periodic, Workload};

#[derive(Debug)]
pub struct MessageLog {
    kept: Kept,
    sent: u64,
    refused: u64,
    delivered: u64,
    /// Latencies in nanoseconds since [`MessageLog::take_recent`] was last called.
    recent: Vec<u64>,
}

#[derive(Debug)]
enum Kept {
    Each(EachLog),
    Histogram(Box<HistogramLog>),
}

impl MessageLog {
    pub fn new(workload: &Workload) -> Self {
        Self::with(workload, HistogramLog::new)
    }

    /// For one of many: where a histogram is kept, a coarser one (two significant digits) without
    /// slices of time.
    pub fn of_many(workload: &Workload) -> Self {
        Self::with(workload, HistogramLog::coarse)
    }

    fn with(workload: &Workload, histogram: fn(Periodic) -> HistogramLog) -> Self {
        let periodic = workload.periodic().clone();
        let kept = match periodic.keep {
            Keep::Messages => Kept::Each(EachLog::new(periodic)),
            Keep::Histogram => Kept::Histogram(Box::new(histogram(periodic))),
        };
        Self { kept, sent: 0, refused: 0, delivered: 0, recent: Vec::new() }
    }

    /// The sender accepted message `id`. Ids come in ascending order.
    pub fn sent(&mut self, id: u64, at: Duration) {
        self.sent += 1;
        match &mut self.kept {
            Kept::Each(log) => log.sent(id, at),
            Kept::Histogram(log) => log.sent(id),
        }
    }

    /// The sender refused message `id`: it counts as lost.
    pub fn refused(&mut self, id: u64) {
        self.refused += 1;
        match &mut self.kept {
            Kept::Each(log) => log.refused(id),
            Kept::Histogram(log) => log.refused(id),
        }
    }

    /// Message `id` reached the application. Its latency from its scheduled time, if this is its
    /// first delivery.
    pub fn delivered(&mut self, id: u64, at: Duration) -> Option<Duration> {
        let latency = match &mut self.kept {
            Kept::Each(log) => log.delivered(id, at),
            Kept::Histogram(log) => log.delivered(id, at),
        }?;
        self.delivered += 1;
        self.recent.push(nanos(latency));
        Some(latency)
    }

    pub fn sent_count(&self) -> u64 {
        self.sent
    }

    /// Accepted or refused: those that fell due and were handed over.
    pub fn scheduled_count(&self) -> u64 {
        self.sent + self.refused
    }

    pub fn delivered_count(&self) -> u64 {
        self.delivered
    }

    /// Accepted, and not delivered yet.
    pub fn undelivered(&self) -> u64 {
        self.sent - self.delivered
    }

    /// P50 and P99 of the latencies since the last call, for the progress display.
    pub fn take_recent(&mut self) -> Option<(Duration, Duration)> {
        self.recent.sort_unstable();
        let at = |share: f64| {
            let rank = (share * self.recent.len() as f64).ceil() as usize;
            self.recent.get(rank.saturating_sub(1)).copied().map(Duration::from_nanos)
        };
        let quantiles = at(0.5).zip(at(0.99));
        self.recent.clear();
        quantiles
    }

    /// Nobody asks for them.
    pub fn forget_recent(&mut self) {
        self.recent.clear();
    }

    /// What is kept of the messages scheduled before `until`; those not delivered by now are lost.
    pub fn finish(self, until: Duration) -> Messages {
        match self.kept {
            Kept::Each(log) => Messages::Each(log.finish(until)),
            Kept::Histogram(log) => Messages::Histogram(log.finish(until)),
        }
    }

    /// The same for a trial that was stopped at `at`. What was due since the first message that may
    /// still have come is left out, as if the trial had been stopped then. Of a sender that
    /// delivers all in the end (`all_come`) that may be any; of others one that is younger than the
    /// deadline, or than the slowest that was delivered: an older one counts as lost.
    pub fn finish_interrupted(self, at: Duration, all_come: bool) -> Messages {
        match self.kept {
            Kept::Each(log) => Messages::Each(log.finish_interrupted(at, all_come)),
            Kept::Histogram(log) => Messages::Histogram(log.finish_interrupted(at, all_come)),
        }
    }
}

#[cfg(test)]
mod tests;
