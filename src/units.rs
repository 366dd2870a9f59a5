//! The quantities everything else is written in. Each is parsed once and checked once, so that
//! nothing behind it meets a bare number of unknown unit. Knows nothing of YAML:
//! `scenario::quantity` reads and prints them.

use std::fmt;
use std::ops::{Add, Sub};
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A point in time in nanoseconds since the clock of a trial began: virtual in `sim`,
/// CLOCK_MONOTONIC in `relay`.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Instant(u64);

impl Instant {
    pub const ZERO: Instant = Instant(0);
    /// Later than anything that happens in a trial.
    pub const FAR_FUTURE: Instant = Instant(u64::MAX);

    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    pub const fn as_millis(self) -> u64 {
        self.0 / 1_000_000
    }

    /// Time from `earlier` to `self`, zero if `earlier` is in fact later.
    pub fn saturating_since(self, earlier: Instant) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Duration> for Instant {
    type Output = Instant;

    /// Saturates at [`Instant::FAR_FUTURE`]: a timer that far away never fires.
    fn add(self, duration: Duration) -> Instant {
        Instant(self.0.saturating_add(nanos(duration)))
    }
}

impl Sub<Duration> for Instant {
    type Output = Instant;

    /// Saturates at [`Instant::ZERO`].
    fn sub(self, duration: Duration) -> Instant {
        Instant(self.0.saturating_sub(nanos(duration)))
    }
}

/// Whole nanoseconds of a duration, the most there are if it is longer than 584 years.
pub fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// A path by its place in the plan (`plan.paths[id.index()]`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PathId(pub u8);

impl PathId {
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// One direction of a path. `Up` is vehicle → cloud.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    Up,
    Down,
}

impl Direction {
    pub const BOTH: [Direction; 2] = [Direction::Up, Direction::Down];

    /// Its place in [`Direction::BOTH`], and in whatever has something for each.
    pub fn index(self) -> usize {
        match self {
            Direction::Up => 0,
            Direction::Down => 1,
        }
    }
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Direction::Up => "up",
            Direction::Down => "down",
        })
    }
}

/// A probability between 0 and 1, both included.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Probability(f64);

impl Probability {
    pub const NEVER: Probability = Probability(0.0);
    pub const ALWAYS: Probability = Probability(1.0);

    /// `None` outside of 0 … 1 and for NaN.
    pub fn new(value: f64) -> Option<Self> {
        (0.0..=1.0).contains(&value).then_some(Self(value))
    }

    pub const fn as_f64(self) -> f64 {
        self.0
    }

    pub fn is_never(self) -> bool {
        self.0 == 0.0
    }

    /// As netem holds it: p · (2³² − 1), rounded as iproute2's `tc` rounds (ties to even).
    pub fn as_u32(self) -> u32 {
        (self.0 * f64::from(u32::MAX)).round_ties_even() as u32
    }
}

/// A data rate in bits per second, never zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Rate(u64);

impl Rate {
    /// `None` for zero.
    pub const fn from_bits_per_second(bits: u64) -> Option<Self> {
        if bits == 0 { None } else { Some(Self(bits)) }
    }

    pub const fn bits_per_second(self) -> u64 {
        self.0
    }

    /// Whole bytes per second, the unit netem's `rate` is held in (at least 1).
    pub const fn bytes_per_second(self) -> u64 {
        let bytes = self.0 / 8;
        if bytes == 0 { 1 } else { bytes }
    }
}
/// The version of the IP protocol on a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum IpVersion {
    #[default]
    V4,
    V6,
}

impl IpVersion {
    /// Bytes of the IP and the UDP header in front of every datagram.
    pub fn udp_headers(self) -> u32 {
        const UDP: u32 = 8;
        match self {
            Self::V4 => 20 + UDP,
            Self::V6 => 40 + UDP,
        }
    }
}
