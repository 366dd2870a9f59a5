//! Two engines that ran the same plan, held against each other. `sim` is exact, so what differs is
//! the other's: its own lateness, or the host's.

use crate::recording::Summary;
use crate::statistics::{Interval, Latency, Quantile};

use super::summarise::{Report, SenderReport};
use super::table::{Cell, Table, Tone};
use super::terminal::Style;

/// How far the medians of the delivered messages may lie apart.
pub const P50_TOLERANCE_MS: f64 = 1.0;
/// How far the P99 of the delivered messages may lie apart, as a share of the reference.
pub const P99_TOLERANCE: f64 = 0.05;
/// How far the P99 of two single runs may lie apart by chance. Over 60 seeds of a minute with medium
/// loss it scatters by 2 to 6.4 %, depending on the sender: three standard deviations of a
/// difference.
const P99_NOISE: f64 = 0.3;
/// How many standard deviations the numbers of lost messages may lie apart (Poisson: the variance
/// of a difference of counts is their sum). Both engines lose the same packets as long as they send
/// the same ones.
pub const LOST_TOLERANCE_SIGMAS: f64 = 3.0;

/// The senders that the reference ran.
#[derive(Debug)]
pub struct Agreement {
    senders: Vec<SenderAgreement>,
    spoilt: Option<String>,
}

#[derive(Debug)]
struct SenderAgreement {
    name: String,
    /// `None`: the other engine did not run it, or one of both delivered nothing.
    figures: Option<Figures>,
}

#[derive(Debug)]
struct Figures {
    p50: Pair,
    p99: Pair,
    lost: (u64, u64),
}

/// A quantile of the delivered messages, of the reference and of the other engine.
#[derive(Debug, Clone, Copy)]
struct Pair {
    reference: Value,
    other: Value,
}

#[derive(Debug, Clone, Copy)]
struct Value {
    ms: f64,
    interval: Interval<Latency>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Agrees {
    Yes,
    /// Out of tolerance, but no further apart than the intervals of both allow.
    WithinNoise,
    /// Out of tolerance in the P99 alone, and there is no interval to tell noise from a difference.
    TooFewRuns,
    No,
}

impl Agreement {
    pub fn between(reference: &Report, other: &Report) -> Self {
        let agreement = |sender: &SenderReport| {
            let same = |one: &&SenderReport| one.pooled.sender == sender.pooled.sender;
            let other = other.senders.iter().find(same);
            SenderAgreement {
                name: sender.pooled.sender.clone(),
                figures: other.and_then(|other| Figures::of(&sender.pooled, &other.pooled)),
            }
        };
        Self {
            senders: reference.senders.iter().map(agreement).collect(),
            spoilt: other.fidelity.as_ref().and_then(|fidelity| fidelity.spoilt.clone()),
        }
    }

    /// The worst of all senders; without any there is nothing that agrees.
    pub fn verdict(&self) -> Agrees {
        self.senders.iter().map(SenderAgreement::verdict).max().unwrap_or(Agrees::No)
    }

    /// Why the host, and not an engine, may be what is to blame.
    pub fn spoilt(&self) -> Option<&str> {
        self.spoilt.as_deref()
    }

    pub fn render(&self, names: (&str, &str), style: Style) -> String {
        let mut table = Table::new(&[
            "sender", "P50 ms", "other", "apart", "P99 ms", "other", "apart", "lost", "other",
            "agrees",
        ]);
        self.senders.iter().for_each(|sender| table.push(sender.row()));
        let (reference, other) = names;
        let mut text = format!(
            "{reference} against {other} (\"other\"), delivered messages: P50 within {P50_TOLERANCE_MS} ms, \
             P99 within {} %, lost within {LOST_TOLERANCE_SIGMAS} standard deviations\n\n",
            P99_TOLERANCE * 100.0
        );
        text += &table.render(style.width, style.colour);
        if self.verdict() == Agrees::TooFewRuns {
            text +=
                "\nToo few runs to tell noise from a difference in the P99: --repeat 5 or more.\n";
        }
        if let Some(reason) = &self.spoilt {
            text +=
                &format!("\nThe host disturbed {other}: {reason}. Try again on a quiet machine.\n");
        }
        text
    }
}

impl SenderAgreement {
    fn verdict(&self) -> Agrees {
        self.figures.as_ref().map_or(Agrees::No, Figures::verdict)
    }

    fn row(&self) -> Vec<Cell> {
        let mut cells = vec![Cell::new(&self.name)];
        match &self.figures {
            Some(figures) => cells.extend(figures.cells()),
            None => cells.extend([const { "–" }; 8].map(Cell::new)),
        }
        cells.push(match self.verdict() {
            Agrees::Yes => Cell::toned("yes", Tone::Good),
            Agrees::WithinNoise => Cell::new("within noise"),
            Agrees::TooFewRuns => Cell::new("too few runs"),
            Agrees::No => Cell::toned("no", Tone::Bad),
        });
        cells
    }
}

impl Figures {
    fn of(reference: &Summary, other: &Summary) -> Option<Self> {
        Some(Self {
            p50: Pair::of(reference, other, Quantile::P50)?,
            p99: Pair::of(reference, other, Quantile::P99)?,
            lost: (reference.lost, other.lost),
        })
    }

