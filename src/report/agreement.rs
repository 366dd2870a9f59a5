//! Two engines that ran the same plan, held against each other. `sim` is exact, so what differs is the other's: its
//! own lateness, or the host's.

use crate::statistics::{Interval, Latency, Quantile};

use super::summarise::{Report, SenderReport};
use super::table::{Cell, Table, Tone};
use super::terminal::Style;

/// How far the medians may lie apart.
pub const P50_TOLERANCE_MS: f64 = 1.0;
/// How far the P99 may lie apart, as a share of the reference.
pub const P99_TOLERANCE: f64 = 0.05;

/// The senders that both engines ran.
#[derive(Debug)]
pub struct Agreement {
    senders: Vec<SenderAgreement>,
    spoilt: Option<String>,
}

#[derive(Debug)]
struct SenderAgreement {
    name: String,
    p50: Pair,
    p99: Pair,
    lost: (u64, u64),
}

/// A quantile of the reference and of the other engine.
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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Agrees {
    Yes,
    /// Out of tolerance, but no further apart than two samples of this size may be.
    WithinNoise,
    No,
}

impl Agreement {
    pub fn between(reference: &Report, other: &Report) -> Self {
        let pair = |sender: &SenderReport| {
            let same = |one: &&SenderReport| one.pooled.sender == sender.pooled.sender;
            let other = other.senders.iter().find(same)?;
            Some(SenderAgreement {
                name: sender.pooled.sender.clone(),
                p50: Pair::of(sender, other, Quantile::P50)?,
                p99: Pair::of(sender, other, Quantile::P99)?,
                lost: (sender.pooled.lost, other.pooled.lost),
            })
        };
        Self {
            senders: reference.senders.iter().filter_map(pair).collect(),
            spoilt: other.fidelity.as_ref().and_then(|fidelity| fidelity.spoilt.clone()),
        }
    }

    /// The worst of all senders.
    pub fn verdict(&self) -> Agrees {
        let worst = |so_far, sender: &SenderAgreement| match (so_far, sender.verdict()) {
            (Agrees::No, _) | (_, Agrees::No) => Agrees::No,
            (Agrees::WithinNoise, _) | (_, Agrees::WithinNoise) => Agrees::WithinNoise,
            _ => Agrees::Yes,
        };
        self.senders.iter().fold(Agrees::Yes, worst)
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
            "{reference} against {other} (\"other\"): P50 within {P50_TOLERANCE_MS} ms, P99 within {} %\n\n",
            P99_TOLERANCE * 100.0
        );
        text += &table.render(style.width, style.colour);
        if let Some(reason) = &self.spoilt {
            text +=
                &format!("\nThe host disturbed {other}: {reason}. Try again on a quiet machine.\n");
        }
        text
    }
}

impl SenderAgreement {
    fn verdict(&self) -> Agrees {
        let p50 = (self.p50.apart_ms().abs() <= P50_TOLERANCE_MS, self.p50.overlap());
        let p99 = (self.p99.apart_share().abs() <= P99_TOLERANCE, self.p99.overlap());
        match (p50, p99) {
            ((true, _), (true, _)) => Agrees::Yes,
            ((true, _), (_, true)) => Agrees::WithinNoise,
            _ => Agrees::No,
        }
    }

    fn row(&self) -> Vec<Cell> {
        let (word, tone) = match self.verdict() {
            Agrees::Yes => ("yes", Tone::Good),
            Agrees::WithinNoise => ("within noise", Tone::Plain),
            Agrees::No => ("no", Tone::Bad),
        };
        let number = |value: f64| Cell::new(format!("{value:.2}"));
        vec![
            Cell::new(&self.name),
            number(self.p50.reference.ms),
            number(self.p50.other.ms),
            Cell::new(format!("{:+.2} ms", self.p50.apart_ms())),
            number(self.p99.reference.ms),
            number(self.p99.other.ms),
            Cell::new(format!("{:+.1} %", self.p99.apart_share() * 100.0)),
            Cell::new(self.lost.0.to_string()),
            Cell::new(self.lost.1.to_string()),
            Cell::toned(word, tone),
        ]
    }
}

impl Pair {
    fn of(reference: &SenderReport, other: &SenderReport, quantile: Quantile) -> Option<Self> {
        let value = |sender: &SenderReport| {
            let figure = sender.pooled.figure(quantile)?;
            Some(Value { ms: figure.value?.as_ms_or_infinity(), interval: figure.interval })
        };
        Some(Self { reference: value(reference)?, other: value(other)? })
    }

    /// Zero where both are lost.
    fn apart_ms(self) -> f64 {
        if self.other.ms == self.reference.ms { 0.0 } else { self.other.ms - self.reference.ms }
    }

    fn apart_share(self) -> f64 {
        let apart = self.apart_ms();
        if apart == 0.0 { 0.0 } else { apart / self.reference.ms }
    }

    /// Whether the two intervals have a value in common; an unknown bound is no bound.
    fn overlap(self) -> bool {
        let below = |low: Option<Latency>, high: Option<Latency>| match (low, high) {
            (Some(low), Some(high)) => low <= high,
            _ => true,
        };
        let (one, two) = (self.reference.interval, self.other.interval);
        below(one.low, two.high) && below(two.low, one.high)
    }
}
