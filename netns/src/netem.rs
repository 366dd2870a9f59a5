//! netem's options, as `sch_netem` reads and reports them (`linux/pkt_sched.h`). Pure: [`Options`]
//! to the bytes of `TCA_OPTIONS` and back. Nothing here knows a link or a kernel.
//!
//! ```
//! use std::time::Duration;
//! use netns::netem::{Chance, Correlated, Loss, Options};
//!
//! let options = Options {
//!     delay: Duration::from_millis(40),
//!     loss: Loss::Random(Correlated::of(Chance::from_fraction(0.01).unwrap())),
//!     ..Options::default()
//! };
//! let encoded = options.encode().unwrap();
//! assert_eq!(Options::parse(encoded.options()).unwrap(), options);
//! ```

use std::time::Duration;

pub use encode::{EncodeError, History};
pub use parse::ParseError;

mod encode;
mod layout;
mod parse;
#[cfg(test)]
mod tests;

/// Everything that netem can be told. The default passes packets on as they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Added to each packet.
    pub delay: Duration,
    /// How far the delay varies; its meaning depends on the distribution.
    pub jitter: Duration,
    /// How much each delay depends on the one before it.
    pub delay_correlation: Chance,
    /// How jitter is spread.
    pub distribution: Distribution,
    /// Packets held at most, those on the delay line included.
    pub limit: u32,
    /// Which packets are lost.
    pub loss: Loss,
    /// Which packets are sent twice.
    pub duplicate: Correlated,
    /// Which packets have one bit flipped.
    pub corrupt: Correlated,
    /// Which packets skip the delay: every `gap`-th, with the probability.
    pub reorder: Correlated,
    /// 0: packets are reordered by jitter alone.
    pub gap: u32,
    /// How fast packets leave.
    pub rate: Option<Rate>,
    /// When packets may leave.
    pub slot: Option<Slot>,
    /// Mark packets that allow it (ECN) instead of losing them.
    pub ecn: bool,
    /// Seed of all draws. Kernels before 6.6 ignore it without a word: read back what they hold.
    /// `None`: the kernel draws a new one at each change.
    pub seed: Option<u64>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            delay: Duration::ZERO,
            jitter: Duration::ZERO,
            delay_correlation: Chance::NEVER,
            distribution: Distribution::Uniform,
            limit: DEFAULT_LIMIT,
            loss: Loss::default(),
            duplicate: Correlated::default(),
            corrupt: Correlated::default(),
            reorder: Correlated::default(),
            gap: 0,
            rate: None,
            slot: None,
            ecn: false,
            seed: None,
        }
    }
}

/// That of `tc`.
pub const DEFAULT_LIMIT: u32 = 1000;

/// A probability as the kernel holds it: in units of 1 / (2³² − 1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Chance(pub u32);

impl Chance {
    /// Zero.
    pub const NEVER: Self = Self(0);
    /// One.
    pub const ALWAYS: Self = Self(u32::MAX);

    /// The nearest that the kernel can hold, rounded as `tc` does; `None` outside of 0 … 1 and
    /// for NaN.
    pub fn from_fraction(fraction: f64) -> Option<Self> {
        let in_range = (0.0..=1.0).contains(&fraction);
        in_range.then(|| Self((fraction * f64::from(u32::MAX)).round_ties_even() as u32))
    }

    /// Between 0 and 1.
    pub fn as_fraction(self) -> f64 {
        f64::from(self.0) / f64::from(u32::MAX)
    }

    /// One minus this.
    pub const fn complement(self) -> Self {
        Self(u32::MAX - self.0)
    }
}

/// A probability, and how much each draw depends on the one before it. Correlation changes the rate
/// as well: with a quarter of correlation, a loss of 10 % loses less than 2 %. Bursts are better
/// described by [`Loss::GilbertElliott`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Correlated {
    /// How often.
    pub probability: Chance,
    /// How much a draw depends on the last.
    pub correlation: Chance,
}

impl Correlated {
    /// Each draw by itself.
    pub const fn of(probability: Chance) -> Self {
        Self { probability, correlation: Chance::NEVER }
    }
}