    fn verdict(&self) -> Agrees {
        let (reference, other) = (self.lost.0 as f64, self.lost.1 as f64);
        let allowed = LOST_TOLERANCE_SIGMAS * (reference + other).sqrt();
        let lost = if (reference - other).abs() <= allowed { Agrees::Yes } else { Agrees::No };
        let p50 = match self.p50.apart_ms().abs() <= P50_TOLERANCE_MS {
            true => Agrees::Yes,
            // Half of all messages lie on either side of it: even one run knows it well.
            false => self.p50.beyond_tolerance(Agrees::No),
        };
        let p99 = match self.p99.apart_share().abs() {
            0.0..=P99_TOLERANCE => Agrees::Yes,
            0.0..P99_NOISE => self.p99.beyond_tolerance(Agrees::TooFewRuns),
            _ => self.p99.beyond_tolerance(Agrees::No),
        };
        p50.max(p99).max(lost)
    }

    fn cells(&self) -> Vec<Cell> {
        let number = |value: f64| Cell::new(format!("{value:.2}"));
        vec![
            number(self.p50.reference.ms),
            number(self.p50.other.ms),
            Cell::new(format!("{:+.2} ms", self.p50.apart_ms())),
            number(self.p99.reference.ms),
            number(self.p99.other.ms),
            Cell::new(format!("{:+.1} %", self.p99.apart_share() * 100.0)),
            Cell::new(self.lost.0.to_string()),
            Cell::new(self.lost.1.to_string()),
        ]
    }
}

impl Pair {
    fn of(reference: &Summary, other: &Summary, quantile: Quantile) -> Option<Self> {
        let value = |summary: &Summary| {
            let delivered = summary.latencies.ranked(quantile.rank(summary.delivered))?;
            let interval = summary.figure(quantile)?.interval;
            Some(Value { ms: delivered.as_ms()?, interval })
        };
        Some(Self { reference: value(reference)?, other: value(other)? })
    }

    fn apart_ms(self) -> f64 {
        self.other.ms - self.reference.ms
    }

    fn apart_share(self) -> f64 {
        self.apart_ms() / self.reference.ms
    }

    /// What to make of a difference beyond its tolerance: noise if both intervals are known and
    /// have a value in common; `without_intervals` if one is not known.
    fn beyond_tolerance(self, without_intervals: Agrees) -> Agrees {
        let bounds = |interval: Interval<Latency>| interval.low.zip(interval.high);
        match bounds(self.reference.interval).zip(bounds(self.other.interval)) {
            Some((one, two)) if one.0 <= two.1 && two.0 <= one.1 => Agrees::WithinNoise,
            Some(_) => Agrees::No,
            None => without_intervals,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::recording::{Message, Messages, Recording, sample};
    use crate::report::summarise;

    /// The sample's kcp, each message later by this, and every n-th lost.
    fn report(later: Duration, lost_every: usize) -> Report {
        let shifted = |(number, message): (usize, &Message)| {
            let at = message.delivered.map(|at| at + later.as_nanos() as u64);
            Message { delivered: at.filter(|_| (number + 1) % lost_every != 0), ..*message }
        };
        let recording = sample::recording("kcp", 0);
        let Messages::Each(messages) = &recording.messages else { panic!("each is kept") };
        let messages = Messages::Each(messages.iter().enumerate().map(shifted).collect());
        let mut plan = sample::plan(1);
        plan.senders.retain(|sender| sender.name == "kcp");
        summarise(&plan, &[Recording { messages, ..recording }])
    }

    #[test]
    fn it_agrees_with_itself_and_not_with_what_is_later_or_loses_more() {
        let ms = Duration::from_micros;
        let verdict = |later, lost_every| {
            Agreement::between(&report(Duration::ZERO, 50), &report(later, lost_every)).verdict()
        };
        assert_eq!(verdict(Duration::ZERO, 50), Agrees::Yes);
        assert_eq!(verdict(ms(900), 50), Agrees::Yes);
        assert_eq!(verdict(ms(1_100), 50), Agrees::No);
        assert_eq!(verdict(Duration::ZERO, 25), Agrees::No);
    }

    #[test]
    fn one_run_does_not_tell_noise_from_a_small_difference_in_the_p99() {
        let pair = |other: f64| {
            let value = |ms: f64| Value { ms, interval: Interval::UNKNOWN };
            Pair { reference: value(100.0), other: value(other) }
        };
        let verdict =
            |p50: f64, p99: f64| Figures { p50: pair(p50), p99: pair(p99), lost: (0, 0) }.verdict();
        assert_eq!(verdict(100.9, 104.9), Agrees::Yes);
        assert_eq!(verdict(100.0, 107.0), Agrees::TooFewRuns);
        assert_eq!(verdict(100.0, 150.0), Agrees::No);
        assert_eq!(verdict(102.0, 100.0), Agrees::No);
    }

    #[test]
    fn a_sender_that_the_other_did_not_run_does_not_agree() {
        let nothing = Report { senders: Vec::new(), ..report(Duration::ZERO, 50) };
        assert_eq!(Agreement::between(&report(Duration::ZERO, 50), &nothing).verdict(), Agrees::No);
        assert_eq!(Agreement::between(&nothing, &nothing).verdict(), Agrees::No);
    }
}
