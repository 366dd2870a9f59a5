//! What a profile asks of the delay of one packet: its distribution in closed form, given a time
//! before which the packet cannot leave. Made from the profile's settings by netem's definitions,
//! and from nothing of the link's code but the tables that define three of the distributions.

use std::sync::{Arc, LazyLock};

use crate::link::profile::{Distribution, LinkProfile, Order, RateLimit};
use crate::link::quantiles;
use crate::units::nanos;

/// What one jitter is in a table.
const SCALE: f64 = 8192.0;

/// Nanoseconds of delay from which on a packet without any stands out.
const SHORTEST_TOLD: f64 = 1e6;

/// How a delay is drawn, in nanoseconds.
#[derive(Debug, Clone)]
pub struct DelayLaw {
    mean: f64,
    /// The unit of the spread.
    jitter: f64,
    spread: Arc<Spread>,
    rate: Option<RateLimit>,
    in_order: bool,
    /// What is expected of a packet that nothing holds up.
    free: Expected,
}

/// Of a packet's delay, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Expected {
    pub mean: f64,
    pub variance: f64,
    /// Of the squared deviation from the mean.
    pub square_variance: f64,
}

/// Why no formula holds for the delay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoLaw {
    Correlated,
    Slots,
    Bucket,
    Copies,
    Reordered,
    /// What goes ahead of a delay this small cannot be told from what does not.
    ShortDelay,
}

impl DelayLaw {
    pub fn of(profile: &LinkProfile) -> Result<Self, NoLaw> {
        let in_order = profile.rate.is_some() || profile.order == Order::Keep;
        if profile.slot.is_some() {
            return Err(NoLaw::Slots);
        }
        if profile.bucket.is_some() {
            return Err(NoLaw::Bucket);
        }
        if !profile.delay_correlation.is_never() && !profile.jitter.is_zero() {
            return Err(NoLaw::Correlated);
        }
        if !profile.duplicate.probability.is_never() {
            return Err(NoLaw::Copies);
        }
        if profile.reorder.is_some() && in_order {
            return Err(NoLaw::Reordered);
        }
        let law = Self::drawn(profile, in_order);
        if profile.reorder.is_some() && law.least() < SHORTEST_TOLD {
            return Err(NoLaw::ShortDelay);
        }
        Ok(law)
    }

    fn drawn(profile: &LinkProfile, in_order: bool) -> Self {
        // netem holds jitter in 31 bits.
        let jitter = nanos(profile.jitter).min(i32::MAX as u64);
        let free = Expected { mean: 0.0, variance: 0.0, square_variance: 0.0 };
        let mut law = Self {
            mean: nanos(profile.delay) as f64,
            jitter: jitter as f64,
            spread: Spread::of(&profile.distribution, jitter),
            rate: profile.rate,
            in_order,
            free,
        };
        law.free = law.from(0.0);
        law
    }

    /// Of a packet that comes while an earlier one is still to leave `waits` ns later (negative: it
    /// has left), and that takes `occupies` ns to be sent.
    #[inline]
    pub fn expect(&self, waits: f64, occupies: f64) -> Expected {
        // A packet due in the past leaves now.
        let floor = if self.in_order { waits.max(-occupies) } else { -occupies };
        let free = floor == 0.0 || floor <= self.least() && self.least() >= 0.0;
        let expected = if free { self.free } else { self.from(floor) };
        Expected { mean: expected.mean + occupies, ..expected }
    }

    /// Whether a packet certainly waits for the one before.
    #[inline]
    pub fn surely_waits(&self, waits: f64) -> bool {
        self.rate.is_some() && waits >= self.most().max(0.0)
    }

    /// Whether a packet of a constant delay leaves together with the earlier one that leaves `waits`
    /// ns from now, as far as a clock that may be off by `slack` can tell.
    #[inline]
    pub fn is_tie(&self, waits: f64, slack: f64) -> bool {
        self.jitter == 0.0 && (waits - self.mean).abs() <= slack
    }

    /// The probability to leave before the earlier packet that leaves `waits` ns from now.
    #[inline]
    pub fn overtakes(&self, waits: f64) -> f64 {
        if self.in_order || waits <= self.least() || waits <= 0.0 {
            return 0.0;
        }
        self.spread.share_below(self.in_jitters(waits))
    }

    /// Nanoseconds that the rate gives a packet of this length.
    #[inline]
    pub fn occupancy(&self, length: u32) -> u64 {
        self.rate.map_or(0, |rate| occupancy(&rate, length))
    }

    /// The least and the most that is drawn.
    pub fn least(&self) -> f64 {
        self.mean + self.jitter * self.spread.least
    }

    pub fn most(&self) -> f64 {
        self.mean + self.jitter * self.spread.most
    }

    /// Before jitter.
    pub fn mean(&self) -> f64 {
        self.mean
    }

    pub fn free(&self) -> Expected {
        self.free
    }

    /// Of the later of the draw and `floor`.
    fn from(&self, floor: f64) -> Expected {
        if self.jitter == 0.0 {
            return Expected { mean: self.mean.max(floor), variance: 0.0, square_variance: 0.0 };
        }
        let [mean, variance, fourth] = self.spread.moments_from(self.in_jitters(floor));
        let unit = self.jitter * self.jitter;
        Expected {
            mean: self.mean + self.jitter * mean,
            variance: unit * variance,
            square_variance: unit * unit * (fourth - variance * variance).max(0.0),
        }
    }

