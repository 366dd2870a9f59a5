//! Delay, its scatter, the order packets leave in, and the rate. Each packet is held against what
//! was to be expected of it after those before: what is left is a sum of surprises, whatever queue
//! or order held packets up.
//!
//! What an engine knows to have been late by, and the slack that its clock needs, is allowed for.
//! Where that is so much that a link could hide behind it, the figure is spoilt by the host.

use super::{Judged, RARITY, What, Why, around, asked, share, verdict};
use crate::recording::receipt::Receipt;
use crate::recording::receipt::law::DelayLaw;
use crate::statistics::{Interval, poisson_surprise, stray};
use crate::units::nanos;

/// A mean delay that is off by this share of it has to stand out, or by one standard deviation.
const TOLD_APART: f64 = 0.25;

/// Nanoseconds by which the host may move a figure: however little was asked …
const LEAST_EXCUSED: f64 = 0.25e6;
/// … and however much: as late as 1 % of the packets may be before a trial is spoilt.
const MOST_EXCUSED: f64 = 1e6;

pub(super) fn judge(receipt: &Receipt) -> Vec<Judged> {
    let law = asked(receipt).and_then(|profile| DelayLaw::of(profile).map_err(Why::from));
    let delays = Delays::new(receipt);
    let figures = match &law {
        Ok(law) if delays.count > 0.0 => {
            [delays.judge_mean(law), delays.judge_scatter(law), overtaking(receipt, law)]
        }
        Ok(_) => [What::Delay, What::Jitter, What::Overtaking]
            .map(|what| Judged::unjudged(what, Why::NothingLeft)),
        Err(why) => [
            delays.unjudged(What::Delay, delays.plain_mean(), *why),
            delays.unjudged(What::Jitter, delays.plain_scatter(), *why),
            unjudged_order(receipt, *why),
        ],
    };
    figures.into_iter().chain(rate(receipt, law.err())).collect()
}

struct Delays<'a> {
    receipt: &'a Receipt,
    count: f64,
    slack: f64,
}

impl<'a> Delays<'a> {
    fn new(receipt: &'a Receipt) -> Self {
        Self { receipt, count: receipt.did.delay.count as f64, slack: receipt.slack_ns as f64 }
    }

    fn judge_mean(&self, law: &DelayLaw) -> Judged {
        let sums = &self.receipt.did.delay;
        let did = self.plain_mean();
        let (up, down) = self.mean_strays(law);
        let slack = self.count * self.slack;
        let wrong = sums.beyond > up + sums.late + slack || sums.beyond < -down - slack;
        let asked = did - sums.beyond / self.count;
        let told_apart = (TOLD_APART * asked).max((sums.variance / self.count).sqrt());
        let few = sums.variance > 0.0 && up.max(down) > told_apart * self.count;
        let excused = (TOLD_APART * asked).clamp(LEAST_EXCUSED, MOST_EXCUSED);
        let spoilt = sums.late > excused * self.count;
        Judged {
            asked: Some(asked),
            interval: around(did, self.scatter() / self.count.sqrt()),
            verdict: verdict(wrong, few).unless_spoilt(spoilt),
            ..self.unjudged(What::Delay, did, Why::Pooled)
        }
    }

    /// The scatter lies within the expected one ± chance, and ± that of the lateness (the triangle
    /// inequality of standard deviations).
    fn judge_scatter(&self, law: &DelayLaw) -> Judged {
        let sums = &self.receipt.did.delay;
        let (up, down) = self.mean_strays(law);
        let (least, most) = reach(law);
        let largest = least.max(most).powi(2);
        let above = stray(sums.square_variance, largest, RARITY);
        let below = stray(sums.square_variance, law.free().variance, RARITY);
        let of_mean = up.max(down).powi(2) / self.count;
        let lower = (sums.variance - below - of_mean).max(0.0);
        let (late, slack) = (sums.late_squares.sqrt(), self.slack * self.count.sqrt());
        let found = self.scatter() * self.count.sqrt();
        let too_much = found - (sums.variance + above).sqrt() - slack;
        let wrong = too_much > late || found < lower.sqrt() - slack - late;
        // A single stall is no matter among packets that scatter anyway, nor where it is small.
        let grown = found - sums.variance.sqrt() > MOST_EXCUSED * self.count.sqrt();
        // Half the scatter has to stand out.
        let few = sums.variance > 0.0 && lower < sums.variance / 4.0;
        let error = sums.square_variance.sqrt() / (2.0 * found.max(f64::MIN_POSITIVE));
        Judged {
            asked: Some((sums.variance / self.count).sqrt()),
            interval: around(self.scatter(), error / self.count.sqrt()),
            verdict: verdict(wrong, few).unless_spoilt(too_much > 0.0 && grown),
            ..self.unjudged(What::Jitter, self.scatter(), Why::Pooled)
        }
    }

