//! The summary for scripts: `summary.json`, and what `--json` prints. One version number; a field is added without
//! raising it, and renamed or removed only with.
//!
//! Units are in the names. A latency is an object `{"ms": 41.3, "lost": false}`; `ms` is `null` exactly where `lost`
//! is true, so that a message that never arrived is not taken for a missing figure, which is `null` as a whole.

use serde::Serialize;

use super::claims::ClaimReport;
use super::{Report, RunReport, SenderReport};
use crate::engine::EngineKind;
use crate::recording::{
    Fidelity, Figure, HandshakeCost, OutageFigures, Recovery, Status, Summary, WireCount,
};
use crate::statistics::{CONFIDENCE, Interval, Latency, Verdict};
use crate::workload::Workload;

pub const VERSION: u32 = 1;

pub fn summary(report: &Report) -> String {
    let document = Document::from(report);
    let mut text = serde_json::to_string_pretty(&document).expect("only structs with plain keys");
    text.push('\n');
    text
}

/// The whole of `summary.json`.
#[derive(Debug, Serialize)]
struct Document<'a> {
    /// [`VERSION`] of this format.
    version: u32,
    /// The scenario's name.
    scenario: &'a str,
    /// `sim` or `relay`; `null` if nothing was run.
    engine: Option<EngineKind>,
    /// The scenario's seed.
    seed: u64,
    /// What was sent when, as in the plan.
    workload: &'a Workload,
    /// Of every interval below.
    confidence: f64,
    /// In the order of the plan.
    senders: Vec<Sender<'a>>,
    /// What was published beside what was measured; one entry a figure.
    claims: Vec<Claim<'a>>,
    /// The worst of all trials in each respect; `null` in virtual time.
    fidelity: Option<&'a Fidelity>,
    /// What to know before trusting the figures, as sentences.
    remarks: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Sender<'a> {
    /// Its name in the scenario.
    sender: &'a str,
    /// `udp`, `kcp`, `quic`, `mpquic` or `replicate`.
    protocol: &'a str,
    /// Delivered in the order sent: waiting for an earlier message is then part of a latency.
    ordered: bool,
    /// The protocol sends again what is lost.
    reliable: bool,
    /// Of all runs pooled.
    all_runs: Figures<'a>,
    /// Each by itself, in order.
    runs: Vec<Run<'a>>,
}

#[derive(Debug, Serialize)]
struct Run<'a> {
    /// From 0.
    repetition: u32,
    /// `"complete"`, `{"interrupted": …}` or `{"closed": …}`.
    status: &'a Status,
    figures: Figures<'a>,
}

#[derive(Debug, Serialize)]
struct Figures<'a> {
    /// Messages scheduled: delivered + lost.
    messages: u64,
    delivered: u64,
    /// Not delivered, refused ones included.
    lost: u64,
    /// Not accepted by the sender.
    refused: u64,
    /// Past the deadline or lost, as a share of all messages.
    late_share: f64,
    p50: Quantile,
    p99: Quantile,
    p999: Quantile,
    /// The worst that was delivered.
    worst: Option<LatencyValue>,
    /// The mean of what was delivered.
    mean: Option<LatencyValue>,
    longest_gap: Gap,
    /// Of all outages and runs the worst; `null` without an outage on a path of this sender.
    recovery: Option<RecoveryValue>,
    outages: Vec<Outage<'a>>,
    /// `null` if no message was accepted.
    amplification: Option<Amplification>,
    handshake: Handshake,
    /// `null` where the protocol has none.
    retransmissions: Option<u64>,
}

#[derive(Debug, Serialize)]
struct Quantile {
    /// `null` without messages.
    value: Option<LatencyValue>,
    /// `null`: too few samples to bound it from this side.
    low: Option<LatencyValue>,
    high: Option<LatencyValue>,
    /// Whether there are enough messages to bound it from above; if not, `value` is not to be trusted.
    enough_samples: bool,
    /// The fewest that are.
    samples_needed: u64,
}

