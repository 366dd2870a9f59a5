//! What a loss model asks for, by the algebra of its Markov chain: the share lost and the mean
//! length of a run of losses, how much the counts of so many packets scatter, and how unlikely a
//! count is. Exact for the packets there are, from the state a link begins in; nothing of it
//! assumes that packets are independent or many.

mod matrix;

use matrix::{Jet, Matrix};

use crate::link::profile::{Correlated, LinkProfile, Loss};
use crate::units::Probability;

/// A hidden chain that loses packets as it moves. Its states are doubled by whether the packet
/// before was lost, so that runs can be counted too.
#[derive(Debug, Clone)]
pub struct LossChain {
    states: usize,
    /// From state × was lost, to state × is lost.
    steps: Matrix,
}

/// What is added up over the packets: so much for each, for each that is lost, and for each that is
/// the first of a run of losses.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Count {
    pub each: f64,
    pub lost: f64,
    pub first: f64,
}

impl Count {
    pub const LOST: Count = Count { each: 0.0, lost: 1.0, first: 0.0 };
    pub const RUNS: Count = Count { each: 0.0, lost: 0.0, first: 1.0 };
}

/// Packets, and how many times the chain began anew among them (as equally often as can be).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packets {
    pub count: u64,
    pub spells: u64,
}

/// Why no formula holds for the losses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoChain {
    Correlated,
    Copies,
}

impl LossChain {
    pub fn of(profile: &LinkProfile) -> Result<Self, NoChain> {
        let copied = profile.duplicate.probability;
        if !copied.is_never() && depends(&profile.duplicate) {
            return Err(NoChain::Correlated);
        }
        match profile.loss {
            Loss::None => Ok(Self::independent(0.0)),
            Loss::Random(chance) if depends(&chance) => Err(NoChain::Correlated),
            // A packet both lost and duplicated goes on alone.
            Loss::Random(chance) => {
                Ok(Self::independent(happens(chance.probability) * (1.0 - happens(copied))))
            }
            _ if !copied.is_never() => Err(NoChain::Copies),
            Loss::GilbertElliott { p, r, one_minus_h, one_minus_k } => {
                Ok(Self::gilbert_elliott([p, r, one_minus_h, one_minus_k].map(Probability::as_f64)))
            }
            Loss::FourState { p13, p31, p32, p23, p14 } => {
                Ok(Self::four_state([p13, p31, p32, p23, p14].map(Probability::as_f64)))
            }
        }
    }

    pub fn independent(probability: f64) -> Self {
        let mut chain = Self::still(1);
        chain.step(0, 0, 1.0 - probability, false);
        chain.step(0, 0, probability, true);
        chain
    }

    /// A packet is lost by the state it finds.
    fn gilbert_elliott([p, r, in_bad, in_good]: [f64; 4]) -> Self {
        let mut chain = Self::still(2);
        for (state, [stay, leave], loss) in [(0, [1.0 - p, p], in_good), (1, [1.0 - r, r], in_bad)]
        {
            for (to, moves) in [(state, stay), (1 - state, leave)] {
                chain.step(state, to, moves * loss, true);
                chain.step(state, to, moves * (1.0 - loss), false);
            }
        }
        chain
    }

    /// A packet is lost by the state it moves to.
    fn four_state([p13, p31, p32, p23, p14]: [f64; 5]) -> Self {
        let [gap, burst, burst_loss, isolated] = [0, 1, 2, 3];
        let mut chain = Self::still(4);
        let p13 = p13.min(1.0 - p14);
        let p31 = p31.min(1.0 - p32);
        chain.step(gap, isolated, p14, true);
        chain.step(gap, burst_loss, p13, true);
        chain.step(gap, gap, 1.0 - p13 - p14, false);
        chain.step(burst, burst_loss, p23, true);
        chain.step(burst, burst, 1.0 - p23, false);
        chain.step(burst_loss, burst, p32, false);
        chain.step(burst_loss, gap, p31, false);
        chain.step(burst_loss, burst_loss, 1.0 - p31 - p32, true);
        chain.step(isolated, gap, 1.0, false);
        chain
    }

    fn still(states: usize) -> Self {
        Self { states, steps: Matrix::zero(2 * states) }
    }

    fn step(&mut self, from: usize, to: usize, probability: f64, lost: bool) {
        for was_lost in [0, 1] {
            let place = self.steps.at(2 * from + was_lost, 2 * to + usize::from(lost));
            self.steps.values[place] += probability.max(0.0);
        }
    }

    /// In the long run: the share lost, and the mean length of a run of losses (`None`: there is
    /// none).
    pub fn long_run(&self) -> (f64, Option<f64>) {
        let stays = self.equilibrium();
        let lost: f64 = stays.iter().skip(1).step_by(2).sum();
        let runs: f64 = (0..stays.len())
            .step_by(2)
            .map(|from| {
                let to_lost = (1..stays.len()).step_by(2);
                let share: f64 = to_lost.map(|to| self.steps.values[self.steps.at(from, to)]).sum();
                stays[from] * share
            })
            .sum();
        (lost, (runs > 0.0).then(|| lost / runs))
    }

    /// The share of packets after which the doubled chain is in each of its states.
    fn equilibrium(&self) -> Vec<f64> {
        const DOUBLINGS: usize = 60;
        let mut power = self.steps.clone();
        for _ in 0..DOUBLINGS {
            power = power.times(&power);
            power.make_rows_whole();
        }
        let row = power.after(&self.begin());
        // A chain may go to and fro for ever.
        let next = self.steps.after(&row);
        row.iter().zip(next).map(|(one, other)| (one + other) / 2.0).collect()
    }

