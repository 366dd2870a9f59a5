//! What a sender put on a path that had an outage, slot by slot: what is told afterwards is when it
//! used the path again.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::units::{PathId, nanos};
use crate::workload::Periodic;

/// Bytes of IP packets from the vehicle to the cloud as they were put on the path, lost ones
/// included, from the start of the workload to the end of the trial.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Volume {
    pub path: PathId,
    /// Nanoseconds. The first slot is centred on the start of the workload: so messages fall due in
    /// the middle of slots, and an engine that is a little late or early changes nothing.
    pub slot: u64,
    /// Up to the last slot with anything in it.
    pub bytes: Vec<u32>,
}

/// A slot is the time from one message to the next, but no shorter than this …
const SHORTEST_SLOT: Duration = Duration::from_millis(10);
/// … and no trial has more of them.
pub(super) const MOST_SLOTS: u64 = 30_000;

impl Volume {
    /// Nothing so far.
    pub fn new(path: PathId, periodic: &Periodic) -> Self {
        let least = nanos(periodic.duration).div_ceil(MOST_SLOTS - 1);
        let slot = nanos(periodic.interval().max(SHORTEST_SLOT)).max(least);
        Self { path, slot, bytes: Vec::new() }
    }

    /// A packet that was put on the path at this time of the workload.
    pub fn add(&mut self, at: Duration, bytes: u32) {
        let slot = (nanos(at).saturating_add(self.slot / 2) / self.slot) as usize;
        if slot >= MOST_SLOTS as usize {
            return;
        }
        if slot >= self.bytes.len() {
            self.bytes.resize(slot + 1, 0);
        }
        self.bytes[slot] = self.bytes[slot].saturating_add(bytes);
    }

    /// Of slots by number; nothing is in those that are not kept.
    pub(super) fn within(&self, slots: std::ops::Range<usize>) -> impl Iterator<Item = u64> {
        slots.map(|slot| self.bytes.get(slot).copied().unwrap_or(0).into())
    }

    /// The number of the first slot whose middle is not before this time.
    pub(super) fn first_at(&self, at: Duration) -> usize {
        nanos(at).div_ceil(self.slot.max(1)) as usize
    }

    /// How many slots have ended by this time.
    pub(super) fn ended_by(&self, at: Duration) -> usize {
        ((nanos(at) + self.slot / 2) / self.slot.max(1)) as usize
    }

    /// The middle of a slot.
    pub(super) fn middle(&self, slot: usize) -> Duration {
        Duration::from_nanos(self.slot.saturating_mul(slot as u64))
    }
}