/// How jitter is spread around the delay.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Distribution {
    /// Evenly, from delay − jitter to delay + jitter.
    #[default]
    Uniform,
    /// 1 to 16,384 samples in units of jitter / 8192. The kernel never reports them back.
    Table(Vec<i16>),
}

/// The longest table of samples that the kernel takes.
pub const LONGEST_TABLE: usize = 16_384;

/// Which packets are lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// By chance.
    Random(Correlated),
    /// Two states, each with its own loss.
    GilbertElliott {
        /// From the good state to the bad one (p).
        to_bad: Chance,
        /// From the bad state to the good one (r).
        to_good: Chance,
        /// Loss in the bad state (1 − h).
        in_bad: Chance,
        /// Loss in the good state (1 − k).
        in_good: Chance,
    },
    /// Four states: 1 received in a gap, 2 received in a burst, 3 lost in a burst, 4 lost by itself
    /// in a gap.
    FourState {
        /// From 1 to 3.
        p13: Chance,
        /// From 3 to 1.
        p31: Chance,
        /// From 3 to 2.
        p32: Chance,
        /// From 1 to 4.
        p14: Chance,
        /// From 2 to 3.
        p23: Chance,
    },
}

impl Default for Loss {
    fn default() -> Self {
        Self::Random(Correlated::default())
    }
}

/// How fast packets leave, and what each counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    /// At least 1.
    pub bytes_per_second: u64,
    /// Bytes added to each packet, which counts with its Ethernet header. May be negative.
    pub packet_overhead: i32,
    /// Bytes that a cell carries; 0: no cells.
    pub cell_size: u32,
    /// Bytes added to each cell. May be negative.
    pub cell_overhead: i32,
}

/// Packets leave only in slots.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slot {
    /// The time from one slot to the next.
    pub spacing: Spacing,
    /// Packets that a slot lets through; 0: no limit.
    pub packets: u32,
    /// Bytes that a slot lets through; 0: no limit.
    pub bytes: u32,
}

/// The time from one slot to the next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Spacing {
    /// Drawn evenly between the two. Slots are off if both are zero.
    Between {
        /// Shortest.
        min: Duration,
        /// Longest.
        max: Duration,
    },
    /// Drawn from a table. Slots are off if the jitter is zero.
    Distributed {
        /// In the middle.
        delay: Duration,
        /// What the samples are multiples of.
        jitter: Duration,
        /// 1 to 16,384 samples in units of jitter / 8192; empty in what was read back, as the
        /// kernel never reports them.
        table: Vec<i16>,
    },
}

impl Options {
    /// What the kernel holds otherwise than asked, by the names of the fields. Tables are never
    /// reported, and a seed that was not asked for is the kernel's own: neither counts.
    pub fn differences(&self, held: &Options) -> Vec<&'static str> {
        let seed_as_asked = self.seed.is_none() || self.seed == held.seed;
        let fields = [
            ("delay", self.delay == held.delay),
            ("jitter", self.jitter == held.jitter),
            ("delay_correlation", self.delay_correlation == held.delay_correlation),
            ("limit", self.limit == held.limit),
            ("loss", self.loss == held.loss),
            ("duplicate", self.duplicate == held.duplicate),
            ("corrupt", self.corrupt == held.corrupt),
            ("reorder", self.reorder == held.reorder),
            ("gap", self.gap == held.gap),
            ("rate", self.rate == held.rate),
            ("slot", same_slot(self.slot.as_ref(), held.slot.as_ref())),
            ("ecn", self.ecn == held.ecn),
            ("seed", seed_as_asked),
        ];
        fields.into_iter().filter(|(_, same)| !same).map(|(name, _)| name).collect()
    }
}

/// The same but for tables.
fn same_slot(asked: Option<&Slot>, held: Option<&Slot>) -> bool {
    let without_table = |slot: &Slot| {
        let mut slot = slot.clone();
        if let Spacing::Distributed { table, .. } = &mut slot.spacing {
            table.clear();
        }
        slot
    };
    asked.map(without_table) == held.map(without_table)
}
