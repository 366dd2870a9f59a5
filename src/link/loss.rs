//! The loss models: independent or correlated, Gilbert-Elliott, and netem's four states (Salsano,
//! Ludovici, Ordine: "Definition of a general and intuitive loss model for packet networks", 2009).
//! A new model is a variant here and one in the profile.
//!
//! Correlation is no way to model bursts: it narrows the draws around their mean, so that few of
//! them reach a low threshold (10 % at a correlation of 25 % loses about 1.8 %). Gilbert-Elliott
//! keeps the rate it is given.

use super::chance::Chance;
use super::profile;
use super::rng::{Random, Taus113};
use crate::units::Probability;

#[derive(Debug, Clone)]
pub(super) enum Loss {
    None,
    Random(Chance),
    GilbertElliott(GilbertElliott),
    FourState(FourState),
}

impl Loss {
    pub fn new(settings: &profile::Loss, random: &mut Random) -> Self {
        match *settings {
            profile::Loss::None => Loss::None,
            profile::Loss::Random(chance) => Loss::Random(Chance::new(chance, random)),
            profile::Loss::GilbertElliott { p, r, one_minus_h, one_minus_k } => {
                Loss::GilbertElliott(GilbertElliott::new(p, r, one_minus_h, one_minus_k))
            }
            profile::Loss::FourState { p13, p31, p32, p23, p14 } => {
                Loss::FourState(FourState::new([p13, p31, p32, p23, p14]))
            }
        }
    }

    pub fn lean_on(&mut self, last: u32) {
        if let Loss::Random(chance) = self {
            chance.lean_on(last);
        }
    }

    #[inline]
    pub fn strikes(&mut self, seeded: &mut Taus113) -> bool {
        match self {
            Loss::None => false,
            Loss::Random(chance) => chance.happens(seeded),
            Loss::GilbertElliott(model) => model.strikes(seeded),
            Loss::FourState(model) => model.strikes(seeded.draw()),
        }
    }
}

/// Two draws a packet: one moves the state, the other loses by the state the packet found.
#[derive(Debug, Clone)]
pub(super) struct GilbertElliott {
    bad: bool,
    p: u32,
    r: u32,
    h: u32,
    one_minus_k: u32,
}

impl GilbertElliott {
    fn new(
        p: Probability,
        r: Probability,
        one_minus_h: Probability,
        one_minus_k: Probability,
    ) -> Self {
        Self {
            bad: false,
            p: p.as_u32(),
            r: r.as_u32(),
            h: u32::MAX - one_minus_h.as_u32(),
            one_minus_k: one_minus_k.as_u32(),
        }
    }

    fn strikes(&mut self, seeded: &mut Taus113) -> bool {
        let (transition, fate) = (seeded.draw(), seeded.draw());
        if self.bad {
            self.bad = transition >= self.r;
            fate > self.h
        } else {
            self.bad = transition < self.p;
            fate < self.one_minus_k
        }
    }
}

#[derive(Debug, Clone)]
pub(super) struct FourState {
    state: State,
    p14: u32,
    /// p14 + p13. The kernel would let a sum of one wrap to zero; it is never given any.
    p14_or_p13: u32,
    p23: u32,
    p32: u32,
    p32_or_p31: u32,
}

#[derive(Debug, Clone, Copy)]
enum State {
    /// 1: packets arrive, in a gap between bursts.
    Gap,
    /// 2: packets arrive, within a burst.
    Burst,
    /// 3: packets are lost, within a burst.
    BurstLoss,
    /// 4: one packet is lost, in a gap.
    IsolatedLoss,
}

impl FourState {
    fn new(probabilities: [Probability; 5]) -> Self {
        let [p13, p31, p32, p23, p14] = probabilities.map(Probability::as_u32);
        Self {
            state: State::Gap,
            p14,
            p14_or_p13: p14.saturating_add(p13),
            p23,
            p32,
            p32_or_p31: p32.saturating_add(p31),
        }
    }

    /// Leaving the isolated loss takes a draw too, whose value does not matter.
    fn strikes(&mut self, draw: u32) -> bool {
        self.state = match self.state {
            State::Gap if draw < self.p14 => State::IsolatedLoss,
            State::Gap if draw < self.p14_or_p13 => State::BurstLoss,
            State::Burst if draw < self.p23 => State::BurstLoss,
            State::Burst => State::Burst,
            State::BurstLoss if draw < self.p32 => State::Burst,
            State::BurstLoss if draw >= self.p32_or_p31 => State::BurstLoss,
            State::Gap | State::BurstLoss | State::IsolatedLoss => State::Gap,
        };
        matches!(self.state, State::BurstLoss | State::IsolatedLoss)
    }
}

#[cfg(test)]
mod tests;
