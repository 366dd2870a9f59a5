//! What else can happen to a packet: a copy, a wrong bit, going ahead of the delay.

use super::{Judged, RARITY, What, Why, asked, share, verdict};
use crate::link::profile::{LinkProfile, Loss, Reorder};
use crate::recording::receipt::chain::{Count, LossChain, Packets, depends, happens};
use crate::recording::receipt::law::DelayLaw;
use crate::recording::receipt::{Effect, Receipt};
use crate::statistics::{Interval, proportion};

pub(super) fn judge(receipt: &Receipt) -> Vec<Judged> {
    let did = &receipt.did;
    let copies = copies_asked(receipt);
    let corruption = corruption_asked(receipt);
    let mut figures = vec![
        event(What::Copies, copies, did.copies, did.settled),
        event(What::Corruption, corruption, did.corrupted, did.left),
    ];
    let profile = receipt.asked.as_ref();
    figures.extend(profile.and_then(|profile| profile.reorder).map(|it| ahead(receipt, it)));
    figures
}

/// Both the copy and the packet itself have to get through the loss model.
fn copies_asked(receipt: &Receipt) -> Result<f64, Why> {
    let profile = asked(receipt)?;
    let copied = happens(profile.duplicate.probability);
    let survives = match profile.loss {
        _ if copied == 0.0 => 1.0,
        _ if receipt.unseen.contains(&Effect::Copies) => return Err(Why::Unseen),
        _ if depends(&profile.duplicate) => return Err(Why::Correlated),
        _ if receipt.did.overflowed > 0 => return Err(Why::Overflow),
        Loss::None => 1.0,
        Loss::Random(chance) if depends(&chance) => return Err(Why::Correlated),
        Loss::Random(_) if profile.ecn => return Err(Why::Copies),
        Loss::Random(chance) => 1.0 - happens(chance.probability),
        Loss::GilbertElliott { .. } | Loss::FourState { .. } => return Err(Why::Copies),
    };
    Ok(copied * survives * survives)
}

fn corruption_asked(receipt: &Receipt) -> Result<f64, Why> {
    let LinkProfile { corrupt, .. } = asked(receipt)?;
    match corrupt {
        _ if corrupt.probability.is_never() => Ok(0.0),
        _ if receipt.unseen.contains(&Effect::Corruption) => Err(Why::Unseen),
        _ if depends(corrupt) => Err(Why::Correlated),
        _ => Ok(happens(corrupt.probability)),
    }
}

/// Something that happens to each packet by itself.
fn event(what: What, asked: Result<f64, Why>, happened: u64, packets: u64) -> Judged {
    let happened_to = happened.min(packets);
    let figure = Judged {
        did: share(happened, packets),
        packets,
        interval: proportion(happened_to, packets),
        ..Judged::unjudged(what, Why::Pooled)
    };
    match asked {
        Ok(_) if packets == 0 => Judged::unjudged(what, Why::NothingLeft),
        Err(why) => Judged { interval: Interval::UNKNOWN, ..figure }.because(why),
        Ok(probability) => {
            let (wrong, few) = is_surprising(probability, happened, packets);
            Judged { asked: Some(probability), verdict: verdict(wrong, few), ..figure }
        }
    }
}

/// After each packet that went ahead, `gap` − 1 are delayed without a draw; each one after that
/// draws.
fn ahead(receipt: &Receipt, reorder: Reorder) -> Judged {
    let did = &receipt.did;
    let law = asked(receipt).and_then(|profile| DelayLaw::of(profile).map_err(Why::from));
    let packets = did.ahead + did.delay.count;
    let figure = Judged { packets, ..Judged::unjudged(What::Ahead, Why::Pooled) };
    if let Err(why) = law {
        return figure.because(why);
    }
    let figure = Judged { did: share(did.ahead, packets), ..figure };
    if !reorder.correlation.is_never() {
        return figure.because(Why::Correlated);
    }
    let (probability, still) = (happens(reorder.probability), u64::from(reorder.gap.max(1) - 1));
    let cycle = still as f64 + 1.0 / probability;
    // Within the last cycle of each spell there is no telling how many drew.
    let drew_at_most =
        packets.saturating_sub(did.ahead.saturating_sub(did.spells).saturating_mul(still));
    let drew_at_least =
        packets.saturating_sub((did.ahead + did.spells).saturating_mul(still)).max(did.ahead);
    let often = did.ahead as f64 * cycle > packets as f64;
    let drew = if often { drew_at_most } else { drew_at_least };
    let (wrong, few) = is_surprising(probability, did.ahead, drew);
    Judged { asked: Some(1.0 / cycle), verdict: verdict(wrong, few), ..figure }
}

/// Whether it is, and whether twice as many would not be.
fn is_surprising(probability: f64, happened: u64, of: u64) -> (bool, bool) {
    let packets = Packets { count: of, spells: 1 };
    let chain = LossChain::independent(probability);
    let surprise = |found: f64| chain.surprise(Count::LOST, packets, found);
    let (mean, all) = (probability * of as f64, of as f64);
    let twice = if mean <= all / 2.0 { 2.0 * mean } else { all - 2.0 * (all - mean) };
    let possible = probability > 0.0 && probability < 1.0;
    let few = of == 0 || possible && surprise(twice) > -RARITY;
    (of > 0 && surprise(happened as f64) < -RARITY, few)
}
