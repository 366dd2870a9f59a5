//! The summary for scripts: `summary.json`, and what `--json` prints. One version number; a field
//! is added without raising it, and renamed or removed only with.
//!
//! Units are in the names. A latency is an object `{"ms": 41.3, "lost": false}`; `ms` is `null`
//! exactly where `lost` is true, so that a message that never arrived is not taken for a missing
//! figure, which is `null` as a whole.

mod document;
mod impairment;
mod sockets;

use std::time::Duration;

use super::claims::ClaimReport;
use super::{Report, RunReport, SenderReport};
use crate::recording::{self, Figure, HandshakeCost, OutageFigures, Recovery, Status, Summary};
use crate::statistics::{CONFIDENCE, Interval, Latency};
use crate::workload;
use document::{
    Amplification, Claim, Document, ErrorCorrection, Figures, Gap, Handshake, Outage, Quantile,
    RecoveryValue, Run, Sender, Vehicles,
};

pub(super) use document::{LatencyValue, Workload};
pub(super) use impairment::links;
use sockets::kernel_ends;

pub const VERSION: u32 = 1;

pub fn summary(report: &Report) -> String {
    let document = Document::from(report);
    let mut text = serde_json::to_string_pretty(&document).expect("only structs with plain keys");
    text.push('\n');
    text
}

impl<'a> From<&'a Report> for Document<'a> {
    fn from(report: &'a Report) -> Self {
        let names = &report.path_names;
        Self {
            version: VERSION,
            scenario: &report.scenario,
            engine: report.engine,
            seed: report.seed,
            workload: Workload::from(&report.workload),
            confidence: CONFIDENCE,
            senders: report.senders.iter().map(|sender| Sender::new(sender, names)).collect(),
            claims: report.claims.iter().map(Claim::from).collect(),
            impairment: links(report),
            fidelity: report.fidelity.as_ref(),
            kernel: report.kernel.as_ref(),
            remarks: report.remarks.iter().map(ToString::to_string).collect(),
        }
    }
}

impl<'a> Sender<'a> {
    fn new(report: &'a SenderReport, paths: &'a [String]) -> Self {
        Self {
            sender: &report.pooled.sender,
            protocol: report.pooled.protocol,
            family: report.kind.family,
            redundancy: report.kind.redundancy.to_string(),
            reservations: report.reservations.iter().map(ToString::to_string).collect(),
            front: report.standing.map(|standing| standing.on_front),
            front_certain: report.standing.and_then(|standing| standing.certain),
            ordered: report.pooled.delivery.ordered,
            reliable: report.pooled.delivery.reliable,
            vehicles: report.pooled.vehicles.as_ref().map(Vehicles::from),
            all_runs: Figures::new(&report.pooled, paths),
            runs: report.runs.iter().map(|run| Run::new(run, paths)).collect(),
        }
    }
}

impl<'a> Run<'a> {
    fn new(run: &'a RunReport, paths: &'a [String]) -> Self {
        let (status, closed_reason) = match &run.status {
            Status::Complete => ("complete", None),
            Status::Interrupted { .. } => ("interrupted", None),
            Status::Closed { reason } => ("closed", Some(reason.as_str())),
        };
        Self {
            repetition: run.repetition,
            status,
            measured_ms: milliseconds(run.measured),
            closed_reason,
            spoilt: run.spoilt.as_deref(),
            kernel: kernel_ends(run.sockets.as_ref(), paths),
            figures: Figures::new(&run.summary, paths),
        }
    }
}

impl From<&workload::Workload> for Workload {
    fn from(workload: &workload::Workload) -> Self {
        let (size_bytes, response_bytes) = workload.payload_per_message();
        let periodic = workload.periodic();
        Self {
            kind: workload.keyword(),
            rate: periodic.rate,
            size_bytes,
            response_bytes,
            duration_ms: milliseconds(periodic.duration),
            deadline_ms: milliseconds(periodic.deadline),
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
                median_ms: gap.median.as_ms_or_infinity(),
                low_ms: gap.interval.low.map(Latency::as_ms_or_infinity),
                high_ms: gap.interval.high.map(Latency::as_ms_or_infinity),
            },
            recovery: summary.recovery().map(RecoveryValue::from),
            path_back: summary.path_back().map(RecoveryValue::from),
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
            error_correction: summary
                .error_correction
                .map(|[vehicle, cloud]| ErrorCorrection { vehicle, cloud }),
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
            Recovery::After(time) => Self::After(milliseconds(time)),
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
            vehicle: figures.vehicle,
            from_ms: milliseconds(figures.outage.from),
            until_ms: milliseconds(figures.outage.until),
            messages: figures.messages,
            lost: figures.lost,
            late: figures.late,
            p50: figures.p50.map(LatencyValue::from),
            p99: figures.p99.map(LatencyValue::from),
            worst: figures.worst.map(LatencyValue::from),
            recovery: figures.recovery.into(),
            path_back: figures.path_back.map(|back| back.after.into()),
            path_back_unknown: figures.path_back.and_then(|back| Some(back.why?.to_string())),
        }
    }
}

impl From<&recording::Vehicles> for Vehicles {
    fn from(of: &recording::Vehicles) -> Self {
        let us = |time: Duration| time.as_secs_f64() * 1e6;
        Self {
            count: of.count,
            best_p99: of.best.into(),
            median_p99: of.median.into(),
            worst_p99: of.worst.into(),
            worst_vehicle: of.worst_vehicle,
            worst_repetition: of.worst_repetition,
            enough_samples: of.enough,
            gateway_cpu_us: of.cost.map(|cost| us(cost.gateway_cpu)),
            vehicle_cpu_us: of.cost.map(|cost| us(cost.vehicle_cpu)),
            lab_cpu_us: of.cost.map(|cost| us(cost.lab_cpu)),
            gateway_heap_bytes: of.cost.and_then(|cost| cost.gateway_heap),
            vehicle_heap_bytes: of.cost.and_then(|cost| cost.vehicle_heap),
        }
    }
}

impl From<HandshakeCost> for Handshake {
    fn from(cost: HandshakeCost) -> Self {
        Self { ms: cost.duration.map(milliseconds), up: cost.up, down: cost.down }
    }
}

impl<'a> From<&'a ClaimReport> for Claim<'a> {
    fn from(claim: &'a ClaimReport) -> Self {
        let finite = |value: Option<f64>| value.filter(|value| value.is_finite());
        Self {
            source: &claim.source,
            sender: &claim.sender,
            figure: claim.figure.to_string(),
            claimed: claim.claimed,
            measured: finite(claim.measured),
            low: finite(claim.interval.low),
            high: finite(claim.interval.high),
            verdict: claim.verdict_in_words(),
            difference: finite(claim.difference()),
        }
    }
}

fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
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
