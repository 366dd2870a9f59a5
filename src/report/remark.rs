//! What a reader must know before trusting the figures, each in a sentence.

use std::fmt;
use std::time::Duration;

use super::figures;
use super::summarise::SenderReport;
use crate::protocol::ProtocolSettings;
use crate::recording::{Discrepancy, Recording, Status};
use crate::scenario::plan::Plan;

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
        /// Messages that are in no figure.
        left_out: u64,
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
        /// By connections that were closed, for which there may have been no other reason.
        closed: bool,
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

pub(super) fn remarks(
    plan: &Plan,
    senders: &[SenderReport],
    recordings: &[&Recording],
) -> Vec<Remark> {
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
        Status::Interrupted { after } => Some(Remark::Interrupted {
            sender: sender.clone(),
            repetition,
            after: *after,
            left_out: recording.vehicles().map(left_out).sum(),
        }),
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
    let others = spoilt
        .into_iter()
        .chain(refused(recording))
        .chain(under_way)
        .chain(fewer_subflows(recording));
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

/// By those that were closed, and by all others. A closed one may have been full before: when a
/// message was refused is known, but not when the connection was closed.
fn refused(recording: &Recording) -> impl Iterator<Item = Remark> {
    [true, false].into_iter().filter_map(|closed| {
        let alike = recording
            .vehicles()
            .filter(|vehicle| matches!(vehicle.status, Status::Closed { .. }) == closed);
        let messages = alike.map(|vehicle| vehicle.messages.refused()).sum();
        let (sender, repetition) = (recording.sender.clone(), recording.repetition);
        (messages > 0).then_some(Remark::Refused { sender, repetition, messages, closed })
    })
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

/// Accepted, and in no figure since the trial was interrupted.
fn left_out(recording: &Recording) -> u64 {
    let messages = &recording.messages;
    recording.accepted.saturating_sub(messages.scheduled().saturating_sub(messages.refused()))
}

/// Accepted by a reliable sender and not delivered, though its connection was not closed. Of an
/// interrupted trial those are left out, but not in older recordings.
fn under_way(recording: &Recording) -> Option<u64> {
    let messages = &recording.messages;
    let missing = messages
        .scheduled()
        .saturating_sub(messages.delivered())
        .saturating_sub(messages.refused());
    let open = !matches!(recording.status, Status::Closed { .. });
    Some(missing).filter(|missing| recording.delivery.reliable && open && *missing > 0)
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A run has the number that it has in the files.
        match self {
            Self::NotRun { sender } => write!(f, "{sender} did not run"),
            Self::FewerRuns { sender, ran, planned } => {
                write!(f, "{sender} ran {ran} of {planned} times")
            }
            Self::Interrupted { sender, repetition, after, left_out } => {
                let after = after.as_secs_f64();
                write!(f, "{sender}, run {repetition}: interrupted after {after:.1} s")?;
                match left_out {
                    0 => Ok(()),
                    _ => write!(
                        f,
                        "; {} that might still have arrived, or fell due after one that might, are \
                         in no figure but the amplification",
                        figures::plural(*left_out, "message")
                    ),
                }
            }
            Self::Closed { sender, repetition, reason } => {
                write!(f, "{sender}, run {repetition}: the connection was closed: {reason}")
            }
            Self::Spoilt { sender, repetition, reason } => {
                write!(f, "{sender}, run {repetition}: spoilt by the host: {reason}")
            }
            Self::Refused { sender, repetition, messages, closed } => write!(
                f,
                "{sender}, run {repetition}: {} could not even be sent ({}), which counts as lost, \
                 and not in the amplification",
                figures::plural(*messages, "message"),
                match closed {
                    true => "the connection was closed, or the sender was full before that",
                    false => "the sender was full or too slow",
                }
            ),
            Self::FewerSubflows { sender, repetition, fallback: true, .. } => {
                write!(f, "{sender}, run {repetition}: multipath TCP fell back to plain TCP")
            }
            Self::FewerSubflows { sender, repetition, left, of, .. } => write!(
                f,
                "{sender}, run {repetition}: multipath TCP had {left} of {of} subflows at the end"
            ),
            Self::NotRepeatable { sender } => write!(
                f,
                "{sender} is a real program, with random keys and timing of its own: another run \
                 with the same seed gives other figures"
            ),
            Self::Unaccounted { sender, repetition, path, discrepancy } => write!(
                f,
                "{sender}, run {repetition}: on {path} {} the kernel says that it dropped {}, and \
                 what was seen to go missing is {}: do not trust the counts of this path",
                discrepancy.direction,
                figures::plural(discrepancy.dropped, "packet"),
                figures::count(discrepancy.missing)
            ),
            Self::UnderWay { sender, repetition, messages } => write!(
                f,
                "{sender}, run {repetition}: reliable, but {} of its messages had not arrived when \
                 the trial ended, which counts as lost; the amplification lacks what was still to \
                 be sent",
                figures::count(*messages)
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::{Messages, sample};

    #[test]
    fn a_closed_sender_is_not_said_to_have_been_only_full() {
        let said = |status: Status| {
            let mut recording = Recording { status, ..sample::recording("kcp", 3) };
            let Messages::Each(messages) = &mut recording.messages else { panic!("each is kept") };
            messages.iter_mut().rev().take(747).for_each(|message| {
                (message.sent, message.delivered) = (None, None);
            });
            let remark = refused(&recording).map(|remark| remark.to_string());
            remark.collect::<Vec<_>>().join("\n")
        };
        let full = said(Status::Complete);
        assert!(
            full.starts_with("kcp, run 3: 747 messages could not even be sent (the sender was ")
        );
        let closed = said(Status::Closed { reason: "timed out".to_owned() });
        assert!(
            closed.contains("747 messages could not even be sent (the connection was closed, or ")
        );
    }
}
