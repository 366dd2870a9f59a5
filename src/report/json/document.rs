//! The shape of `summary.json`, field by field: only what is written, not how it is come by.

use serde::Serialize;

use super::sockets::KernelEnd;
use crate::link::profile::LinkProfile;
use crate::protocol::ShardCounts;
use crate::recording::EngineKind;
use crate::recording::{Fidelity, QdiscCounters, WireCount};
use crate::units::Direction;

/// The whole of `summary.json`.
#[derive(Debug, Serialize)]
pub struct Document<'a> {
    /// [`super::VERSION`] of this format.
    pub version: u32,
    /// The scenario's name.
    pub scenario: &'a str,
    /// `sim`, `relay` or `netem`; `null` if nothing was run.
    pub engine: Option<EngineKind>,
    /// The scenario's seed.
    pub seed: u64,
    pub workload: Workload,
    /// Of every interval below.
    pub confidence: f64,
    /// In the order that was asked for (`--sort`), without that the scenario's.
    pub senders: Vec<Sender<'a>>,
    /// What was published beside what was measured; one entry a figure.
    pub claims: Vec<Claim<'a>>,
    /// What each link was asked for and what it did, profile by profile; interrupted trials are
    /// left out.
    pub impairment: Vec<Link<'a>>,
    /// The worst of all trials in each respect; `null` on `sim`.
    pub fidelity: Option<&'a Fidelity>,
    /// What the kernel counted where it impaired the paths (all trials, paths and directions
    /// together); `null` elsewhere.
    pub kernel: Option<&'a QdiscCounters>,
    /// What to know before trusting the figures, as sentences.
    pub remarks: Vec<String>,
}

/// What was sent when.
#[derive(Debug, Serialize)]
pub struct Workload {
    /// `control` (one way) or `echo` (request and response).
    pub kind: &'static str,
    /// Messages per second.
    pub rate: f64,
    pub size_bytes: u32,
    /// Zero without a response.
    pub response_bytes: u32,
    pub duration_ms: f64,
    pub deadline_ms: f64,
}

#[derive(Debug, Serialize)]
pub struct Sender<'a> {
    /// Its name in the scenario.
    pub sender: &'a str,
    /// As `impairlab senders` lists them.
    pub protocol: &'a str,
    /// The same, and for `replicate` what is replicated.
    pub family: &'a str,
    /// `one path`, `datagrams copied`, `messages copied` or `multipath protocol`.
    pub redundancy: String,
    /// Why it is not ranked: `interrupted`, `spoilt by the host` or both, in one of its runs; empty:
    /// it is.
    pub reservations: Vec<String>,
    /// No other sender that is ranked is at least as good in both P99 and amplification, and better
    /// in one; `false` where the P99 is lost, and `null` where one of them is missing or the sender
    /// is not ranked.
    pub front: Option<bool>,
    /// Whether `front` holds for all values within the intervals of all senders; `null`: there are
    /// none (fewer than five runs), or it hangs on a sender that is not ranked.
    pub front_certain: Option<bool>,
    /// Delivered in the order sent: waiting for an earlier message is then part of a latency.
    pub ordered: bool,
    /// The protocol sends again what is lost.
    pub reliable: bool,
    /// `null` with one.
    pub vehicles: Option<Vehicles>,
    /// Of all runs and vehicles pooled.
    pub all_runs: Figures<'a>,
    /// Each by itself, in order.
    pub runs: Vec<Run<'a>>,
}

/// How far the vehicles of a sender lie apart, over all runs, and what each cost this machine (the
/// mean): real processor time from the start of the workload on, and what its end of the connection
/// held of the heap after the last delivery. `null`: not measured.
#[derive(Debug, Serialize)]
pub struct Vehicles {
    /// Of one run.
    pub count: u32,
    pub best_p99: LatencyValue,
    pub median_p99: LatencyValue,
    pub worst_p99: LatencyValue,
    /// Which it is and the run it was in, both from 0.
    pub worst_vehicle: u32,
    pub worst_repetition: u32,
    /// Whether each has enough messages to bound its P99 from above.
    pub enough_samples: bool,
    pub gateway_cpu_us: Option<f64>,
    pub vehicle_cpu_us: Option<f64>,
    /// Links and message logs: what the lab itself takes.
    pub lab_cpu_us: Option<f64>,
    pub gateway_heap_bytes: Option<u64>,
    pub vehicle_heap_bytes: Option<u64>,
}