    /// How far the sum of the delays strays above and below by chance.
    fn mean_strays(&self, law: &DelayLaw) -> (f64, f64) {
        let variance = self.receipt.did.delay.variance;
        let (least, most) = reach(law);
        (stray(variance, most, RARITY), stray(variance, least, RARITY))
    }

    /// Around what was to be expected, less the mean of that.
    fn scatter(&self) -> f64 {
        let sums = &self.receipt.did.delay;
        let mean = sums.beyond / self.count;
        (sums.beyond_squares / self.count - mean * mean).max(0.0).sqrt()
    }

    fn plain_mean(&self) -> f64 {
        let nominal = self.receipt.asked.as_ref().map_or(0, |profile| nanos(profile.delay));
        nominal as f64 + self.receipt.did.delay.sum / self.count
    }

    fn plain_scatter(&self) -> f64 {
        let sums = &self.receipt.did.delay;
        let mean = sums.sum / self.count;
        (sums.squares / self.count - mean * mean).max(0.0).sqrt()
    }

    fn unjudged(&self, what: What, did: f64, why: Why) -> Judged {
        Judged {
            did: (self.count > 0.0).then_some(did),
            packets: self.receipt.did.delay.count,
            ..Judged::unjudged(what, why)
        }
    }
}

/// How far below and above its mean a delay can be drawn.
fn reach(law: &DelayLaw) -> (f64, f64) {
    let mean = law.free().mean;
    ((mean - law.least()).max(0.0), (law.most() - mean).max(0.0))
}

fn overtaking(receipt: &Receipt, law: &DelayLaw) -> Judged {
    let (seen, packets) = (receipt.did.overtaking, receipt.did.delay.count);
    let found = seen.count as f64;
    // How many more or fewer it may be if every exit is off by the slack.
    let shift = packets as f64 * receipt.slack_ns as f64 / (law.most() - law.least()).max(1.0);
    let slack = if seen.expected > 0.0 { shift } else { 0.0 };
    let nearest = found.clamp((seen.expected - slack).max(0.0), seen.expected + slack);
    let wrong = poisson_surprise(nearest, found) < -RARITY;
    let few = seen.expected > 0.0 && poisson_surprise(seen.expected, 2.0 * seen.expected) > -RARITY;
    Judged {
        what: What::Overtaking,
        asked: Some(seen.expected / packets as f64),
        did: share(seen.count, packets),
        interval: around(found / packets as f64, seen.expected.sqrt() / packets as f64),
        packets,
        verdict: verdict(wrong, few),
    }
}

fn unjudged_order(receipt: &Receipt, why: Why) -> Judged {
    let packets = receipt.did.delay.count;
    let did = share(receipt.did.overtaking.count, packets);
    Judged { did, packets, ..Judged::unjudged(What::Overtaking, why) }
}

/// Between the exits of packets that waited for one another there is their own time on the link,
/// and nothing else.
fn rate(receipt: &Receipt, no_law: Option<Why>) -> Option<Judged> {
    let profile = receipt.asked.as_ref()?;
    let (bucket, limit) = (profile.bucket.map(|it| it.rate), profile.rate.map(|it| it.rate));
    let bits = 8.0 * bucket.or(limit)?.bytes_per_second() as f64;
    let backlog = &receipt.did.backlog;
    let why = match (bucket, no_law) {
        (Some(_), _) => Some(Why::Bucket),
        (None, Some(why)) => Some(why),
        (None, None) => (backlog.packets == 0).then_some(Why::NeverWaited),
    };
    if let Some(why) = why {
        return Some(Judged { asked: Some(bits), ..Judged::unjudged(What::Rate, why) });
    }
    let (asked, took, late) = (backlog.asked as f64, backlog.took as f64, backlog.late as f64);
    // Each exit is a whole nanosecond; each busy period ends twice within the slack.
    let slack = backlog.packets as f64 + 2.0 * backlog.periods as f64 * receipt.slack_ns as f64;
    let wrong = (took - late - asked).abs() > slack;
    let excused = (TOLD_APART * asked).max(LEAST_EXCUSED * backlog.periods as f64);
    Some(Judged {
        what: What::Rate,
        asked: Some(bits),
        did: (took > 0.0).then(|| bits * asked / took),
        interval: Interval::UNKNOWN,
        packets: backlog.packets,
        verdict: verdict(wrong, slack > asked).unless_spoilt(late.abs() > excused),
    })
}
