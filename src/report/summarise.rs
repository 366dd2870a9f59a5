//! From a plan and its recordings to everything the outputs show. Pure: the same recordings give
//! the same report, whether they were just made or read back years later.

use std::fmt;
use std::time::Duration;

use crate::protocol::ProtocolSettings;
use crate::recording::{
    Discrepancy, EndSockets, EngineKind, Fidelity, QdiscCounters, Recording, Status, Summary,
};
use crate::scenario::plan::{Plan, SenderPlan};
use crate::timeline::Outage;
use crate::workload::Workload;

use super::claims::{ClaimReport, hold_against};
use super::figures;
use super::front::{Standing, standings};
use super::impairment::Impairment;
use super::kind::Kind;
use super::order::Order;
use super::paths::describe_all;

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
    /// In the trade-off of P99 and amplification; `None`: one of them is missing.
    pub standing: Option<Standing>,
    /// Of all runs together.
    pub pooled: Summary,
    pub runs: Vec<RunReport>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct RunReport {
    pub repetition: u32,
    pub status: Status,
    /// How much of the workload.
    pub measured: Duration,
    pub summary: Summary,
    /// Of a sender that lives in the kernel: the vehicle's end and the cloud's.
    pub sockets: Option<[EndSockets; 2]>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Remark {
    NotRun {
        sender: String,
    },
    FewerRuns {
        sender: String,
        ran: usize,
        planned: u32,
    },
    Interrupted {
        sender: String,
        repetition: u32,
        after: Duration,
    },
    Closed {
        sender: String,
        repetition: u32,
        reason: String,
    },
    Spoilt {
        sender: String,
        repetition: u32,
        reason: String,
    },
    /// Delivery is reliable, and the trial ended before it was done.
    UnderWay {
        sender: String,
        repetition: u32,
        messages: u64,
    },
    Refused {
        sender: String,
        repetition: u32,
        messages: u64,
    },
    /// Multipath TCP that became plain TCP, or lost a subflow for good.
    FewerSubflows {
        sender: String,
        repetition: u32,
        fallback: bool,
        left: u64,
        of: usize,
    },
    /// A program with random numbers of its own.
    NotRepeatable {
        sender: String,
    },
    Unaccounted {
        sender: String,
        repetition: u32,
        path: String,
        discrepancy: Discrepancy,
    },
}

/// In the order of the plan. Recordings of senders that the plan does not name are left out, and
/// their order does not matter.
pub fn summarise(plan: &Plan, recordings: &[Recording]) -> Report {
    let recordings = &in_plan_order(plan, recordings)[..];
    let senders = senders(plan, recordings);
    let measured = |name: &str| senders.iter().map(|s| &s.pooled).find(|s| s.sender == name);
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
    let standings = standings(&reports.iter().map(|sender| &sender.pooled).collect::<Vec<_>>());
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
            measured: trial.measured(),
            summary,
            sockets: trial.kernel_sockets.clone(),
        })
    });
    Some(SenderReport {
        place: 0,
        kind: Kind::of(&sender.protocol),
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

fn remarks(plan: &Plan, senders: &[SenderReport], recordings: &[&Recording]) -> Vec<Remark> {
    let ran = |name: &str| {
        senders.iter().find(|sender| sender.pooled.sender == name).map_or(0, |s| s.runs.len())
    };
    let missing = plan.senders.iter().filter_map(|sender| match ran(&sender.name) {
        0 => Some(Remark::NotRun { sender: sender.name.clone() }),
        ran if ran < plan.repeat as usize => {
            let (sender, planned) = (sender.name.clone(), plan.repeat);
            Some(Remark::FewerRuns { sender, ran, planned })
        }
        _ => None,
    });
    let of_trials = recordings.iter().flat_map(|recording| remarks_on(recording));
    missing.chain(not_repeatable(recordings)).chain(of_trials).collect()
}

fn not_repeatable(recordings: &[&Recording]) -> Option<Remark> {
    let program = |trial: &&&Recording| matches!(trial.protocol, ProtocolSettings::Kcptun(_));
    let trial = recordings.iter().find(program)?;
    Some(Remark::NotRepeatable { sender: trial.sender.clone() })
}

fn fewer_subflows(recording: &Recording) -> Option<Remark> {
    let [vehicle, _] = recording.kernel_sockets.as_ref()?;
    let (mptcp, of) = (vehicle.mptcp?, recording.protocol.paths().len());
    (mptcp.fallback || mptcp.subflows < of as u64).then(|| Remark::FewerSubflows {
        sender: recording.sender.clone(),
        repetition: recording.repetition,
        fallback: mptcp.fallback,
        left: mptcp.subflows,
        of,
    })
}

fn remarks_on(recording: &Recording) -> Vec<Remark> {
    let (sender, repetition) = (&recording.sender, recording.repetition);
    let status = match &recording.status {
        Status::Interrupted { after } => {
            Some(Remark::Interrupted { sender: sender.clone(), repetition, after: *after })
        }
        Status::Complete | Status::Closed { .. } => closed(recording),
    };
    let spoilt = recording.fidelity.as_ref().and_then(|fidelity| fidelity.spoilt.clone());
    let spoilt = spoilt.map(|reason| Remark::Spoilt { sender: sender.clone(), repetition, reason });
    let under_way: u64 = recording.vehicles().filter_map(under_way).sum();
    let under_way = (under_way > 0).then_some(under_way).map(|messages| Remark::UnderWay {
        sender: sender.clone(),
        repetition,
        messages,
    });
    let refused = recording.vehicles().map(|vehicle| vehicle.messages.refused()).sum();
    let refused = Some(refused).filter(|refused| *refused > 0);
    let refused =
        refused.map(|messages| Remark::Refused { sender: sender.clone(), repetition, messages });
    let others =
        spoilt.into_iter().chain(refused).chain(under_way).chain(fewer_subflows(recording));
    status.into_iter().chain(others).chain(unaccounted(recording)).collect()
}

/// Of many vehicles the first that was, and how many were.
fn closed(recording: &Recording) -> Option<Remark> {
    let mut closed = recording.vehicles().filter_map(|vehicle| match &vehicle.status {
        Status::Closed { reason } => Some((vehicle.vehicle, reason)),
        Status::Complete | Status::Interrupted { .. } => None,
    });
    let (vehicle, reason) = closed.next()?;
    let reason = match recording.others.len() {
        0 => reason.clone(),
        others => {
            let (count, all) = (closed.count() + 1, others + 1);
            format!("{reason} (vehicle {vehicle}; {count} of {all} vehicles)")
        }
    };
    let (sender, repetition) = (recording.sender.clone(), recording.repetition);
    Some(Remark::Closed { sender, repetition, reason })
}

fn unaccounted(recording: &Recording) -> impl Iterator<Item = Remark> {
    recording.wire.iter().flat_map(|wire| {
        wire.discrepancies().into_iter().map(|discrepancy| Remark::Unaccounted {
            sender: recording.sender.clone(),
            repetition: recording.repetition,
            path: recording.path_names.get(wire.path.index()).cloned().unwrap_or_default(),
            discrepancy,
        })
    })
}

/// Accepted by a reliable sender and not delivered, though nothing stopped it.
fn under_way(recording: &Recording) -> Option<u64> {
    let messages = &recording.messages;
    let missing = messages
        .scheduled()
        .saturating_sub(messages.delivered())
        .saturating_sub(messages.refused());
    let whole = recording.delivery.reliable && recording.status == Status::Complete;
    Some(missing).filter(|missing| whole && *missing > 0)
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Runs are counted from 1 for a reader, and from 0 in files.
        match self {
            Self::NotRun { sender } => write!(f, "{sender} did not run"),
            Self::FewerRuns { sender, ran, planned } => {
                write!(f, "{sender} ran {ran} of {planned} times")
            }
            Self::Interrupted { sender, repetition, after } => write!(
                f,
                "{sender}, run {}: interrupted after {:.1} s",
                repetition + 1,
                after.as_secs_f64()
            ),
            Self::Closed { sender, repetition, reason } => {
                write!(f, "{sender}, run {}: the connection was closed: {reason}", repetition + 1)
            }
            Self::Spoilt { sender, repetition, reason } => {
                write!(f, "{sender}, run {}: spoilt by the host: {reason}", repetition + 1)
            }
            Self::Refused { sender, repetition, messages } => write!(
                f,
                "{sender}, run {}: {} could not even be sent (the sender was full or too slow), \
                 which counts as lost, and not in the amplification",
                repetition + 1,
                figures::plural(*messages, "message")
            ),
            Self::FewerSubflows { sender, repetition, fallback: true, .. } => {
                write!(f, "{sender}, run {}: multipath TCP fell back to plain TCP", repetition + 1)
            }
            Self::FewerSubflows { sender, repetition, left, of, .. } => write!(
                f,
                "{sender}, run {}: multipath TCP had {left} of {of} subflows at the end",
                repetition + 1
            ),
            Self::NotRepeatable { sender } => write!(
                f,
                "{sender} is a real program, with random keys and timing of its own: another run \
                 with the same seed gives other figures"
            ),
            Self::Unaccounted { sender, repetition, path, discrepancy } => write!(
                f,
                "{sender}, run {}: on {path} {} the kernel says that it dropped {}, and what was \
                 seen to go missing is {}: do not trust the counts of this path",
                repetition + 1,
                discrepancy.direction,
                figures::plural(discrepancy.dropped, "packet"),
                figures::count(discrepancy.missing)
            ),
            Self::UnderWay { sender, repetition, messages } => write!(
                f,
                "{sender}, run {}: reliable, but {} of its messages had not arrived when the trial \
                 ended, which counts as lost; the amplification lacks what was still to be sent",
                repetition + 1,
                figures::count(*messages)
            ),
        }
    }
}
