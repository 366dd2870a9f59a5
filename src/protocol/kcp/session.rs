//! The driver of kcp-go, its `UDPSession`: it flushes on a timer of its own, on every write and when
//! the window slides, and lets a writer wait while a window is full.

use std::collections::VecDeque;

use super::driver::{Driver, work_ms};
use super::engine::Engine;
use super::sender::{SEND_QUEUE_LIMIT, SendError};

/// The timer runs for a flush interval, or until the next segment times out if that is earlier; what
/// is flushed meanwhile does not change it. Flushes that would do nothing are skipped, which cannot
/// be told from outside.
#[derive(Debug)]
pub struct Session {
    /// Writes wait for the timer, unless they fill a window.
    write_delay: bool,
    now_ms: u64,
    /// When the timer ends.
    timer_ms: u64,
    /// Waits for room in the windows. It is the application that waits there, and only what arrives
    /// or the timer wakes it.
    unwritten: VecDeque<Vec<u8>>,
    unwritten_bytes: usize,
}

impl Session {
    pub const fn new(write_delay: bool) -> Self {
        let (now_ms, timer_ms, unwritten_bytes) = (0, 0, 0);
        Self { write_delay, now_ms, timer_ms, unwritten: VecDeque::new(), unwritten_bytes }
    }

    /// kcp-go cuts what is written into full segments and sends each by itself; in stream mode only,
    /// here, since it keeps no messages apart.
    fn write_now(&self, engine: &mut Engine, bytes: &[u8]) -> Result<(), SendError> {
        engine.check(bytes)?;
        let piece = if engine.settings.stream { engine.settings.segment_len() } else { usize::MAX };
        bytes.chunks(piece).try_for_each(|piece| engine.send(piece))?;
        if !self.write_delay || !engine.has_room() {
            engine.flush();
        }
        Ok(())
    }

    fn write_waiting(&mut self, engine: &mut Engine) {
        while engine.has_room()
            && let Some(bytes) = self.unwritten.front()
            && self.write_now(engine, bytes).is_ok()
        {
            self.unwritten_bytes -= bytes.len();
            self.unwritten.pop_front();
        }
    }

    /// The first end of the timer at or after this, which is not behind the next thing to flush: so
    /// each flush before it does nothing but set the timer again.
    fn timer_from(&self, engine: &Engine, earliest_ms: u64) -> u64 {
        let interval_ms = u64::from(engine.settings.interval_ms);
        let intervals = earliest_ms.saturating_sub(self.timer_ms).div_ceil(interval_ms);
        let regular_ms = self.timer_ms + intervals * interval_ms;
        let timeout_ms = engine.timeout_wait_ms().map(|wait_ms| self.now_ms + u64::from(wait_ms));
        match timeout_ms {
            Some(timeout_ms) if timeout_ms > self.timer_ms => regular_ms.min(timeout_ms),
            _ => regular_ms,
        }
    }
}

impl Driver for Session {
    fn advance(&mut self, engine: &mut Engine, now_ms: u64) {
        let work_ms = work_ms(engine, self.now_ms).unwrap_or(now_ms);
        self.timer_ms = self.timer_from(engine, work_ms.min(now_ms));
        self.now_ms = now_ms;
        engine.set_clock(now_ms as u32);
        if self.timer_ms <= now_ms {
            engine.flush();
            let interval_ms = engine.settings.interval_ms;
            let wait_ms = engine.timeout_wait_ms().unwrap_or(interval_ms).min(interval_ms);
            self.timer_ms = now_ms + u64::from(wait_ms);
            self.write_waiting(engine);
        }
    }

    fn write(&mut self, engine: &mut Engine, bytes: &[u8]) -> Result<(), SendError> {
        engine.check(bytes)?;
        if self.unwritten.is_empty() && engine.has_room() {
            return self.write_now(engine, bytes);
        }
        let limit = SEND_QUEUE_LIMIT * engine.settings.segment_len();
        if self.unwritten.len() >= SEND_QUEUE_LIMIT || self.unwritten_bytes + bytes.len() > limit {
            return Err(SendError::QueueFull);
        }
        self.unwritten_bytes += bytes.len();
        self.unwritten.push_back(bytes.to_vec());
        Ok(())
    }

    fn after_input(&mut self, engine: &mut Engine) {
        self.write_waiting(engine);
    }

    fn wake_ms(&self, engine: &Engine, _now_ms: u64) -> Option<u64> {
        Some(self.timer_from(engine, work_ms(engine, self.now_ms)?))
    }
}
