//! The one clock of a run: nanoseconds since the program started. It sleeps and never spins, for in
//! virtual time a loop that only reads the clock makes the time pass that it waits for.

use std::thread;
use std::time::{Duration, Instant};

#[derive(Debug, Clone, Copy)]
pub struct Clock(Instant);

impl Clock {
    #[expect(clippy::disallowed_methods, reason = "the programs under test run in real time")]
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// Nanoseconds since the start.
    pub fn now(self) -> u64 {
        self.0.elapsed().as_nanos().try_into().unwrap_or(u64::MAX)
    }

    pub fn sleep_until(self, nanos: u64) {
        while let Some(left) = nanos.checked_sub(self.now()).filter(|left| *left > 0) {
            thread::sleep(Duration::from_nanos(left));
        }
    }
}

/// Looks every 10 ms whether something is so, for at most 10 s.
pub fn wait_until<E>(mut holds: impl FnMut() -> Result<bool, E>) -> Result<bool, E> {
    for _ in 0..1000 {
        if holds()? {
            return Ok(true);
        }
        thread::sleep(Duration::from_millis(10));
    }
    Ok(false)
}
