//! A latency that can be infinite, because a message that never arrives is not a missing value but
//! the worst one.

use std::time::Duration;

/// Ordered: every lost message is later than every delivered one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Latency(u64);

impl Latency {
    pub const LOST: Latency = Latency(u64::MAX);

    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// From scheduled to delivered, both on one clock.
    pub fn between(scheduled: u64, delivered: Option<u64>) -> Self {
        delivered.map_or(Self::LOST, |at| Self(at.saturating_sub(scheduled)))
    }

    /// Half way between the two; infinite if one of them is.
    pub fn midpoint(self, other: Self) -> Self {
        if self.is_lost() || other.is_lost() { Self::LOST } else { Self(self.0.midpoint(other.0)) }
    }

    pub fn is_lost(self) -> bool {
        self == Self::LOST
    }

    /// `None`: lost.
    pub fn as_duration(self) -> Option<Duration> {
        (!self.is_lost()).then_some(Duration::from_nanos(self.0))
    }

    /// Milliseconds; `None`: lost.
    pub fn as_ms(self) -> Option<f64> {
        (!self.is_lost()).then_some(self.0 as f64 / 1e6)
    }

    /// Milliseconds, infinite for a lost message.
    pub fn as_ms_or_infinity(self) -> f64 {
        self.as_ms().unwrap_or(f64::INFINITY)
    }
}

impl From<Duration> for Latency {
    fn from(duration: Duration) -> Self {
        Self(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX - 1))
    }
}
