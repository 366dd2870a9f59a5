//! Slots: the link opens at certain instants only, each time for so many packets and bytes, as a
//! scheduled radio link does. A slot that was not used up stays open until a packet finds it to
//! have begun before the packet itself was due: then the next slot is drawn, from that moment on.

use super::delay::Spread;
use super::distribution::table_or_even;
use super::profile::Slot;
use super::queue::after;
use super::rng::Taus113;

#[derive(Debug, Clone)]
pub(super) struct Slots {
    spacing: Spread,
    budget: Budget,
    /// When the current slot opens or opened, in ns.
    opens: i64,
    left: Budget,
}

#[derive(Debug, Clone, Copy)]
struct Budget {
    packets: i32,
    bytes: i64,
}

impl Slots {
    /// The first slot opens at once. `None` if slots have no spacing: the link is then always open,
    /// as netem's is.
    pub fn new(now: i64, settings: &Slot) -> Option<Self> {
        let (delay, jitter, distribution) = settings.spacing.spread();
        if delay.is_zero() && jitter.is_zero() {
            return None;
        }
        let spacing = Spread::new(delay, jitter, Some(table_or_even(&distribution)));
        let budget = Budget::new(settings);
        Some(Self { spacing, budget, opens: now, left: budget })
    }

    pub fn opens(&self) -> i64 {
        self.opens
    }

    /// To be asked each time before a packet may leave.
    pub fn renew_if_stale(&mut self, due: i64, now: i64, seeded: &mut Taus113) {
        if self.opens < due {
            self.renew(now, seeded);
        }
    }

    /// The slot may go below zero bytes by its last packet.
    pub fn spend(&mut self, length: u32, now: i64, seeded: &mut Taus113) {
        self.left.packets -= 1;
        self.left.bytes -= i64::from(length);
        if self.left.packets <= 0 || self.left.bytes <= 0 {
            self.renew(now, seeded);
        }
    }

    fn renew(&mut self, now: i64, seeded: &mut Taus113) {
        self.opens = after(now, self.spacing.draw(|| seeded.draw()));
        self.left = self.budget;
    }
}

impl Budget {
    fn new(settings: &Slot) -> Self {
        let packets = or_unlimited(settings.packets);
        Self { packets, bytes: or_unlimited(settings.bytes).into() }
    }
}

/// netem counts both down from 2³¹ − 1 where there is no limit.
fn or_unlimited(limit: u32) -> i32 {
    match limit {
        0 => i32::MAX,
        limit => i32::try_from(limit).unwrap_or(i32::MAX),
    }
}
