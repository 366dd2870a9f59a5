//! What somebody published, each figure beside what was measured.

use std::fmt;

use super::SenderReport;
use super::reservation::Reservation;
use crate::recording::{Summary, WholeFigure};
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
    pub interval: Interval<f64>,
    pub verdict: Verdict,
    /// On the sender: with one the verdict is not to be told.
    pub reservations: Vec<Reservation>,
    pub runs: usize,
}

impl ClaimReport {
    /// Measured ÷ claimed − 1, infinite if messages were lost.
    pub fn difference(&self) -> Option<f64> {
        self.measured.map(|measured| measured / self.claimed - 1.0)
    }

    /// The verdict in a few words: why there is none where there is none.
    pub fn verdict_in_words(&self) -> String {
        let words = match (self.verdict, self.reservations.last()) {
            (Verdict::NotMeasured, _) => "not measured",
            (_, Some(graver)) => return graver.to_string(),
            (Verdict::Agrees, None) => "agrees",
            (Verdict::Differs, None) => "differs",
            (Verdict::Inconclusive, None) => "inconclusive",
            (Verdict::NoInterval, None) if self.runs == 1 => "one run",
            (Verdict::NoInterval, None) if self.runs < FEWEST_RUNS => "too few runs",
            (Verdict::NoInterval, None) => "too few messages",
        };
        words.to_owned()
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ClaimedFigure {
    Quantile(Quantile),
    /// Of all messages: infinite if one was lost.
    Mean,
    /// The median of the worst of each run.
    Worst,
    /// The median of the runs.
    LongestGap,
    Amplification,
}

impl fmt::Display for ClaimedFigure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Quantile(quantile) => quantile.fmt(f),
            Self::Mean => f.write_str("mean"),
            Self::Worst => f.write_str("worst"),
            Self::LongestGap => f.write_str("longest gap"),
            Self::Amplification => f.write_str("amplification"),
        }
    }
}

/// One row for each figure that the claim names. `measured` is `None` if the sender did not run.
pub fn hold_against(claim: &Claim, sender: Option<&SenderReport>) -> Vec<ClaimReport> {
    let measured = sender.map(|sender| &sender.pooled);
    claimed(claim)
        .into_iter()
        .map(|(figure, claimed)| {
            let (value, interval) = measured
                .map_or((None, Interval::UNKNOWN), |summary| measured_figure(summary, figure));
            ClaimReport {
                source: claim.source.clone(),
                sender: claim.sender.clone(),
                figure,
                claimed,
                measured: value,
                interval,
                verdict: judge(claimed, value, interval),
                reservations: sender.map_or_else(Vec::new, |it| it.reservations.clone()),
                runs: measured.map_or(0, |summary| summary.units),
            }
        })
        .collect()
}

fn claimed(claim: &Claim) -> Vec<(ClaimedFigure, f64)> {
    let latencies = [
        (ClaimedFigure::Quantile(Quantile::P50), claim.p50),
        (ClaimedFigure::Quantile(Quantile::P99), claim.p99),
        (ClaimedFigure::Quantile(Quantile::P999), claim.p999),
        (ClaimedFigure::Mean, claim.mean),
        (ClaimedFigure::Worst, claim.worst),
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
            (figure.value.map(Latency::as_ms_or_infinity), in_ms(figure.interval))
        }
        ClaimedFigure::Mean => whole(summary.whole_mean),
        ClaimedFigure::Worst => whole(summary.worst_of_a_run),
        ClaimedFigure::LongestGap => {
            (summary.longest_gap.median.as_ms(), in_ms(summary.longest_gap.interval))
        }
        ClaimedFigure::Amplification => {
            let total = summary.amplification.map(|amplification| amplification.total());
            (total, summary.amplification_interval)
        }
    }
}

fn whole(figure: Option<WholeFigure>) -> (Option<f64>, Interval<f64>) {
    figure.map_or((None, Interval::UNKNOWN), |figure| {
        (Some(figure.value.as_ms_or_infinity()), in_ms(figure.interval))
    })
}

fn in_ms(interval: Interval<Latency>) -> Interval<f64> {
    let ms = |latency: Option<Latency>| latency.map(Latency::as_ms_or_infinity);
    Interval { low: ms(interval.low), high: ms(interval.high) }
}
