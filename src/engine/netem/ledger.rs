//! The books of one direction of a path, kept from outside: which frames entered, and what became
//! of each, found by their content. Pure; times are the kernel's stamps (CLOCK_REALTIME, in ns).
//!
//! Frames of the same content are taken to leave in the order in which they entered, and one that
//! leaves once more to be a copy. One with a wrong bit may be what became of several frames that are
//! alike but for two bits: whose it was is told when the others have left (`doubts`).
//!
//! A frame that has not left within the horizon never will: it was lost, or found the queue full if
//! as many frames as the queue holds were in it when it came, or half as many if netem loses nothing.
//! Where both may be, the loss is not judged.
//!
//! What a token bucket behind netem drops cannot be told frame by frame from what netem loses,
//! unless netem loses nothing; how many the bucket dropped, the kernel tells.

mod doubts;

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use self::doubts::Doubt;
use super::fingerprint::{Fingerprint, Harm, Key};
use crate::engine::ETHERNET_HEADER;
use crate::engine::fidelity::Lateness;
use crate::engine::witness::{Ticket, Witness};
use crate::link::profile::{LinkProfile, Loss};
use crate::recording::receipt::{Effect, Receipt};
use crate::recording::{LinkCount, Volume, WireCount};
use crate::units::Instant;

/// Frames that are remembered at most; past that, the oldest is settled before its time.
const MOST_ENTRIES: usize = 1 << 20;

pub(super) struct Ledger {
    /// In the order of arrival.
    entries: VecDeque<Entry>,
    /// The number of the first of them.
    first: u64,
    /// The numbers of those with a key, in the order of arrival.
    by_key: HashMap<Key, VecDeque<u64>>,
    /// Of frames with a wrong bit that may be one of several, in the order in which they left.
    doubts: Vec<Doubt>,
    current: Terms,
    /// Once the workload has begun.
    witness: Option<Witness>,
    slack: Duration,
    /// netem has a token bucket behind it.
    bucket: bool,
    /// Frames that were found missing and that only the bucket can have dropped.
    refused: u64,
    /// A frame may have been lost or have found the queue full: nobody knows.
    unclear: bool,
    /// The stamp at which the witness's time begins.
    epoch: u64,
    /// Nanoseconds.
    horizon: u64,
    /// Frames in the queue when the next entry comes, less those when the last one came.
    more_held: i64,
    /// Frames in the queue when the last settled entry came.
    held: i64,
    /// The stamp at which the workload began.
    start: u64,
    count: Count,
}

/// What the ledger says in the end.
#[derive(Debug, Default)]
pub(super) struct Count {
    pub(super) handshake: WireCount,
    pub(super) link: LinkCount,
    /// Frames that left and never entered, or were no longer remembered.
    pub(super) strays: u64,
    /// Exits later than they should have been, where that is known.
    pub(super) packets: Lateness,
    pub(super) receipts: Vec<Receipt>,
    /// What entered over time, if that is kept.
    pub(super) volume: Option<Volume>,
}

struct Entry {
    print: Fingerprint,
    stamp: u64,
    terms: Terms,
    /// `None`: it came before the workload.
    ticket: Option<Ticket>,
    /// Frames in the queue when it came, less those when the one before it came.
    more_held: i64,
    left: bool,
}

/// What of a profile is needed to judge a frame.
#[derive(Clone, Copy)]
struct Terms {
    limit: u32,
    /// Some may get lost.
    loses: bool,
    /// … or be marked instead.
    marks: bool,
    /// A frame that has left may leave once more.
    copies: bool,
    /// What a frame takes if nothing but its own delay matters, in the mean.
    delay: Duration,
    /// Every frame takes just that.
    same: bool,
}

/// What is left to be told when all frames have been seen, by the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Remains {
    /// Frames that netem, or the bucket behind it, still holds.
    pub(super) queued: usize,
    /// Frames that the bucket had no room for.
    pub(super) refused: u64,
}

/// A frame that leaves.
#[derive(Debug, Clone, Copy)]
struct Exit {
    stamp: u64,
    print: Fingerprint,
    /// The number of the first frame that enters after it.
    before: u64,
}

impl Terms {
    fn of(profile: &LinkProfile) -> Self {
        let same = profile.jitter.is_zero()
            && profile.rate.is_none()
            && profile.slot.is_none()
            && profile.reorder.is_none();
        let loses = profile.loss != Loss::None;
        Self {
            limit: profile.limit,
            loses,
            marks: loses && profile.ecn,
            copies: !profile.duplicate.probability.is_never(),
            delay: profile.delay,
            same,
        }
    }