#[derive(Debug, Serialize)]
pub struct Run<'a> {
    /// From 0.
    pub repetition: u32,
    /// `complete`, `interrupted` (by the user) or `closed` (the connection was given up).
    pub status: &'static str,
    /// How much of the workload was measured.
    pub measured_ms: f64,
    /// Why it was closed; `null` if it was not.
    pub closed_reason: Option<&'a str>,
    /// What the host did, if it spoilt the run.
    pub spoilt: Option<&'a str>,
    /// What the kernel told of a sender that lives in it; empty for the others.
    pub kernel: Vec<KernelEnd<'a>>,
    pub figures: Figures<'a>,
}

#[derive(Debug, Serialize)]
pub struct Figures<'a> {
    /// Messages scheduled: delivered + lost.
    pub messages: u64,
    pub delivered: u64,
    /// Not delivered, refused ones included.
    pub lost: u64,
    /// Not accepted by the sender.
    pub refused: u64,
    /// Past the deadline or lost, as a share of all messages.
    pub late_share: f64,
    pub p50: Quantile,
    pub p99: Quantile,
    pub p999: Quantile,
    /// The worst that was delivered.
    pub worst: Option<LatencyValue>,
    /// The mean of what was delivered.
    pub mean: Option<LatencyValue>,
    pub longest_gap: Gap,
    /// Of the outages of a run the worst, and of the runs the median; `null` without an outage on a
    /// path of this sender.
    pub recovery: Option<RecoveryValue>,
    /// Until a path that had been dark was used again as before: the same of its outages and runs;
    /// `null` for a sender with one path only.
    pub path_back: Option<RecoveryValue>,
    pub outages: Vec<Outage<'a>>,
    /// `null` if no message was accepted.
    pub amplification: Option<Amplification>,
    pub handshake: Handshake,
    /// `null` where the protocol has none.
    pub retransmissions: Option<u64>,
    /// `null` where the protocol has none, or a recording is older than these counts.
    pub error_correction: Option<ErrorCorrection>,
}

/// What came to each end, and what it made again of it; all runs together, from the handshake on.
#[derive(Debug, Serialize)]
pub struct ErrorCorrection {
    pub vehicle: ShardCounts,
    pub cloud: ShardCounts,
}

#[derive(Debug, Serialize)]
pub struct Quantile {
    /// `null` without messages.
    pub value: Option<LatencyValue>,
    /// `null`: not bounded from this side. Intervals need five runs (`--repeat 5`); with fewer
    /// there are none but for senders whose messages do not depend on one another.
    pub low: Option<LatencyValue>,
    pub high: Option<LatencyValue>,
    /// Whether there are enough messages to bound it from above; if not, `value` is not to be
    /// trusted.
    pub enough_samples: bool,
    /// The fewest that are.
    pub samples_needed: u64,
}

#[derive(Debug, Serialize)]
pub struct LatencyValue {
    /// `null`: lost, infinitely late.
    pub ms: Option<f64>,
    pub lost: bool,
}

