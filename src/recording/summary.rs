//! The figures of a sender, from its recordings alone: of one trial, or pooled over the
//! repetitions. Knows nothing of how they are shown.
//!
//! Every message of a recording counts. One that was not delivered is infinitely late, whether the
//! network lost it or the sender refused it, and so sits at the top of the distribution.

mod amplification;
mod outages;
mod whole;

pub use amplification::AmplificationFigure;
pub use outages::{OfRuns, PathInUse};
pub use whole::WholeFigure;

use crate::link::profile::LinkProfile;
use crate::protocol::{Delivery, ShardCounts};
use crate::statistics::{
    Distribution, FEWEST_RUNS, Interval, Latency, Quantile, order_statistics, over_runs,
};
use crate::timeline::Outage;

use super::gap::longest_gap;
use super::recovery::Windows;
use super::wire::Traffic;
use super::{
    Amplification, Gap, HandshakeCost, Messages, PathBack, Recording, Recovery, Status, Vehicles,
};

#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    pub sender: String,
    /// The word for its protocol in a scenario file.
    pub protocol: &'static str,
    pub delivery: Delivery,
    pub runs: usize,
    /// What can be resampled: the runs, and with many vehicles each vehicle of each run, in groups
    /// where there are very many.
    pub units: usize,
    /// `None`: there is one.
    pub vehicles: Option<Vehicles>,
    /// Scheduled: delivered + lost.
    pub messages: u64,
    pub delivered: u64,
    /// Not delivered, refused ones included.
    pub lost: u64,
    /// Not accepted by the sender.
    pub refused: u64,
    /// Past the deadline or lost.
    pub late: u64,
    /// One for each of [`Quantile::SHOWN`].
    pub quantiles: [Figure; 3],
    /// Of the delivered ones; `None`: nothing was delivered.
    pub worst: Option<Latency>,
    pub mean: Option<Latency>,
    /// Of all messages, lost ones too; `None`: there are none. So is the next.
    pub whole_mean: Option<WholeFigure>,
    pub worst_of_a_run: Option<WholeFigure>,
    pub longest_gap: LongestGap,
    /// Those of the paths this sender uses, run by run.
    pub outages: Vec<OutageFigures>,
    /// `None`: no message was accepted.
    pub amplification: Option<Amplification>,
    /// Of the total; over runs, so unknown with fewer than [`FEWEST_RUNS`].
    pub amplification_interval: Interval<f64>,
    pub handshake: HandshakeCost,
    /// `None`: this protocol has none.
    pub retransmissions: Option<u64>,
    /// Of the vehicle and the cloud, all runs together.
    pub error_correction: Option<[ShardCounts; 2]>,
    /// Every latency of every run.
    pub latencies: Distribution,
}

/// A quantile and how well it is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Figure {
    pub quantile: Quantile,
    /// `None`: there are no messages.
    pub value: Option<Latency>,
    /// Over runs; with fewer than [`FEWEST_RUNS`] over messages where no message says anything of
    /// the next, and else unknown.
    pub interval: Interval<Latency>,
    /// Whether there are enough messages for an upper bound.
    pub enough: bool,
}

/// Of the longest gap of each run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LongestGap {
    /// The longest of all, and the run it was in.
    pub gap: Gap,
    pub repetition: u32,
    pub median: Latency,
    /// Of the median; over runs, so unknown with fewer than [`FEWEST_RUNS`].
    pub interval: Interval<Latency>,
}

/// What happened to the messages scheduled during one outage of one run.
#[derive(Debug, Clone, PartialEq)]
pub struct OutageFigures {
    pub repetition: u32,
    pub vehicle: u32,
    /// Of an interrupted trial: until it was stopped.
    pub outage: Outage,
    /// With a histogram: of the slices that lie wholly within the outage; `None` if there is none,
    /// as of one of many vehicles.
    pub messages: Option<u64>,
    pub lost: Option<u64>,
    pub late: Option<u64>,
    /// `None` with a histogram, which keeps no order within a slice.
    pub p50: Option<Latency>,
    pub p99: Option<Latency>,
    /// Of the delivered ones.
    pub worst: Option<Latency>,
    pub recovery: Recovery,
    /// `None` for a sender with no other path, and where nothing was kept of this one.
    pub path_back: Option<PathBack>,
}