    fn in_jitters(&self, delay: f64) -> f64 {
        if self.jitter == 0.0 {
            return (delay - self.mean).signum() * f64::MAX;
        }
        (delay - self.mean) / self.jitter
    }
}

/// Length and overhead, filled up to whole cells, each with its own overhead, over the rate.
fn occupancy(limit: &RateLimit, length: u32) -> u64 {
    let payload = (i128::from(length) + i128::from(limit.packet_overhead)).max(0);
    let bytes = match limit.cell_size {
        0 => payload,
        size => {
            let cells = (payload + i128::from(size) - 1) / i128::from(size);
            cells * (i128::from(size) + i128::from(limit.cell_overhead))
        }
    };
    let ns = bytes.max(0) * 1_000_000_000 / i128::from(limit.rate.bytes_per_second());
    u64::try_from(ns).unwrap_or(u64::MAX)
}

/// A distribution by evenly likely samples, in units of the jitter and around the delay.
#[derive(Debug)]
struct Spread {
    sorted: Vec<f64>,
    /// For each place the sums of the samples from there on, of their squares, cubes and fourth
    /// powers.
    sums: Vec<[f64; 4]>,
    least: f64,
    most: f64,
}

impl Spread {
    fn of(distribution: &Distribution, jitter: u64) -> Arc<Self> {
        static BUILT_IN: LazyLock<[Arc<Spread>; 3]> = LazyLock::new(|| {
            [Distribution::Normal, Distribution::Pareto, Distribution::ParetoNormal]
                .map(|distribution| Arc::new(Spread::of_table(&distribution)))
        });
        match distribution {
            _ if jitter == 0 => Arc::new(Self::new(vec![0.0])),
            Distribution::Uniform => Arc::new(Self::uniform(jitter)),
            Distribution::Normal => BUILT_IN[0].clone(),
            Distribution::Pareto => BUILT_IN[1].clone(),
            Distribution::ParetoNormal => BUILT_IN[2].clone(),
            Distribution::Table(_) => Arc::new(Self::of_table(distribution)),
        }
    }

    fn of_table(distribution: &Distribution) -> Self {
        let table = quantiles(distribution).unwrap_or_default();
        Self::new(table.iter().map(|sample| f64::from(*sample) / SCALE).collect())
    }

    /// netem takes a 32-bit draw modulo twice the jitter, so that the low values, which the last
    /// turn still reaches, are a little likelier.
    fn uniform(jitter: u64) -> Self {
        const SAMPLES: u32 = 4096;
        let (draws, width) = (f64::from(u32::MAX) + 1.0, 2.0 * jitter as f64);
        let turns = (draws / width).floor();
        let rest = draws - turns * width;
        let sample = |place: u32| {
            let draw = (f64::from(place) + 0.5) / f64::from(SAMPLES) * draws;
            let low = rest * (turns + 1.0);
            let value = if draw < low { draw / (turns + 1.0) } else { rest + (draw - low) / turns };
            // Whole nanoseconds, rounded down.
            (value - 0.5) / jitter as f64 - 1.0
        };
        let mut uniform = Self::new((0..SAMPLES).map(sample).collect());
        (uniform.least, uniform.most) = (-1.0, 1.0);
        uniform
    }

    fn new(mut sorted: Vec<f64>) -> Self {
        sorted.sort_by(f64::total_cmp);
        let mut sums = vec![[0.0; 4]; sorted.len() + 1];
        for place in (0..sorted.len()).rev() {
            let (x, after) = (sorted[place], sums[place + 1]);
            let powers = [x, x * x, x * x * x, x * x * x * x];
            sums[place] = std::array::from_fn(|power| after[power] + powers[power]);
        }
        let (least, most) = (sorted.first().copied(), sorted.last().copied());
        Self { least: least.unwrap_or(0.0), most: most.unwrap_or(0.0), sorted, sums }
    }

    fn share_below(&self, limit: f64) -> f64 {
        self.sorted.partition_point(|sample| *sample < limit) as f64 / self.sorted.len() as f64
    }

    /// Mean, variance and fourth central moment of the later of a draw and `floor`.
    fn moments_from(&self, floor: f64) -> [f64; 3] {
        let below = self.sorted.partition_point(|sample| *sample < floor);
        if below == self.sorted.len() {
            return [floor, 0.0, 0.0];
        }
        let raised = if below == 0 { 0.0 } else { floor };
        let power = |exponent: usize| {
            let held_up = below as f64 * raised.powi(exponent as i32);
            (held_up + self.sums[below][exponent - 1]) / self.sorted.len() as f64
        };
        let [m1, m2, m3, m4] = [power(1), power(2), power(3), power(4)];
        let fourth = m4 - 4.0 * m1 * m3 + 6.0 * m1 * m1 * m2 - 3.0 * m1.powi(4);
        [m1, (m2 - m1 * m1).max(0.0), fourth.max(0.0)]
    }
}
