//! What happens to a packet, step by step, in the order of the kernel's `net/sched/sch_netem.c`:
//! the order of the draws is part of the meaning, since it decides which packet meets which number.

use std::collections::VecDeque;

use super::bucket::Bucket;
use super::chance::Chance;
use super::corrupt::bit_flip;
use super::counters::Counters;
use super::delay::Delay;
use super::distribution;
use super::loss::Loss;
use super::packet::{Departed, Packet, Pushed};
use super::profile::{LinkProfile, Order};
use super::queue::{DelayLine, Entry, LAST_INSTANT, after};
use super::rate::Rate;
use super::reorder::Reorder;
use super::rng::Random;
use super::slot::Slots;
use crate::units::Instant;

/// One direction of one path.
///
/// The link runs its own timers at their exact instants, inside of `push`, `pop` and `set_profile`,
/// and before what they are called for. So packets fare the same however late or often `pop` is
/// called, and only the caller is late.
///
/// `now` should not go back. A `push` may still lie a little before an earlier `pop`, as a receive
/// timestamp does.
#[derive(Debug, Clone)]
pub struct Link<T> {
    effects: Effects,
    random: Random,
    counters: Counters,
    delay_line: DelayLine<T>,
    /// Behind the delay line, from the first profile on that has one.
    bucket: Option<Bucket<T>>,
    /// Overtakes the delay line and any slot; the last one in is the first one out, as in netem.
    ahead: Vec<Entry<T>>,
    /// Has left, and waits for `pop`.
    left: VecDeque<(i64, Entry<T>)>,
    /// When the last packet left, in ns.
    last_left: i64,
    /// When the next packet may leave the delay line, in ns.
    wakeup: i64,
    arrivals: u64,
    /// netem never lets go of a table of delays.
    holds_table: bool,
    /// The latest arrival that was handed out.
    newest_delivered: u64,
}

const NEVER: i64 = i64::MAX;

impl<T: Clone> Link<T> {
    /// From the beginning of the clock on: the first slot opens then.
    pub fn new(profile: &LinkProfile, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let holds_table = distribution::table(&profile.distribution).is_some();
        Self {
            effects: Effects::new(0, profile, holds_table, &mut random),
            random,
            counters: Counters::default(),
            delay_line: DelayLine::new(),
            bucket: profile.bucket.map(|settings| Bucket::new(0, settings)),
            ahead: Vec::new(),
            left: VecDeque::new(),
            last_left: i64::MIN,
            wakeup: NEVER,
            arrivals: 0,
            holds_table,
            newest_delivered: 0,
        }
    }

    /// From now on, this profile, and draws from this seed: netem, too, starts its generator anew
    /// at each change that names a seed. As with a `tc qdisc replace` that spells out every
    /// setting, loss models return to their good state, correlated draws, the reorder gap and slots
    /// start afresh. Packets already on the link keep the time they were given, and the timer stays
    /// set as it was: those that could leave earlier now do so when it fires, or when another
    /// packet enters. Once a profile had a table of delays, uniform jitter is drawn from an even
    /// one.
    pub fn set_profile(&mut self, now: Instant, profile: &LinkProfile, seed: u64) {
        let now = nanos(now);
        self.run_timers_until(now);
        self.random = Random::new(seed);
        self.holds_table |= distribution::table(&profile.distribution).is_some();
        self.effects = Effects::new(now, profile, self.holds_table, &mut self.random);
        match (&mut self.bucket, profile.bucket) {
            (Some(bucket), settings) => bucket.change(settings),
            (None, settings) => self.bucket = settings.map(|it| Bucket::new(now, it)),
        }
    }

    /// What the next correlated draws depend on, to be called after `new` or `set_profile`: netem
    /// takes these numbers from the kernel's entropy, so that whoever holds a link against a kernel
    /// has to find them.
    pub fn lean_on(&mut self, last: LastDraws) {
        self.effects.lean_on(last);
    }

    /// A packet enters. When it will leave, if it does, `next_wakeup` and `pop` tell.
    pub fn push(&mut self, now: Instant, packet: Packet<T>) -> Pushed {
        let now = nanos(now);
        self.run_timers_until(now);
        self.counters.offered += packet.length;
        let duplicated = self.effects.duplicate.happens(&mut self.random.seeded);
        let pushed = self.enter(now, packet, duplicated);
        self.let_leave(now);
        pushed
    }

