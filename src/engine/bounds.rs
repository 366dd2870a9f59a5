//! What the threads of one trial have to agree on: the time and how it goes by, when the workload
//! starts, and that it is over.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::pace::Pace;
use super::real_clock::Clock;
use crate::units::Instant;

#[derive(Debug)]
pub struct Bounds {
    clock: Clock,
    pace: Pace,
    /// Nanoseconds; zero as long as it is not known.
    start: AtomicU64,
    over: AtomicBool,
}

impl Bounds {
    /// The clock of the trial begins now.
    pub fn new(pace: Pace) -> Self {
        Self { clock: Clock::start(), pace, start: AtomicU64::new(0), over: AtomicBool::new(false) }
    }

    pub fn clock(&self) -> Clock {
        self.clock
    }

    pub fn pace(&self) -> Pace {
        self.pace
    }

    pub fn set_start(&self, start: Instant) {
        self.start.store(start.as_nanos(), Ordering::Release);
    }

    pub fn start(&self) -> Option<Instant> {
        let start = self.start.load(Ordering::Acquire);
        (start != 0).then(|| Instant::from_nanos(start))
    }

    pub fn end(&self) {
        self.over.store(true, Ordering::Release);
    }

    pub fn is_over(&self) -> bool {
        self.over.load(Ordering::Acquire)
    }
}
