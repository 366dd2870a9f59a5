//! Watches the packets of one direction of a path and adds up what became of them, profile by
//! profile. Fed by every engine; knows no clock, and nothing of how a link decides: what was to be
//! expected of a packet comes from the profile's closed formulas.
//!
//! Outcomes may come in any order. They are taken into account in the order of arrival, each as
//! soon as those of all packets before it are known: so memory holds the packets in flight only,
//! and the receipt does not depend on the order of the calls.

use std::collections::VecDeque;
use std::time::Duration;

use crate::link::profile::LinkProfile;
use crate::recording::receipt::law::DelayLaw;
use crate::recording::receipt::{Effect, MOST_PROFILES, Receipt, Tally};
use crate::units::{Instant, nanos};

/// Packets that wait for the outcome of an earlier one; then that one's is given up.
const MOST_PENDING: usize = 1 << 20;

/// A link counts in whole nanoseconds.
const EXACT: Duration = Duration::from_nanos(1);

/// One direction of one path.
#[derive(Debug)]
pub struct Witness {
    rows: Vec<Row>,
    /// The row that holds now.
    current: u8,
    /// No packet has entered since the profile came into force.
    fresh: bool,
    pending: VecDeque<Pending>,
    /// The number of the first of them.
    first: u64,
    past: Past,
    unseen: Vec<Effect>,
    slack: Duration,
}

/// A packet that entered: where its outcome is to be put down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ticket {
    number: u64,
    row: u8,
}

#[derive(Debug)]
struct Row {
    receipt: Receipt,
    law: Option<DelayLaw>,
    /// Below this delay, in ns, a packet has gone ahead.
    ahead_below: Option<f64>,
}

#[derive(Debug, Clone, Copy)]
struct Pending {
    entered: u64,
    length: u32,
    row: u8,
    begins_spell: bool,
    marked: bool,
    corrupted: bool,
    /// The bucket or the slots of a later profile may have held it up.
    held_up: bool,
    fate: Fate,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Fate {
    Unknown,
    Lost,
    Overflowed,
    Left { at: u64, late: u64 },
    GivenUp,
}

/// What of the packets before decides what is expected of the next one.
#[derive(Debug, Default)]
struct Past {
    /// The last packet was struck by the loss model.
    struck: bool,
    /// The latest time at which a packet was due to leave so far, in ns, and by how much the engine
    /// was late with it.
    latest: u64,
    late: u64,
    /// The last packet certainly waited for the one before.
    waited: bool,
    /// How far off an exit may be, in ns.
    slack: f64,
}

impl Witness {
    pub fn new(profile: &LinkProfile) -> Self {
        Self {
            rows: vec![Row::new(Some(profile))],
            current: 0,
            fresh: true,
            pending: VecDeque::new(),
            first: 0,
            past: Past::default(),
            unseen: Vec::new(),
            slack: EXACT,
        }
    }

    /// The engine has no way to see this effect, so that it is not judged.
    pub fn blind_to(&mut self, effect: Effect) {
        self.unseen.push(effect);
    }

    /// What enters from now on meets this profile.
    pub fn change(&mut self, profile: &LinkProfile) {
        self.fresh = true;
        if profile.bucket.is_some() || profile.slot.is_some() {
            let on_the_way = self.pending.iter_mut().filter(|it| it.fate == Fate::Unknown);
            on_the_way.for_each(|pending| pending.held_up = true);
        }
        let known = self.rows.iter().position(|row| row.receipt.asked.as_ref() == Some(profile));
        let place = known.unwrap_or_else(|| {
            if self.rows.len() < MOST_PROFILES {
                self.rows.push(Row::new(Some(profile)));
            } else if self.rows.len() == MOST_PROFILES {
                self.rows.push(Row::new(None));
            }
            self.rows.len() - 1
        });
        self.current = place as u8;
    }

