//! One guest: booted, watched and ended. Knows files, processes and time limits, and nothing of
//! what the guest is for.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::{OpenOptionsExt, symlink};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::error::{Console, UmlError};
use super::folder::{self, JobFolder};
use super::job::{self, Answer, Job};
use super::kernel::Kernel;
use super::launch::{self, Processor};
use super::limits::Limit;
use super::memory;
use super::standstill::Standstill;
use crate::engine::real_clock::Clock;

/// What a guest is to be.
#[derive(Debug, Clone)]
pub struct Settings {
    pub kernel: Kernel,
    /// This program, which becomes the guest's init.
    pub impairlab: PathBuf,
    pub memory_mib: u64,
    /// Of the kernel's random numbers.
    pub seed: u64,
    /// Of real time.
    pub limit: Option<Duration>,
}

/// A guest that runs. It ends, with everything in it, when this is dropped and when this process
/// ends.
#[derive(Debug)]
pub struct Machine {
    /// Killed and waited for before its folder goes.
    kernel: KernelProcess,
    folder: JobFolder,
    clock: Clock,
    limit: Option<Duration>,
    memory_mib: u64,
    _processor: Processor,
}

/// When the guest is switched on, in nanoseconds: its job begins with the year 2024.
const TIME_START: &str = "time-travel-start=1704066200000000000";
/// The name of the kernel's own folder in the job's.
const MONITOR: &str = "uml";
/// Lines of its console that are shown.
const CONSOLE_LINES: usize = 40;
/// Bytes of its console that are looked at.
const CONSOLE_TAIL: u64 = 64 << 10;

impl Machine {
    /// Boots a guest that does `job`. The thread that calls this has to live as long as the guest.
    pub fn boot(settings: &Settings, job: &Job) -> Result<Self, UmlError> {
        let place = folder::place()?;
        let folder = JobFolder::new(&place, &settings.impairlab)?;
        memory::check(settings.memory_mib, &place)?;
        prepare(&folder, &settings.impairlab, job)?;
        let processor = Processor::least_used()?;
        let kernel = start(settings, &folder, &place, &processor)?;
        Ok(Self {
            kernel: KernelProcess(kernel),
            folder,
            clock: Clock::start(),
            limit: settings.limit,
            memory_mib: settings.memory_mib,
            _processor: processor,
        })
    }

    /// A file that host and guest share.
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.file(name)
    }

    /// Stops the guest, which does not notice; for output that nobody takes away.
    pub fn pause(&self) {
        self.signal(Signal::SIGSTOP);
    }

    pub fn resume(&self) {
        self.signal(Signal::SIGCONT);
    }

    fn signal(&self, signal: Signal) {
        // A guest that has ended is found out soon enough.
        let _ = kill(Pid::from_raw(self.kernel.0.id() as i32), signal);
    }

    /// What came of it, once it has ended.
    pub fn ended(&mut self) -> Result<Option<Answer>, UmlError> {
        let status = self.kernel.0.try_wait().map_err(|source| UmlError::Start { source })?;
        match status {
            Some(status) => self.answer(status).map(Some),
            None => self.within_limit().map(|()| None),
        }
    }

    fn within_limit(&self) -> Result<(), UmlError> {
        let Some(limit) = self.limit else { return Ok(()) };
        if self.clock.now().as_nanos() < limit.as_nanos() as u64 {
            return Ok(());
        }
        let monitor = self.file(MONITOR).join("guest/mconsole");
        let console = self.console();
        let standstill = Box::new(Standstill::look(self.folder.path(), &monitor));
        Err(UmlError::TimeLimit { limit, standstill, console: shown(since_init(&console)) })
    }

    fn answer(&self, status: ExitStatus) -> Result<Answer, UmlError> {
        let console = self.console();
        let answer = match fs::read(self.file(job::ANSWER)) {
            Ok(bytes) => serde_json::from_slice(&bytes)?,
            Err(_) => return Err(self.without_answer(status, &console)),
        };
        if let Answer::NotSetUp { message } = answer {
            return Err(UmlError::Guest { message });
        }
        Ok(answer)
    }

    fn without_answer(&self, status: ExitStatus, console: &str) -> UmlError {
        if self.file(job::REBOOTED).exists() {
            return UmlError::Rebooted;
        }
        if let Some(limit) = Limit::that_ended(status, console) {
            return UmlError::Limited { limit };
        }
        if let Some(message) = panic_message(console) {
            return UmlError::Panicked { message: message.to_owned(), console: shown(console) };
        }
        let status = match (status.code(), status.signal()) {
            (Some(code), _) => format!("its kernel exited with {code}"),
            (None, Some(signal)) => format!("its kernel was ended by signal {signal}"),
            (None, None) => "its kernel has gone".to_owned(),
        };
        UmlError::NoResult { status, console: shown(console) }
    }

    /// The program that the guest's kernel killed because memory ran out.
    pub fn out_of_memory(&self) -> Option<UmlError> {
        let console = self.console();
        let (_, rest) = console.rsplit_once("Out of memory: Killed process ")?;
        let (_, rest) = rest.split_once('(')?;
        let (program, _) = rest.split_once(')')?;
        let (program, memory_mib) = (program.to_owned(), self.memory_mib);
        Some(UmlError::OutOfMemory { program, memory_mib })
    }

    fn console(&self) -> String {
        tail(&self.file(job::CONSOLE)).unwrap_or_default()
    }
}

