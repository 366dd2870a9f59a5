//! One direction of one path in real time: frames in at the instant the kernel received them,
//! frames out when the link lets them go. Knows no sockets and reads no clock.

use std::mem;
use std::time::Duration;

use crate::engine::buffer::{Buffer, Pool};
use crate::engine::frame::{Frame, Segments, Unfit};
use crate::engine::outcome::link_count;
use crate::engine::witness::{Ticket, Witness};
use crate::engine::{CLEAN_DELAY, ETHERNET_HEADER, Trial, clean_profile};
use crate::link::profile::LinkProfile;
use crate::link::{BitFlip, Link, Packet, Pushed};
use crate::recording::receipt::Receipt;
use crate::recording::{LinkCount, Volume, WireCount};
use crate::timeline::Change;
use crate::units::{Direction, Instant, PathId};

/// How long a change that no packet has asked for is put off: a packet from just before it may
/// still be on its way from its timestamp to the socket. Most changes only matter to the packets
/// that come after them, …
const PATIENCE: Duration = Duration::from_millis(20);
/// … but slots and token buckets also hold back what is on the link already.
const GRACE: Duration = Duration::from_micros(100);

pub(super) struct OneWay {
    /// Used until the workload starts; what it then still holds is delivered.
    clean: Lane,
    live: Lane,
    /// Of the live link.
    witness: Witness,
    volume: Option<Volume>,
    /// When the workload starts, once that is agreed.
    start: Instant,
    handshake: WireCount,
    /// Those still to come, the next one last, each with the seed of the link from then on.
    changes: Vec<(Change, u64)>,
    /// When the last change that was made was due.
    changed: Instant,
    /// The most by which a packet from before a change came too late for it.
    missed: Duration,
    /// Packets of super-packets for which there were no buffers.
    unheld: u64,
}

/// A link and what has to be known of its present profile.
struct Lane {
    link: Link<Cargo>,
    treats_all_alike: bool,
    holds_back: bool,
    limit: usize,
}

/// What the link carries for a packet.
#[derive(Clone)]
struct Cargo {
    /// `None` for a packet that leaves inside of the super-packet before it.
    frame: Option<Buffer>,
    /// `None` before the workload.
    ticket: Option<Ticket>,
}

/// A packet that the link has let go.
pub(super) struct Leaving {
    /// `None` for a packet inside of the super-packet before it.
    pub(super) frame: Option<Buffer>,
    /// `None` before the workload, when nothing of it counts.
    pub(super) due: Option<Due>,
}

/// When a packet should have left, and whom to tell when it did.
pub(super) struct Due {
    at: Instant,
    ticket: Ticket,
}

impl OneWay {
    pub(super) fn new(trial: &Trial, path: PathId, direction: Direction) -> Self {
        let plan = &trial.plan;
        let profile = plan.paths[path.index()].profile(direction);
        let mine = |change: &&Change| change.path == path && change.direction == direction;
        let changes = plan.timeline.changes.iter().filter(mine).cloned();
        let seed = |number| trial.link_seed(path, direction, number);
        let volume = trial.volume(path, direction);
        let clean = Lane::new(&trial.clean_profile(path, direction), 0);
        Self { volume, clean, ..Self::with(profile, changes, seed, Instant::FAR_FUTURE) }
    }

    /// `changes`: sorted by time. `seed`: after so many of them. `start`: until then the link is
    /// clean.
    pub(super) fn with(
        profile: &LinkProfile,
        changes: impl Iterator<Item = Change>,
        seed: impl Fn(usize) -> u64,
        start: Instant,
    ) -> Self {
        let mut changes: Vec<_> =
            changes.zip(1..).map(|(change, number)| (change, seed(number))).collect();
        changes.reverse();
        Self {
            clean: Lane::new(&clean_profile(CLEAN_DELAY), 0),
            live: Lane::new(profile, seed(0)),
            witness: Witness::new(profile),
            volume: None,
            start,
            handshake: WireCount::default(),
            changes,
            changed: Instant::ZERO,
            missed: Duration::ZERO,
            unheld: 0,
        }
    }

    pub(super) fn set_start(&mut self, start: Instant) {
        self.start = start;
    }

    /// Takes a frame that the kernel received at `at`. Foreign ones (ARP) are left out.
    pub(super) fn push(
        &mut self,
        at: Instant,
        mut bytes: Buffer,
        pool: &Pool,
    ) -> Result<(), Unfit> {
        self.make_changes(at);
        self.missed = self.missed.max(self.changed.saturating_since(at));
        let frame = Frame::new(&mut bytes)?;
        let segments = frame.segments()?;
        let ecn_capable = frame.is_ecn_capable();
        let length = frame.length() as u32;
        match segments {
            Some(segments) => self.push_super_packet(at, ecn_capable, bytes, segments, pool),
            None => self.push_packet(at, length, ecn_capable, Some(bytes)),
        }
        Ok(())
    }

    /// Whole if nothing on the link could make a difference between its packets, which are counted
    /// one by one even so. Else cut into them.
    fn push_super_packet(
        &mut self,
        at: Instant,
        ecn_capable: bool,
        whole: Buffer,
        segments: Segments,
        pool: &Pool,
    ) {
        let length = |index| segments.length(index) as u32;
        if self.lane(at).takes_whole(segments.count()) {
            self.push_packet(at, length(0), ecn_capable, Some(whole));
            for index in 1..segments.count() {
                self.push_packet(at, length(index), ecn_capable, None);
            }
            return;
        }
        for index in 0..segments.count() {
            match pool.take(segments.buffer_length(index)) {
                Some(mut buffer) => {
                    segments.write(&whole, index, &mut buffer);
                    self.push_packet(at, length(index), ecn_capable, Some(buffer));
                }
                None => self.unheld += 1,
            }
        }
    }