    /// A delay may be off by this much because of the engine's clock or the kernel's timers,
    /// without being wrong. Not for the lateness that is told packet by packet.
    pub fn tolerate(&mut self, slack: Duration) {
        self.slack = self.slack.max(slack);
        self.past.slack = nanos(self.slack) as f64;
    }

    /// A packet of `length` bytes, Ethernet header included. To be called in order of arrival; its
    /// outcome is to be told once by one of the calls below.
    #[inline]
    pub fn entered(&mut self, at: Instant, length: u32) -> Ticket {
        if self.pending.len() >= MOST_PENDING {
            self.give_up_first();
        }
        let number = self.first + self.pending.len() as u64;
        self.rows[usize::from(self.current)].receipt.did.entered += 1;
        self.pending.push_back(Pending {
            entered: at.as_nanos(),
            length,
            row: self.current,
            begins_spell: self.fresh,
            marked: false,
            corrupted: false,
            held_up: false,
            fate: Fate::Unknown,
        });
        self.fresh = false;
        Ticket { number, row: self.current }
    }

    /// Dropped by the loss model.
    #[inline]
    pub fn lost(&mut self, ticket: Ticket) {
        self.settle(ticket, Fate::Lost);
    }

    /// Dropped because the queue was full.
    #[inline]
    pub fn overflowed(&mut self, ticket: Ticket) {
        self.settle(ticket, Fate::Overflowed);
    }

    /// Left the link. To be called for each copy of a packet, in the order in which they leave; the
    /// first one is its outcome.
    #[inline]
    pub fn left(&mut self, ticket: Ticket, at: Instant) {
        self.left_late(ticket, at, Duration::ZERO);
    }

    /// The same where the engine knows by how much it was late itself: `late` is part of the time
    /// until `at`.
    #[inline]
    pub fn left_late(&mut self, ticket: Ticket, at: Instant, late: Duration) {
        if !self.settle(ticket, Fate::Left { at: at.as_nanos(), late: nanos(late) }) {
            self.rows[usize::from(ticket.row)].receipt.did.copies += 1;
        }
    }

    /// Its first copy was marked by ECN; to be told before it has `left`.
    #[inline]
    pub fn marked(&mut self, ticket: Ticket) {
        if let Some(pending) = self.pending(ticket) {
            pending.marked = true;
        }
    }

    /// Its first copy has a wrong bit; to be told before it has `left`.
    #[inline]
    pub fn corrupted(&mut self, ticket: Ticket) {
        if let Some(pending) = self.pending(ticket) {
            pending.corrupted = true;
        }
    }

    /// What each profile that a packet met was asked for and did.
    pub fn finish(self) -> Vec<Receipt> {
        let (unseen, slack_ns) = (self.unseen, nanos(self.slack));
        let receipts = self.rows.into_iter().map(|row| row.receipt);
        let met = receipts.filter(|receipt| receipt.did.entered > 0);
        met.map(|receipt| Receipt { unseen: unseen.clone(), slack_ns, ..receipt }).collect()
    }

    /// The packet, if its outcome is not known yet.
    fn pending(&mut self, ticket: Ticket) -> Option<&mut Pending> {
        let place = usize::try_from(ticket.number.checked_sub(self.first)?).ok()?;
        self.pending.get_mut(place).filter(|pending| pending.fate == Fate::Unknown)
    }

    /// Whether this was its outcome, and not another one had been told before.
    fn settle(&mut self, ticket: Ticket, fate: Fate) -> bool {
        let Some(pending) = self.pending(ticket) else { return false };
        pending.fate = fate;
        while let Some(next) = self.pending.front().filter(|next| next.fate != Fate::Unknown) {
            self.past.take(next, &mut self.rows[usize::from(next.row)]);
            self.pending.pop_front();
            self.first += 1;
        }
        true
    }

