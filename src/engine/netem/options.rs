//! The settings of a link as the kernel's netem holds them. Pure: knows neither links nor kernels.
//!
//! What the kernel would do otherwise than [`crate::link::Link`] is either written so that both do
//! the same, or refused:
//!
//! - `order: keep` is a rate at which no packet takes any time: netem lets each packet of a rate
//!   leave no earlier than the one before it.
//! - Slots that are evenly spread are drawn from a table, by the seed; netem's own way of spreading
//!   them draws from the kernel's entropy.
//! - Slots of one length would be no slots at all; they are written as the bounds of an interval.
//! - A bucket is a tbf, netem's child. Changing netem leaves it alone, and changing it keeps what
//!   waits in it; each change fills it.
//! - Two transitions of the four-state model that together are certain would add up to zero in 32
//!   bits: the second is made smaller by one.

use std::time::Duration;

use netns::netem::{self, Chance, Options, Spacing};
use netns::tbf;
use thiserror::Error;

use crate::link::distribution;
use crate::link::profile::{
    Correlated, Distribution, LinkProfile, Loss, Order, RateLimit, Slot, SlotSpacing, TokenBucket,
};
use crate::units::Probability;

/// The kernel's netem has no way to do this.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum OptionsError {
    #[error(
        "the kernel's netem caps jitter at 2.147483647 s, and {0:?} is asked for: \
         give less jitter, or take the engine sim or relay"
    )]
    Jitter(Duration),
    #[error(
        "the kernel's netem caps the jitter of slots at 2.147483647 s (slots between two bounds: \
         4.29 s from one to the other), and {0:?} is asked for: give less, or take the engine sim \
         or relay"
    )]
    SlotJitter(Duration),
    #[error(
        "the kernel's netem miscounts packets that an overhead makes shorter than nothing, and \
         {0} bytes are more than the {SHORTEST_PACKET} of the shortest packet: \
         give a smaller one, or take the engine sim or relay"
    )]
    PacketOverhead(i32),
    #[error(
        "the kernel's netem miscounts cells shorter than nothing, and an overhead of {overhead} \
         bytes makes cells of {size} bytes so: \
         give a smaller one, or take the engine sim or relay"
    )]
    CellOverhead { size: u32, overhead: i32 },
}

/// Bytes of an Ethernet, an IPv4 and a UDP header.
const SHORTEST_PACKET: i32 = 42;

/// What netem caps jitter at: 2³¹ − 1 ns.
const LONGEST_JITTER: Duration = Duration::from_nanos(i32::MAX as u64);

/// Every setting spelt out, since the kernel keeps what a change does not mention. `seed` is that
/// of all draws from this change on.
pub fn options(profile: &LinkProfile, seed: Option<u64>) -> Result<Options, OptionsError> {
    if profile.jitter > LONGEST_JITTER {
        return Err(OptionsError::Jitter(profile.jitter));
    }
    let reorder = profile.reorder;
    Ok(Options {
        delay: profile.delay,
        jitter: profile.jitter,
        delay_correlation: chance(profile.delay_correlation),
        distribution: delay_distribution(&profile.distribution),
        limit: profile.limit,
        loss: loss(&profile.loss),
        duplicate: correlated(profile.duplicate),
        corrupt: correlated(profile.corrupt),
        reorder: reorder.map_or(netem::Correlated::default(), |reorder| netem::Correlated {
            probability: chance(reorder.probability),
            correlation: chance(reorder.correlation),
        }),
        gap: reorder.map_or(0, |reorder| reorder.gap.max(1)),
        rate: rate(profile)?,
        slot: profile.slot.as_ref().map(slot).transpose()?.flatten(),
        ecn: profile.ecn,
        seed,
    })
}

/// The bucket behind netem, as its child. Once there was one it has to stay, since the kernel would
/// drop the packets in it: where `profile` has none any more, take [`OPEN_BUCKET`].
pub fn bucket(profile: &LinkProfile) -> Option<tbf::Options> {
    let TokenBucket { rate, burst, queue } = profile.bucket?;
    Some(tbf::Options { rate: rate.bytes_per_second(), burst, limit: queue, peak: None })
}

