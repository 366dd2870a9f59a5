//! Slots: the link opens at certain instants only, each time for so many packets and bytes, as a
//! scheduled radio link does. A slot that was not used up stays open until a packet finds it to
//! have begun before the packet itself was due: then the next slot is drawn, from that moment on.

use std::time::Duration;

use super::delay::Spread;
use super::profile::{Slot, SlotSpacing};
use super::queue::after;
use super::rng::Random;

#[derive(Debug, Clone)]
pub(super) struct Slots {
    spacing: Spacing,
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

#[derive(Debug, Clone)]
enum Spacing {
    Between { min_ns: i64, width_ns: u64 },
    Distributed(Spread),
}

impl Slots {
    /// The first slot opens at once. `None` if slots have no spacing: the link is then always open,
    /// as netem's is.
    pub fn new(now: i64, settings: &Slot) -> Option<Self> {
        let spacing = Spacing::new(&settings.spacing)?;
        let budget = Budget::new(settings);
        Some(Self { spacing, budget, opens: now, left: budget })
    }

    pub fn opens(&self) -> i64 {
        self.opens
    }

    /// To be asked each time before a packet may leave.
    pub fn renew_if_stale(&mut self, due: i64, now: i64, random: &mut Random) {
        if self.opens < due {
            self.renew(now, random);
        }
    }

    /// The slot may go below zero bytes by its last packet.
    pub fn spend(&mut self, length: u32, now: i64, random: &mut Random) {
        self.left.packets -= 1;
        self.left.bytes -= i64::from(length);
        if self.left.packets <= 0 || self.left.bytes <= 0 {
            self.renew(now, random);
        }
    }

    fn renew(&mut self, now: i64, random: &mut Random) {
        self.opens = after(now, self.spacing.draw(random));
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

impl Spacing {
    fn new(settings: &SlotSpacing) -> Option<Self> {
        let ns = |duration: Duration| i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX);
        match settings {
            SlotSpacing::Between { min, max } => {
                let width_ns = ns(max.saturating_sub(*min)).unsigned_abs();
                (!max.is_zero()).then_some(Spacing::Between { min_ns: ns(*min), width_ns })
            }
            // netem would take slots without jitter for no slots at all; here they are evenly
            // spaced.
            SlotSpacing::Distributed { delay, jitter, distribution } => {
                let none = delay.is_zero() && jitter.is_zero();
                (!none).then(|| Spacing::Distributed(Spread::new(*delay, *jitter, distribution)))
            }
        }
    }

    fn draw(&self, random: &mut Random) -> i64 {
        match self {
            Spacing::Between { min_ns, width_ns } => {
                let draw = random.entropy.draw();
                let beyond = (u128::from(*width_ns) * u128::from(draw)) >> 32;
                min_ns.saturating_add(beyond as i64)
            }
            Spacing::Distributed(spread) => spread.draw(|| random.seeded.draw()),
        }
    }
}
