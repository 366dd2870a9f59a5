//! One direction of one path in real time: frames in at the instant the kernel received them,
//! frames out when the link lets them go. Knows no sockets and reads no clock.

use std::time::Duration;

use crate::engine::frame::Frame;
use crate::engine::outcome::link_count;
use crate::engine::witness::{Ticket, Witness};
use crate::engine::{ETHERNET_HEADER, Trial, clean_profile};
use crate::link::{BitFlip, Link, Packet, Pushed};
use crate::recording::receipt::Receipt;
use crate::recording::{LinkCount, WireCount};
use crate::timeline::Change;
use crate::units::{Direction, Instant, PathId};

/// How long a change that no packet has asked for yet is put off: a packet from just before it may
/// still be on its way from the timestamp to the socket. The link is told the exact instant all the
/// same.
const GRACE: Duration = Duration::from_micros(100);

pub(super) struct OneWay {
    /// Used until the workload starts; what it then still holds is delivered.
    clean: Link<Vec<u8>>,
    live: Link<(Ticket, Vec<u8>)>,
    witness: Witness,
    /// When the workload starts, once that is agreed.
    start: Instant,
    handshake: WireCount,
    /// Those still to come, the next one last, each with the seed of the link from then on.
    changes: Vec<(Change, u64)>,
}

/// A frame that the link has let go.
pub(super) struct Leaving {
    pub(super) frame: Vec<u8>,
    /// `None` before the workload, when nothing of it counts.
    pub(super) due: Option<Due>,
}

/// When a packet should have left, and whom to tell when it did.
pub(super) struct Due {
    pub(super) at: Instant,
    ticket: Ticket,
}

impl OneWay {
    pub(super) fn new(trial: &Trial, path: PathId, direction: Direction) -> Self {
        let plan = &trial.plan;
        let profile = match direction {
            Direction::Up => &plan.paths[path.index()].up,
            Direction::Down => &plan.paths[path.index()].down,
        };
        let mine = |change: &&Change| change.path == path && change.direction == direction;
        let seed = |number| trial.link_seed(path, direction, number);
        let numbered = plan.timeline.changes.iter().filter(mine).zip(1..);
        let mut changes: Vec<_> =
            numbered.map(|(change, number)| (change.clone(), seed(number))).collect();
        changes.reverse();
        Self {
            clean: Link::new(&clean_profile(), 0),
            live: Link::new(profile, trial.link_seed(path, direction, 0)),
            witness: Witness::new(profile),
            start: Instant::FAR_FUTURE,
            handshake: WireCount::default(),
            changes,
        }
    }

    pub(super) fn set_start(&mut self, start: Instant) {
        self.start = start;
    }

    /// Takes a frame that the kernel received at `at`.
    pub(super) fn push(&mut self, at: Instant, mut bytes: Vec<u8>) {
        self.make_changes(at);
        let Ok(frame) = Frame::new(&mut bytes) else { return };
        let (length, ecn_capable) = (frame.length() as u32, frame.is_ecn_capable());
        if at >= self.start {
            self.push_live(at, length, ecn_capable, bytes);
        } else {
            self.handshake.packets += 1;
            self.handshake.bytes += u64::from(length - ETHERNET_HEADER);
            self.clean.push(at, Packet::new(length, bytes));
        }
    }

    fn push_live(&mut self, at: Instant, length: u32, ecn_capable: bool, bytes: Vec<u8>) {
        let ticket = self.witness.entered(at, length);
        let mut packet = Packet::new(length, (ticket, bytes));
        packet.ecn_capable = ecn_capable;
        match self.live.push(at, packet) {
            Pushed::Queued => {}
            Pushed::Lost => self.witness.lost(ticket),
            Pushed::Overflowed => self.witness.overflowed(ticket),
        }
    }

    /// Makes the changes due well before `now` that no packet has asked for; how late the latest of
    /// them was.
    pub(super) fn catch_up(&mut self, now: Instant) -> Option<Duration> {
        self.make_changes(now - GRACE).map(|due| now.saturating_since(due))
    }

    /// Makes every change due by `at`; when the last of them was due.
    fn make_changes(&mut self, at: Instant) -> Option<Instant> {
        let mut last = None;
        while let Some(due) = self.next_change().filter(|due| *due <= at) {
            if let Some((change, seed)) = self.changes.pop() {
                self.live.set_profile(due, &change.profile, seed);
                self.witness.change(&change.profile);
            }
            last = Some(due);
        }
        last
    }

    fn next_change(&self) -> Option<Instant> {
        self.changes.last().map(|(change, _)| self.start + change.at)
    }

    pub(super) fn pop(&mut self, now: Instant) -> Option<Leaving> {
        let clean = self.clean.pop(now);
        let clean = clean.map(|departed| Leaving { frame: departed.packet.payload, due: None });
        clean.or_else(|| self.pop_live(now))
    }

    fn pop_live(&mut self, now: Instant) -> Option<Leaving> {
        let departed = self.live.pop(now)?;
        let (ticket, mut frame) = departed.packet.payload;
        if departed.packet.marked {
            self.witness.marked(ticket);
        }
        if departed.packet.corrupted.is_some() {
            self.witness.corrupted(ticket);
        }
        alter(&mut frame, departed.packet.marked, departed.packet.corrupted);
        Some(Leaving { frame, due: Some(Due { at: departed.due, ticket }) })
    }

    /// It was handed to the kernel at `at`; how late that was.
    pub(super) fn sent(&mut self, due: &Due, at: Instant) -> Duration {
        let late = at.saturating_since(due.at);
        self.witness.left_late(due.ticket, due.at + late, late);
        late
    }

    pub(super) fn take_receipts(&mut self) -> Vec<Receipt> {
        let watching = std::mem::replace(&mut self.witness, Witness::new(&clean_profile()));
        watching.finish()
    }

    pub(super) fn next_wakeup(&self) -> Option<Instant> {
        let change = self.next_change().map(|due| due + GRACE);
        let links = [self.clean.next_wakeup(), self.live.next_wakeup(), change];
        links.into_iter().flatten().min()
    }

    pub(super) fn handshake(&self) -> WireCount {
        self.handshake
    }

    pub(super) fn count(&self) -> LinkCount {
        link_count(self.live.counters())
    }
}

/// Does to the frame's bytes what the link decided.
fn alter(bytes: &mut [u8], marked: bool, corrupted: Option<BitFlip>) {
    if !marked && corrupted.is_none() {
        return;
    }
    if let Ok(mut frame) = Frame::new(bytes) {
        if marked {
            frame.mark();
        }
        if let Some(flip) = corrupted {
            frame.corrupt(flip);
        }
    }
}