#[derive(Debug, Serialize)]
struct LatencyValue {
    /// `null`: lost, infinitely late.
    ms: Option<f64>,
    lost: bool,
}

#[derive(Debug, Serialize)]
struct Gap {
    ms: f64,
    /// Since the start of the workload.
    from_ms: f64,
    until_ms: f64,
    /// The run it was in, from 0.
    repetition: u32,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "lowercase")]
enum RecoveryValue {
    /// Milliseconds after the end of the outage.
    #[serde(rename = "after_ms")]
    After(f64),
    /// Not before the end of the workload.
    Never,
    /// There was no level to come back to.
    Unknown,
}

#[derive(Debug, Serialize)]
struct Outage<'a> {
    path: &'a str,
    repetition: u32,
    from_ms: f64,
    until_ms: f64,
    /// Messages scheduled during it.
    messages: u64,
    lost: u64,
    /// Past the deadline or lost; `null` where only a histogram was kept, like the two below.
    late: Option<u64>,
    p50: Option<LatencyValue>,
    p99: Option<LatencyValue>,
    /// The worst that was delivered.
    worst: Option<LatencyValue>,
    recovery: RecoveryValue,
}

/// Bytes of IP packets ÷ payload bytes of distinct messages, handshake excluded.
#[derive(Debug, Serialize)]
struct Amplification {
    up: f64,
    down: f64,
    /// up + down.
    total: f64,
    /// Of the total, over runs; `null` with too few of them.
    low: Option<f64>,
    high: Option<f64>,
}

/// On a clean link, before the workload; the mean of the runs.
#[derive(Debug, Serialize)]
struct Handshake {
    ms: f64,
    up: WireCount,
    down: WireCount,
}

#[derive(Debug, Serialize)]
struct Claim<'a> {
    source: &'a str,
    sender: &'a str,
    /// `P50`, `P99`, `P999`, `longest gap` (all in milliseconds) or `amplification`.
    figure: String,
    claimed: f64,
    /// `null`: not measured, or lost (see `verdict`).
    measured: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    /// `agrees`, `differs`, `too few samples` or `not measured`.
    verdict: &'static str,
    /// measured ÷ claimed − 1 where it differs; `null` if messages were lost.
    difference: Option<f64>,
}

impl<'a> From<&'a Report> for Document<'a> {
    fn from(report: &'a Report) -> Self {
        let names = &report.path_names;
        Self {
            version: VERSION,
            scenario: &report.scenario,
            engine: report.engine,
            seed: report.seed,
            workload: &report.workload,
            confidence: CONFIDENCE,
            senders: report.senders.iter().map(|sender| Sender::new(sender, names)).collect(),
            claims: report.claims.iter().map(Claim::from).collect(),
            fidelity: report.fidelity.as_ref(),
            remarks: report.remarks.iter().map(ToString::to_string).collect(),
        }
    }
}

impl<'a> Sender<'a> {
    fn new(report: &'a SenderReport, paths: &'a [String]) -> Self {
        let run = |run: &'a RunReport| Run {
            repetition: run.repetition,
            status: &run.status,
            figures: Figures::new(&run.summary, paths),
        };
        Self {
            sender: &report.pooled.sender,
            protocol: report.pooled.protocol,
            ordered: report.pooled.delivery.ordered,
            reliable: report.pooled.delivery.reliable,
            all_runs: Figures::new(&report.pooled, paths),
            runs: report.runs.iter().map(run).collect(),
        }
    }
}

