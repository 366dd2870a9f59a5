//! What `agree --json` prints, field by field. One version number, of this document alone; a field
//! is added without raising it, and renamed or removed only with. Units and lost latencies are
//! written as in `summary.json`.

use serde::Serialize;

use super::amplification::{self, Amplifications, TOLERANCE_BYTES};
use super::figures::{Figures, P50_TOLERANCE_MS, P99_TOLERANCE, P99_TOLERANCE_MS};
use super::losses::TOLERANCE_SIGMAS;
use super::messages::{MessageAgreement, SAME, SAME_SHARE};
use super::pair::{Pair, Value};
use super::{Agreement, Agrees, SenderAgreement};
use crate::recording::EngineKind;
use crate::report::json::{LatencyValue, Workload};
use crate::scenario::plan::Plan;
use crate::statistics::CONFIDENCE;

pub const VERSION: u32 = 1;

/// `interrupted`: before the last engine was through, so that there is no verdict.
pub fn document(plan: &Plan, pairs: &[Agreement], interrupted: bool, exit_code: u8) -> String {
    let document = Document {
        version: VERSION,
        scenario: &plan.name,
        seed: plan.seed,
        repeat: plan.repeat,
        workload: Workload::from(&plan.workload),
        confidence: CONFIDENCE,
        tolerances: TOLERANCES,
        verdict: pairs.iter().map(Agreement::verdict).max().filter(|_| !interrupted),
        exit_code,
        pairs: pairs.iter().map(Engines::from).collect(),
    };
    let mut text = serde_json::to_string_pretty(&document).expect("only structs with plain keys");
    text.push('\n');
    text
}

#[derive(Debug, Serialize)]
struct Document<'a> {
    /// [`VERSION`] of this format.
    version: u32,
    /// The scenario's name.
    scenario: &'a str,
    seed: u64,
    /// Runs of each sender on each engine.
    repeat: u32,
    workload: Workload,
    /// Of every interval below.
    confidence: f64,
    tolerances: Tolerances,
    /// The worst of all pairs; `null`: interrupted.
    verdict: Option<Agrees>,
    /// That of the program, which a disturbed host may make another than the verdict alone would.
    exit_code: u8,
    /// The first engine with each of the others; those that were through when interrupted.
    pairs: Vec<Engines<'a>>,
}

/// How far a figure may lie apart and still agree. Where there are two, the wider one counts.
#[derive(Debug, Serialize)]
struct Tolerances {
    p50_ms: f64,
    /// Of the reference.
    p99_share: f64,
    p99_ms: f64,
    /// Standard deviations of a difference of independent losses.
    lost_sigmas: f64,
    /// Of the reference.
    amplification_share: f64,
    amplification: f64,
    /// Delivered no further apart counts as delivered at the same time.
    same_us: f64,
    /// Of the messages of a sender: from there on they are the same.
    same_share: f64,
}

const TOLERANCES: Tolerances = Tolerances {
    p50_ms: P50_TOLERANCE_MS,
    p99_share: P99_TOLERANCE,
    p99_ms: P99_TOLERANCE_MS,
    lost_sigmas: TOLERANCE_SIGMAS,
    amplification_share: amplification::TOLERANCE,
    amplification: TOLERANCE_BYTES,
    same_us: SAME.as_nanos() as f64 / 1e3,
    same_share: SAME_SHARE,
};

/// Two engines.
#[derive(Debug, Serialize)]
struct Engines<'a> {
    reference: EngineKind,
    other: EngineKind,
    /// The worst of all senders: `yes`, `in-figures`, `within-noise`, `too-few-runs` or `no`, here
    /// and below.
    verdict: Agrees,
    /// What the host did, if it disturbed a run on one of both.
    spoilt: Option<&'a str>,
    /// Those that the reference ran.
    senders: Vec<Sender<'a>>,
    /// What to know before trusting the verdicts, as sentences.
    remarks: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Sender<'a> {
    /// Its name in the scenario.
    sender: &'a str,
    /// The worst of `delivery` and `amplification`; `no` where one of these is `null`.
    verdict: Agrees,
    /// `null`: one of both engines did not run it, or delivered nothing.
    delivery: Option<Delivery>,
    /// `null`: one of both engines did not run it, or it took no message there.
    amplification: Option<Amplification>,
    /// `null`: one of both engines did not run it, or only a histogram was kept.
    messages: Option<Messages>,
}

#[derive(Debug, Serialize)]
struct Delivery {
    /// The worst of the three below and of `messages`, where these are judged.
    verdict: Agrees,
    /// Of the delivered messages, like the next.
    p50: Latency,
    p99: Latency,
    lost: Lost,
}

#[derive(Debug, Serialize)]
struct Latency {
    verdict: Agrees,
    reference: LatencyFigure,
    other: LatencyFigure,
    /// other − reference.
    apart_ms: f64,
    /// Of the reference; `null`: that is nothing.
    apart_share: Option<f64>,
}

/// With its interval; `null`: not known.
#[derive(Debug, Serialize)]
struct LatencyFigure {
    value: LatencyValue,
    low: Option<LatencyValue>,
    high: Option<LatencyValue>,
}

#[derive(Debug, Serialize)]
struct Lost {
    verdict: Agrees,
    reference: LostMessages,
    other: LostMessages,
    /// In all runs, other − reference.
    apart: i64,
}