/// No packet waits in it: a packet takes less than a nanosecond's token.
pub const OPEN_BUCKET: tbf::Options =
    tbf::Options { rate: u64::MAX, burst: u32::MAX, limit: u32::MAX, peak: None };

fn chance(probability: Probability) -> Chance {
    Chance(probability.as_u32())
}

fn correlated(chances: Correlated) -> netem::Correlated {
    netem::Correlated {
        probability: chance(chances.probability),
        correlation: chance(chances.correlation),
    }
}

fn delay_distribution(distribution: &Distribution) -> netem::Distribution {
    match distribution::table(distribution) {
        None => netem::Distribution::Uniform,
        Some(table) => netem::Distribution::Table(table.to_vec()),
    }
}

fn loss(loss: &Loss) -> netem::Loss {
    match *loss {
        Loss::None => netem::Loss::default(),
        Loss::Random(random) => netem::Loss::Random(correlated(random)),
        Loss::GilbertElliott { p, r, one_minus_h, one_minus_k } => netem::Loss::GilbertElliott {
            to_bad: chance(p),
            to_good: chance(r),
            in_bad: chance(one_minus_h),
            in_good: chance(one_minus_k),
        },
        Loss::FourState { p13, p31, p32, p23, p14 } => netem::Loss::FourState {
            p13: beside(p14, p13),
            p31: beside(p32, p31),
            p32: chance(p32),
            p14: chance(p14),
            p23: chance(p23),
        },
    }
}

/// `other`, or what is left beside `first` of all there is: the kernel adds them in 32 bits.
fn beside(first: Probability, other: Probability) -> Chance {
    Chance(other.as_u32().min(u32::MAX - first.as_u32()))
}

fn rate(profile: &LinkProfile) -> Result<Option<netem::Rate>, OptionsError> {
    match profile.rate {
        Some(limit) => limited(limit).map(Some),
        None if profile.order == Order::Keep => Ok(Some(NO_TIME)),
        None => Ok(None),
    }
}

/// The time of a packet is its bytes · 10⁹ / rate, rounded down: none at all.
const NO_TIME: netem::Rate =
    netem::Rate { bytes_per_second: u64::MAX, packet_overhead: 0, cell_size: 0, cell_overhead: 0 };

fn limited(limit: RateLimit) -> Result<netem::Rate, OptionsError> {
    let RateLimit { rate, packet_overhead, cell_size, cell_overhead } = limit;
    if packet_overhead < -SHORTEST_PACKET {
        return Err(OptionsError::PacketOverhead(packet_overhead));
    }
    if cell_size > 0 && i64::from(cell_size) + i64::from(cell_overhead) < 0 {
        return Err(OptionsError::CellOverhead { size: cell_size, overhead: cell_overhead });
    }
    let bytes_per_second = rate.bytes_per_second();
    Ok(netem::Rate { bytes_per_second, packet_overhead, cell_size, cell_overhead })
}

/// `None` for slots that are always open.
fn slot(slot: &Slot) -> Result<Option<netem::Slot>, OptionsError> {
    let Some(spacing) = spacing(&slot.spacing)? else { return Ok(None) };
    Ok(Some(netem::Slot { spacing, packets: most(slot.packets), bytes: most(slot.bytes) }))
}

fn spacing(spacing: &SlotSpacing) -> Result<Option<Spacing>, OptionsError> {
    let (delay, jitter, distribution) = spacing.spread();
    if jitter > LONGEST_JITTER {
        return Err(OptionsError::SlotJitter(jitter));
    }
    Ok(match (delay.is_zero(), jitter.is_zero()) {
        (true, true) => None,
        (false, true) => Some(Spacing::Between { min: delay, max: delay }),
        (_, false) => {
            let table = distribution::table_or_even(&distribution).to_vec();
            Some(Spacing::Distributed { delay, jitter, table })
        }
    })
}

/// netem counts down from 2³¹ − 1 where there is no limit, which it writes as zero.
fn most(limit: u32) -> u32 {
    if i32::try_from(limit).is_ok() { limit } else { 0 }
}

#[cfg(test)]
mod tests;
