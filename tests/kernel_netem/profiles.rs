//! The links that are tried: every setting of netem alone, and many at once, drawn at random from
//! one seed.

use std::sync::Arc;
use std::time::Duration;

use impairlab::link::profile::{
    Correlated, Distribution, LinkProfile, Loss, Order, RateLimit, Reorder, Slot, SlotSpacing,
    TokenBucket,
};
use impairlab::splitmix::SplitMix64;
use impairlab::units::{Probability, Rate};

use crate::traffic::CLOCK_STEP;

pub struct Case {
    pub kind: &'static str,
    pub first: LinkProfile,
    /// From the middle of the frames on.
    pub second: Option<LinkProfile>,
    pub seeds: [u64; 2],
    pub mean_gap: Duration,
    /// Every so many frames one is sent together with the one before, on average.
    pub together: u64,
    /// Frames are sent at multiples of this.
    pub grid: Duration,
    /// The effect whose draws are correlated: they begin with a number that only the kernel knows.
    pub correlated: Option<Effect>,
    /// How much later than a first guess the last frame may leave.
    pub longest_guess: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    Loss,
    Duplicate,
    Corrupt,
    Reorder,
    Delay,
}

/// Draws of a kind of link.
type Kind = (&'static str, fn(&mut Dice) -> Case);

/// Those that have the most to vary come several times in each round.
const KINDS: &[Kind] = &[
    ("random loss", |d| d.plain(|d, p| p.loss = d.random_loss())),
    ("Gilbert-Elliott loss", |d| d.plain(|d, p| p.loss = d.gilbert_elliott())),
    ("4-state loss", |d| d.plain(|d, p| p.loss = d.four_state())),
    ("loss marked by ECN", |d| d.plain(|d, p| (p.ecn, p.loss) = (true, d.loss()))),
    ("duplicate", |d| d.plain(|d, p| p.duplicate = d.chance())),
    ("corrupt", |d| d.plain(|d, p| p.corrupt = d.chance())),
    ("uniform jitter", |d| d.plain(|d, p| p.jitter = d.micros(20_000))),
    ("table of jitter", |d| d.plain(|d, p| d.tabled_jitter(p))),
    ("order kept", |d| d.plain(|d, p| (p.order, p.jitter) = (Order::Keep, d.micros(50_000)))),
    ("reorder and gap", |d| d.plain(|d, p| p.reorder = Some(d.reorder()))),
    ("rate", |d| d.plain(|d, p| p.rate = Some(d.rate()))),
    ("rate with cells", |d| d.plain(|d, p| p.rate = Some(d.rate_with_cells()))),
    ("limit", |d| d.plain(|d, p| p.limit = 1 + d.below(20) as u32)),
    ("token bucket", |d| d.plain(|d, p| p.bucket = Some(d.bucket()))),
    ("token bucket, full queue", |d| d.slotted(|d, p| p.bucket = Some(d.small_bucket()))),
    ("slots of one length", |d| d.slotted(|d, p| p.slot = Some(d.slot_of_one_length()))),
    ("slots from a table", |d| d.slotted(|d, p| p.slot = Some(d.slot_from_table()))),
    ("slots evenly spread", |d| d.slotted(|d, p| p.slot = Some(d.slot_evenly_spread()))),
    ("correlated loss", |d| d.correlated(Effect::Loss)),
    ("correlated duplicate", |d| d.correlated(Effect::Duplicate)),
    ("correlated corrupt", |d| d.correlated(Effect::Corrupt)),
    ("correlated reorder", |d| d.correlated(Effect::Reorder)),
    ("correlated delay", |d| d.correlated(Effect::Delay)),
    ("all at once", |d| d.plain(Dice::all)),
    ("all at once", |d| d.plain(Dice::all)),
    ("all at once", |d| d.plain(Dice::all)),
    ("all at once", |d| d.plain(Dice::all)),
    ("all at once, slots", |d| d.slotted(Dice::all_with_slots)),
    ("all at once, slots", |d| d.slotted(Dice::all_with_slots)),
    ("changed midway", |d| d.changed(Dice::plain, Dice::all)),
    ("changed midway", |d| d.changed(Dice::plain, Dice::all)),
    ("changed midway, bucket", |d| d.changed(Dice::slotted, Dice::perhaps_bucket)),
    ("changed midway, slots", |d| d.changed(Dice::slotted, Dice::all_with_slots)),
];

const ROUNDS: u64 = 7;

/// All of them, in an order that never changes.
pub fn cases() -> impl Iterator<Item = Case> {
    let kinds = KINDS.iter().enumerate();
    (0..ROUNDS).flat_map(move |round| {
        kinds.clone().map(move |(index, (kind, draw))| {
            let mut dice = Dice(SplitMix64::new(1_000 * round + index as u64));
            Case { kind, ..draw(&mut dice) }
        })
    })
}

struct Dice(SplitMix64);

/// What slots and delays are multiples of where there are slots, which open relative to one
/// another: so a timer that is late by a step of the clock decides nothing.
const SLOT_GRID: Duration = Duration::from_nanos(1 << 16);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0.next() % bound
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    fn nanos(&mut self, most: u64) -> Duration {
        Duration::from_nanos(1 + self.below(most))
    }

    fn micros(&mut self, most: u64) -> Duration {
        self.nanos(1_000 * most)
    }

    fn on_slot_grid(&mut self, most: u32) -> Duration {
        SLOT_GRID * (1 + self.below(most.into()) as u32)
    }

    fn probability(&mut self) -> Probability {
        let most = [0.01, 0.1, 0.5, 1.0][self.below(4) as usize];
        Probability::new(most * self.0.unit()).expect("between 0 and 1")
    }

    /// A delay and little else.
    fn plain(&mut self, add: impl FnOnce(&mut Self, &mut LinkProfile)) -> Case {
        let delay = self.micros(60_000);
        let mut first = LinkProfile { delay, limit: 10_000, ..LinkProfile::default() };
        add(self, &mut first);
        self.case(first, CLOCK_STEP)
    }

    /// The same on a coarse grid.
    fn slotted(&mut self, add: impl FnOnce(&mut Self, &mut LinkProfile)) -> Case {
        let delay = self.on_slot_grid(600);
        let mut first = LinkProfile { delay, limit: 10_000, ..LinkProfile::default() };
        add(self, &mut first);
        self.case(first, SLOT_GRID)
    }

    fn case(&mut self, first: LinkProfile, grid: Duration) -> Case {
        let seeds = [self.0.next(), self.0.next()];
        let mean_gap = self.micros(3_000) + Duration::from_micros(200);
        let together = 2 + self.below(14);
        Case {
            kind: "",
            first,
            second: None,
            seeds,
            mean_gap,
            together,
            grid,
            correlated: None,
            longest_guess: Duration::ZERO,
        }
    }

    fn changed(
        &mut self,
        on_grid: impl Fn(&mut Self, fn(&mut Self, &mut LinkProfile)) -> Case,
        add: fn(&mut Self, &mut LinkProfile),
    ) -> Case {
        let second = on_grid(self, add).first;
        Case { second: Some(second), ..on_grid(self, add) }
    }

    /// One effect, so that the number its draws begin with can be told from what they do.
    fn correlated(&mut self, effect: Effect) -> Case {
        let correlation = Probability::new(0.01 + 0.9 * self.0.unit()).expect("between 0 and 1");
        let probability = Probability::new(0.2 + 0.6 * self.0.unit()).expect("between 0 and 1");
        let chance = Correlated { probability, correlation };
        let mut case = self.plain(|d, p| match effect {
            Effect::Loss => p.loss = Loss::Random(chance),
            Effect::Duplicate => p.duplicate = chance,
            Effect::Corrupt => p.corrupt = chance,
            Effect::Reorder => {
                let gap = 1 + d.below(5) as u32;
                p.reorder = Some(Reorder { probability, correlation, gap });
            }
            Effect::Delay => {
                // Twice this is a whole turn of 32 bits: the longer the delay, the larger the draw.
                p.jitter = Duration::from_nanos(i32::MAX as u64);
                p.delay = p.jitter;
                p.delay_correlation = correlation;
            }
        });
        case.correlated = Some(effect);
        case.longest_guess = Duration::from_secs(5);
        case
    }

    fn chance(&mut self) -> Correlated {
        Correlated { probability: self.probability(), correlation: Probability::NEVER }
    }

    fn random_loss(&mut self) -> Loss {
        Loss::Random(self.chance())
    }

    fn gilbert_elliott(&mut self) -> Loss {
        Loss::GilbertElliott {
            p: self.probability(),
            r: self.probability(),
            one_minus_h: self.probability(),
            one_minus_k: self.probability(),
        }
    }

    /// One in four at the point where two probabilities add up to one.
    fn four_state(&mut self) -> Loss {
        let (p14, p32, p23) = (self.probability(), self.probability(), self.probability());
        let rest = |p: Probability| Probability::new(1.0 - p.as_f64()).expect("at most 1");
        let half = |p: Probability| Probability::new(p.as_f64() / 2.0).expect("at most 1");
        match self.one_in(4) {
            true => Loss::FourState { p13: rest(p14), p31: rest(p32), p32, p23, p14 },
            false => {
                let (p13, p31) = (half(rest(p14)), half(rest(p32)));
                Loss::FourState { p13, p31, p32, p23, p14 }
            }
        }
    }

    fn loss(&mut self) -> Loss {
        match self.below(4) {
            0 => Loss::None,
            1 => self.random_loss(),
            2 => self.gilbert_elliott(),
            _ => self.four_state(),
        }
    }

    fn tabled_jitter(&mut self, profile: &mut LinkProfile) {
        profile.jitter = self.micros(20_000);
        profile.distribution = match self.below(4) {
            0 => Distribution::Normal,
            1 => Distribution::Pareto,
            2 => Distribution::ParetoNormal,
            _ => self.table(1),
        };
    }

    /// Up to 300 samples, each a multiple of `unit`.
    fn table(&mut self, unit: i16) -> Distribution {
        let samples = 1 + self.below(300);
        let spread = (u64::from(u16::MAX) / unit.unsigned_abs() as u64) / 4;
        let sample = |d: &mut Self| (d.below(2 * spread) as i64 - spread as i64) as i16 * unit;
        Distribution::Table((0..samples).map(|_| sample(self)).collect::<Arc<[i16]>>())
    }

    fn reorder(&mut self) -> Reorder {
        Reorder {
            probability: self.probability(),
            correlation: Probability::NEVER,
            gap: 1 + self.below(8) as u32,
        }
    }

    fn rate(&mut self) -> RateLimit {
        let bits = 1_000_000 + self.below(40_000_000);
        let rate = Rate::from_bits_per_second(bits).expect("not zero");
        RateLimit { rate, packet_overhead: 0, cell_size: 0, cell_overhead: 0 }
    }

    fn rate_with_cells(&mut self) -> RateLimit {
        RateLimit {
            packet_overhead: self.below(60) as i32 - 30,
            cell_size: 1 + self.below(200) as u32,
            cell_overhead: self.below(20) as i32 - 1,
            ..self.rate()
        }
    }

    /// Any rate, and room for all.
    fn bucket(&mut self) -> TokenBucket {
        let burst = 1_514 + self.below(20_000) as u32;
        TokenBucket { rate: self.rate().rate, burst, queue: 100_000_000 }
    }

    /// A byte takes a whole number of steps of the clock, so that a timer that is late by one
    /// decides nothing about what finds the queue full.
    fn small_bucket(&mut self) -> TokenBucket {
        let bytes_per_second = [3_906_250, 1_953_125][self.below(2) as usize];
        let rate = Rate::from_bits_per_second(8 * bytes_per_second).expect("not zero");
        let (burst, queue) = (1_514 + self.below(3_000), 1_514 + self.below(8_000));
        TokenBucket { rate, burst: burst as u32, queue: queue as u32 }
    }

    fn perhaps_bucket(&mut self, profile: &mut LinkProfile) {
        self.fates(profile);
        let bucket = self.small_bucket();
        profile.bucket = (!self.one_in(3)).then_some(bucket);
    }

    /// Where delays are many: any of them, and any others beside.
    fn all(&mut self, profile: &mut LinkProfile) {
        if self.one_in(2) {
            self.tabled_jitter(profile);
        } else {
            profile.jitter = self.micros(30_000);
        }
        self.fates(profile);
        let (rate, order) = (self.rate_with_cells(), self.one_in(4));
        profile.rate = self.one_in(3).then_some(rate);
        profile.order = if order { Order::Keep } else { Order::ByTime };
    }

    fn fates(&mut self, profile: &mut LinkProfile) {
        profile.loss = self.loss();
        profile.duplicate = self.chance();
        profile.corrupt = self.chance();
        profile.ecn = self.one_in(2);
        let (reorder, limit) = (self.reorder(), 1 + self.below(100) as u32);
        profile.reorder = self.one_in(3).then_some(reorder);
        profile.limit = if self.one_in(2) { limit } else { profile.limit };
    }

    fn all_with_slots(&mut self, profile: &mut LinkProfile) {
        self.fates(profile);
        // Jitter in whole multiples of the grid.
        profile.jitter = 128 * SLOT_GRID;
        profile.distribution = self.table(64);
        profile.slot = match self.below(3) {
            0 => None,
            1 => Some(self.slot_of_one_length()),
            _ => Some(self.slot_from_table()),
        };
    }

    fn slot(&mut self, spacing: SlotSpacing) -> Slot {
        let (packets, bytes) = (1 + self.below(20) as u32, 1_000 + self.below(20_000) as u32);
        Slot {
            spacing,
            packets: if self.one_in(3) { 0 } else { packets },
            bytes: if self.one_in(2) { 0 } else { bytes },
        }
    }

    fn slot_of_one_length(&mut self) -> Slot {
        let delay = self.on_slot_grid(150);
        let distribution = Distribution::Normal;
        let jitter = Duration::ZERO;
        self.slot(SlotSpacing::Distributed { delay, jitter, distribution })
    }

    fn slot_from_table(&mut self) -> Slot {
        let (delay, distribution) = (self.on_slot_grid(150), self.table(64));
        let jitter = 128 * SLOT_GRID;
        self.slot(SlotSpacing::Distributed { delay, jitter, distribution })
    }

    /// Steps of 8,192 to half the width are multiples of the clock's.
    fn slot_evenly_spread(&mut self) -> Slot {
        let half = CLOCK_STEP * 8_192 * (1 + self.below(4) as u32);
        let min = self.on_slot_grid(50);
        self.slot(SlotSpacing::Between { min, max: min + 2 * half })
    }
}