    /// Mean and variance of a count.
    pub fn moments(&self, count: Count, packets: Packets) -> (f64, f64) {
        let of_each = packets.spells().map(|(length, spells)| {
            let (mean, variance) = self.moments_of_one(count, length);
            (spells as f64 * mean, spells as f64 * variance)
        });
        let [(mean, variance), (more_mean, more_variance)] = of_each;
        (mean + more_mean, variance + more_variance)
    }

    /// Of a single spell of so many packets.
    fn moments_of_one(&self, count: Count, length: u64) -> (f64, f64) {
        let mut power = Jet::of(self, count);
        let mut row = [self.begin(), self.nothing(), self.nothing()];
        for_bits(length, |set| {
            if set {
                row = power.after(&row);
            }
            power = power.squared();
        });
        let [_, first, second] = row.map(|row| row.iter().sum::<f64>());
        (first, (second - first * first).max(0.0))
    }

    /// The logarithm of a bound on the probability of a count this large (or, if it is below what
    /// is expected, this small): Chernoff's, over every exponent. Zero if it is nothing unusual.
    pub fn surprise(&self, count: Count, packets: Packets, found: f64) -> f64 {
        let (mean, variance) = self.moments(count, packets);
        if packets.count == 0 || found == mean {
            return 0.0;
        }
        if self.is_independent() && count == Count::LOST {
            return binomial_surprise(mean, packets.count as f64, found);
        }
        let side = (found - mean).signum();
        let exponent = |size: f64| {
            let theta = side * size;
            self.log_generating(count, packets, theta) - theta * found
        };
        let guess = ((found - mean).abs() / variance.max(1e-9)).clamp(1e-9, 1.0);
        least(exponent, guess).min(0.0)
    }

    /// ln E[exp(θ · count)].
    fn log_generating(&self, count: Count, packets: Packets, theta: f64) -> f64 {
        let of_each = packets.spells().map(|(length, spells)| {
            let log =
                if spells > 0 { self.log_generating_of_one(count, length, theta) } else { 0.0 };
            spells as f64 * log
        });
        of_each.iter().sum()
    }

    fn log_generating_of_one(&self, count: Count, length: u64, theta: f64) -> f64 {
        let mut power = self.tilted(count, theta);
        let mut scale = power.normalise();
        let (mut row, mut log) = (self.begin(), 0.0);
        for_bits(length, |set| {
            if set {
                row = power.after(&row);
                let sum = row.iter().sum::<f64>().max(f64::MIN_POSITIVE);
                row.iter_mut().for_each(|value| *value /= sum);
                log += scale + sum.ln();
            }
            power = power.times(&power);
            scale = 2.0 * scale + power.normalise();
        });
        log
    }

    fn tilted(&self, count: Count, theta: f64) -> Matrix {
        self.steps.map(|from, to, value| {
            // Beyond it a float has no room.
            value * (theta * count.of(from, to)).clamp(-600.0, 600.0).exp()
        })
    }

    /// Each packet is lost or not, whatever became of the others.
    pub fn is_independent(&self) -> bool {
        self.states == 1
    }

    /// The good state, nothing lost before.
    fn begin(&self) -> Vec<f64> {
        let mut row = self.nothing();
        row[0] = 1.0;
        row
    }

    fn nothing(&self) -> Vec<f64> {
        vec![0.0; 2 * self.states]
    }
}

impl Packets {
    /// How long spells are taken to be and how many there are of that length: as equal as can be,
    /// and all packets together.
    fn spells(self) -> [(u64, u64); 2] {
        let spells = self.spells.clamp(1, self.count.max(1));
        let (length, longer) = (self.count / spells, self.count % spells);
        [(length, spells - longer), (length + 1, longer)]
    }
}

impl Count {
    /// What a step of the doubled chain adds.
    fn of(self, from: usize, to: usize) -> f64 {
        let (was_lost, is_lost) = (from % 2 == 1, to % 2 == 1);
        let lost = if is_lost { self.lost } else { 0.0 };
        let first = if is_lost && !was_lost { self.first } else { 0.0 };
        self.each + lost + first
    }
}

/// Chernoff's bound for independent packets: −n times the divergence of the share found from the
/// one expected.
fn binomial_surprise(mean: f64, all: f64, found: f64) -> f64 {
    let part = |found: f64, expected: f64| match found {
        0.0 => 0.0,
        _ if expected <= 0.0 => f64::INFINITY,
        _ => found * (found / expected).ln(),
    };
    -(part(found, mean) + part((all - found).max(0.0), all - mean))
}

/// Whether draws lean on one another.
pub fn depends(chance: &Correlated) -> bool {
    !chance.correlation.is_never() && !chance.probability.is_never()
}

/// As netem draws it: when a 32-bit number is not above the threshold, and never for zero.
pub fn happens(probability: Probability) -> f64 {
    if probability.is_never() {
        return 0.0;
    }
    (f64::from(probability.as_u32()) + 1.0) / (f64::from(u32::MAX) + 1.0)
}

/// From the lowest bit up.
fn for_bits(number: u64, mut with: impl FnMut(bool)) {
    for bit in 0..u64::BITS - number.leading_zeros() {
        with(number >> bit & 1 == 1);
    }
}

/// The least value of a convex function of a positive number.
fn least(function: impl Fn(f64) -> f64, guess: f64) -> f64 {
    const LARGEST: f64 = 300.0;
    const STEPS: usize = 40;
    let (mut low, mut high) = (0.0, guess);
    while high < LARGEST && function(2.0 * high) < function(high) {
        (low, high) = (high, 2.0 * high);
    }
    high *= 2.0;
    for _ in 0..STEPS {
        let third = (high - low) / 3.0;
        if function(low + third) < function(high - third) {
            high -= third;
        } else {
            low += third;
        }
    }
    function((low + high) / 2.0)
}

#[cfg(test)]
mod tests;
