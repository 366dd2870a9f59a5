//! The kernel's clocks, read as the project's own [`Instant`]. CLOCK_MONOTONIC is the same in every
//! namespace, so one clock times both ends of a trial.

use std::time::Duration;

use nix::sys::time::TimeValLike;
use nix::time::{ClockId, clock_gettime};

use crate::units::Instant;

/// The clock of one trial: CLOCK_MONOTONIC, counted from its own beginning, so that protocols see
/// the same small times as in `sim`, and trials that run side by side do not all do the same at the
/// same moment.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    /// Nanoseconds of CLOCK_MONOTONIC.
    epoch: u64,
}

/// A reading of two clocks that took no longer is good enough.
const PROMPT: Duration = Duration::from_micros(20);
/// How often two clocks are read in the hope of a prompt reading.
const TRIES: usize = 5;

impl Clock {
    pub fn start() -> Self {
        Self { epoch: read(ClockId::CLOCK_MONOTONIC) }
    }

    pub fn now(self) -> Instant {
        Instant::from_nanos(read(ClockId::CLOCK_MONOTONIC) - self.epoch)
    }

    /// CLOCK_REALTIME in nanoseconds, as the kernel stamps packets.
    pub fn stamp(self) -> u64 {
        read(ClockId::CLOCK_REALTIME)
    }

    /// Good to some tens of nanoseconds, unless the thread loses the processor in between: then it
    /// is tried again.
    pub fn realtime_offset(self) -> RealtimeOffset {
        best_of(|| {
            let before = self.now().as_nanos();
            let realtime = read(ClockId::CLOCK_REALTIME);
            RealtimeOffset::read_between(before, realtime, self.now().as_nanos())
        })
    }
}

/// CPU time the calling thread has used.
pub fn thread_cpu_time() -> Duration {
    Duration::from_nanos(read(ClockId::CLOCK_THREAD_CPUTIME_ID))
}

/// Reads a clock that Linux has in every version: the call cannot fail.
fn read(clock: ClockId) -> u64 {
    let time = clock_gettime(clock).expect("Linux has this clock");
    u64::try_from(time.num_nanoseconds()).expect("these clocks do not go below zero")
}

/// What CLOCK_REALTIME is ahead of a trial's clock. Kernel timestamps of packets are in the former,
/// which may be set at any time: so this is measured again with every batch of packets rather than
/// once.
#[derive(Debug, Clone, Copy)]
pub struct RealtimeOffset {
    nanos: u64,
    doubt: Duration,
}

impl RealtimeOffset {
    /// CLOCK_REALTIME was read some time from `before` to `after`.
    fn read_between(before: u64, realtime: u64, after: u64) -> Self {
        Self {
            nanos: realtime.saturating_sub(before.midpoint(after)),
            doubt: Duration::from_nanos(after.saturating_sub(before).div_ceil(2)),
        }
    }

    /// How far off this may be.
    pub fn doubt(self) -> Duration {
        self.doubt
    }

    /// The time of the trial's clock at a CLOCK_REALTIME stamp in nanoseconds.
    pub fn to_trial(self, stamp: u64) -> Instant {
        Instant::from_nanos(stamp.saturating_sub(self.nanos))
    }
}

/// Times of frames that came one after the other, on the trial's clock.
#[derive(Debug)]
pub struct Sequence {
    latest: Instant,
}

impl Sequence {
    pub fn new() -> Self {
        Self { latest: Instant::ZERO }
    }

    /// When the next one came. Each batch has an offset of its own, and each offset is off by a
    /// little, or by more where the thread was held up: without a care the first frame of a batch
    /// would come out earlier than the last one of the batch before, and a link that keeps the order
    /// would let it overtake.
    pub fn next(&mut self, stamp: u64, offset: RealtimeOffset, now: Instant) -> Instant {
        self.latest = offset.to_trial(stamp).min(now).max(self.latest);
        self.latest
    }
}

/// The first prompt reading, or else the one that took the shortest.
fn best_of(mut read: impl FnMut() -> RealtimeOffset) -> RealtimeOffset {
    let mut best = read();
    for _ in 1..TRIES {
        if best.doubt <= PROMPT / 2 {
            break;
        }
        best = std::cmp::min_by_key(best, read(), |offset| offset.doubt);
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reading_that_was_held_up_is_tried_again_and_the_best_one_is_kept() {
        let best = |spans: [u64; 6]| {
            let mut tries = spans.iter();
            let offset = best_of(|| {
                let span = *tries.next().expect("no more tries than there are spans");
                // The clock is read at once; the thread is held up after that.
                RealtimeOffset::read_between(1_000_000, 51_000_000, 1_000_000 + span)
            });
            (offset.nanos, offset.doubt.as_nanos(), tries.len())
        };
        let prompt = 20_000;
        assert_eq!(best([100, 0, 0, 0, 0, 0]), (49_999_950, 50, 5));
        assert_eq!(best([9_000_000, prompt, 0, 0, 0, 0]), (49_990_000, 10_000, 4));
        let held_up = [900_000, 800_000, 300_000, 400_000, 500_000, 0];
        assert_eq!(best(held_up), (49_850_000, 150_000, 1));
    }

    /// 2 µs apart, in two batches whose offsets are 10 µs apart.
    #[test]
    fn frames_of_two_batches_keep_their_order() {
        let offset = |nanos| RealtimeOffset { nanos, doubt: PROMPT / 2 };
        let (first, second) = (offset(50_000_000), offset(50_010_000));
        let (earlier, later) = (60_000_000, 60_002_000);
        assert!(second.to_trial(later) < first.to_trial(earlier), "or this test shows nothing");
        let mut sequence = Sequence::new();
        let now = Instant::from_nanos(20_000_000);
        let times = [(earlier, first), (later, second), (60_020_000, second)]
            .map(|(stamp, offset)| sequence.next(stamp, offset, now).as_nanos());
        assert_eq!(times, [10_000_000, 10_000_000, 10_010_000]);
        // None is from the future.
        assert_eq!(sequence.next(99_000_000, second, now), now);
    }

    #[test]
    fn a_stamp_taken_between_two_reads_lies_between_them() {
        let clock = Clock::start();
        let before = clock.now();
        let stamp = read(ClockId::CLOCK_REALTIME);
        let after = clock.now();
        let at = clock.realtime_offset().to_trial(stamp);
        let slack = Duration::from_millis(1);
        assert!(before <= at + slack && at <= after + slack, "{before:?} {at:?} {after:?}");
    }
}
