//! The kernel's clocks, read as the project's own [`Instant`]. CLOCK_MONOTONIC is the same in every namespace, so one
//! clock times both ends of a trial.

use std::time::Duration;

use nix::sys::time::TimeValLike;
use nix::time::{ClockId, clock_gettime};

use crate::units::Instant;

/// The clock of one trial: CLOCK_MONOTONIC, counted from its own beginning, so that protocols see the same small
/// times as in `sim`, and trials that run side by side do not all do the same at the same moment.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    /// Nanoseconds of CLOCK_MONOTONIC.
    epoch: u64,
}

impl Clock {
    pub fn start() -> Self {
        Self { epoch: read(ClockId::CLOCK_MONOTONIC) }
    }

    pub fn now(self) -> Instant {
        Instant::from_nanos(read(ClockId::CLOCK_MONOTONIC) - self.epoch)
    }

    /// Good to the time between two clock reads, some tens of nanoseconds.
    pub fn realtime_offset(self) -> RealtimeOffset {
        let before = self.now().as_nanos();
        let realtime = read(ClockId::CLOCK_REALTIME);
        let after = self.now().as_nanos();
        RealtimeOffset(realtime.saturating_sub(before.midpoint(after)))
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

/// What CLOCK_REALTIME is ahead of a trial's clock. Kernel timestamps of packets are in the former, which may be set at
/// any time: so this is measured again with every batch of packets rather than once.
#[derive(Debug, Clone, Copy)]
pub struct RealtimeOffset(u64);

impl RealtimeOffset {
    /// The time of the trial's clock at a CLOCK_REALTIME stamp in nanoseconds.
    pub fn to_trial(self, stamp: u64) -> Instant {
        Instant::from_nanos(stamp.saturating_sub(self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
