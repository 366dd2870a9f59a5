//! What passes between impairlab outside and the same program inside, as files of a folder that
//! both see. Outside it is in TMPDIR; the guest's kernel finds it as its own working directory, so
//! that its command line, which its random numbers depend on, is the same in every run.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::engine::Trial;
use crate::protocol::QlogBook;
use crate::scenario::plan::Plan;

/// How long a guest has been up when its job begins. Some programs take a clock that is still near
/// zero for one that was never read (ping then does not wait between packets), or look back further
/// than it goes.
pub const UPTIME: Duration = Duration::from_secs(1000);

/// What is to be done.
pub const JOB: &str = "job.json";
/// What came of it. Written last, in one piece.
pub const ANSWER: &str = "answer.json";
/// The recording of a trial.
pub const RECORDING: &str = "recording.json";
/// The logs of its connections, if they were asked for: what each is, as JSON, and their bytes one
/// after the other.
pub const QLOGS: &str = "qlogs.json";
pub const QLOG_BYTES: &str = "qlogs";
/// Events of a trial, one JSON value a line.
pub const EVENTS: &str = "events";
/// Appears when a trial should end early.
pub const STOP: &str = "stop";
/// Made by the first boot.
pub const BOOTED: &str = "booted";
/// Made by another one, which does nothing else.
pub const REBOOTED: &str = "rebooted";
/// What the guest's program prints.
pub const OUTPUT: &str = "output";
pub const ERRORS: &str = "errors";
/// What the guest's kernel prints.
pub const CONSOLE: &str = "console";
/// A link to the program that is to be the guest's init: this one.
pub const INIT: &str = "init";
/// The folder, for the guest's kernel.
pub const FOLDER_FROM_INSIDE: &str = "/proc/self/cwd";

#[derive(Debug, Serialize, Deserialize)]
pub enum Job {
    Program(Program),
    Trial(Box<TrialJob>),
    /// Whether this can run in the guest, by its kernel and the programs it finds.
    Admission(Box<Plan>),
}

/// A program to be run, as it would be outside.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Program {
    /// Searched for in the environment's PATH if it has no slash.
    pub program: OsString,
    pub arguments: Vec<OsString>,
    pub environment: Vec<(OsString, OsString)>,
    pub folder: PathBuf,
    /// Folders whose files are written through to the host.
    pub writable: Vec<PathBuf>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TrialJob {
    pub plan: Plan,
    pub sender: usize,
    pub repetition: u32,
    /// Whether its connections are to be logged.
    pub qlog: bool,
}

impl TrialJob {
    pub fn new(trial: &Trial) -> Self {
        Self {
            plan: trial.plan.as_ref().clone(),
            sender: trial.sender,
            repetition: trial.repetition,
            qlog: trial.qlog.is_some(),
        }
    }

    pub fn trial(self) -> Trial {
        Trial {
            plan: Arc::new(self.plan),
            sender: self.sender,
            repetition: self.repetition,
            vehicle: 0,
            qlog: self.qlog.then(QlogBook::default),
        }
    }
}

/// What the guest tells at its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Answer {
    Exited {
        code: u8,
    },
    Killed {
        signal: i32,
    },
    /// The program could not be started; `missing` if there is none of that name.
    NotStarted {
        message: String,
        missing: bool,
    },
    /// The recording is there.
    Recorded,
    /// The plan can run.
    Admitted,
    /// The engine inside gave an error.
    EngineFailed {
        message: String,
    },
    /// The guest could not get as far as the job.
    NotSetUp {
        message: String,
    },
}