/// What the kernel's process is, and with it all of the guest.
#[derive(Debug)]
struct KernelProcess(Child);

impl Drop for KernelProcess {
    fn drop(&mut self) {
        // Either fails only if it has already ended and been waited for.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn prepare(folder: &JobFolder, impairlab: &Path, job: &Job) -> Result<(), UmlError> {
    let error = |action, path: PathBuf| move |source| UmlError::File { action, path, source };
    let init = folder.file(job::INIT);
    symlink(impairlab, &init).map_err(error("make", init))?;
    for name in [job::OUTPUT, job::ERRORS, job::EVENTS] {
        let path = folder.file(name);
        create(&path).map_err(error("create", path))?;
    }
    let path = folder.file(job::JOB);
    fs::write(&path, serde_json::to_vec(job)?).map_err(error("write", path))
}

fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).create_new(true).mode(0o600).open(path)
}

fn start(
    settings: &Settings,
    folder: &JobFolder,
    place: &Path,
    processor: &Processor,
) -> Result<Child, UmlError> {
    let path = folder.file(job::CONSOLE);
    let console = create(&path).and_then(|file| Ok((file.try_clone()?, file)));
    let (output, errors) =
        console.map_err(|source| UmlError::File { action: "create", path, source })?;
    let mut command = Command::new(&settings.impairlab);
    command.args(["guest", "launch"]);
    command.arg(std::process::id().to_string()).arg(processor.index().to_string());
    command.arg(&settings.kernel.path).args(command_line(settings.memory_mib));
    // Nothing of this program's environment reaches the kernel: the same in every run.
    command.env_clear().env("TMPDIR", place).env(launch::SEED, settings.seed.to_string());
    if let Some(seeder) = &settings.kernel.seeder {
        command.env(launch::SEEDER, seeder);
    }
    command.current_dir(folder.path());
    command.stdin(Stdio::null()).stdout(output).stderr(errors);
    command.spawn().map_err(|source| UmlError::Start { source })
}

/// The kernel mixes its command line into its random numbers, so nothing in it may vary from run to
/// run: the job's folder is its own working directory.
fn command_line(memory_mib: u64) -> Vec<String> {
    let here = job::FOLDER_FROM_INSIDE;
    let mut line = vec![
        format!("mem={memory_mib}M"),
        format!("init={here}/{}", job::INIT),
        format!("uml_dir={here}/{MONITOR}/"),
    ];
    let fixed = [
        // Virtual time; computing takes none of it.
        "time-travel=inf-cpu",
        TIME_START,
        // The host's files, which only the overlay over them changes.
        "root=/dev/root",
        "rootfstype=hostfs",
        "rootflags=/",
        "ro",
        // The job's folder may be under /dev, where a file system of the guest's own would hide it.
        "devtmpfs.mount=0",
        "umid=guest",
        // The kernel's messages go to standard output, and no other terminal exists.
        "con=null",
        "con0=null,fd:1",
        "ssl=null",
        "console=tty0",
    ];
    line.extend(fixed.map(str::to_owned));
    line
}

fn panic_message(console: &str) -> Option<&str> {
    let (_, rest) = console.split_once("Kernel panic - not syncing: ")?;
    rest.lines().next().map(str::trim)
}

/// Of a guest that was set up, what its kernel said after that.
fn since_init(console: &str) -> &str {
    let line = format!("Run {}/{} as init process", job::FOLDER_FROM_INSIDE, job::INIT);
    console.split_once(&line).map_or(console, |(_, rest)| rest)
}

fn shown(console: &str) -> Console {
    let lines: Vec<_> =
        console.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
    let last = &lines[lines.len().saturating_sub(CONSOLE_LINES)..];
    Console(last.iter().map(|line| format!("  {line}\n")).collect())
}

fn tail(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(CONSOLE_TAIL)))?;
    let mut bytes = Vec::new();
    file.take(CONSOLE_TAIL).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