#[derive(Debug, Serialize)]
pub struct Gap {
    /// The longest of all runs.
    pub ms: f64,
    /// Since the start of the workload.
    pub from_ms: f64,
    pub until_ms: f64,
    /// The run it was in, from 0.
    pub repetition: u32,
    /// The median of the longest gaps of the runs, and its interval over runs; `null` with fewer
    /// than five of them.
    pub median_ms: f64,
    pub low_ms: Option<f64>,
    pub high_ms: Option<f64>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RecoveryValue {
    /// Milliseconds after the end of the outage.
    #[serde(rename = "after_ms")]
    After(f64),
    /// Not before the next outage, or the end of the workload.
    Never,
    /// There was no level to come back to.
    Unknown,
}

#[derive(Debug, Serialize)]
pub struct Outage<'a> {
    pub path: &'a str,
    pub repetition: u32,
    /// From 0.
    pub vehicle: u32,
    pub from_ms: f64,
    pub until_ms: f64,
    /// Messages scheduled during it; `null`, like `lost`, for one of many vehicles where only a
    /// histogram was kept.
    pub messages: Option<u64>,
    pub lost: Option<u64>,
    /// Past the deadline or lost; `null` where only a histogram was kept, like the two below.
    pub late: Option<u64>,
    pub p50: Option<LatencyValue>,
    pub p99: Option<LatencyValue>,
    /// The worst that was delivered.
    pub worst: Option<LatencyValue>,
    pub recovery: RecoveryValue,
    /// Until the path was used again as before; `null` for a sender with no other path.
    pub path_back: Option<RecoveryValue>,
    /// Why that is `unknown`.
    pub path_back_unknown: Option<String>,
}

/// Bytes of IP packets ÷ payload bytes of distinct messages, handshake excluded.
#[derive(Debug, Serialize)]
pub struct Amplification {
    pub up: f64,
    pub down: f64,
    /// up + down.
    pub total: f64,
    /// Of the total, over runs; `null` with too few of them.
    pub low: Option<f64>,
    pub high: Option<f64>,
}

/// On a clean link, before the workload; the mean of the runs.
#[derive(Debug, Serialize)]
pub struct Handshake {
    /// `null`: this protocol has none.
    pub ms: Option<f64>,
    pub up: WireCount,
    pub down: WireCount,
}

#[derive(Debug, Serialize)]
pub struct Claim<'a> {
    pub source: &'a str,
    pub sender: &'a str,
    /// `P50`, `P99`, `P999`, `mean` (of all messages), `worst` and `longest gap` (the medians of the
    /// runs), all in milliseconds, or `amplification`.
    pub figure: String,
    pub claimed: f64,
    /// `null`: not measured, or lost (see `verdict`).
    pub measured: Option<f64>,
    pub low: Option<f64>,
    pub high: Option<f64>,
    /// `agrees`: the whole interval lies within 5 % of the claim. `differs`: all of it lies
    /// outside. `inconclusive`: neither. Without an interval `one run`, `too few runs` or `too few
    /// messages`; without a figure `not measured`; of a sender that is not ranked why.
    pub verdict: String,
    /// measured ÷ claimed − 1, whatever the verdict; `null` if messages were lost.
    pub difference: Option<f64>,
}

/// One direction of a path while it had one profile.
#[derive(Debug, Serialize)]
pub struct Link<'a> {
    pub path: &'a str,
    /// `up` or `down`.
    pub direction: Direction,
    /// As in `plan.json`; `null`: the profiles after the first sixteen, pooled.
    pub profile: Option<&'a LinkProfile>,
    /// Of all senders and runs.
    pub packets: u64,
    pub figures: Vec<LinkFigure>,
}

#[derive(Debug, Serialize)]
pub struct LinkFigure {
    /// `loss`, `burst length`, `delay`, `jitter`, `rate`, `overtaking`, `reordering`, `duplicates`
    /// or `corruption`.
    pub figure: String,
    /// `share` (of packets), `packets`, `ms` or `bit/s`.
    pub unit: &'static str,
    /// `null`: no formula holds. Of a rate always there.
    pub asked: Option<f64>,
    /// `null`: there was nothing to measure it on.
    pub realised: Option<f64>,
    /// The 95 % interval of what was realised, as wide as if all senders met the same random
    /// numbers.
    pub low: Option<f64>,
    pub high: Option<f64>,
    /// Those it is measured on.
    pub packets: u64,
    /// `agrees`, `disagrees`, `spoilt by the host`, `too few packets`, or `not judged` and why. A
    /// false alarm has a probability of 1 in 10⁷.
    pub verdict: String,
    /// The trials that disagree, as `sender, run 1` (the second: runs count from 0) or
    /// `sender, all runs`.
    pub disagrees_in: Vec<String>,
    /// The trials in which the host let packets go too late to judge it.
    pub spoilt_in: Vec<String>,
}