#[derive(Debug, Serialize)]
struct LostMessages {
    all_runs: u64,
    mean_of_runs: f64,
    /// Of that mean; `null` with fewer than five runs.
    low: Option<f64>,
    high: Option<f64>,
}

#[derive(Debug, Serialize)]
struct Amplification {
    /// The worse of both.
    verdict: Agrees,
    up: Direction,
    down: Direction,
}

/// Bytes of IP packets ÷ payload bytes of distinct messages, handshake excluded.
#[derive(Debug, Serialize)]
struct Direction {
    verdict: Agrees,
    reference: Ratio,
    other: Ratio,
    /// other − reference.
    apart: f64,
    /// Of the reference; `null`: that is nothing.
    apart_share: Option<f64>,
}

/// With its interval; `null` with fewer than five runs.
#[derive(Debug, Serialize)]
struct Ratio {
    value: f64,
    low: Option<f64>,
    high: Option<f64>,
}

#[derive(Debug, Serialize)]
struct Messages {
    /// `yes` or `in-figures`; `null`: not judged, since one of both is in real time.
    verdict: Option<Agrees>,
    /// Scheduled on both.
    compared: u64,
    /// Delivered at the same time on both, or lost on both.
    same: u64,
    same_share: f64,
    /// Delivered by one and lost by the other.
    only_one: u64,
    /// How far apart those lie that both delivered; `null` without any.
    apart_p50_us: Option<f64>,
    apart_p99_us: Option<f64>,
    apart_most_us: Option<f64>,
    /// The first that is not the same; `null`: all are.
    first_apart: Option<First>,
}

#[derive(Debug, Serialize)]
struct First {
    /// From 0.
    repetition: u32,
    /// Since the start of the workload.
    scheduled_ms: f64,
}

impl<'a> From<&'a Agreement> for Engines<'a> {
    fn from(agreement: &'a Agreement) -> Self {
        let (reference, other) = agreement.engines;
        Self {
            reference,
            other,
            verdict: agreement.verdict(),
            spoilt: agreement.spoilt(),
            senders: agreement.senders.iter().map(Sender::from).collect(),
            remarks: agreement.remarks().iter().map(|text| text.replace('\n', " ")).collect(),
        }
    }
}

impl<'a> From<&'a SenderAgreement> for Sender<'a> {
    fn from(sender: &'a SenderAgreement) -> Self {
        let delivery = |figures| Delivery::new(figures, sender.delivery_verdict());
        let messages = |messages| Messages::new(messages, sender.message_verdict());
        Self {
            sender: &sender.name,
            verdict: sender.verdict(),
            delivery: sender.figures.as_ref().map(delivery),
            amplification: sender.amplifications.as_ref().map(Amplification::from),
            messages: sender.messages.as_ref().map(messages),
        }
    }
}

impl Delivery {
    fn new(figures: &Figures, verdict: Agrees) -> Self {
        let (reference, other) = figures.lost.totals();
        let means = figures.lost.of_a_run();
        Self {
            verdict,
            p50: Latency::new(figures.p50, figures.p50_verdict()),
            p99: Latency::new(figures.p99, figures.p99_verdict()),
            lost: Lost {
                verdict: figures.lost.verdict(),
                reference: LostMessages::new(reference, means.reference),
                other: LostMessages::new(other, means.other),
                apart: other.cast_signed() - reference.cast_signed(),
            },
        }
    }
}

impl Latency {
    fn new(pair: Pair, verdict: Agrees) -> Self {
        Self {
            verdict,
            reference: pair.reference.into(),
            other: pair.other.into(),
            apart_ms: pair.apart(),
            apart_share: finite(pair.apart_share()),
        }
    }
}

impl From<Value> for LatencyFigure {
    fn from(Value { value, interval }: Value) -> Self {
        let latency = |ms: f64| LatencyValue { ms: finite(ms), lost: ms.is_infinite() };
        let interval = interval.map(latency);
        Self { value: latency(value), low: interval.low, high: interval.high }
    }
}

impl LostMessages {
    fn new(all_runs: u64, Value { value, interval }: Value) -> Self {
        Self { all_runs, mean_of_runs: value, low: interval.low, high: interval.high }
    }
}

impl From<&Amplifications> for Amplification {
    fn from(of: &Amplifications) -> Self {
        let direction = |pair: Pair| Direction {
            verdict: of.verdict_on(pair),
            reference: pair.reference.into(),
            other: pair.other.into(),
            apart: pair.apart(),
            apart_share: finite(pair.apart_share()),
        };
        Self { verdict: of.verdict(), up: direction(of.up), down: direction(of.down) }
    }
}

impl From<Value> for Ratio {
    fn from(Value { value, interval }: Value) -> Self {
        Self { value, low: interval.low, high: interval.high }
    }
}

impl Messages {
    fn new(of: &MessageAgreement, verdict: Option<Agrees>) -> Self {
        let apart_us = |quantile| of.apart_ns(quantile).map(|ns| ns as f64 / 1e3);
        Self {
            verdict,
            compared: of.compared as u64,
            same: of.same as u64,
            same_share: of.same_share(),
            only_one: of.only_one as u64,
            apart_p50_us: apart_us(0.5),
            apart_p99_us: apart_us(0.99),
            apart_most_us: apart_us(1.0),
            first_apart: of.first_apart.map(|first| First {
                repetition: first.repetition,
                scheduled_ms: first.scheduled_ns as f64 / 1e6,
            }),
        }
    }
}

fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

#[cfg(test)]
mod tests;