    /// Without a checksum, as in IPv6, a flipped bit can look like a mark.
    fn possible(&self, harm: Harm) -> Harm {
        match self.marks {
            true => harm,
            false => Harm { marked: false, corrupted: harm.corrupted || harm.marked },
        }
    }
}

impl Ledger {
    /// `slack`: how late the kernel may let a packet go without being wrong.
    pub(super) fn new(clean: &LinkProfile, horizon: Duration, slack: Duration) -> Self {
        Self {
            entries: VecDeque::new(),
            first: 0,
            by_key: HashMap::new(),
            doubts: Vec::new(),
            current: Terms::of(clean),
            witness: None,
            slack,
            bucket: false,
            refused: 0,
            unclear: false,
            epoch: 0,
            horizon: u64::try_from(horizon.as_nanos()).unwrap_or(u64::MAX),
            more_held: 0,
            held: 0,
            start: 0,
            count: Count::default(),
        }
    }

    /// netem has a token bucket behind it, all the time.
    pub(super) fn with_bucket(self) -> Self {
        Self { bucket: true, ..self }
    }

    /// Keeps what enters over time, too.
    pub(super) fn with_volume(mut self, volume: Option<Volume>) -> Self {
        self.count.volume = volume;
        self
    }

    /// What enters from now on meets this profile, and belongs to the workload.
    pub(super) fn change(&mut self, stamp: u64, profile: &LinkProfile) {
        self.current = Terms::of(profile);
        match &mut self.witness {
            Some(witness) => witness.change(profile),
            None => {
                let mut witness = Witness::new(profile);
                witness.tolerate(self.slack);
                self.witness = Some(witness);
                self.start = stamp;
            }
        }
    }

    pub(super) fn enter(&mut self, stamp: u64, print: Fingerprint) {
        if let Some(until) = stamp.checked_sub(self.horizon) {
            self.settle_until(until);
        }
        if self.entries.len() >= MOST_ENTRIES {
            self.settle_first();
        }
        let Self { witness, epoch, count, .. } = self;
        let ticket = witness.as_mut().map(|witness| {
            if *epoch == 0 {
                *epoch = stamp;
            }
            witness.entered(since(*epoch, stamp), print.key.length)
        });
        let offered = if ticket.is_some() { &mut count.link.offered } else { &mut count.handshake };
        let bytes = print.key.length.saturating_sub(ETHERNET_HEADER);
        offered.packets += 1;
        offered.bytes += u64::from(bytes);
        if let Some(volume) = count.volume.as_mut().filter(|_| ticket.is_some()) {
            volume.add(Duration::from_nanos(stamp.saturating_sub(self.start)), bytes);
        }
        let number = self.next_number();
        self.by_key.entry(print.key).or_default().push_back(number);
        self.entries.push_back(Entry {
            print,
            stamp,
            terms: self.current,
            ticket,
            more_held: std::mem::take(&mut self.more_held),
            left: false,
        });
    }

    pub(super) fn leave(&mut self, stamp: u64, print: Fingerprint) {
        let exit = Exit { stamp, print, before: self.next_number() };
        match self.numbered(print.key, exit.before) {
            Some(number) => {
                self.put_down(number, &exit, false);
                self.explains_no_other(print.key);
            }
            None => self.leave_with_a_wrong_bit(exit),
        }
    }

    /// A frame has left.
    fn put_down(&mut self, number: u64, exit: &Exit, flipped: bool) {
        let index = (number - self.first) as usize;
        self.was_held(index, exit.before);
        let entry = &mut self.entries[index];
        let harm = entry.terms.possible(exit.print.harm_since(&entry.print));
        let harm = Harm { corrupted: harm.corrupted || flipped, ..harm };
        let again = std::mem::replace(&mut entry.left, true);
        let (Some(ticket), Some(witness)) = (entry.ticket, &mut self.witness) else { return };
        if harm.marked && !again {
            witness.marked(ticket);
        }
        if harm.corrupted && !again {
            witness.corrupted(ticket);
        }
        witness.left(ticket, since(self.epoch, exit.stamp));
        let link = &mut self.count.link;
        link.delivered += 1;
        link.duplicated += u64::from(again);
        link.corrupted += u64::from(harm.corrupted);
        link.marked += u64::from(harm.marked);
        // The bucket of this profile or the next may have held it up.
        if entry.terms.same && !self.bucket {
            let took = Duration::from_nanos(exit.stamp.saturating_sub(entry.stamp));
            self.count.packets.record(took.saturating_sub(entry.terms.delay));
        }
    }

