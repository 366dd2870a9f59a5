//! Spares the driver most of its updates. KCP is made to be updated every few milliseconds, and
//! nearly all of these updates do nothing; this finds the next one that does, and makes the clock
//! as if the others had happened.

use super::clock::FlushClock;

/// The updates of a driver that polls, in milliseconds of the trial's clock (64 bits: they do not
/// wrap).
#[derive(Debug)]
pub struct Polling {
    every_ms: u64,
    next_ms: u64,
}

impl Polling {
    /// The first poll is now.
    pub fn new(every_ms: u64, now_ms: u64) -> Self {
        Self { every_ms: every_ms.max(1), next_ms: now_ms }
    }

    /// Makes up for the polls before `now_ms` that nobody woke for. They would have flushed nothing
    /// before `work_ms`, so that all they did was to move the clock; polls after it were missed for
    /// good, by a driver that is late. One step for each flush interval that has passed: an hour of
    /// silence takes 360,000 of the shortest.
    pub fn catch_up(&mut self, now_ms: u64, work_ms: Option<u64>, clock: &mut FlushClock) {
        let end_ms = work_ms.map_or(now_ms, |work_ms| work_ms.min(now_ms));
        loop {
            let poll_ms = self.first_at(self.flush_ms(clock));
            if poll_ms >= end_ms {
                break;
            }
            clock.update(poll_ms as u32);
            self.next_ms = poll_ms + self.every_ms;
        }
        self.next_ms = self.first_at(now_ms.saturating_add(1));
    }

    /// The first poll that flushes at or after `work_ms`.
    pub fn wake_ms(&self, work_ms: u64, clock: &FlushClock) -> u64 {
        let earliest_ms = self.first_at(work_ms);
        let tick_ms = self.flush_ms(clock);
        let interval_ms = u64::from(clock.interval_ms());
        let behind_ms = (earliest_ms + 1).saturating_sub(self.every_ms).saturating_sub(tick_ms);
        self.first_at(tick_ms + behind_ms.div_ceil(interval_ms) * interval_ms)
    }

    /// When the clock's next tick is, on the 64-bit clock: ticks are never far from the next poll.
    fn flush_ms(&self, clock: &FlushClock) -> u64 {
        let next_ms = self.next_ms;
        let ahead_ms =
            clock.tick_ms().map_or(0, |tick| tick.wrapping_sub(next_ms as u32).cast_signed());
        next_ms.saturating_add_signed(i64::from(ahead_ms))
    }

    /// The first poll at or after `time_ms` that has not happened yet.
    fn first_at(&self, time_ms: u64) -> u64 {
        let steps = time_ms.saturating_sub(self.next_ms).div_ceil(self.every_ms);
        self.next_ms + steps * self.every_ms
    }
}

#[cfg(test)]
mod tests;
