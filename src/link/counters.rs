//! What a link did, counted packet by packet, to be held against what it was asked to do.

use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

/// `offered + duplicated = lost + overflowed + delivered + what the link still holds`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Counters {
    pub offered: Tally,
    /// By the loss model. A packet that is duplicated and lost at once counts as both: one of its
    /// two copies goes on.
    pub lost: Tally,
    /// Found the queue full.
    pub overflowed: Tally,
    /// Copies made.
    pub duplicated: Tally,
    /// Had a bit flipped, whether or not the queue then took them.
    pub corrupted: Tally,
    /// Marked by ECN in place of a loss.
    pub marked: Tally,
    /// Handed out by `pop`.
    pub delivered: Tally,
    /// Of those delivered, the ones that came after a packet which had entered later (RFC 4737,
    /// section 3.3).
    pub reordered: Tally,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Tally {
    pub packets: u64,
    pub bytes: u64,
}

impl AddAssign<u32> for Tally {
    /// Counts one packet of this length.
    fn add_assign(&mut self, length: u32) {
        self.packets += 1;
        self.bytes += u64::from(length);
    }
}
