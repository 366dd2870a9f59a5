//! The random numbers of a link: L'Ecuyer's combined Tausworthe generator of period 2¹¹³ ("Tables
//! of maximally equidistributed combined LFSR generators", Mathematics of Computation 68, 1999),
//! which the kernel's netem and GSL's `taus113` use too. A link with the seed of a netem therefore
//! draws the same numbers.

use crate::units::Probability;

/// Not for secrets: every number follows from the seed.
#[derive(Debug, Clone)]
pub(super) struct Taus113 {
    components: [u32; 4],
}

/// The recurrence needs each component to be at least this.
const MINIMA: [u32; 4] = [2, 8, 16, 128];

impl Taus113 {
    /// Seeds as the kernel's `prandom_seed_state` does: 64 bits folded into 32, all four components
    /// alike, no numbers thrown away.
    pub fn new(seed: u64) -> Self {
        let folded = ((seed >> 32) ^ (seed << 10) ^ seed) as u32;
        Self::from_components([folded; 4])
    }

    fn from_components(mut components: [u32; 4]) -> Self {
        for (component, minimum) in components.iter_mut().zip(MINIMA) {
            if *component < minimum {
                *component += minimum;
            }
        }
        Self { components }
    }

    #[inline]
    pub fn draw(&mut self) -> u32 {
        let [a, b, c, d] = self.components;
        self.components = [
            ((a & !1) << 18) ^ (((a << 6) ^ a) >> 13),
            ((b & !7) << 2) ^ (((b << 2) ^ b) >> 27),
            ((c & !15) << 7) ^ (((c << 13) ^ c) >> 21),
            ((d & !127) << 13) ^ (((d << 3) ^ d) >> 12),
        ];
        self.components.iter().fold(0, |all, component| all ^ component)
    }

    /// Evenly from 0 to `bound` − 1, by multiplication (Lemire 2019), without the rejection that
    /// would make the number of draws depend on their values: off by at most `bound` / 2³².
    pub fn below(&mut self, bound: u32) -> u32 {
        ((u64::from(self.draw()) * u64::from(bound)) >> 32) as u32
    }
}

/// The generators of one link.
///
/// netem's seed governs loss, duplication, reordering and delay, and whether a packet is corrupted.
/// What netem takes from the kernel's own entropy instead (where a bit flips, what the first
/// correlated draw leans on) comes from a second generator here: so a link is reproducible to the
/// last bit and still meets netem draw for draw. Slots are drawn from tables on either side, and so
/// by the seed: netem's other way to space them would draw from the kernel's entropy.
#[derive(Debug, Clone)]
pub(super) struct Random {
    pub seeded: Taus113,
    pub entropy: Taus113,
}

impl Random {
    pub fn new(seed: u64) -> Self {
        // Any odd number gives another stream; this one is 2⁶⁴ / φ.
        const APART: u64 = 0x9e37_79b9_7f4a_7c15;
        Self { seeded: Taus113::new(seed), entropy: Taus113::new(seed.wrapping_mul(APART) ^ APART) }
    }
}

/// Draws that lean on the draw before them.
#[derive(Debug, Clone)]
pub(super) struct Correlation {
    /// The weight of the last draw, of 2³².
    rho: u32,
    last: u32,
}

impl Correlation {
    pub fn new(correlation: Probability, random: &mut Random) -> Self {
        Self { rho: correlation.as_u32(), last: random.entropy.draw() }
    }

    /// What the next draw depends on.
    pub fn lean_on(&mut self, last: u32) {
        self.last = last;
    }

    #[inline]
    pub fn draw(&mut self, seeded: &mut Taus113) -> u32 {
        let fresh = seeded.draw();
        if self.rho == 0 {
            return fresh;
        }
        let weight = u64::from(self.rho) + 1;
        let mixed = u64::from(fresh) * ((1 << 32) - weight) + u64::from(self.last) * weight;
        self.last = (mixed >> 32) as u32;
        self.last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// GSL's seeding of `taus113`: a linear congruential generator, then ten numbers thrown away.
    fn seeded_as_gsl(seed: u32) -> Taus113 {
        let mut components = [0; 4];
        let mut last = if seed == 0 { 1 } else { seed };
        for (component, minimum) in components.iter_mut().zip(MINIMA) {
            last = last.wrapping_mul(69069);
            if last < minimum {
                last += minimum;
            }
            *component = last;
        }
        let mut generator = Taus113::from_components(components);
        for _ in 0..10 {
            generator.draw();
        }
        generator
    }

    fn nth(mut generator: Taus113, n: u32) -> u32 {
        for _ in 1..n {
            generator.draw();
        }
        generator.draw()
    }

    #[test]
    fn draws_what_gsl_draws() {
        assert_eq!(nth(seeded_as_gsl(1), 1_000), 1_925_420_673);
        let published = [
            (1, 1, 3_484_351_685),
            (2, 1, 2_623_130_059),
            (3, 1, 3_125_133_893),
            (4, 1, 984_847_254),
            (931_557_656, 959, 2_975_593_782),
            (1_339_693_295, 876, 3_887_776_532),
            (47_485_338, 558, 3_521_120_834),
            (407_983_964, 921, 728_767_059),
        ];
        for (seed, n, number) in published {
            assert_eq!(nth(seeded_as_gsl(seed), n), number, "number {n} of seed {seed}");
        }
    }

    #[test]
    fn both_halves_of_the_seed_matter() {
        let first = |seed| Taus113::new(seed).draw();
        assert_ne!(first(1), first((2 << 32) | 1));
        assert_ne!(first(1), first(2));
    }

    #[test]
    fn a_seed_of_zero_is_lifted_to_the_minima() {
        assert_eq!(Taus113::new(0).components, MINIMA);
    }

    #[test]
    fn no_correlation_is_the_raw_draw() {
        let mut random = Random::new(7);
        let mut raw = random.seeded.clone();
        let mut correlation = Correlation::new(Probability::NEVER, &mut random);
        for _ in 0..100 {
            assert_eq!(correlation.draw(&mut random.seeded), raw.draw());
        }
    }

    #[test]
    fn full_correlation_repeats_the_first_draw() {
        let mut random = Random::new(7);
        let mut correlation = Correlation::new(Probability::ALWAYS, &mut random);
        let first = correlation.draw(&mut random.seeded);
        for _ in 0..100 {
            assert_eq!(correlation.draw(&mut random.seeded), first);
        }
    }

    /// x' = (1 − ρ)·u + ρ·x keeps the mean and shrinks the variance by (1 − ρ) / (1 + ρ).
    #[test]
    fn correlation_keeps_the_mean_and_shrinks_the_variance() {
        let (n, rho) = (200_000, 0.25);
        let mut random = Random::new(11);
        let probability = Probability::new(rho).expect("between 0 and 1");
        let mut correlation = Correlation::new(probability, &mut random);
        let mut draw = || f64::from(correlation.draw(&mut random.seeded)) / 2f64.powi(32);
        let draws: Vec<f64> = (0..n).map(|_| draw()).collect();
        let mean = draws.iter().sum::<f64>() / f64::from(n);
        let variance = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / f64::from(n);
        assert!((mean - 0.5).abs() < 0.005, "{mean}");
        assert!((variance * 12.0 - (1.0 - rho) / (1.0 + rho)).abs() < 0.01, "{variance}");
    }
}
