//! From a plan and its recordings to everything the outputs show. Pure: the same recordings give
//! the same report, whether they were just made or read back years later.

use std::time::Duration;

use crate::recording::{
    EndSockets, EngineKind, Fidelity, QdiscCounters, Recording, Status, Summary,
};
use crate::scenario::plan::{Plan, SenderPlan};
use crate::timeline::Outage;
use crate::workload::Workload;

use super::claims::{ClaimReport, hold_against};
use super::front::{Standing, standings};
use super::impairment::Impairment;
use super::kind::Kind;
use super::order::Order;
use super::paths::describe_all;
use super::remark::{Remark, remarks};
use super::reservation::Reservation;

#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    pub scenario: String,
    pub about: String,
    /// `None`: nothing was run.
    pub engine: Option<EngineKind>,
    pub seed: u64,
    pub workload: Workload,
    pub outages: Vec<Outage>,
    pub path_names: Vec<String>,
    /// What each of them is at the start, in a few words.
    pub paths: Vec<String>,
    /// Of the senders.
    pub order: Order,
    /// Those that did not run are left out.
    pub senders: Vec<SenderReport>,
    pub claims: Vec<ClaimReport>,
    /// Of the trial that kept time worst in each respect; real-time engines only.
    pub fidelity: Option<Fidelity>,
    /// What the kernel counted where it impaired the paths: all trials, paths and directions.
    pub kernel: Option<QdiscCounters>,
    /// What the links were asked for and what they did.
    pub impairment: Option<Impairment>,
    /// What a reader must know before trusting the figures.
    pub remarks: Vec<Remark>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct SenderReport {
    /// Among those that ran, as in the plan: decides its colour, whatever the order of the report.
    pub place: usize,
    pub kind: Kind,
    /// Why it is not ranked, if it is not.
    pub reservations: Vec<Reservation>,
    /// In the trade-off of P99 and amplification; `None`: one of them is missing, or the sender is
    /// not ranked.
    pub standing: Option<Standing>,
    /// Of all runs together.
    pub pooled: Summary,
    pub runs: Vec<RunReport>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct RunReport {
    pub repetition: u32,
    pub status: Status,
    /// What the host did, if it spoilt the run.
    pub spoilt: Option<String>,
    /// How much of the workload.
    pub measured: Duration,
    pub summary: Summary,
    /// Of a sender that lives in the kernel: the vehicle's end and the cloud's.
    pub sockets: Option<[EndSockets; 2]>,
}

/// In the order of the plan. Recordings of senders that the plan does not name are left out, and
/// their order does not matter.
pub fn summarise(plan: &Plan, recordings: &[Recording]) -> Report {
    let recordings = &in_plan_order(plan, recordings)[..];
    let senders = senders(plan, recordings);
    let measured = |name: &str| senders.iter().find(|sender| sender.pooled.sender == name);
    let claims = plan.claims.iter().flat_map(|claim| hold_against(claim, measured(&claim.sender)));
    Report {
        scenario: plan.name.clone(),
        about: plan.about.clone(),
        engine: recordings.first().map(|recording| recording.engine),
        seed: plan.seed,
        workload: plan.workload.clone(),
        outages: plan.timeline.outages.clone(),
        path_names: plan.paths.iter().map(|path| path.name.clone()).collect(),
        paths: describe_all(plan),
        claims: claims.collect(),
        fidelity: worst_fidelity(recordings),
        kernel: kernel_counters(recordings),
        impairment: Impairment::of(recordings),
        remarks: remarks(plan, &senders, recordings),
        order: Order::Scenario,
        senders,
    }
}

/// By sender as in the plan, then by repetition: trials that run side by side end in any order.
pub fn in_plan_order<'a>(plan: &Plan, recordings: &'a [Recording]) -> Vec<&'a Recording> {
    let place = |trial: &&Recording| plan.senders.iter().position(|s| s.name == trial.sender);
    let mut ordered: Vec<&Recording> = recordings.iter().filter(|r| place(r).is_some()).collect();
    ordered.sort_by_key(|trial| (place(trial), trial.repetition));
    ordered
}

fn senders(plan: &Plan, recordings: &[&Recording]) -> Vec<SenderReport> {
    let reports = plan.senders.iter().filter_map(|sender| report_on(sender, recordings));
    let mut reports: Vec<SenderReport> = reports.collect();
    let standings = standings(&reports);
    for (place, (report, standing)) in reports.iter_mut().zip(standings).enumerate() {
        (report.place, report.standing) = (place, standing);
    }
    reports
}

/// Its place and standing are told only beside the others.
fn report_on(sender: &SenderPlan, recordings: &[&Recording]) -> Option<SenderReport> {
    let trials: Vec<&Recording> =
        recordings.iter().copied().filter(|recording| recording.sender == sender.name).collect();
    let runs = trials.iter().filter_map(|trial| {
        let summary = Summary::of(&[trial])?;
        Some(RunReport {
            repetition: trial.repetition,
            status: trial.status.clone(),
            spoilt: trial.fidelity.as_ref().and_then(|fidelity| fidelity.spoilt.clone()),
            measured: trial.measured(),
            summary,
            sockets: trial.kernel_sockets.clone(),
        })
    });
    Some(SenderReport {
        place: 0,
        kind: Kind::of(&sender.protocol),
        reservations: Reservation::on(&trials),
        standing: None,
        pooled: Summary::of(&trials)?,
        runs: runs.collect(),
    })
}

fn worst_fidelity(recordings: &[&Recording]) -> Option<Fidelity> {
    recordings.iter().filter_map(|recording| recording.fidelity.clone()).reduce(|a, b| Fidelity {
        virtual_time: a.virtual_time && b.virtual_time,
        lateness_p50_us: later(a.lateness_p50_us, b.lateness_p50_us),
        lateness_p99_us: later(a.lateness_p99_us, b.lateness_p99_us),
        lateness_max_us: later(a.lateness_max_us, b.lateness_max_us),
        change_lateness_max_us: a.change_lateness_max_us.max(b.change_lateness_max_us),
        send_lateness_p99_us: a.send_lateness_p99_us.max(b.send_lateness_p99_us),
        send_lateness_max_us: a.send_lateness_max_us.max(b.send_lateness_max_us),
        read_lateness_p99_us: a.read_lateness_p99_us.max(b.read_lateness_p99_us),
        read_lateness_max_us: a.read_lateness_max_us.max(b.read_lateness_max_us),
        stalls: a.stalls.max(b.stalls),
        longest_stall_us: a.longest_stall_us.max(b.longest_stall_us),
        realtime: a.realtime && b.realtime,
        damaged_packets: a.damaged_packets.max(b.damaged_packets),
        vehicle_cpu_us: a.vehicle_cpu_us.max(b.vehicle_cpu_us),
        cloud_cpu_us: a.cloud_cpu_us.max(b.cloud_cpu_us),
        limitations: union(a.limitations, b.limitations),
        spoilt: a.spoilt.or(b.spoilt),
    })
}

fn kernel_counters(recordings: &[&Recording]) -> Option<QdiscCounters> {
    let wires = recordings.iter().flat_map(|recording| &recording.wire);
    let counted: Vec<QdiscCounters> = wires.filter_map(|wire| wire.kernel).flatten().collect();
    (!counted.is_empty()).then(|| counted.into_iter().sum())
}

fn later(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    [a, b].into_iter().flatten().reduce(f64::max)
}

fn union(mut a: Vec<String>, b: Vec<String>) -> Vec<String> {
    a.extend(b);
    a.sort();
    a.dedup();
    a
}
