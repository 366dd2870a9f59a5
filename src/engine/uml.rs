//! A real Linux kernel in virtual time: User-Mode Linux, a process of this machine that needs no
//! rights on it. What runs in it sees the host's files under an overlay in memory, a clock that
//! stands still while it computes and jumps while it sleeps, and nothing of the host's network. As
//! an engine: one guest a trial, in which this program runs the trial on engine netem.

pub mod error;
mod events;
mod folder;
pub mod guest;
pub mod job;
pub mod kernel;
pub mod launch;
mod limits;
mod machine;
mod mconsole;
mod memory;
mod qlogs;
mod standstill;

use std::fs::File;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::thread::{self, sleep};
use std::time::Duration;

pub use self::error::{KernelError, UmlError};
use self::events::Events;
pub use self::folder::remove_when_orphaned;
use self::job::{Answer, Job, TrialJob};
pub use self::kernel::Kernel;
pub use self::machine::{Machine, Settings};
use super::{Engine, EngineError, EngineKind, Event, Trial, kernel_socket, netem};
use crate::protocol::qlog::LOG_LIMIT;
use crate::recording::{Recording, format};
use crate::scenario::plan::Plan;
use crate::workload::Keep;

/// The engine, with a kernel that can serve.
#[derive(Debug, Clone)]
pub struct Uml {
    kernel: Kernel,
    impairlab: PathBuf,
}

/// How often a guest is looked after.
const LOOK: Duration = Duration::from_millis(5);
/// Of real time, for whatever a trial has to compute; a trial may also take as long as it would in
/// real time.
const GRACE: Duration = Duration::from_secs(120);

impl Uml {
    /// `impairlab` is the program that becomes the guest's init: this one.
    pub fn new(kernel: Kernel, impairlab: PathBuf) -> Self {
        Self { kernel, impairlab }
    }

    fn settings(&self, trial: &Trial) -> Settings {
        Settings {
            kernel: self.kernel.clone(),
            impairlab: self.impairlab.clone(),
            memory_mib: memory_mib(&trial.plan) + log_mib(trial),
            seed: trial.protocol_seed(),
            limit: Some(GRACE + trial.plan.workload.periodic().duration),
        }
    }

    /// A guest's kernel can be asked in a guest only.
    fn ask(&self, plan: &Plan) -> Result<(), UmlError> {
        let settings = Settings {
            kernel: self.kernel.clone(),
            impairlab: self.impairlab.clone(),
            memory_mib: BASE_MIB,
            seed: 1,
            limit: Some(GRACE),
        };
        let mut machine = Machine::boot(&settings, &Job::Admission(Box::new(plan.clone())))?;
        loop {
            match machine.ended()? {
                Some(Answer::Admitted) => return Ok(()),
                Some(Answer::EngineFailed { message }) => {
                    return Err(UmlError::Engine { message });
                }
                Some(other) => unreachable!("a guest that was asked this answers {other:?}"),
                None => sleep(LOOK),
            }
        }
    }

    fn record(
        &self,
        trial: &Trial,
        events: &mut dyn FnMut(Event) -> ControlFlow<()>,
    ) -> Result<Recording, UmlError> {
        let job = Job::Trial(Box::new(TrialJob::new(trial)));
        let mut machine = Machine::boot(&self.settings(trial), &job)?;
        let mut told = Events::of(&machine)?;
        loop {
            let ended = machine.ended()?;
            if told.pass_on(events)?.is_break() {
                let path = machine.file(job::STOP);
                File::create(&path).map_err(|source| UmlError::File {
                    action: "create",
                    path,
                    source,
                })?;
            }
            match ended {
                Some(Answer::Recorded) => {
                    take_logs(&machine, trial)?;
                    return recording(&machine);
                }
                Some(Answer::EngineFailed { message }) => {
                    return Err(UmlError::Engine { message });
                }
                Some(other) => unreachable!("a guest that was given a trial answers {other:?}"),
                None => sleep(LOOK),
            }
        }
    }
}

impl Engine for Uml {
    fn kind(&self) -> EngineKind {
        EngineKind::Uml
    }

    fn kernel(&self) -> Option<String> {
        Some(format!("Linux {} User-Mode Linux", self.kernel.release))
    }

    /// The programs are this machine's, so that they need no guest to be missed.
    fn admit(&self, plan: &Plan) -> Result<(), EngineError> {
        netem::possible(plan)?;
        kernel_socket::admit_programs(&plan.senders)?;
        if !plan.needs_a_kernel() {
            return Ok(());
        }
        self.ask(plan).map_err(|source| EngineError::Guest(Box::new(source)))
    }

    /// A guest keeps one processor busy, and no other guest disturbs its clock.
    fn side_by_side(&self, plan: &Plan) -> usize {
        let processors = thread::available_parallelism().map_or(1, usize::from);
        let room = memory::available_mib().map_or(processors as u64, |mib| mib / memory_mib(plan));
        processors.min(usize::try_from(room).unwrap_or(processors)).max(1)
    }

    fn run(
        &self,
        trial: &Trial,
        events: &mut dyn FnMut(Event) -> ControlFlow<()>,
    ) -> Result<Recording, EngineError> {
        self.record(trial, events).map_err(|source| {
            let sender = trial.sender().name.clone();
            EngineError::Uml { sender, source: Box::new(source) }
        })
    }
}

/// What the guest logged goes where the trial wants it.
fn take_logs(machine: &Machine, trial: &Trial) -> Result<(), UmlError> {
    let Some(book) = &trial.qlog else { return Ok(()) };
    let path = machine.file(job::QLOGS);
    let logs = qlogs::read(&path, &machine.file(job::QLOG_BYTES))
        .map_err(|source| UmlError::File { action: "read", path, source })?;
    logs.into_iter().for_each(|log| book.put(log));
    Ok(())
}

fn recording(machine: &Machine) -> Result<Recording, UmlError> {
    let recording = format::read(&machine.file(job::RECORDING))?;
    Ok(Recording { engine: EngineKind::Uml, ..recording })
}

/// Room for the logs of both sides of each connection, twice: as they are kept, and as a file.
fn log_mib(trial: &Trial) -> u64 {
    let connections = trial.sender().protocol.paths().len();
    let full = 2 * 2 * connections as u64 * (LOG_LIMIT >> 20) as u64;
    if trial.qlog.is_some() { full } else { 0 }
}

/// Room for the kernel and the program.
const BASE_MIB: u64 = 512;

/// The same, and for each message as it is sent, kept and written. A histogram is as large whatever
/// is in it.
fn memory_mib(plan: &Plan) -> u64 {
    const MESSAGES_PER_MIB: u64 = 2000;
    let periodic = plan.workload.periodic();
    match periodic.keep {
        Keep::Messages => BASE_MIB + periodic.count() / MESSAGES_PER_MIB,
        Keep::Histogram => BASE_MIB,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::sample::plan;
    use crate::workload::{Periodic, Workload};

    #[test]
    fn a_guest_has_room_for_every_message_that_it_keeps_and_no_more_for_a_histogram() {
        let guest = |keep| {
            let (rate, duration) = (100_000.0, Duration::from_secs(10_000));
            let mut plan = plan(1);
            let periodic = plan.workload.periodic().clone();
            plan.workload = Workload::Control(Periodic { rate, duration, keep, ..periodic });
            memory_mib(&plan)
        };
        assert_eq!(guest(Keep::Messages), 512 + 500_000);
        assert_eq!(guest(Keep::Histogram), 512);
    }
}