    /// The next packet that has left by now, in the order of leaving. To be called until there is
    /// none.
    pub fn pop(&mut self, now: Instant) -> Option<Departed<T>> {
        let now = nanos(now);
        self.run_timers_until(now);
        if self.left.front()?.0 > now {
            return None;
        }
        let (left_at, entry) = self.left.pop_front()?;
        let length = entry.packet.length;
        self.counters.delivered += length;
        if entry.arrival < self.newest_delivered {
            self.counters.reordered += length;
        }
        self.newest_delivered = self.newest_delivered.max(entry.arrival);
        Some(Departed { due: instant(left_at), packet: entry.packet })
    }

    /// When to call `pop` next: the exact instant, which is not after `now` if a packet has left
    /// already. Slots may put it off once more when it comes. `None`: nothing will leave before
    /// something else is pushed.
    pub fn next_wakeup(&self) -> Option<Instant> {
        match self.left.front() {
            Some((left_at, _)) => Some(instant(*left_at)),
            None => {
                let wakeup = self.next_timer();
                (wakeup != NEVER).then(|| instant(wakeup))
            }
        }
    }

    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Packets on the link and those that wait for `pop`; only the former count against the limit.
    pub fn len(&self) -> usize {
        self.held() + self.ahead.len() + self.left.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What counts against the limit.
    fn held(&self) -> usize {
        self.delay_line.len() + self.bucket.as_ref().map_or(0, Bucket::len)
    }

    /// Loss, corruption, limit, then the copy, then the packet itself.
    fn enter(&mut self, now: i64, mut packet: Packet<T>, duplicated: bool) -> Pushed {
        let length = packet.length;
        let lost = self.is_lost(&mut packet);
        if duplicated {
            self.counters.duplicated += length;
        }
        if lost {
            self.counters.lost += length;
            if !duplicated {
                return Pushed::Lost;
            }
        }
        // A packet both duplicated and lost goes on alone.
        let copy = (duplicated && !lost).then(|| packet.clone());
        self.corrupt(&mut packet);
        if self.held() >= self.effects.limit {
            return self.overflow(length, copy.is_some());
        }
        // The copy has its own fate, but is not copied again.
        if let Some(copy) = copy {
            let marked = self.counters.marked.packets;
            self.enter(now, copy, false);
            // The kernel's copy shares its bytes with the packet, unless corruption took them
            // apart, and a mark is written into them.
            let marked = self.counters.marked.packets > marked;
            packet.marked |= marked && packet.corrupted.is_none();
        }
        self.enqueue(now, packet);
        Pushed::Queued
    }

    /// Marks instead, where that is wanted and possible.
    fn is_lost(&mut self, packet: &mut Packet<T>) -> bool {
        let strikes = self.effects.loss.strikes(&mut self.random.seeded);
        if strikes && self.effects.ecn && (packet.ecn_capable || packet.marked) {
            packet.marked = true;
            self.counters.marked += packet.length;
            return false;
        }
        strikes
    }

    fn corrupt(&mut self, packet: &mut Packet<T>) {
        if self.effects.corrupt.happens(&mut self.random.seeded) {
            packet.corrupted = bit_flip(packet.length, &mut self.random);
            self.counters.corrupted += packet.length;
        }
    }

    fn overflow(&mut self, length: u32, and_its_copy: bool) -> Pushed {
        self.counters.overflowed += length;
        if and_its_copy {
            self.counters.overflowed += length;
        }
        Pushed::Overflowed
    }

    fn enqueue(&mut self, now: i64, packet: Packet<T>) {
        let seeded = &mut self.random.seeded;
        let goes_ahead = self.effects.reorder.as_mut().is_some_and(|it| it.goes_ahead(seeded));
        let due = if goes_ahead { now } else { self.due(now, packet.length) };
        self.arrivals += 1;
        let entry = Entry { due, arrival: self.arrivals, packet };
        if goes_ahead {
            self.ahead.push(entry);
        } else {
            self.delay_line.insert(entry);
        }
    }

    fn due(&mut self, now: i64, length: u32) -> i64 {
        let delayed = after(now, self.effects.delay.draw(&mut self.random.seeded));
        match self.effects.rate {
            None => delayed,
            Some(rate) => {
                let starts = self.link_is_free(now).map_or(delayed, |free| free.max(delayed));
                after(starts, rate.occupancy(length))
            }
        }
    }

    /// When the last packet that is still here will have been sent. A `push` from before the last
    /// `pop` also waits for what has left since.
    fn link_is_free(&self, now: i64) -> Option<i64> {
        let ahead = self.ahead.first().map(|entry| entry.due);
        let left_since = (self.last_left > now).then_some(self.last_left);
        self.delay_line.latest_due().max(ahead).max(left_since)
    }

    fn run_timers_until(&mut self, now: i64) {
        while self.next_timer() <= now {
            let timer = self.next_timer();
            if let Some(bucket) = self.bucket.as_mut().filter(|it| it.wakeup() == timer) {
                bucket.timer_fired();
            }
            self.let_leave(timer);
        }
    }

    fn next_timer(&self) -> i64 {
        self.bucket.as_ref().map_or(NEVER, Bucket::wakeup).min(self.wakeup)
    }

    /// What netem does after each packet that enters and whenever its timer fires.
    fn let_leave(&mut self, now: i64) {
        while let Some(entry) = self.leaving(now) {
            self.last_left = now;
            self.left.push_back((now, entry));
        }
    }

    /// The next packet that may leave now. If there is none, sets the timer.
    fn leaving(&mut self, now: i64) -> Option<Entry<T>> {
        if let Some(entry) = self.ahead.pop() {
            return Some(entry);
        }
        while let Some(entry) = self.through_the_delay_line(now) {
            let Some(bucket) = &mut self.bucket else { return Some(entry) };
            if let Err(entry) = bucket.take_in(entry) {
                self.counters.overflowed += entry.packet.length;
            }
        }
        self.bucket.as_mut()?.let_go(now)
    }

    fn through_the_delay_line(&mut self, now: i64) -> Option<Entry<T>> {
        self.wakeup = NEVER;
        let mut may_leave = self.delay_line.earliest_due()?;
        let seeded = &mut self.random.seeded;
        if let Some(slots) = &mut self.effects.slots {
            slots.renew_if_stale(may_leave, now, seeded);
            may_leave = may_leave.max(slots.opens());
        }
        if may_leave > now {
            self.wakeup = may_leave;
            return None;
        }
        let entry = self.delay_line.take_earliest()?;
        if let Some(slots) = &mut self.effects.slots {
            slots.spend(entry.packet.length, now, seeded);
        }
        Some(entry)
    }
}

/// What each correlated draw depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LastDraws {
    pub duplicate: u32,
    pub loss: u32,
    pub corrupt: u32,
    pub reorder: u32,
    pub delay: u32,
}

