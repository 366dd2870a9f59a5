//! The flush clock: KCP flushes at most once an interval, at the first update after each tick.

use super::serial::distance;

/// An update further than this from the tick starts the clock anew; milliseconds.
const LARGEST_STEP_MS: i32 = 10_000;

#[derive(Debug)]
pub struct FlushClock {
    now_ms: u32,
    /// `None` before the first update.
    tick_ms: Option<u32>,
    interval_ms: u32,
}

impl FlushClock {
    pub const fn new(interval_ms: u32) -> Self {
        Self { now_ms: 0, tick_ms: None, interval_ms }
    }

    /// The time of the last update.
    pub const fn now_ms(&self) -> u32 {
        self.now_ms
    }

    /// When the next update flushes.
    pub const fn tick_ms(&self) -> Option<u32> {
        self.tick_ms
    }

    pub const fn interval_ms(&self) -> u32 {
        self.interval_ms
    }

    /// Moves to `now_ms`, where something else than this clock decides about flushes.
    pub const fn set(&mut self, now_ms: u32) {
        self.now_ms = now_ms;
    }

    /// Moves to `now_ms` and says whether this update is to flush.
    pub fn update(&mut self, now_ms: u32) -> bool {
        self.now_ms = now_ms;
        let mut tick_ms = self.tick_ms.unwrap_or(now_ms);
        let late_ms = distance(now_ms, tick_ms);
        if !(-LARGEST_STEP_MS..LARGEST_STEP_MS).contains(&late_ms) {
            tick_ms = now_ms;
        }
        let flush = distance(now_ms, tick_ms) >= 0;
        self.tick_ms = Some(if flush { self.after(tick_ms) } else { tick_ms });
        flush
    }

    /// The tick after `tick_ms`; the rhythm starts anew when that one has been missed as well.
    fn after(&self, tick_ms: u32) -> u32 {
        let next_ms = tick_ms.wrapping_add(self.interval_ms);
        let missed = distance(self.now_ms, next_ms) >= 0;
        if missed { self.now_ms.wrapping_add(self.interval_ms) } else { next_ms }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flushes(updates: &[u32]) -> Vec<u32> {
        let mut clock = FlushClock::new(10);
        updates.iter().copied().filter(|now_ms| clock.update(*now_ms)).collect()
    }

    #[test]
    fn it_keeps_its_rhythm_when_an_update_is_late_and_drops_it_when_a_tick_was_missed() {
        assert_eq!(flushes(&[5, 14, 15, 18, 29, 34, 35]), [5, 15, 29, 35]);
        assert_eq!(flushes(&[5, 27, 36, 37]), [5, 27, 37]);
        assert_eq!(flushes(&[5, 20_000, 20_009, 20_010]), [5, 20_000, 20_010]);
    }

    #[test]
    fn it_runs_on_across_the_wrap() {
        let start = u32::MAX - 14;
        let updates: Vec<u32> = (0..30).map(|step| start.wrapping_add(step)).collect();
        assert_eq!(flushes(&updates), [start, start + 10, start.wrapping_add(20)]);
    }
}
