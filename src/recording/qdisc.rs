//! What the kernel itself counted in the queue discipline of one direction of a path.

use serde::{Deserialize, Serialize};

use super::{LinkCount, PathWire};
use crate::sum::add_fields;
use crate::units::Direction;

/// From the start of the workload to the end of the trial; what is queued, at the end of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct QdiscCounters {
    /// Packets, copies included.
    pub sent: u64,
    /// Ethernet headers included.
    pub sent_bytes: u64,
    /// Lost or found the queue full; netem counts here too what it marked instead of losing.
    pub dropped: u64,
    pub overlimits: u64,
    /// Packets that netem let go ahead of the others.
    pub requeues: u64,
    pub queued: u64,
    pub queued_bytes: u64,
}

impl QdiscCounters {
    /// Without what had been counted before.
    pub fn since(self, before: QdiscCounters) -> Self {
        Self {
            sent: self.sent.saturating_sub(before.sent),
            sent_bytes: self.sent_bytes.saturating_sub(before.sent_bytes),
            dropped: self.dropped.saturating_sub(before.dropped),
            overlimits: self.overlimits.saturating_sub(before.overlimits),
            requeues: self.requeues.saturating_sub(before.requeues),
            queued: self.queued,
            queued_bytes: self.queued_bytes,
        }
    }
}

add_fields!(QdiscCounters {
    sent,
    sent_bytes,
    dropped,
    overlimits,
    requeues,
    queued,
    queued_bytes,
});

/// What the kernel says that it dropped is not what was seen to go missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Discrepancy {
    pub direction: Direction,
    /// By the kernel's own count.
    pub dropped: u64,
    /// By what went in and came out.
    pub missing: u64,
}

impl PathWire {
    /// Where the kernel's count and the observer's do not agree.
    pub fn discrepancies(&self) -> Vec<Discrepancy> {
        let Some([up, down]) = self.kernel else { return Vec::new() };
        let found = [
            discrepancy(Direction::Up, &self.up, up),
            discrepancy(Direction::Down, &self.down, down),
        ];
        found.into_iter().flatten().collect()
    }
}

/// netem counts a mark as a drop. Where it makes copies, it may also drop one, which cannot be seen
/// from outside: then it may have dropped more than is missing.
fn discrepancy(
    direction: Direction,
    link: &LinkCount,
    kernel: QdiscCounters,
) -> Option<Discrepancy> {
    let (dropped, missing) = (kernel.dropped, link.lost + link.overflowed + link.marked);
    let agrees = match link.duplicated {
        // Of a path that never ran empty the two counts need not be of one instant.
        _ if kernel.queued > 0 => true,
        0 => dropped == missing,
        _ => dropped >= missing,
    };
    (!agrees).then_some(Discrepancy { direction, dropped, missing })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::PathId;

    fn found(dropped: u64, link: LinkCount) -> usize {
        let kernel = QdiscCounters { dropped, ..QdiscCounters::default() };
        let down = LinkCount::default();
        let kernel = Some([kernel, QdiscCounters::default()]);
        PathWire { path: PathId(0), up: link, down, kernel }.discrepancies().len()
    }

    #[test]
    fn what_the_kernel_dropped_has_to_be_what_is_missing() {
        let missing = LinkCount { lost: 3, overflowed: 2, marked: 1, ..LinkCount::default() };
        assert_eq!([5, 6, 7].map(|dropped| found(dropped, missing)), [1, 0, 1]);
        let copied = LinkCount { duplicated: 4, ..missing };
        assert_eq!([5, 6, 7].map(|dropped| found(dropped, copied)), [1, 0, 0]);
    }
}
