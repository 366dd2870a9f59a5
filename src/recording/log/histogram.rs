//! A histogram and a fixed number of time windows: constant memory however many messages there are.

use std::time::Duration;

use hdrhistogram::Histogram;

use super::bits::Bits;
use super::nanos;
use crate::recording::{Gap, MAX_WINDOWS, MessageHistogram, Window};
use crate::workload::Periodic;

/// Messages between the oldest undelivered one and the newest: 16 MiB of bits. One that falls out
/// counts as lost, which at the highest rate a workload can have takes more than two minutes.
const OUTSTANDING_LIMIT: u64 = 1 << 27;

#[derive(Debug)]
pub(super) struct HistogramLog {
    periodic: Periodic,
    latencies: Histogram<u64>,
    pub(super) windows: Vec<WindowLog>,
    window_length: u64,
    /// Whether each message from the oldest undelivered one on has been delivered.
    pub(super) outstanding: Bits,
    refused: u64,
    delivered: u64,
    late: u64,
    last_delivery: u64,
    longest_gap: Gap,
}

#[derive(Debug)]
pub(super) struct WindowLog {
    scheduled: u64,
    /// Microseconds, two significant digits.
    latencies_us: Histogram<u32>,
    max: u64,
}

impl HistogramLog {
    /// Latencies to three significant digits.
    pub(super) fn new(periodic: Periodic) -> Self {
        let windows =
            usize::try_from(periodic.count()).unwrap_or(MAX_WINDOWS).clamp(1, MAX_WINDOWS);
        Self::with(periodic, windows, 3)
    }

    /// To two, and the whole time in one slice: some 40 kB.
    pub(super) fn coarse(periodic: Periodic) -> Self {
        Self::with(periodic, 1, 2)
    }

    fn with(periodic: Periodic, windows: usize, digits: u8) -> Self {
        let window_length = nanos(periodic.duration).div_ceil(windows as u64).max(1);
        Self {
            latencies: Histogram::new(digits).expect("within hdrhistogram's range"),
            windows: (0..windows).map(|_| WindowLog::new()).collect(),
            window_length,
            outstanding: Bits::default(),
            refused: 0,
            delivered: 0,
            late: 0,
            last_delivery: 0,
            longest_gap: Gap::default(),
            periodic,
        }
    }

    pub(super) fn sent(&mut self, id: u64) {
        self.schedule(id, false);
    }

    pub(super) fn refused(&mut self, id: u64) {
        self.refused += 1;
        // Nothing more will be heard of it.
        self.schedule(id, true);
    }

    pub(super) fn delivered(&mut self, id: u64, at: Duration) -> Option<Duration> {
        if self.outstanding.get(id)? {
            return None;
        }
        self.outstanding.set(id, true);
        self.forget_delivered();
        Some(self.count_delivery(id, nanos(at)))
    }

    pub(super) fn finish(mut self, until: Duration) -> MessageHistogram {
        self.refuse_unsent(until);
        self.extend_gap(nanos(until.min(self.periodic.duration)));
        self.conclude()
    }

    /// What was delivered or refused cannot be taken out again, so of the messages that a log of
    /// each would leave out these count.
    pub(super) fn finish_interrupted(mut self, at: Duration, all_come: bool) -> MessageHistogram {
        let settled = self.settled_before(at, all_come);
        self.refuse_unsent(settled);
        while let Some(delivered) = self.outstanding.pop_back() {
            let id = self.outstanding.end();
            if self.periodic.due(id) < settled {
                break;
            }
            self.window(id).scheduled -= u64::from(!delivered);
        }
        self.extend_gap(nanos(at.min(self.periodic.duration)));
        self.conclude()
    }

    fn refuse_unsent(&mut self, until: Duration) {
        while self.outstanding.end() < self.periodic.count()
            && self.periodic.due(self.outstanding.end()) < until
        {
            self.refused(self.outstanding.end());
        }
    }

    fn settled_before(&self, at: Duration, all_come: bool) -> Duration {
        let deadline = self.periodic.deadline;
        if !all_come {
            let slowest = Duration::from_nanos(self.latencies.max());
            return at.saturating_sub(deadline.max(slowest));
        }
        let first = self.outstanding.start();
        let under_way = (first < self.outstanding.end()).then(|| self.periodic.due(first));
        let old_enough = at.saturating_sub(deadline);
        under_way.map_or(old_enough, |first| old_enough.min(first))
    }

    fn conclude(self) -> MessageHistogram {
        let scheduled = self.windows.iter().map(|window| window.scheduled).sum();
        let length = self.window_length;
        let windows = self.windows.iter().zip(0..);
        MessageHistogram {
            scheduled,
            refused: self.refused,
            delivered: self.delivered,
            late: self.late,
            latencies: self
                .latencies
                .iter_recorded()
                .map(|step| (step.value_iterated_to(), step.count_at_value()))
                .collect(),
            longest_gap: self.longest_gap,
            windows: windows.map(|(window, n)| window.finish(n * length, length)).collect(),
        }
    }

    fn schedule(&mut self, id: u64, settled: bool) {
        assert_eq!(id, self.outstanding.end(), "message ids ascend without a gap");
        self.outstanding.push(settled);
        self.window(id).scheduled += 1;
        if self.outstanding.end() - self.outstanding.start() > OUTSTANDING_LIMIT {
            self.outstanding.pop_front();
        }
        self.forget_delivered();
    }

    fn count_delivery(&mut self, id: u64, at: u64) -> Duration {
        let latency = at.saturating_sub(nanos(self.periodic.due(id)));
        self.delivered += 1;
        self.late += u64::from(latency > nanos(self.periodic.deadline));
        record(&mut self.latencies, latency);
        let window = self.window(id);
        record(&mut window.latencies_us, latency.div_ceil(1000));
        window.max = window.max.max(latency);
        self.extend_gap(at.min(nanos(self.periodic.duration)));
        self.last_delivery = self.last_delivery.max(at);
        Duration::from_nanos(latency)
    }

    fn extend_gap(&mut self, until: u64) {
        let longest = self.longest_gap.until - self.longest_gap.from;
        if until.saturating_sub(self.last_delivery) > longest {
            self.longest_gap = Gap { from: self.last_delivery, until };
        }
    }

    fn forget_delivered(&mut self) {
        while self.outstanding.get(self.outstanding.start()) == Some(true) {
            self.outstanding.pop_front();
        }
    }

    fn window(&mut self, id: u64) -> &mut WindowLog {
        let place = nanos(self.periodic.due(id)) / self.window_length;
        let last = self.windows.len() - 1;
        &mut self.windows[usize::try_from(place).map_or(last, |place| place.min(last))]
    }
}

impl WindowLog {
    fn new() -> Self {
        let latencies_us = Histogram::new(2).expect("two digits are within hdrhistogram's range");
        Self { scheduled: 0, latencies_us, max: 0 }
    }

    fn finish(&self, from: u64, length: u64) -> Window {
        let quantile = |q| self.latencies_us.value_at_quantile(q) * 1000;
        Window {
            from,
            until: from + length,
            scheduled: self.scheduled,
            delivered: self.latencies_us.len(),
            p50: quantile(0.5).min(self.max),
            p99: quantile(0.99).min(self.max),
            max: self.max,
        }
    }
}

fn record<C: hdrhistogram::Counter>(histogram: &mut Histogram<C>, value: u64) {
    histogram.record(value).expect("a histogram that resizes itself takes every value");
}
