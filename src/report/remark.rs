//! What a reader must know before trusting the figures, each in a sentence.

use std::fmt;
use std::time::Duration;

use super::figures;
use super::summarise::SenderReport;
use crate::protocol::ProtocolSettings;
use crate::recording::{Discrepancy, Messages, Recording, Status};
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
        /// Accepted, and in no figure of messages.
        left_out: u64,
        /// All that were due from then on are left out, whether they arrived or not; of many
        /// vehicles the earliest. `None`: only those that had not arrived.
        from: Option<Duration>,
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
            from: left_out_from(recording),
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

/// A log of each message keeps those before the first that may still have come, and a histogram
/// cannot take out what it has counted.
fn left_out_from(recording: &Recording) -> Option<Duration> {
    let first = |of: &Recording| match &of.messages {
        Messages::Each(messages) => Some(of.workload.periodic().due(messages.len() as u64)),
        Messages::Histogram(_) => None,
    };
    recording.vehicles().filter_map(first).min()
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
            Self::Interrupted { sender, repetition, after, left_out, from } => {
                let after = after.as_secs_f64();
                write!(f, "{sender}, run {repetition}: interrupted after {after:.1} s")?;
                if *left_out > 0 { write_left_out(f, *left_out, *from) } else { Ok(()) }
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

fn write_left_out(
    f: &mut fmt::Formatter<'_>,
    messages: u64,
    from: Option<Duration>,
) -> fmt::Result {
    let them = figures::plural(messages, "message");
    let are = if messages == 1 { "is" } else { "are" };
    match from.map(|from| from.as_secs_f64()) {
        Some(from) => write!(
            f,
            "; {them} due from {from:.3} s on, arrived or not, {are} in no figure but those of the \
             wire, since some may not have had the time to arrive"
        ),
        None => write!(
            f,
            "; {them} that had not arrived, and might still have, {are} in no figure but those of \
             the wire"
        ),
    }?;
    f.write_str(
        "; the amplification has the payload of all that was accepted, and the bytes only of what \
         was sent until then, so that it may be too low, and even below 1",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::{MessageHistogram, sample};

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

    #[test]
    fn an_interrupted_trial_says_what_is_left_out_and_what_that_does_to_the_amplification() {
        let interrupted = |messages: Messages, accepted| {
            let status = Status::Interrupted { after: Duration::from_secs(23) };
            let stopped = Recording { status, messages, accepted, ..sample::recording("kcp", 0) };
            let remarks = remarks_on(&stopped);
            assert_eq!(remarks.len(), 1, "{remarks:?}");
            remarks[0].to_string()
        };
        let Messages::Each(mut messages) = sample::recording("kcp", 0).messages else {
            panic!("each is kept")
        };
        messages.truncate(999);
        messages.iter_mut().for_each(|message| {
            message.sent = Some(message.scheduled);
            message.delivered = Some(message.scheduled);
        });
        let each = Messages::Each(messages);
        let said = interrupted(each.clone(), 1149);
        assert!(
            said.contains("; 150 messages due from 19.980 s on, arrived or not, are "),
            "{said}"
        );
        assert!(said.ends_with(", so that it may be too low, and even below 1"), "{said}");
        assert!(interrupted(each.clone(), 1000).contains("; one message due from 19.980 s on, "));
        assert!(interrupted(each, 999).ends_with("interrupted after 23.0 s"));
        let (scheduled, delivered) = (999, 999);
        let histogram = MessageHistogram { scheduled, delivered, ..Default::default() };
        let said = interrupted(Messages::Histogram(histogram), 1149);
        assert!(
            said.contains("; 150 messages that had not arrived, and might still have, "),
            "{said}"
        );
    }
}