impl Summary {
    /// `trials` are of one sender of one plan. `None` if there are none.
    pub fn of(trials: &[&Recording]) -> Option<Self> {
        let first = trials.first()?;
        let (count, vehicles) = (trials.len(), Vehicles::of(trials));
        let trials: &[&Recording] = &trials.iter().flat_map(|it| it.vehicles()).collect::<Vec<_>>();
        let runs = distributions(trials, Messages::latencies);
        let (latencies, traffic) = (Distribution::pooled(&runs), amplification::traffic(trials));
        let sum = |of: &dyn Fn(&Messages) -> u64| trials.iter().map(|it| of(&it.messages)).sum();
        let (messages, delivered): (u64, u64) =
            (sum(&Messages::scheduled), sum(&Messages::delivered));
        let (seed, deadline) = (first.seed, first.workload.periodic().deadline);
        Some(Self {
            sender: first.sender.clone(),
            protocol: first.protocol.keyword(),
            delivery: first.delivery,
            runs: count,
            units: runs.len(),
            vehicles,
            messages,
            delivered,
            lost: messages.saturating_sub(delivered),
            refused: sum(&Messages::refused),
            late: sum(&|messages| messages.late(deadline)),
            quantiles: Quantile::SHOWN.map(|it| figure(trials, &latencies, &runs, it)),
            worst: latencies.worst_delivered(),
            mean: latencies.mean_delivered(),
            whole_mean: WholeFigure::mean(&runs, seed),
            worst_of_a_run: WholeFigure::worst(&runs, seed),
            longest_gap: longest(trials, seed),
            outages: trials.iter().flat_map(|trial| outages_of(trial)).collect(),
            amplification: total(&traffic).amplification(),
            amplification_interval: amplification::interval(&traffic, seed, Amplification::total),
            handshake: HandshakeCost::mean(trials),
            retransmissions: trials.iter().map(|it| it.statistics.retransmissions).sum(),
            error_correction: error_correction(trials),
            latencies,
        })
    }

    pub fn late_share(&self) -> f64 {
        share(self.late, self.messages)
    }

    pub fn lost_share(&self) -> f64 {
        share(self.lost, self.messages)
    }

    pub fn figure(&self, quantile: Quantile) -> Option<&Figure> {
        self.quantiles.iter().find(|figure| figure.quantile == quantile)
    }
}

/// A quantile of the delivered messages alone. `trials` are of one sender of one plan; `None` if
/// there are none.
pub fn delivered_figure(trials: &[&Recording], quantile: Quantile) -> Option<Figure> {
    let trials: Vec<&Recording> = trials.iter().flat_map(|it| it.vehicles()).collect();
    let runs = distributions(&trials, |messages| messages.latencies().delivered());
    (!trials.is_empty()).then(|| figure(&trials, &Distribution::pooled(&runs), &runs, quantile))
}

/// Of each unit.
fn distributions(
    trials: &[&Recording],
    of: impl Fn(&Messages) -> Distribution,
) -> Vec<Distribution> {
    units(trials, |group| {
        let latencies = group.iter().map(|trial| of(&trial.messages));
        Distribution::pooled(&latencies.collect::<Vec<_>>())
    })
}

impl Gap {
    pub fn length(&self) -> Latency {
        Latency::from_nanos(self.until.saturating_sub(self.from))
    }
}

fn share(part: u64, all: u64) -> f64 {
    if all == 0 { 0.0 } else { part as f64 / all as f64 }
}

/// Of the latencies of some trials, and of the runs that these are of.
fn figure(
    trials: &[&Recording],
    latencies: &Distribution,
    runs: &[Distribution],
    quantile: Quantile,
) -> Figure {
    let enough = latencies.count() >= quantile.samples_needed();
    let seed = trials.first().map_or(0, |trial| trial.seed);
    let interval = if enough && runs.len() >= FEWEST_RUNS {
        over_runs(runs.len(), seed, |drawn| drawn_quantile(latencies, runs, drawn, quantile))
    } else if trials.iter().all(|trial| has_independent_messages(trial)) {
        order_statistics(latencies, quantile)
    } else {
        Interval::UNKNOWN
    };
    Figure { quantile, value: latencies.quantile(quantile), interval, enough }
}

/// No message says anything of the next: neither its sender nor a link makes one wait for another,
/// losses do not come in bursts, and no outage hits many at once.
fn has_independent_messages(trial: &Recording) -> bool {
    let paths = trial.protocol.paths();
    let of_paths = trial.receipts.iter().filter(|receipts| paths.contains(&receipts.path));
    let mut asked = of_paths.flat_map(|it| it.up.iter().chain(&it.down)).map(|it| &it.asked);
    trial.protocol.sends_each_message_alone()
        && outages_met(trial).next().is_none()
        && asked.all(|profile| profile.as_ref().is_some_and(LinkProfile::treats_each_alone))
}

