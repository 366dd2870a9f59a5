//! Why a trial could not be run.

use std::io;

use thiserror::Error;

use super::uml::UmlError;
use super::{KernelSocketError, LabError, NetemError};
use crate::protocol::BuildError;

#[derive(Debug, Error)]
pub enum EngineError {
    #[error("sender {sender}: {source}")]
    Build { sender: String, source: BuildError },
    #[error(
        "engine sim has no kernel, and {} need{} one: use --engine relay, netem or uml{}",
        senders.join(", "), if senders.len() == 1 { "s" } else { "" }, other_senders(senders, .others)
    )]
    NeedsKernel { senders: Vec<String>, others: bool },
    #[error("sender {sender}: {source}")]
    KernelSocket { sender: String, source: Box<KernelSocketError> },
    #[error("sender {sender} was not connected within {limit_s} s on a clean link")]
    NotConnected { sender: String, limit_s: u64 },
    #[error("sender {sender} gave up connecting on a clean link: {reason}")]
    ConnectionFailed { sender: String, reason: String },
    #[error("sender {sender} was interrupted before it began")]
    Interrupted { sender: String },
    #[error("sender {sender}: it asks to be woken at once for ever, at {at_ns} ns of the trial")]
    Stuck { sender: String, at_ns: u64 },
    #[error("cannot build the network of a trial: {0}")]
    Lab(#[from] LabError),
    #[error("cannot start a thread of a trial: {0}")]
    Thread(io::Error),
    #[error("sender {sender}: {source}")]
    Uml { sender: String, source: Box<UmlError> },
    #[error(transparent)]
    Guest(Box<UmlError>),
    #[error("sender {sender} crashed")]
    Crashed { sender: String },
    #[error("the relay cannot read its sockets: {0}")]
    Relay(io::Error),
    #[error("netem: {0}")]
    Netem(#[source] Box<NetemError>),
    #[error("the relay crashed")]
    RelayCrashed,
}

impl EngineError {
    /// Whether the engine cannot do it on any machine: another one has to.
    pub fn is_of_the_engine(&self) -> bool {
        match self {
            Self::NeedsKernel { .. } => true,
            Self::Netem(error) => matches!(**error, NetemError::Impossible { .. }),
            _ => false,
        }
    }
}

fn other_senders(senders: &[String], others: &bool) -> String {
    match others {
        true => format!(", or run the others (--without {})", senders.join(",")),
        false => String::new(),
    }
}

impl From<NetemError> for EngineError {
    fn from(error: NetemError) -> Self {
        Self::Netem(Box::new(error))
    }
}
