//! How a command ends, and the exit code of each ending (listed in `--help`).

use std::process::ExitCode;

use thiserror::Error;

use super::engine_choice::Unavailable;
use super::show::ShowError;
use crate::engine::EngineError;
use crate::report::ResultsError;
use crate::scenario::{Colour, Diagnostics};

/// A command that did its work ends in one of these ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    Done,
    /// Some trials could not be run; the others were kept.
    Incomplete,
    /// The host spoilt a result: with `run --strict`, or where `agree` cannot tell because of it.
    Spoilt,
    /// Two engines disagree.
    Disagreement,
    /// A scenario that `check` read is wrong.
    WrongScenario,
    Interrupted,
}

/// Why a command could not do its work.
#[derive(Debug, Error)]
pub enum CommandError {
    #[error("{0}")]
    Scenario(#[from] Diagnostics),
    #[error("no sender is called {name} in this scenario; it has: {known}")]
    NoSuchSender { name: String, known: String },
    #[error(
        "{repeat} repetitions come to {count} messages, and {limit} are the most that can be kept: \
         repeat less, or write `keep: histogram` in the workload"
    )]
    TooManyMessages { repeat: u32, count: u64, limit: u64 },
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
    #[error(transparent)]
    Results(#[from] ResultsError),
    #[error(transparent)]
    Report(#[from] super::report::Error),
    #[error(transparent)]
    Show(#[from] ShowError),
    #[error(transparent)]
    Trial(#[from] EngineError),
    #[error("none of the trials could be run")]
    NothingRan,
    #[error("cannot start the thread pool that runs trials: {0}")]
    Runtime(std::io::Error),
    #[error("cannot write to standard output: {0}")]
    Output(std::io::Error),
}

impl Ending {
    pub fn exit_code(self) -> ExitCode {
        ExitCode::from(match self {
            Ending::Done => 0,
            Ending::Incomplete => 1,
            Ending::WrongScenario => 2,
            Ending::Spoilt => 5,
            Ending::Disagreement => 6,
            Ending::Interrupted => 130,
        })
    }
}

impl CommandError {
    /// As it is printed: a wrong scenario with its lines and carets, anything else as one message.
    pub fn render(&self, colour: Colour) -> String {
        match self {
            Self::Scenario(mistakes) | Self::Show(ShowError::Scenario(mistakes)) => {
                mistakes.render(colour)
            }
            other => format!("error: {other}"),
        }
    }

    pub fn exit_code(&self) -> ExitCode {
        ExitCode::from(match self {
            Self::Show(ShowError::Scenario(_))
            | Self::Scenario(_)
            | Self::NoSuchSender { .. }
            | Self::TooManyMessages { .. } => 2,
            Self::Unavailable(_) => 3,
            Self::Results(_) => 4,
            Self::Trial(_)
            | Self::Report(_)
            | Self::Show(_)
            | Self::NothingRan
            | Self::Runtime(_)
            | Self::Output(_) => 1,
        })
    }
}