    fn push_packet(&mut self, at: Instant, length: u32, ecn_capable: bool, frame: Option<Buffer>) {
        let ticket = (at >= self.start).then(|| self.witness.entered(at, length));
        if let Some(volume) = self.volume.as_mut().filter(|_| ticket.is_some()) {
            volume.add(at.saturating_since(self.start), length - ETHERNET_HEADER);
        }
        let mut packet = Packet::new(length, Cargo { frame, ticket });
        packet.ecn_capable = ecn_capable;
        let pushed = self.lane(at).link.push(at, packet);
        match (ticket, pushed) {
            (None, _) => {
                self.handshake.packets += 1;
                self.handshake.bytes += u64::from(length - ETHERNET_HEADER);
            }
            (Some(_), Pushed::Queued) => {}
            (Some(ticket), Pushed::Lost) => self.witness.lost(ticket),
            (Some(ticket), Pushed::Overflowed) => self.witness.overflowed(ticket),
        }
    }

    fn lane(&mut self, at: Instant) -> &mut Lane {
        if at >= self.start { &mut self.live } else { &mut self.clean }
    }

    /// Makes the changes that are due and that no packet has asked for in good time. If packets
    /// that were on the link already could have noticed, how late the latest of the changes was.
    pub(super) fn catch_up(&mut self, now: Instant) -> Option<Duration> {
        let due = self.next_change().filter(|due| *due + self.patience() <= now)?;
        let holding_back = self.holding_back_at_next_change();
        self.make_changes(due);
        holding_back.then(|| now.saturating_since(due))
    }

    /// Makes every change due by `at`.
    fn make_changes(&mut self, at: Instant) {
        while let Some(due) = self.next_change().filter(|due| *due <= at) {
            if let Some((change, seed)) = self.changes.pop() {
                self.live.set_profile(due, &change.profile, seed);
                self.witness.change(&change.profile);
            }
            self.changed = due;
        }
    }

    fn next_change(&self) -> Option<Instant> {
        self.changes.last().map(|(change, _)| self.start + change.at)
    }

    fn patience(&self) -> Duration {
        if self.holding_back_at_next_change() { GRACE } else { PATIENCE }
    }

    fn holding_back_at_next_change(&self) -> bool {
        let next = self.changes.last().is_some_and(|(change, _)| holds_back(&change.profile));
        next || self.live.holds_back
    }

    pub(super) fn pop(&mut self, now: Instant) -> Option<Leaving> {
        let departed = self.clean.link.pop(now).or_else(|| self.live.link.pop(now));
        while let Some(refused) = self.live.link.pop_refused() {
            refused.payload.ticket.into_iter().for_each(|ticket| self.witness.overflowed(ticket));
        }
        let departed = departed?;
        let Packet { marked, corrupted, payload: Cargo { mut frame, ticket }, .. } =
            departed.packet;
        frame.iter_mut().for_each(|frame| alter(frame, marked, corrupted));
        if let Some(ticket) = ticket {
            if marked {
                self.witness.marked(ticket);
            }
            if corrupted.is_some() {
                self.witness.corrupted(ticket);
            }
        }
        Some(Leaving { frame, due: ticket.map(|ticket| Due { at: departed.due, ticket }) })
    }

    /// It was handed to the kernel at `at`; how late that was.
    pub(super) fn sent(&mut self, due: &Due, at: Instant) -> Duration {
        let late = at.saturating_since(due.at);
        self.witness.left_late(due.ticket, due.at + late, late);
        late
    }

    pub(super) fn take_volume(&mut self) -> Option<Volume> {
        self.volume.take()
    }

    pub(super) fn take_receipts(&mut self) -> Vec<Receipt> {
        mem::replace(&mut self.witness, Witness::new(&LinkProfile::default())).finish()
    }

    pub(super) fn next_wakeup(&self) -> Option<Instant> {
        let change = self.next_change().map(|due| due + self.patience());
        let links = [self.clean.link.next_wakeup(), self.live.link.next_wakeup(), change];
        links.into_iter().flatten().min()
    }

    pub(super) fn handshake(&self) -> WireCount {
        self.handshake
    }

    pub(super) fn count(&self) -> LinkCount {
        link_count(self.live.link.counters())
    }

    /// The most by which a packet met another profile than that of its time of arrival, if one did.
    pub(super) fn missed(&self) -> Option<Duration> {
        (!self.missed.is_zero()).then_some(self.missed)
    }

    pub(super) fn unheld(&self) -> u64 {
        self.unheld
    }
}

impl Lane {
    fn new(profile: &LinkProfile, seed: u64) -> Self {
        let link = Link::new(profile, seed);
        let mut lane = Self { link, treats_all_alike: false, holds_back: false, limit: 0 };
        lane.note(profile);
        lane
    }

    fn set_profile(&mut self, due: Instant, profile: &LinkProfile, seed: u64) {
        self.link.set_profile(due, profile, seed);
        self.note(profile);
    }

    fn note(&mut self, profile: &LinkProfile) {
        self.treats_all_alike = profile.treats_all_alike();
        self.holds_back = holds_back(profile);
        self.limit = profile.limit as usize;
    }

    /// Whether this many packets that come at once are sure to leave at once.
    fn takes_whole(&self, packets: usize) -> bool {
        self.treats_all_alike && self.link.len() + packets <= self.limit
    }
}

/// Whether a profile decides on packets at other times than when they enter.
fn holds_back(profile: &LinkProfile) -> bool {
    profile.slot.is_some() || profile.bucket.is_some()
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

#[cfg(test)]
mod tests;
