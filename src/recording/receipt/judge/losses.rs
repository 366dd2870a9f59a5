//! Loss and the length of its bursts.

use super::{Judged, RARITY, What, Why, around, asked, share, verdict};
use crate::recording::receipt::chain::{Count, LossChain, Packets};
use crate::recording::receipt::{Effect, Receipt};
use crate::statistics::{Interval, proportion};

pub(super) fn judge(receipt: &Receipt) -> [Judged; 2] {
    let did = &receipt.did;
    let struck = did.lost + did.marked;
    let loss = Judged { did: share(struck, did.settled), packets: did.settled, ..none(What::Loss) };
    let burst = Judged { did: share(struck, did.bursts), packets: struck, ..none(What::Burst) };
    let unseen = did.lost + did.overflowed > 0 && receipt.unseen.contains(&Effect::Loss);
    let chain = asked(receipt).and_then(|profile| {
        // A packet that was marked and then found the queue full is gone with its mark.
        if unseen || profile.ecn && did.overflowed > 0 {
            return Err(Why::QueueFull);
        }
        LossChain::of(profile).map_err(Why::from)
    });
    match chain {
        Err(why) => [loss, burst].map(|figure| figure.because(why)),
        Ok(chain) => {
            let packets = Packets { count: did.settled, spells: did.spells };
            [
                judge_loss(loss, &chain, packets, struck),
                judge_burst(burst, &chain, packets, did.bursts),
            ]
        }
    }
}

fn none(what: What) -> Judged {
    Judged::unjudged(what, Why::NothingLost)
}

fn judge_loss(loss: Judged, chain: &LossChain, packets: Packets, struck: u64) -> Judged {
    let surprise = |found: f64| chain.surprise(Count::LOST, packets, found);
    let (mean, variance) = chain.moments(Count::LOST, packets);
    let (all, found) = (packets.count as f64, struck as f64);
    // Twice as many lost, or twice as many that are not, would have to stand out.
    let twice = if mean <= all / 2.0 { 2.0 * mean } else { all - 2.0 * (all - mean) };
    let possible = mean > 0.0 && mean < all;
    let few = packets.count == 0 || possible && surprise(twice) > -RARITY;
    let interval = match loss.did {
        None => Interval::UNKNOWN,
        Some(_) if chain.is_independent() => proportion(struck, packets.count),
        Some(share) => {
            let Interval { low, high } = around(share, variance.sqrt() / all);
            Interval { low, high: high.map(|high| high.min(1.0)) }
        }
    };
    Judged {
        asked: Some(chain.long_run().0),
        interval,
        verdict: verdict(packets.count > 0 && surprise(found) < -RARITY, few),
        ..loss
    }
}

/// The losses less so many for each run as a run is long on average: nothing, but for chance.
fn judge_burst(burst: Judged, chain: &LossChain, packets: Packets, runs: u64) -> Judged {
    let (loss, asked) = chain.long_run();
    // One run from the first packet to the last says nothing of lengths.
    if loss >= 1.0 {
        return Judged::unjudged(What::Burst, Why::NothingLeft);
    }
    let Some(length) = asked.filter(|_| runs > 0) else { return Judged { asked, ..burst } };
    let excess = Count { each: 0.0, lost: 1.0, first: -length };
    let struck = burst.packets as f64;
    let found = struck - length * runs as f64;
    let surprise = |found: f64| chain.surprise(excess, packets, found);
    let deviation = chain.moments(excess, packets).1.sqrt();
    let few = surprise(struck / 2.0) > -RARITY;
    let interval = burst.did.map(|did| around(did, deviation / runs as f64));
    let at_least_one =
        |Interval { low, high }: Interval<f64>| Interval { low: low.map(|low| low.max(1.0)), high };
    Judged {
        asked,
        interval: interval.map_or(Interval::UNKNOWN, at_least_one),
        verdict: verdict(surprise(found) < -RARITY, few),
        ..burst
    }
}
