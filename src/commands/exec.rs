//! `exec`: runs a program in a guest, in virtual time, and passes on what it prints as it prints
//! it.

use std::env;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use nix::fcntl::{FallocateFlags, fallocate};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use thiserror::Error;

use super::trials::hangup_ignored;
use super::{Ending, OutputError};
use crate::cli::ExecArgs;
use crate::engine::uml::job::{self, Answer, Job, Program};
use crate::engine::uml::{Kernel, KernelError, Machine, Settings, UmlError};
use crate::progress::warn;

#[derive(Debug, Error)]
pub enum ExecError {
    #[error(transparent)]
    Kernel(#[from] KernelError),
    #[error(transparent)]
    Guest(#[from] UmlError),
    #[error("{message}")]
    NotStarted { message: String, missing: bool },
    #[error("cannot use {} as an output folder: {source}", folder.display())]
    OutputFolder { folder: PathBuf, source: io::Error },
    #[error(
        "cannot use {} as an output folder: {reason}; name a folder of your own", folder.display()
    )]
    NoOutputFolder { folder: PathBuf, reason: &'static str },
    #[error("cannot find out {what}: {source}")]
    Surroundings { what: &'static str, source: io::Error },
    #[error("cannot read what the program prints: {0}")]
    Read(io::Error),
    #[error(transparent)]
    Output(#[from] OutputError),
}

impl ExecError {
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::OutputFolder { .. } | Self::NoOutputFolder { .. } => 2,
            Self::Kernel(_) | Self::Guest(UmlError::Kernel(_)) => 3,
            Self::Guest(UmlError::TimeLimit { .. }) => 124,
            Self::NotStarted { missing: true, .. } => 127,
            Self::NotStarted { missing: false, .. } => 126,
            Self::Guest(_) | Self::Surroundings { .. } | Self::Read(_) | Self::Output(_) => 125,
        }
    }
}

/// How often a guest is looked after.
const LOOK: Duration = Duration::from_millis(5);
/// Added to the number of the signal that ended a program, as shells do.
const SIGNALLED: i32 = 128;

pub fn run(args: &ExecArgs, out: &mut dyn Write) -> Result<Ending, ExecError> {
    let kernel = Kernel::find()?;
    kernel.lacks_seeder().iter().for_each(|line| warn(line));
    let job = Job::Program(program(args)?);
    let settings = Settings {
        kernel,
        impairlab: surrounding("the path of this program", env::current_exe())?,
        memory_mib: args.memory,
        seed: args.seed,
        limit: (!args.timeout.is_zero()).then_some(args.timeout),
    };
    let signals = surrounding("which signals come", Signals::catch())?;
    let mut machine = Machine::boot(&settings, &job)?;
    let mut streams = Streams::of(&machine)?;
    loop {
        let ended = machine.ended();
        let behind = streams.pass_on(out)?;
        if let Some(answer) = ended? {
            while streams.pass_on(out)? {}
            return ending(answer, &machine);
        }
        if signals.came() {
            return Ok(Ending::Interrupted);
        }
        if behind {
            drain(&machine, &mut streams, out)?;
        }
        sleep(LOOK);
    }
}

/// A guest that prints faster than its output is taken away waits; for its clock no time passes.
fn drain(machine: &Machine, streams: &mut Streams, out: &mut dyn Write) -> Result<(), ExecError> {
    machine.pause();
    while streams.pass_on(out)? {}
    machine.resume();
    Ok(())
}

fn ending(answer: Answer, machine: &Machine) -> Result<Ending, ExecError> {
    // What was killed may have been a program that this one had started.
    if let Some(error) = machine.out_of_memory().filter(|_| answer != Answer::Exited { code: 0 }) {
        warn(&format!("error: {error}"));
    }
    match answer {
        Answer::Exited { code } => Ok(Ending::Program(code)),
        Answer::Killed { signal } => Ok(Ending::Program((SIGNALLED + signal) as u8)),
        Answer::NotStarted { message, missing } => Err(ExecError::NotStarted { message, missing }),
        Answer::NotSetUp { message } | Answer::EngineFailed { message } => {
            Err(UmlError::Guest { message }.into())
        }
        Answer::Recorded | Answer::Admitted => {
            unreachable!("a guest that was given a program runs no trial")
        }
    }
}

fn program(args: &ExecArgs) -> Result<Program, ExecError> {
    let (program, arguments) = args.command.split_first().expect("clap requires a program");
    Ok(Program {
        program: program.clone(),
        arguments: arguments.to_vec(),
        environment: env::vars_os().collect(),
        folder: surrounding("the current folder", env::current_dir())?,
        writable: args
            .outputs
            .iter()
            .map(|folder| output_folder(folder))
            .collect::<Result<_, _>>()?,
    })
}

/// Made if it is not there, as `run` makes a folder for results; and it is said, since the name may
/// have been a slip.
fn output_folder(folder: &Path) -> Result<PathBuf, ExecError> {
    let error = |source| ExecError::OutputFolder { folder: folder.to_owned(), source };
    let place = future_place(folder).map_err(error)?;
    if let Some(reason) = cannot_be_shared(&place) {
        return Err(ExecError::NoOutputFolder { folder: folder.to_owned(), reason });
    }
    if !folder.is_dir() {
        std::fs::create_dir_all(folder).map_err(error)?;
        warn(&format!("made the output folder {}", place.display()));
    }
    folder.canonicalize().map_err(error)
}

/// Where a folder is, or will be once it is made.
fn future_place(folder: &Path) -> io::Result<PathBuf> {
    let absolute = std::path::absolute(folder)?;
    let there = absolute.ancestors().find(|ancestor| ancestor.exists());
    let there = there.unwrap_or(Path::new("/"));
    let rest = absolute.strip_prefix(there).unwrap_or(Path::new(""));
    Ok(there.canonicalize()?.join(rest))
}

/// Why the guest cannot have a folder of the host in this place.
fn cannot_be_shared(folder: &Path) -> Option<&'static str> {
    const KERNELS: [&str; 3] = ["/proc", "/sys", "/dev"];
    if folder == Path::new("/") {
        return Some("every file of this machine is in it");
    }
    // In memory, as anybody's temporary files may be.
    let temporary = folder.starts_with("/dev/shm/");
    let kernels = KERNELS.iter().any(|kernels| folder.starts_with(kernels)) && !temporary;
    // The guest's own files are there.
    let run = Path::new("/run") == folder || folder.starts_with("/run/impairlab");
    (kernels || run).then_some("the guest has its own in that place")
}