impl<'a> Figures<'a> {
    fn new(summary: &'a Summary, paths: &'a [String]) -> Self {
        let [p50, p99, p999] = summary.quantiles.map(Quantile::from);
        let gap = summary.longest_gap;
        Self {
            messages: summary.messages,
            delivered: summary.delivered,
            lost: summary.lost,
            refused: summary.refused,
            late_share: summary.late_share(),
            p50,
            p99,
            p999,
            worst: summary.worst.map(LatencyValue::from),
            mean: summary.mean.map(LatencyValue::from),
            longest_gap: Gap {
                ms: gap.gap.length().as_ms_or_infinity(),
                from_ms: ms(gap.gap.from),
                until_ms: ms(gap.gap.until),
                repetition: gap.repetition,
            },
            recovery: summary.recovery().map(RecoveryValue::from),
            outages: summary.outages.iter().map(|outage| Outage::new(outage, paths)).collect(),
            amplification: summary.amplification.map(|amplification| Amplification {
                up: amplification.up,
                down: amplification.down,
                total: amplification.total(),
                low: summary.amplification_interval.low,
                high: summary.amplification_interval.high,
            }),
            handshake: Handshake::from(summary.handshake),
            retransmissions: summary.retransmissions,
        }
    }
}

impl From<Figure> for Quantile {
    fn from(figure: Figure) -> Self {
        let Interval { low, high } = figure.interval;
        Self {
            value: figure.value.map(LatencyValue::from),
            low: low.map(LatencyValue::from),
            high: high.map(LatencyValue::from),
            enough_samples: figure.enough,
            samples_needed: figure.quantile.samples_needed(),
        }
    }
}

impl From<Latency> for LatencyValue {
    fn from(latency: Latency) -> Self {
        Self { ms: latency.as_ms(), lost: latency.is_lost() }
    }
}

impl From<Recovery> for RecoveryValue {
    fn from(recovery: Recovery) -> Self {
        match recovery {
            Recovery::After(time) => Self::After(time.as_secs_f64() * 1e3),
            Recovery::Never => Self::Never,
            Recovery::Unknown => Self::Unknown,
        }
    }
}

impl<'a> Outage<'a> {
    fn new(figures: &OutageFigures, paths: &'a [String]) -> Self {
        Self {
            path: paths.get(figures.outage.path.index()).map_or("", String::as_str),
            repetition: figures.repetition,
            from_ms: figures.outage.from.as_secs_f64() * 1e3,
            until_ms: figures.outage.until.as_secs_f64() * 1e3,
            messages: figures.messages,
            lost: figures.lost,
            late: figures.late,
            p50: figures.p50.map(LatencyValue::from),
            p99: figures.p99.map(LatencyValue::from),
            worst: figures.worst.map(LatencyValue::from),
            recovery: figures.recovery.into(),
        }
    }
}

impl From<HandshakeCost> for Handshake {
    fn from(cost: HandshakeCost) -> Self {
        Self { ms: cost.duration.as_secs_f64() * 1e3, up: cost.up, down: cost.down }
    }
}

impl<'a> From<&'a ClaimReport> for Claim<'a> {
    fn from(claim: &'a ClaimReport) -> Self {
        let finite = |value: Option<f64>| value.filter(|value| value.is_finite());
        let (verdict, difference) = match claim.verdict {
            Verdict::Agrees => ("agrees", None),
            Verdict::Differs(by) => ("differs", Some(by)),
            Verdict::TooFewSamples => ("too few samples", None),
            Verdict::NotMeasured => ("not measured", None),
        };
        Self {
            source: &claim.source,
            sender: &claim.sender,
            figure: claim.figure.to_string(),
            claimed: claim.claimed,
            measured: finite(claim.measured),
            low: finite(claim.interval.low),
            high: finite(claim.interval.high),
            verdict,
            difference: finite(difference),
        }
    }
}

fn ms(nanos: u64) -> f64 {
    nanos as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::sample;
    use crate::report::summarise;

    #[test]
    fn the_summary_of_one_sender_reads_as_documented() {
        let mut plan = sample::plan(1);
        plan.senders.retain(|sender| sender.name == "kcp");
        let recordings = [sample::recording("kcp", 0)];
        insta::assert_snapshot!(summary(&summarise(&plan, &recordings)));
    }

    #[test]
    fn lost_is_told_from_missing() {
        let lost = serde_json::to_string(&LatencyValue::from(Latency::LOST)).unwrap();
        assert_eq!(lost, r#"{"ms":null,"lost":true}"#);
    }
}
