//! A second model of netem, slow and plain, written from the description of its behaviour and
//! sharing nothing with the link but the types at its ends and the stream that stands for the
//! kernel's entropy. One list, searched from end to end each time; one function a kernel event.

use std::time::Duration;

use crate::link::profile::{
    Correlated, Distribution, LinkProfile, Loss, Order, Reorder, SlotSpacing,
};
use crate::link::rng::{Random, Taus113};
use crate::link::{BitFlip, Packet, Pushed, distribution};
use crate::units::Probability;

pub(super) struct Reference {
    profile: LinkProfile,
    prng: [u32; 4],
    entropy: Taus113,
    duplicate_last: u32,
    loss_last: u32,
    corrupt_last: u32,
    reorder_last: u32,
    delay_last: u32,
    /// 1 or 2 in Gilbert-Elliott, 1 to 4 in four states.
    loss_state: u8,
    gap_counter: u32,
    slot_next: Option<i64>,
    slot_packets: i64,
    slot_bytes: i64,
    front: Vec<(i64, Packet<u32>)>,
    queue: Vec<(i64, Packet<u32>)>,
    watchdog: Option<i64>,
    holds_table: bool,
    copy_marked: bool,
    pub sent: Vec<(i64, Packet<u32>)>,
}

fn scaled(probability: Probability) -> u32 {
    (probability.as_f64() * 4_294_967_295.0).round() as u32
}

fn ns(duration: Duration) -> i64 {
    duration.as_nanos() as i64
}

impl Reference {
    pub fn new(profile: &LinkProfile, seed: u64) -> Self {
        let mut reference = Self {
            profile: profile.clone(),
            prng: [0; 4],
            entropy: Random::new(seed).entropy,
            duplicate_last: 0,
            loss_last: 0,
            corrupt_last: 0,
            reorder_last: 0,
            delay_last: 0,
            loss_state: 1,
            gap_counter: 0,
            slot_next: None,
            slot_packets: 0,
            slot_bytes: 0,
            front: Vec::new(),
            queue: Vec::new(),
            watchdog: None,
            holds_table: false,
            copy_marked: false,
            sent: Vec::new(),
        };
        reference.configure(0, seed);
        reference
    }

    pub fn change(&mut self, now: i64, profile: &LinkProfile, seed: u64) {
        self.fire_timers(now);
        self.profile = profile.clone();
        self.configure(now, seed);
    }

    fn configure(&mut self, now: i64, seed: u64) {
        let low = (seed & 0xffff_ffff) as u32;
        let folded = (seed >> 32) as u32 ^ low.wrapping_shl(10) ^ low;
        let raise = |minimum| if folded < minimum { folded + minimum } else { folded };
        self.prng = [raise(2), raise(8), raise(16), raise(128)];
        self.entropy = Random::new(seed).entropy;
        self.holds_table |= self.profile.distribution != Distribution::Uniform;
        self.duplicate_last = self.entropy.draw();
        if matches!(self.profile.loss, Loss::Random(_)) {
            self.loss_last = self.entropy.draw();
        }
        self.corrupt_last = self.entropy.draw();
        if self.profile.reorder.is_some() {
            self.reorder_last = self.entropy.draw();
        }
        self.delay_last = self.entropy.draw();
        self.loss_state = 1;
        self.gap_counter = 0;
        self.slot_next = match &self.profile.slot {
            Some(slot) => {
                self.slot_packets = unlimited(slot.packets);
                self.slot_bytes = unlimited(slot.bytes);
                let spaced = match slot.spacing {
                    SlotSpacing::Between { min, max } => min + max,
                    SlotSpacing::Distributed { delay, jitter, .. } => delay + jitter,
                };
                (!spaced.is_zero()).then_some(now)
            }
            None => None,
        };
    }

    fn random(&mut self) -> u32 {
        let shifts = [(6, 13, 18, 1), (2, 27, 2, 7), (13, 21, 7, 15), (3, 12, 13, 127)];
        let mut all = 0;
        for (s, (a, b, d, mask)) in self.prng.iter_mut().zip(shifts) {
            let low = (s.wrapping_shl(a) ^ *s) >> b;
            *s = (*s & !mask).wrapping_shl(d) ^ low;
            all ^= *s;
        }
        all
    }

