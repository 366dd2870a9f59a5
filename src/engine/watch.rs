//! The time as one endpoint sees it: when its turn began, when the workload starts, and now.

use std::time::Duration;

use super::bounds::Bounds;
use super::pace::Pace;
use super::real_clock::{Clock, RealtimeOffset};
use crate::units::Instant;

#[derive(Debug)]
pub struct Watch {
    clock: Clock,
    pace: Pace,
    /// When the present turn of the endpoint's loop began.
    turn: Instant,
    /// Of the workload, once that is agreed.
    start: Option<Instant>,
}

impl Watch {
    pub fn new(bounds: &Bounds) -> Self {
        Self { clock: bounds.clock(), pace: bounds.pace(), turn: Instant::ZERO, start: None }
    }

    pub fn begin_turn(&mut self) {
        self.turn = self.clock.now();
    }

    pub fn set_start(&mut self, start: Instant) {
        self.start = Some(start);
    }

    pub fn start(&self) -> Option<Instant> {
        self.start
    }

    /// In virtual time a turn takes none, and so its time is read once: each reading would cost
    /// more than all that is done in between.
    pub fn now(&self) -> Instant {
        match self.pace {
            Pace::Real => self.clock.now(),
            Pace::Virtual => self.turn,
        }
    }

    pub fn since_start(&self, at: Instant) -> Duration {
        self.start.map_or(Duration::ZERO, |start| at.saturating_since(start))
    }

    /// From the kernel's stamps on packets to this time. `None` in virtual time, where what comes
    /// is read when it comes.
    pub fn realtime_offset(&self) -> Option<RealtimeOffset> {
        (self.pace == Pace::Real).then(|| self.clock.realtime_offset())
    }

    pub fn pace(&self) -> Pace {
        self.pace
    }
}
