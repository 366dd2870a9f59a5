//! Whether a link did what it was asked: each figure with a 95 % interval for the reader, and a
//! verdict at a far stricter level, so that hundreds of figures raise no false alarm. The bounds
//! behind a verdict hold for any number of packets; none of them assumes that they are many.

mod delays;
mod effects;
mod losses;

use std::fmt;

use serde::{Serialize, Serializer};

use super::Receipt;
use super::chain::NoChain;
use super::law::NoLaw;
use crate::link::profile::LinkProfile;
use crate::statistics::Interval;

/// −ln of the probability of a false alarm on either side of a figure: 1 in 10⁷ in all.
pub const RARITY: f64 = 16.81;

/// What is held against what was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum What {
    /// Share of packets lost by the loss model (or marked instead).
    Loss,
    /// Mean length of a run of losses, in packets.
    Burst,
    /// Mean, in ns.
    Delay,
    /// Standard deviation of the delay around what was to be expected of each packet, in ns.
    Jitter,
    /// While packets wait for one another, in bits per second.
    Rate,
    /// Share of packets that left before an earlier one.
    Overtaking,
    /// Share of packets that skipped the delay.
    Ahead,
    /// Share of packets of which a second copy left.
    Copies,
    /// Share of packets with a wrong bit.
    Corruption,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Judged {
    pub what: What,
    /// `None`: no formula holds.
    pub asked: Option<f64>,
    /// `None`: there was nothing to measure it on.
    pub did: Option<f64>,
    #[serde(serialize_with = "bounds")]
    pub interval: Interval<f64>,
    /// The packets it is measured on.
    pub packets: u64,
    pub verdict: Verdict,
}

/// From the least to the most telling.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    NotJudged(Why),
    /// A figure twice as large (or a delay a quarter off) could have passed.
    TooFew,
    Agrees,
    /// The host let packets go so late that the figure is as much the host's as the link's.
    Spoilt,
    Disagrees,
}

/// Why a figure is not judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    Pooled,
    Correlated,
    Slots,
    Bucket,
    /// What the loss model dropped cannot be told from what found no room.
    QueueFull,
    Copies,
    Reordered,
    ShortDelay,
    NeverWaited,
    Overflow,
    Unseen,
    NothingLost,
    NothingLeft,
}

/// Every figure that the profile asks for or the link shows.
pub fn judge(receipt: &Receipt) -> Vec<Judged> {
    let mut figures = losses::judge(receipt).to_vec();
    figures.extend(delays::judge(receipt));
    figures.extend(effects::judge(receipt));
    figures
}

impl Judged {
    /// Nothing of the kind has been asked for, and nothing of it seen.
    pub fn is_idle(&self) -> bool {
        self.asked.unwrap_or(0.0) == 0.0
            && self.did.unwrap_or(0.0) == 0.0
            && matches!(self.verdict, Verdict::Agrees | Verdict::NotJudged(Why::NothingLost))
    }

    fn because(self, why: Why) -> Self {
        Self { verdict: Verdict::NotJudged(why), ..self }
    }

    fn unjudged(what: What, why: Why) -> Self {
        let verdict = Verdict::NotJudged(why);
        Self { what, asked: None, did: None, interval: Interval::UNKNOWN, packets: 0, verdict }
    }
}

/// The profile, unless several are pooled.
fn asked(receipt: &Receipt) -> Result<&LinkProfile, Why> {
    receipt.asked.as_ref().ok_or(Why::Pooled)
}

fn share(part: u64, of: u64) -> Option<f64> {
    (of > 0).then(|| part as f64 / of as f64)
}

fn around(value: f64, deviation: f64) -> Interval<f64> {
    const NORMAL_95: f64 = 1.959_964;
    let reach = NORMAL_95 * deviation;
    Interval { low: Some((value - reach).max(0.0)), high: Some(value + reach) }
}

/// `few`: not even twice what was asked would have been found.
fn verdict(disagrees: bool, few: bool) -> Verdict {
    match (disagrees, few) {
        (true, _) => Verdict::Disagrees,
        (false, true) => Verdict::TooFew,
        (false, false) => Verdict::Agrees,
    }
}

impl Verdict {
    /// A link that is wrong whatever the host did stays so.
    fn unless_spoilt(self, spoilt: bool) -> Self {
        if spoilt && self != Verdict::Disagrees { Verdict::Spoilt } else { self }
    }
}

fn bounds<S: Serializer>(interval: &Interval<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    [interval.low, interval.high].serialize(serializer)
}

impl From<NoLaw> for Why {
    fn from(no_law: NoLaw) -> Self {
        match no_law {
            NoLaw::Correlated => Why::Correlated,
            NoLaw::Slots => Why::Slots,
            NoLaw::Bucket => Why::Bucket,
            NoLaw::Copies => Why::Copies,
            NoLaw::Reordered => Why::Reordered,
            NoLaw::ShortDelay => Why::ShortDelay,
        }
    }
}

impl From<NoChain> for Why {
    fn from(no_chain: NoChain) -> Self {
        match no_chain {
            NoChain::Correlated => Why::Correlated,
            NoChain::Copies => Why::Copies,
        }
    }
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            What::Loss => "loss",
            What::Burst => "burst length",
            What::Delay => "delay",
            What::Jitter => "jitter",
            What::Rate => "rate",
            What::Overtaking => "overtaking",
            What::Ahead => "reordering",
            What::Copies => "duplicates",
            What::Corruption => "corruption",
        })
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Agrees => f.write_str("agrees"),
            Verdict::Disagrees => f.write_str("disagrees"),
            Verdict::Spoilt => f.write_str("spoilt by the host"),
            Verdict::TooFew => f.write_str("too few packets"),
            Verdict::NotJudged(why) => write!(f, "not judged: {why}"),
        }
    }
}

impl Serialize for Verdict {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Why::Pooled => "many profiles pooled",
            Why::Correlated => "correlated draws have no closed form",
            Why::Slots => "slots hold packets up by no closed form",
            Why::Bucket => "a token bucket holds packets up by its own history",
            Why::QueueFull => "what found a queue full cannot be told from it",
            Why::Copies => "duplicates take part in it",
            Why::Reordered => "reordering where packets keep their order",
            Why::ShortDelay => "too short a delay to tell what skipped it",
            Why::NeverWaited => "no packet had to wait for another",
            Why::Overflow => "the queue was full at times",
            Why::Unseen => "this engine cannot see it",
            Why::NothingLost => "nothing was lost",
            Why::NothingLeft => "nothing left the link",
        })
    }
}