    fn correlated(&mut self, rho: u32, last: u32) -> (u32, u32) {
        let fresh = self.random();
        if rho == 0 {
            return (fresh, last);
        }
        let weight = u128::from(rho) + 1;
        let sum = u128::from(fresh) * ((1 << 32) - weight) + u128::from(last) * weight;
        let value = (sum >> 32) as u32;
        (value, value)
    }

    fn chance(&mut self, of: Correlated, last: u32) -> (bool, u32) {
        let threshold = scaled(of.probability);
        if threshold == 0 {
            return (false, last);
        }
        let (value, last) = self.correlated(scaled(of.correlation), last);
        (value <= threshold, last)
    }

    fn loss_event(&mut self) -> bool {
        match self.profile.loss {
            Loss::None => false,
            Loss::Random(chance) => {
                let (lost, last) = self.chance(chance, self.loss_last);
                self.loss_last = last;
                lost
            }
            Loss::GilbertElliott { p, r, one_minus_h, one_minus_k } => {
                let found = self.loss_state;
                let moves = self.random();
                let fate = self.random();
                match found {
                    1 => {
                        if moves < scaled(p) {
                            self.loss_state = 2;
                        }
                        fate < scaled(one_minus_k)
                    }
                    _ => {
                        if moves < scaled(r) {
                            self.loss_state = 1;
                        }
                        fate > u32::MAX - scaled(one_minus_h)
                    }
                }
            }
            Loss::FourState { p13, p31, p32, p23, p14 } => {
                let draw = u64::from(self.random());
                let [p13, p31, p32, p23, p14] =
                    [p13, p31, p32, p23, p14].map(|p| u64::from(scaled(p)));
                let (next, lost) = match self.loss_state {
                    1 if draw < p14 => (4, true),
                    1 if draw < p13 + p14 => (3, true),
                    1 => (1, false),
                    2 if draw < p23 => (3, true),
                    2 => (2, false),
                    3 if draw < p32 => (2, false),
                    3 if draw < p31 + p32 => (1, false),
                    3 => (3, true),
                    _ => (1, false),
                };
                self.loss_state = next;
                lost
            }
        }
    }

    pub fn enqueue(&mut self, now: i64, packet: Packet<u32>) -> Pushed {
        self.fire_timers(now);
        let pushed = self.enqueue_one(now, packet, true);
        self.dequeue(now);
        pushed
    }

    fn enqueue_one(&mut self, now: i64, mut packet: Packet<u32>, original: bool) -> Pushed {
        let mut count = 1;
        if original {
            let (twice, last) = self.chance(self.profile.duplicate, self.duplicate_last);
            self.duplicate_last = last;
            count += i32::from(twice);
        }
        if self.loss_event() {
            if self.profile.ecn && packet.ecn_capable {
                packet.marked = true;
                self.copy_marked |= !original;
            } else {
                count -= 1;
            }
        }
        if count == 0 {
            return Pushed::Lost;
        }
        let second = packet.clone();
        let (corrupt, last) = self.chance(self.profile.corrupt, self.corrupt_last);
        self.corrupt_last = last;
        if corrupt {
            let offset = self.entropy.below(packet.length);
            packet.corrupted = Some(BitFlip { offset, bit: self.entropy.below(8) as u8 });
        }
        if self.front.len() + self.queue.len() >= self.profile.limit as usize {
            return Pushed::Overflowed;
        }
        if count > 1 {
            self.copy_marked = false;
            self.enqueue_one(now, second, false);
            // Both share their bytes, unless one was written to by then.
            packet.marked |= self.copy_marked && !corrupt;
        }
        self.place(now, packet);
        Pushed::Queued
    }

    fn place(&mut self, now: i64, packet: Packet<u32>) {
        if self.goes_to_front() {
            self.front.insert(0, (now, packet));
            return;
        }
        let mut send = now + self.delay();
        if self.profile.rate.is_some() || self.profile.order == Order::Keep {
            let waiting = self.queue.iter().map(|(time, _)| *time).max();
            let last = waiting.max(self.front.last().map(|(time, _)| *time));
            let mut from = now;
            let mut delay = send - now;
            if let Some(last) = last {
                delay = (delay - (last - now)).max(0);
                from = last;
            }
            send = from + delay + self.transmission(packet.length);
        }
        self.sort_in(send, packet);
    }

    fn sort_in(&mut self, time: i64, packet: Packet<u32>) {
        self.queue.push((time, packet));
        self.queue.sort_by_key(|(time, _)| *time);
    }