/// A profile made ready, with the state that each effect keeps.
#[derive(Debug, Clone)]
struct Effects {
    duplicate: Chance,
    loss: Loss,
    ecn: bool,
    corrupt: Chance,
    limit: usize,
    reorder: Option<Reorder>,
    delay: Delay,
    rate: Option<Rate>,
    slots: Option<Slots>,
}

impl Effects {
    fn new(now: i64, profile: &LinkProfile, holds_table: bool, random: &mut Random) -> Self {
        let keeps_order = (profile.order == Order::Keep).then_some(Rate::NO_TIME);
        Self {
            duplicate: Chance::new(profile.duplicate, random),
            loss: Loss::new(&profile.loss, random),
            ecn: profile.ecn,
            corrupt: Chance::new(profile.corrupt, random),
            limit: profile.limit as usize,
            reorder: Reorder::new(profile.reorder, random),
            delay: Delay::new(profile, holds_table, random),
            rate: profile.rate.map(Rate::new).or(keeps_order),
            slots: profile.slot.as_ref().and_then(|slot| Slots::new(now, slot)),
        }
    }

    fn lean_on(&mut self, last: LastDraws) {
        self.duplicate.lean_on(last.duplicate);
        self.loss.lean_on(last.loss);
        self.corrupt.lean_on(last.corrupt);
        if let Some(reorder) = &mut self.reorder {
            reorder.lean_on(last.reorder);
        }
        self.delay.lean_on(last.delay);
    }
}

fn nanos(instant: Instant) -> i64 {
    i64::try_from(instant.as_nanos()).unwrap_or(LAST_INSTANT).min(LAST_INSTANT)
}

/// Before the clock began is when it began.
fn instant(nanos: i64) -> Instant {
    Instant::from_nanos(nanos.max(0).unsigned_abs())
}