/// The quantile of the runs, each as often as it was drawn, found by halving among all latencies
/// that occur: no pooled distribution has to be built for each resample.
fn drawn_quantile(
    latencies: &Distribution,
    runs: &[Distribution],
    drawn: &[u64],
    quantile: Quantile,
) -> Latency {
    let weighted = |part: &dyn Fn(&Distribution) -> u64| -> u64 {
        runs.iter().zip(drawn).filter(|(_, times)| **times > 0).map(|(run, n)| part(run) * n).sum()
    };
    let rank = quantile.rank(weighted(&Distribution::count));
    latencies.first_where(|latency| weighted(&|run| run.at_most(latency)) >= rank)
}

/// `None` where some trial has none.
fn error_correction(trials: &[&Recording]) -> Option<[ShardCounts; 2]> {
    let each = |end: usize| trials.iter().map(move |trial| Some(trial.error_correction?[end]));
    Some([each(0).sum::<Option<_>>()?, each(1).sum::<Option<_>>()?])
}

fn longest(trials: &[&Recording], seed: u64) -> LongestGap {
    let gaps: Vec<Gap> = trials.iter().map(|trial| longest_gap(trial)).collect();
    let worst = trials.iter().zip(&gaps).max_by_key(|(_, gap)| gap.length());
    let median = |times: &[u64]| {
        let lengths = gaps.iter().map(Gap::length).zip(times.iter().copied());
        Distribution::from_counts(lengths).median().unwrap_or(Latency::LOST)
    };
    LongestGap {
        gap: worst.map_or(Gap::default(), |(_, gap)| *gap),
        repetition: worst.map_or(0, |(trial, _)| trial.repetition),
        median: median(&vec![1; gaps.len()]),
        interval: over_runs(gaps.len(), seed, median),
    }
}

/// With more units than this they are pooled in groups, which are as independent as they are, so
/// that an interval over ten thousand vehicles does not take minutes.
const MOST_UNITS: usize = 100;

fn units<T>(trials: &[&Recording], of: impl Fn(&[&Recording]) -> T) -> Vec<T> {
    let runs = trials.iter().all(|trial| trial.vehicle == 0);
    let groups = if runs { trials.len() } else { trials.len().min(MOST_UNITS) };
    let end = |group: usize| group * trials.len() / groups;
    (0..groups).map(|group| of(&trials[end(group)..end(group + 1)])).collect()
}

fn total(traffic: &[Traffic]) -> Traffic {
    Traffic::weighted(traffic, &vec![1; traffic.len()])
}

/// Those of the paths of the sender that began before the end.
fn outages_met(trial: &Recording) -> impl Iterator<Item = &Outage> {
    let (paths, measured) = (trial.protocol.paths(), trial.measured());
    let met = move |outage: &&Outage| paths.contains(&outage.path) && outage.from < measured;
    trial.outages.iter().filter(met)
}

/// Of each outage that the trial met.
fn outages_of(trial: &Recording) -> impl Iterator<Item = OutageFigures> {
    let met: Vec<Outage> = outages_met(trial).copied().collect();
    let windows = Windows::of(&trial.messages, trial.workload.periodic().rate);
    let recoveries = windows.recoveries(&met);
    let backs = PathBack::of_all(trial, &met);
    let figures = met.into_iter().zip(recoveries.into_iter().zip(backs));
    figures.map(|(outage, (recovery, path_back))| OutageFigures {
        path_back,
        ..outage_figures(trial, &outage, recovery)
    })
}

fn outage_figures(trial: &Recording, outage: &Outage, recovery: Recovery) -> OutageFigures {
    let deadline = trial.workload.periodic().deadline;
    let during = trial.messages.scheduled_within(outage.from, outage.until);
    let kept = during.as_ref().filter(|during| matches!(during, Messages::Each(_)));
    let latencies = during.as_ref().map(Messages::latencies);
    let quantile = |quantile| latencies.as_ref().filter(|_| kept.is_some())?.quantile(quantile);
    let until = match trial.status {
        Status::Interrupted { after } => outage.until.min(after),
        Status::Complete | Status::Closed { .. } => outage.until,
    };
    let during = during.as_ref();
    OutageFigures {
        repetition: trial.repetition,
        vehicle: trial.vehicle,
        outage: Outage { until, ..*outage },
        messages: during.map(Messages::scheduled),
        lost: during.map(|during| during.scheduled().saturating_sub(during.delivered())),
        late: kept.map(|during| during.late(deadline)),
        p50: quantile(Quantile::P50),
        p99: quantile(Quantile::P99),
        worst: latencies.as_ref().and_then(Distribution::worst_delivered),
        recovery,
        path_back: None,
    }
}

#[cfg(test)]
mod tests;
