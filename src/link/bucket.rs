//! A token bucket behind the delay line: the kernel's tbf, by the arithmetic of
//! `net/sched/sch_tbf.c`. Tokens are nanoseconds of sending; a full bucket holds those of a burst.

use std::collections::VecDeque;

use super::profile::TokenBucket;
use super::queue::{Entry, LAST_INSTANT, after};

#[derive(Debug, Clone)]
pub(super) struct Bucket<T> {
    pace: Pace,
    /// Bytes of the longest packet that can pass.
    longest: u32,
    /// Bytes that may wait.
    queue_limit: u64,
    /// When the bucket is full, in ns.
    depth: i64,
    tokens: i64,
    /// When the tokens were counted last.
    counted: i64,
    waiting: VecDeque<Entry<T>>,
    waiting_bytes: u64,
    /// When the first one that waits may leave, in ns. As in the kernel this stays when something
    /// else lets it go.
    wakeup: i64,
}

const NEVER: i64 = i64::MAX;

impl<T> Bucket<T> {
    /// Full.
    pub fn new(now: i64, settings: TokenBucket) -> Self {
        let mut bucket = Self {
            pace: Pace::NO_TIME,
            longest: 0,
            queue_limit: 0,
            depth: 0,
            tokens: 0,
            counted: now,
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            wakeup: NEVER,
        };
        bucket.change(Some(settings));
        bucket
    }

    /// A change fills the bucket. `None`: nothing waits any more. The kernel's tbf could not be
    /// taken away without losing what waits in it, so it stays, too fast to be noticed.
    pub fn change(&mut self, settings: Option<TokenBucket>) {
        (self.pace, self.longest, self.queue_limit) = match settings {
            Some(TokenBucket { rate, burst, queue }) => {
                (Pace::new(rate.bytes_per_second()), burst, queue.into())
            }
            None => (Pace::NO_TIME, u32::MAX, u32::MAX.into()),
        };
        self.depth = self.pace.ns(self.longest);
        self.tokens = self.depth;
    }

    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    pub fn wakeup(&self) -> i64 {
        self.wakeup
    }

    pub fn timer_fired(&mut self) {
        self.wakeup = NEVER;
    }

    /// Gives the packet back if there is no room for it, or never will be.
    pub fn take_in(&mut self, entry: Entry<T>) -> Result<(), Entry<T>> {
        let length = u64::from(entry.packet.length);
        if entry.packet.length > self.longest || self.waiting_bytes + length > self.queue_limit {
            return Err(entry);
        }
        self.waiting_bytes += length;
        self.waiting.push_back(entry);
        Ok(())
    }

    /// The next packet that may leave now. If one has to wait, sets the timer.
    pub fn let_go(&mut self, now: i64) -> Option<Entry<T>> {
        let length = self.waiting.front()?.packet.length;
        let gained = (now - self.counted).min(self.depth);
        let left = (self.tokens + gained).min(self.depth) - self.pace.ns(length);
        if left < 0 {
            self.wakeup = after(now, -left);
            return None;
        }
        (self.counted, self.tokens) = (now, left);
        self.waiting_bytes -= u64::from(length);
        self.waiting.pop_front()
    }
}

/// Bytes to nanoseconds as the kernel's `psched_ratecfg_precompute` and `psched_l2t_ns` do it: a
/// product and a shift in place of a division, which rounds down twice.
#[derive(Debug, Clone, Copy)]
struct Pace {
    factor: u64,
    shift: u32,
}

impl Pace {
    const NO_TIME: Self = Self { factor: 0, shift: 0 };

    fn new(bytes_per_second: u64) -> Self {
        let mut scaled: u64 = 1_000_000_000;
        let mut shift = 0;
        loop {
            let factor = scaled / bytes_per_second;
            // It fits the kernel's 32 bits: it was less than half as much a step before.
            if factor >> 31 == 1 || scaled >> 63 == 1 {
                return Self { factor, shift };
            }
            scaled <<= 1;
            shift += 1;
        }
    }

    fn ns(self, bytes: u32) -> i64 {
        let ns = (u64::from(bytes) * self.factor) >> self.shift;
        i64::try_from(ns).unwrap_or(LAST_INSTANT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::Packet;
    use crate::units::Rate;

    fn bucket(bytes_per_second: u64, burst: u32, queue: u32) -> Bucket<u32> {
        let rate = Rate::from_bits_per_second(8 * bytes_per_second).expect("not zero");
        Bucket::new(0, TokenBucket { rate, burst, queue })
    }

    fn entry(arrival: u64, length: u32) -> Entry<u32> {
        Entry { due: 0, arrival, packet: Packet::new(length, 0) }
    }

    #[test]
    fn a_burst_passes_at_once_and_the_rest_at_the_rate() {
        let mut bucket = bucket(1_000_000, 3_000, 100_000);
        for arrival in 0..5 {
            assert!(bucket.take_in(entry(arrival, 1_000)).is_ok());
        }
        let at_once = std::iter::from_fn(|| bucket.let_go(0)).count();
        assert_eq!((at_once, bucket.wakeup(), bucket.len()), (3, 1_000_000, 2));
        assert!(bucket.let_go(999_999).is_none());
        assert!(bucket.let_go(1_000_000).is_some());
        assert!(bucket.let_go(2_000_000).is_some() && bucket.len() == 0);
    }

    #[test]
    fn bytes_count_in_the_queue_and_what_exceeds_the_burst_never_passes() {
        let mut bucket = bucket(1_000_000, 1_500, 2_000);
        assert!(bucket.take_in(entry(0, 1_501)).is_err());
        assert!(bucket.take_in(entry(1, 1_500)).is_ok());
        assert!(bucket.take_in(entry(2, 501)).is_err());
        assert!(bucket.take_in(entry(3, 500)).is_ok());
    }

    #[test]
    fn a_bucket_that_is_none_any_more_lets_all_go() {
        let mut bucket = bucket(1, 1_500, 10_000);
        for arrival in 0..4 {
            assert!(bucket.take_in(entry(arrival, 1_500)).is_ok());
        }
        assert_eq!(std::iter::from_fn(|| bucket.let_go(5)).count(), 1);
        bucket.change(None);
        assert_eq!(std::iter::from_fn(|| bucket.let_go(6)).count(), 3);
    }

    /// To a part in 2³¹ below the exact quotient, for as long as the factor fits 32 bits.
    #[test]
    fn the_time_of_a_packet_is_nearly_its_length_over_the_rate() {
        for bytes_per_second in [1_u64, 7, 1_000, 1_250_000, 999_999_937, 12_500_000_000] {
            let exact = 1_514.0 * 1e9 / bytes_per_second as f64;
            let ns = Pace::new(bytes_per_second).ns(1_514) as f64;
            assert!(ns <= exact && ns > exact * (1.0 - 1e-9) - 1.0, "{bytes_per_second}: {ns}");
        }
    }
}
