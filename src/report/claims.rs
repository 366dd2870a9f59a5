//! What somebody published, each figure beside what was measured.

use std::fmt;

use crate::recording::Summary;
use crate::scenario::plan::Claim;
use crate::statistics::{FEWEST_RUNS, Interval, Latency, Quantile, Verdict, judge};

#[derive(Debug, Clone, PartialEq)]
pub struct ClaimReport {
    pub source: String,
    pub sender: String,
    pub figure: ClaimedFigure,
    /// Milliseconds, but for an amplification; so are those below.
    pub claimed: f64,
    /// Infinite: lost. `None`: the sender did not run or sent nothing.
    pub measured: Option<f64>,
    /// An amplification or a gap has one only over runs; without, it is judged as the exact count
    /// that it is.
    pub interval: Interval<f64>,
    pub verdict: Verdict,
    /// An outage made the messages depend on one another and there are too few runs to resample: interval
    /// and verdict are of these runs only.
    pub of_these_runs_only: bool,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ClaimedFigure {
    Quantile(Quantile),
    LongestGap,
    Amplification,
}

impl fmt::Display for ClaimedFigure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Quantile(quantile) => quantile.fmt(f),
            Self::LongestGap => f.write_str("longest gap"),
            Self::Amplification => f.write_str("amplification"),
        }
    }
}

/// One row for each figure that the claim names. `measured` is `None` if the sender did not run.
pub fn hold_against(claim: &Claim, measured: Option<&Summary>) -> Vec<ClaimReport> {
    let dependent =
        measured.is_some_and(|summary| !summary.outages.is_empty() && summary.runs < FEWEST_RUNS);
    claimed(claim)
        .into_iter()
        .map(|(figure, claimed)| {
            let (value, interval) = measured
                .map_or((None, Interval::UNKNOWN), |summary| measured_figure(summary, figure));
            let judged_on = match (figure, interval.low) {
                (ClaimedFigure::Quantile(_), _) | (_, Some(_)) => interval,
                _ => Interval { low: value, high: value },
            };
            ClaimReport {
                source: claim.source.clone(),
                sender: claim.sender.clone(),
                figure,
                claimed,
                measured: value,
                interval,
                verdict: judge(claimed, value, judged_on),
                of_these_runs_only: dependent && matches!(figure, ClaimedFigure::Quantile(_)),
            }
        })
        .collect()
}

fn claimed(claim: &Claim) -> Vec<(ClaimedFigure, f64)> {
    let latencies = [
        (ClaimedFigure::Quantile(Quantile::P50), claim.p50),
        (ClaimedFigure::Quantile(Quantile::P99), claim.p99),
        (ClaimedFigure::Quantile(Quantile::P999), claim.p999),
        (ClaimedFigure::LongestGap, claim.longest_gap),
    ];
    let latencies = latencies
        .into_iter()
        .filter_map(|(figure, claimed)| Some((figure, claimed?.as_secs_f64() * 1e3)));
    latencies.chain(claim.amplification.map(|x| (ClaimedFigure::Amplification, x))).collect()
}

fn measured_figure(summary: &Summary, figure: ClaimedFigure) -> (Option<f64>, Interval<f64>) {
    match figure {
        ClaimedFigure::Quantile(quantile) => {
            let Some(figure) = summary.figure(quantile) else { return (None, Interval::UNKNOWN) };
            let ms = |latency: Option<Latency>| latency.map(Latency::as_ms_or_infinity);
            let high = figure.interval.high.filter(|_| figure.enough);
            (ms(figure.value), Interval { low: ms(figure.interval.low), high: ms(high) })
        }
        ClaimedFigure::LongestGap => (summary.longest_gap.gap.length().as_ms(), Interval::UNKNOWN),
        ClaimedFigure::Amplification => {
            let total = summary.amplification.map(|amplification| amplification.total());
            (total, summary.amplification_interval)
        }
    }
}
