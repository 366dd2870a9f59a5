//! The driver that the C code is made for: `update` every few milliseconds and before everything
//! else.

use super::driver::{Driver, work_ms};
use super::engine::Engine;
use super::polling::Polling;
use super::sender::SendError;

/// Updates at every multiple of an interval since its first update, and before it writes or takes
/// something in; updates that would do nothing are skipped, which cannot be told from outside.
#[derive(Debug)]
pub struct Polled {
    update_every_ms: u64,
    /// It also flushes after every write and every datagram.
    flush_at_once: bool,
    /// `None` before the first update.
    polling: Option<Polling>,
    updated_ms: u64,
}

impl Polled {
    pub const fn new(update_every_ms: u64, flush_at_once: bool) -> Self {
        Self { update_every_ms, flush_at_once, polling: None, updated_ms: 0 }
    }

    fn flush_if_at_once(&self, engine: &mut Engine) {
        if self.flush_at_once {
            engine.flush();
        }
    }
}

impl Driver for Polled {
    /// Updates the engine as of now, after the polls that were skipped.
    fn advance(&mut self, engine: &mut Engine, now_ms: u64) {
        let work_ms = work_ms(engine, self.updated_ms);
        let every_ms = self.update_every_ms;
        let polling = self.polling.get_or_insert_with(|| Polling::new(every_ms, now_ms));
        polling.catch_up(now_ms, work_ms, &mut engine.clock);
        engine.update(now_ms as u32);
        self.updated_ms = now_ms;
    }

    fn write(&mut self, engine: &mut Engine, bytes: &[u8]) -> Result<(), SendError> {
        let queued = engine.send(bytes);
        self.flush_if_at_once(engine);
        queued
    }

    fn after_input(&mut self, engine: &mut Engine) {
        self.flush_if_at_once(engine);
    }

    /// The next poll that does anything. Before the first, the flush clock's first tick: it ticks at
    /// the multiples of its interval on the trial's clock, unless something happens before; so how
    /// it stands to the workload's schedule is the same in every engine, and is not left to chance.
    fn wake_ms(&self, engine: &Engine, now_ms: u64) -> Option<u64> {
        let Some(polling) = &self.polling else {
            return Some(now_ms.next_multiple_of(engine.clock.interval_ms().into()));
        };
        Some(polling.wake_ms(work_ms(engine, self.updated_ms)?, &engine.clock))
    }
}
