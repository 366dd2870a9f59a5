//! How a command ends, and the exit code of each ending (listed in `--help`).

use std::io;
use std::process::ExitCode;

use thiserror::Error;

use super::engine_choice::Unavailable;
use super::exec::ExecError;
use crate::engine::{EngineError, EngineKind};
use crate::recording::file::remedy;
use crate::report::ResultsError;
use crate::scenario::{Colour, Diagnostics};

/// What shells give a program that Ctrl-C ended.
pub const EXIT_INTERRUPTED: u8 = 130;
/// What shells give a program that wrote to a pipe that nobody reads.
const EXIT_UNREAD: u8 = 141;

/// A command that did its work ends in one of these ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    Done,
    /// Some trials could not be run; the others were kept.
    Incomplete,
    /// The host spoilt a result: with `run --strict`, or where `agree` cannot tell because of it.
    Spoilt,
    /// Too few runs to say whether two engines agree.
    Undecided,
    /// Two engines disagree.
    Disagreement,
    /// A link did not do what the scenario asks of it.
    WrongImpairment,
    /// A scenario that `check` read is wrong.
    WrongScenario,
    Interrupted,
    /// The program that `exec` ran has ended with this code.
    Program(u8),
}

/// Why a command could not do its work.
#[derive(Debug, Error)]
pub enum CommandError {
    #[error("{0}")]
    Scenario(#[from] Diagnostics),
    #[error("no sender is called `{name}` in this scenario; it has: {known}")]
    NoSuchSender { name: String, known: String },
    #[error(
        "an empty name among the senders, where two commas have nothing between them or one is first \
         or last: write names with single commas between them; this scenario has: {known}"
    )]
    EmptySenderName { known: String },
    /// By the word for it in a scenario file.
    #[error("there is no sender `{name}`; there are: {known}")]
    UnknownSender { name: String, known: String },
    #[error(
        "this scenario is too long to be written in full: {reason}; `show --json` prints its plan"
    )]
    TooLongToShow { reason: String },
    #[error("no sender is left: --without names all of this scenario")]
    NoSenderLeft,
    #[error(
        "the trials come to {count} messages with `repeat: {repeat}`, and {limit} are the most that \
         can be kept: repeat less, or write `keep: histogram` in the workload"
    )]
    TooManyMessages { repeat: u32, count: u64, limit: u64 },
    #[error(
        "{vehicles} vehicles run in virtual time only, and engine {engine} runs one: \
         use --engine sim"
    )]
    ManyVehicles { vehicles: u32, engine: String },
    #[error("{engine} cannot be held against itself: name each engine once in --engines")]
    SameEngineTwice { engine: EngineKind },
    #[error("nothing to hold it against: name two engines or more in --engines")]
    OneEngine,
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
    #[error(transparent)]
    Results(#[from] ResultsError),
    #[error(transparent)]
    Trial(EngineError),
    /// Before the first trial.
    #[error(transparent)]
    Refused(EngineError),
    #[error(transparent)]
    Exec(#[from] ExecError),
    #[error("cannot become the guest's kernel: {0}")]
    Launch(io::Error),
    #[error("none of the trials could be run")]
    NothingRan,
    #[error("cannot start the thread pool that runs trials: {0}")]
    Runtime(io::Error),
    #[error(transparent)]
    Output(#[from] OutputError),
}

/// What a command prints cannot be written.
#[derive(Debug, Error)]
#[error("cannot write what is printed: {0}{remedy}", remedy = remedy(.0))]
pub struct OutputError(pub io::Error);

impl Ending {
    /// Of two comparisons, what the worse of them says: a disagreement, then what may be one.
    pub fn worse(self, other: Ending) -> Ending {
        let weight = |ending: Ending| match ending {
            Ending::Disagreement => 3,
            Ending::Spoilt => 2,
            Ending::Undecided => 1,
            _ => 0,
        };
        if weight(other) > weight(self) { other } else { self }
    }

    pub fn exit_code(self) -> ExitCode {
        ExitCode::from(self.code())
    }

    pub fn code(self) -> u8 {
        match self {
            Ending::Done => 0,
            Ending::Incomplete => 1,
            Ending::WrongScenario => 2,
            Ending::Spoilt => 5,
            Ending::Disagreement => 6,
            Ending::Undecided => 7,
            Ending::WrongImpairment => 8,
            Ending::Interrupted => EXIT_INTERRUPTED,
            Ending::Program(code) => code,
        }
    }
}

impl CommandError {
    /// As it is printed: a wrong scenario with its lines and carets, anything else as one message.
    pub fn render(&self, colour: Colour) -> String {
        match self {
            Self::Scenario(mistakes) => mistakes.render(colour),
            other => format!("error: {other}"),
        }
    }

    /// Whoever read what a guest's program prints has read enough: it has been ended before its
    /// work was done, and there is no reason to complain.
    pub fn is_broken_pipe(&self) -> bool {
        let Self::Exec(ExecError::Output(OutputError(error))) = self else { return false };
        error.kind() == io::ErrorKind::BrokenPipe
    }

    pub fn exit_code(&self) -> ExitCode {
        if self.is_broken_pipe() {
            return ExitCode::from(EXIT_UNREAD);
        }
        ExitCode::from(match self {
            Self::Scenario(_)
            | Self::UnknownSender { .. }
            | Self::TooLongToShow { .. }
            | Self::NoSuchSender { .. }
            | Self::EmptySenderName { .. }
            | Self::NoSenderLeft
            | Self::TooManyMessages { .. }
            | Self::ManyVehicles { .. }
            | Self::SameEngineTwice { .. }
            | Self::OneEngine => 2,
            Self::Refused(error) if error.is_of_the_engine() => 2,
            Self::Refused(_) | Self::Unavailable(_) => 3,
            Self::Exec(error) => error.exit_code(),
            Self::Results(error) => results_exit_code(error),
            Self::Output(_) => 4,
            Self::Trial(_) | Self::NothingRan | Self::Launch(_) | Self::Runtime(_) => 1,
        })
    }
}

/// Results that could not be written are another matter than results that could not be read.
fn results_exit_code(error: &ResultsError) -> u8 {
    match error {
        ResultsError::Create { .. }
        | ResultsError::Exists { .. }
        | ResultsError::Write(_)
        | ResultsError::Chart(_) => 4,
        _ => 1,
    }
}