    fn give_up_first(&mut self) {
        let row = self.pending.front().map_or(0, |oldest| oldest.row);
        self.settle(Ticket { number: self.first, row }, Fate::GivenUp);
    }
}

impl Row {
    fn new(asked: Option<&LinkProfile>) -> Self {
        let law = asked.and_then(|profile| DelayLaw::of(profile).ok());
        let reorders = asked.is_some_and(|profile| profile.reorder.is_some());
        let least = law.as_ref().filter(|_| reorders).map(DelayLaw::least);
        Self {
            receipt: Receipt {
                asked: asked.cloned(),
                did: Tally::default(),
                unseen: Vec::new(),
                slack_ns: 0,
            },
            law,
            ahead_below: least.map(|least| least / 2.0),
        }
    }
}

impl Past {
    /// Puts down what became of the next packet in order of arrival.
    fn take(&mut self, packet: &Pending, row: &mut Row) {
        let did = &mut row.receipt.did;
        if packet.begins_spell {
            did.spells += 1;
            self.struck = false;
        }
        if packet.fate == Fate::GivenUp {
            return;
        }
        did.settled += 1;
        let struck = packet.fate == Fate::Lost || packet.marked;
        did.bursts += u64::from(struck && !self.struck);
        self.struck = struck;
        match packet.fate {
            Fate::Lost => did.lost += 1,
            Fate::Overflowed => did.overflowed += 1,
            Fate::Left { at, late } => {
                did.left += 1;
                did.marked += u64::from(packet.marked);
                did.corrupted += u64::from(packet.corrupted);
                self.time(packet, at, late, row);
            }
            Fate::Unknown | Fate::GivenUp => {}
        }
    }

    /// Puts down how long a packet took.
    fn time(&mut self, packet: &Pending, at: u64, late: u64, row: &mut Row) {
        let did = &mut row.receipt.did;
        let delay = at as f64 - packet.entered as f64;
        if row.ahead_below.is_some_and(|limit| delay < limit) {
            did.ahead += 1;
            return;
        }
        let nominal = row.receipt.asked.as_ref().map_or(0, |profile| nanos(profile.delay)) as f64;
        let sums = &mut did.delay;
        sums.count += 1;
        sums.sum += delay - nominal;
        sums.squares += (delay - nominal).powi(2);
        sums.late += late as f64;
        sums.late_squares += (late as f64).powi(2);
        let due = at.saturating_sub(late);
        did.overtaking.count += u64::from(due < self.latest && !packet.held_up);
        if let Some(law) = row.law.as_ref().filter(|_| !packet.held_up) {
            let waits = self.latest as f64 - packet.entered as f64;
            let occupies = law.occupancy(packet.length);
            self.expect(law, (waits, occupies), delay, did);
            if self.waits(law, waits, did) {
                let backlog = &mut did.backlog;
                backlog.asked += occupies;
                backlog.took += at.saturating_sub(self.latest + self.late);
                backlog.late += late as i64 - self.late as i64;
            }
        }
        if due >= self.latest {
            (self.latest, self.late) = (due, late);
        }
    }

    /// Puts down what the law says of a packet that came so long before the one before it was due
    /// to leave, and occupies the link for so long.
    fn expect(&self, law: &DelayLaw, (waits, occupies): (f64, u64), delay: f64, did: &mut Tally) {
        let expected = law.expect(waits, occupies as f64);
        let beyond = delay - expected.mean;
        let sums = &mut did.delay;
        sums.beyond += beyond;
        sums.beyond_squares += beyond * beyond;
        sums.variance += expected.variance;
        sums.square_variance += expected.square_variance;
        if !law.is_tie(waits, self.slack) {
            did.overtaking.expected += law.overtakes(waits);
        }
    }

    /// Whether the packet certainly waits for the one before; those that do, one after the other,
    /// are a period.
    fn waits(&mut self, law: &DelayLaw, waits: f64, did: &mut Tally) -> bool {
        let waited = law.surely_waits(waits);
        did.backlog.periods += u64::from(waited && !self.waited);
        did.backlog.packets += u64::from(waited);
        self.waited = waited;
        waited
    }
}

#[cfg(test)]
mod tests;