    /// Settles all, but for as many of the latest as are still in the queue.
    pub(super) fn finish(mut self, remains: Remains) -> Count {
        self.decide_all();
        for index in self.still_queued(remains.queued) {
            self.entries[index].left = true;
            self.was_held(index, self.next_number());
        }
        self.settle_until(u64::MAX);
        self.tell_apart(remains.refused);
        let receipts = self.witness.map_or_else(Vec::new, Witness::finish);
        Count { receipts, ..self.count }
    }

    /// Where netem loses nothing, those that found room when they came: they alone can be there.
    /// Elsewhere, which of those that have not left it is is a guess if there are more.
    fn still_queued(&mut self, queued: usize) -> Vec<usize> {
        let waiting = (0..self.entries.len()).filter(|index| !self.entries[*index].left);
        let mut waiting: Vec<usize> = waiting.collect();
        if waiting.len() > queued && queued > 0 {
            let loses = waiting.iter().any(|index| self.entries[*index].terms.loses);
            let found_room = self.found_room();
            if !loses && !self.bucket && found_room.len() == queued {
                return found_room;
            }
            self.unclear = true;
        }
        waiting.split_off(waiting.len().saturating_sub(queued))
    }

    /// Of those that have not left, as if netem lost none: so each that found room is there.
    fn found_room(&self) -> Vec<usize> {
        let (mut held, mut found) = (self.held, Vec::new());
        for (index, entry) in self.entries.iter().enumerate() {
            held += entry.more_held;
            if !entry.left && held + (found.len() as i64) < i64::from(entry.terms.limit) {
                found.push(index);
            }
        }
        found
    }

    /// Frames that the bucket dropped were not lost, and the other way round.
    fn tell_apart(&mut self, refused: u64) {
        let LinkCount { lost, overflowed, .. } = &mut self.count.link;
        let unclear = refused.saturating_sub(self.refused).min(*lost);
        let unexplained = self.refused.saturating_sub(refused);
        *lost = *lost - unclear + unexplained;
        *overflowed = *overflowed + unclear - unexplained;
        let unclear = unclear > 0 || self.unclear;
        if let Some(witness) = self.witness.as_mut().filter(|_| unclear) {
            witness.blind_to(Effect::Loss);
        }
    }

    /// Of those that entered before another one: the first that has not left, else the last.
    fn numbered(&self, key: Key, before: u64) -> Option<u64> {
        let mut numbers = self.by_key.get(&key)?.iter().copied().filter(|number| *number < before);
        let waits = |number: &u64| !self.entry(*number).left;
        numbers.clone().find(waits).or(numbers.next_back())
    }

    fn entry(&self, number: u64) -> &Entry {
        &self.entries[(number - self.first) as usize]
    }

    /// Of the next frame that enters.
    fn next_number(&self) -> u64 {
        self.first + self.entries.len() as u64
    }

    /// A frame was in the queue when each of those came that are after it and before another one.
    fn was_held(&mut self, index: usize, before: u64) {
        let until = (before - self.first) as usize;
        if until == index + 1 {
            return;
        }
        self.entries[index + 1].more_held += 1;
        match self.entries.get_mut(until) {
            Some(entry) => entry.more_held -= 1,
            None => self.more_held -= 1,
        }
    }

    fn settle_until(&mut self, stamp: u64) {
        while self.entries.front().is_some_and(|entry| entry.stamp <= stamp) {
            self.settle_first();
        }
    }

    fn settle_first(&mut self) {
        self.decide_what_the_first_explains();
        let Some(entry) = self.entries.pop_front() else { return };
        self.first += 1;
        if let Some(numbers) = self.by_key.get_mut(&entry.print.key) {
            numbers.pop_front();
            if numbers.is_empty() {
                self.by_key.remove(&entry.print.key);
            }
        }
        self.held += entry.more_held;
        let (Some(ticket), Some(witness)) = (entry.ticket, &mut self.witness) else { return };
        if entry.left {
            return;
        }
        let link = &mut self.count.link;
        let limit = i64::from(entry.terms.limit);
        let (full, roomy) = (self.held >= limit, 2 * self.held < limit && !self.bucket);
        self.unclear |= full && entry.terms.loses;
        if full || !(entry.terms.loses || roomy) {
            self.refused += u64::from(self.bucket && !full);
            link.overflowed += 1;
            witness.overflowed(ticket);
        } else {
            link.lost += 1;
            witness.lost(ticket);
        }
    }
}

/// In the witness's time.
fn since(epoch: u64, stamp: u64) -> Instant {
    Instant::from_nanos(stamp.saturating_sub(epoch))
}

#[cfg(test)]
mod tests;