    fn goes_to_front(&mut self) -> bool {
        let Some(Reorder { probability, correlation, gap }) = self.profile.reorder else {
            return false;
        };
        if self.gap_counter + 1 >= gap {
            let (value, last) = self.correlated(scaled(correlation), self.reorder_last);
            self.reorder_last = last;
            if value <= scaled(probability) {
                self.gap_counter = 0;
                return true;
            }
        }
        self.gap_counter += 1;
        false
    }

    fn delay(&mut self) -> i64 {
        let profile = self.profile.clone();
        if profile.jitter.is_zero() {
            return ns(profile.delay);
        }
        let rho = scaled(profile.delay_correlation);
        let (value, last) = self.correlated(rho, self.delay_last);
        self.delay_last = last;
        let table = match (distribution::table(&profile.distribution), self.holds_table) {
            (None, true) => Some(even()),
            (table, _) => table.map(|table| table.to_vec()),
        };
        spread(ns(profile.delay), ns(profile.jitter), table.as_deref(), value)
    }

    fn transmission(&self, length: u32) -> i64 {
        let Some(limit) = self.profile.rate else { return 0 };
        let mut bytes = i128::from(length) + i128::from(limit.packet_overhead);
        if limit.cell_size > 0 {
            let size = i128::from(limit.cell_size);
            let mut cells = bytes / size;
            if bytes > cells * size {
                cells += 1;
            }
            bytes = cells * (size + i128::from(limit.cell_overhead));
        }
        (bytes * 1_000_000_000 / i128::from(limit.rate.bits_per_second() / 8)) as i64
    }

    pub fn fire_timers(&mut self, now: i64) {
        while let Some(time) = self.watchdog.filter(|&time| time <= now) {
            self.dequeue(time);
        }
    }

    fn dequeue(&mut self, now: i64) {
        self.watchdog = None;
        loop {
            if !self.front.is_empty() {
                let (_, packet) = self.front.remove(0);
                self.sent.push((now, packet));
                continue;
            }
            let Some((time, _)) = self.queue.first() else { return };
            let time = *time;
            if self.slot_next.is_some_and(|next| next < time) {
                self.next_slot(now);
            }
            let opens = self.slot_next.unwrap_or(i64::MIN);
            if time > now || opens > now {
                self.watchdog = Some(time.max(opens));
                return;
            }
            let (_, packet) = self.queue.remove(0);
            if self.slot_next.is_some() {
                self.slot_packets -= 1;
                self.slot_bytes -= i64::from(packet.length);
                if self.slot_packets <= 0 || self.slot_bytes <= 0 {
                    self.next_slot(now);
                }
            }
            self.sent.push((now, packet));
        }
    }

    fn next_slot(&mut self, now: i64) {
        let slot = self.profile.slot.clone().expect("has slots");
        let (middle, width, distribution) = match slot.spacing {
            SlotSpacing::Between { min, max } => {
                let half = (ns(max) - ns(min)) / 2;
                (ns(min) + half, half, Distribution::Uniform)
            }
            SlotSpacing::Distributed { delay, jitter, distribution } => {
                (ns(delay), ns(jitter), distribution)
            }
        };
        let table = distribution::table(&distribution).map_or_else(even, |table| table.to_vec());
        let wait = match width {
            0 => middle,
            _ => spread(middle, width, Some(&table), self.random()),
        };
        self.slot_next = Some(now + wait);
        self.slot_packets = unlimited(slot.packets);
        self.slot_bytes = unlimited(slot.bytes);
    }
}

fn even() -> Vec<i16> {
    (0..8192).map(|i| 2 * i - 8191).collect()
}

fn unlimited(limit: u32) -> i64 {
    if limit == 0 { i64::from(i32::MAX) } else { limit.into() }
}

/// The kernel's arithmetic: the whole multiples of 8192 apart from the rest.
fn spread(mean: i64, sigma: i64, table: Option<&[i16]>, value: u32) -> i64 {
    match table {
        None => i64::from(value % (2 * sigma as u32)) + mean - sigma,
        Some(table) => {
            let sample = i64::from(table[value as usize % table.len()]);
            let mut rest = sigma % 8192 * sample;
            rest += if rest >= 0 { 4096 } else { -4096 };
            rest / 8192 + sigma / 8192 * sample + mean
        }
    }
}
