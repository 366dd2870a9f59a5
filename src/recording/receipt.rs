//! What each link was asked for and what it did, packet by packet: the facts an engine's witness
//! gathers. What was to be expected of them follows from the profile alone, by closed formulas, so
//! that it is an independent check of the link; `judge` holds one against the other.

mod add;
pub mod chain;
pub mod judge;
pub mod law;

pub use add::add_receipts;

use serde::{Deserialize, Serialize, Serializer};

use self::judge::{Judged, judge};

use crate::link::profile::LinkProfile;
use crate::units::PathId;

/// Profiles that one direction of a path keeps apart; those that come later are pooled.
pub const MOST_PROFILES: usize = 16;

/// Both directions of a path; one receipt for each profile that held while a packet came.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PathReceipts {
    pub path: PathId,
    pub up: Vec<Receipt>,
    pub down: Vec<Receipt>,
}

/// One direction of a path, for as long as it had one profile. Written with the figures that it
/// comes to, which are not read back but computed anew.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Receipt {
    /// `None`: all profiles after the first [`MOST_PROFILES`].
    pub asked: Option<LinkProfile>,
    pub did: Tally,
    /// What the engine has no way to see, so that its count says nothing.
    pub unseen: Vec<Effect>,
    /// By how much a delay may be off because of the engine's clock or the kernel's timers, beside
    /// the lateness that the engine knows of.
    pub slack_ns: u64,
}

impl Serialize for Receipt {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Written<'a> {
            asked: &'a Option<LinkProfile>,
            did: &'a Tally,
            unseen: &'a [Effect],
            slack_ns: u64,
            figures: Vec<Judged>,
        }
        let Self { asked, did, unseen, slack_ns } = self;
        Written { asked, did, unseen, slack_ns: *slack_ns, figures: judge(self) }
            .serialize(serializer)
    }
}

/// What can happen to a packet beside loss and delay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Effect {
    Copies,
    Corruption,
    Marks,
    /// Which packets the loss model dropped and not a token bucket.
    Loss,
}

/// A packet belongs to the profile that held when it entered.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Tally {
    pub entered: u64,
    /// Times the profile came into force and a packet entered.
    pub spells: u64,
    /// Of those entered, the ones whose fate is known, and of those before them too: what all
    /// counts and sums below are about.
    pub settled: u64,
    pub lost: u64,
    /// Runs of packets that the loss model struck one after the other (lost, or marked instead).
    pub bursts: u64,
    pub overflowed: u64,
    /// At least one copy of them.
    pub left: u64,
    /// Further copies.
    pub copies: u64,
    pub corrupted: u64,
    pub marked: u64,
    /// Went ahead of the delay, where the profile reorders and they can be told.
    pub ahead: u64,
    pub delay: Delays,
    pub overtaking: Overtaking,
    pub backlog: Backlog,
}

/// Nanoseconds from a packet's entry to the exit of its first copy, over those that left (and did
/// not go ahead).
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Delays {
    pub count: u64,
    /// Of delay − profile's delay.
    pub sum: f64,
    pub squares: f64,
    /// What was to be expected of each, given the packets before it; all zero where no formula
    /// holds. Sums of: delay − its mean, that squared, its variance, and the variance of its
    /// squared deviation.
    pub beyond: f64,
    pub beyond_squares: f64,
    pub variance: f64,
    pub square_variance: f64,
    /// What the engine itself knows to have been late by: sums of it and of its square.
    pub late: f64,
    pub late_squares: f64,
}

/// Packets that left before one that entered earlier.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Overtaking {
    pub count: u64,
    /// The sum of each packet's probability to do so, given the packets before it.
    pub expected: f64,
}

/// Packets that certainly waited for the one before to be sent: the time between their exits is
/// their own time on the link. Nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Backlog {
    pub packets: u64,
    /// Times without a pause.
    pub periods: u64,
    pub asked: u64,
    pub took: u64,
    /// Of which the engine's own lateness is known to have made so much.
    pub late: i64,
}