fn surrounding<T>(what: &'static str, result: io::Result<T>) -> Result<T, ExecError> {
    result.map_err(|source| ExecError::Surroundings { what, source })
}

/// Ctrl-C and the other ways of being asked to end, from now on read instead of obeyed.
struct Signals(SignalFd);

impl Signals {
    fn catch() -> io::Result<Self> {
        let mut set = SigSet::empty();
        set.add(Signal::SIGINT);
        set.add(Signal::SIGTERM);
        if !hangup_ignored() {
            set.add(Signal::SIGHUP);
        }
        set.thread_block()?;
        Ok(Self(SignalFd::with_flags(&set, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC)?))
    }

    fn came(&self) -> bool {
        matches!(self.0.read_signal(), Ok(Some(_)))
    }
}

/// What the program prints, as it arrives in the files of its guest.
struct Streams {
    output: Stream,
    errors: Stream,
}

impl Streams {
    fn of(machine: &Machine) -> Result<Self, ExecError> {
        let open = |name| Stream::open(&machine.file(name)).map_err(ExecError::Read);
        Ok(Self { output: open(job::OUTPUT)?, errors: open(job::ERRORS)? })
    }

    /// Passes on a part of what is new; whether there is more.
    fn pass_on(&mut self, out: &mut dyn Write) -> Result<bool, ExecError> {
        let more_output = self.output.pass_on(out)?;
        let more_errors = self.errors.pass_on(&mut io::stderr())?;
        Ok(more_output || more_errors)
    }
}

struct Stream {
    file: File,
    passed: u64,
    freed: u64,
    buffer: Vec<u8>,
}

impl Stream {
    /// Bytes that are passed on at a time.
    const PART: usize = 1 << 20;

    fn open(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().read(true).write(true).open(path)?;
        Ok(Self { file, passed: 0, freed: 0, buffer: vec![0; Self::PART] })
    }

    fn pass_on(&mut self, out: &mut dyn Write) -> Result<bool, ExecError> {
        self.file.seek(SeekFrom::Start(self.passed)).map_err(ExecError::Read)?;
        let length = self.file.read(&mut self.buffer).map_err(ExecError::Read)?;
        if length > 0 {
            let written = out.write_all(&self.buffer[..length]).and_then(|()| out.flush());
            written.map_err(OutputError)?;
            self.passed += length as u64;
            self.free();
        }
        Ok(length == Self::PART)
    }

    /// What has been passed on need not be kept in memory. Not every file system can let go of it,
    /// which is no harm but to its space.
    fn free(&mut self) {
        const PAGE: u64 = 4096;
        let until = self.passed / PAGE * PAGE;
        if until - self.freed >= Self::PART as u64 {
            let mode = FallocateFlags::FALLOC_FL_PUNCH_HOLE | FallocateFlags::FALLOC_FL_KEEP_SIZE;
            let (from, length) = (self.freed as i64, (until - self.freed) as i64);
            let _ = fallocate(&self.file, mode, from, length);
            self.freed = until;
        }
    }
}
