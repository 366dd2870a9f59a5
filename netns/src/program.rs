//! Programs started inside a namespace. Each has a process group of its own, so that a terminal's
//! Ctrl-C is for this process to deal with. They end when their handle is dropped, and with them
//! what they have started in their group; and when this process ends, however it ends, but then
//! what they have started is their own affair.

use std::ffi::OsStr;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{
    Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Output, Stdio,
};
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;

use nix::errno::Errno;
use nix::sched::{CloneFlags, setns};
use nix::sys::prctl::set_pdeathsig;
use nix::sys::signal::{Signal, killpg};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
use nix::unistd::{Pid, getpid, getppid};
use thiserror::Error;

use crate::namespace::Namespace;

/// A program could not be started or waited for.
#[derive(Debug, Error)]
#[error("cannot {action} {program} in network namespace {namespace}: {source}")]
pub struct ProgramError {
    action: &'static str,
    program: String,
    namespace: String,
    source: io::Error,
}

/// A program to be started inside a namespace, built up as with [`std::process::Command`].
#[derive(Debug)]
pub struct Program {
    command: Command,
    place: Place,
}

/// What messages say of a program.
#[derive(Debug, Clone)]
struct Place {
    program: String,
    namespace: String,
}

impl Place {
    fn error(&self, action: &'static str, source: io::Error) -> ProgramError {
        let Place { program, namespace } = self.clone();
        ProgramError { action, program, namespace, source }
    }
}

impl Namespace {
    /// A program that will run inside; searched for in `PATH` if its name holds no slash.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Program {
        let program = program.as_ref();
        let place = Place {
            program: program.to_string_lossy().into_owned(),
            namespace: self.name().to_owned(),
        };
        let mut command = Command::new(program);
        command.process_group(0);
        let (namespace, parent) = (self.clone(), getpid());
        // SAFETY: between fork and exec the closure makes three system calls and allocates nothing.
        unsafe { command.pre_exec(move || move_in(&namespace, parent)) };
        Program { command, place }
    }
}

fn move_in(namespace: &Namespace, parent: Pid) -> io::Result<()> {
    setns(namespace, CloneFlags::CLONE_NEWNET)?;
    set_pdeathsig(Signal::SIGKILL)?;
    // Should the parent have died before the line above, no signal will come.
    if getppid() == parent { Ok(()) } else { Err(Errno::ESRCH.into()) }
}

impl Program {
    /// Adds an argument.
    pub fn arg(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.command.arg(argument);
        self
    }

    /// Adds arguments.
    pub fn args(mut self, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        self.command.args(arguments);
        self
    }

    /// Sets an environment variable.
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// Where its standard input comes from; inherited unless set.
    pub fn stdin(mut self, from: impl Into<Stdio>) -> Self {
        self.command.stdin(from);
        self
    }

    /// Where its standard output goes; inherited unless set.
    pub fn stdout(mut self, to: impl Into<Stdio>) -> Self {
        self.command.stdout(to);
        self
    }

    /// Where its standard error goes; inherited unless set.
    pub fn stderr(mut self, to: impl Into<Stdio>) -> Self {
        self.command.stderr(to);
        self
    }

    /// Starts it.
    pub fn spawn(self) -> Result<Running, ProgramError> {
        let Self { mut command, place } = self;
        let child = on_starter_thread(move || command.spawn());
        let child = child.map_err(|source| place.error("start", source))?;
        Ok(Running { child: Some(child), place })
    }

    /// Runs it to its end and hands back what it printed.
    pub fn output(self) -> Result<Output, ProgramError> {
        self.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?.output()
    }
}

/// A program that runs inside a namespace; killed with its process group when this is dropped.
#[derive(Debug)]
pub struct Running {
    /// `None` once `output` has taken it.
    child: Option<Child>,
    place: Place,
}

impl Running {
    /// Its process id.
    pub fn id(&self) -> u32 {
        self.child.as_ref().map_or(0, Child::id)
    }

    /// The writing end of its standard input, if that was to be piped. Can be taken once.
    pub fn take_stdin(&mut self) -> Option<ChildStdin> {
        self.child.as_mut()?.stdin.take()
    }

    /// The reading end of its standard output, if that was to be piped. Can be taken once.
    pub fn take_stdout(&mut self) -> Option<ChildStdout> {
        self.child.as_mut()?.stdout.take()
    }

    /// The reading end of its standard error, if that was to be piped. Can be taken once.
    pub fn take_stderr(&mut self) -> Option<ChildStderr> {
        self.child.as_mut()?.stderr.take()
    }

    /// Whether it has ended, without taking note of it: what the kernel knows of the process, its
    /// processor time for one, is there until `try_wait` says how it ended.
    pub fn has_ended(&self) -> bool {
        matches!(self.peek(), Some(WaitStatus::Exited(..) | WaitStatus::Signaled(..)))
    }

    /// `None`: how it ended has been told, and its process id may be another's.
    fn peek(&self) -> Option<WaitStatus> {
        let id = Id::Pid(group(self.child.as_ref()?));
        waitid(id, WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT).ok()
    }

    /// How it ended, if it has. What it has started in its group is then ended too.
    pub fn try_wait(&mut self) -> Result<Option<ExitStatus>, ProgramError> {
        // Asked twice, it might end in between, and what it has started would be left.
        if self.child.is_none() || self.peek().is_some() && !self.has_ended() {
            return Ok(None);
        }
        self.signal_group(Signal::SIGKILL);
        let status = self.child.as_mut().map(Child::try_wait).transpose();
        status.map(Option::flatten).map_err(|source| self.place.error("wait for", source))
    }

    /// Holds it, with its process group, where it is: its sockets stay open, and it sends nothing
    /// any more.
    pub fn freeze(&self) {
        self.signal_group(Signal::SIGSTOP);
    }

    /// While its process id is its own.
    fn signal_group(&self, signal: Signal) {
        if let (Some(child), Some(_)) = (&self.child, self.peek()) {
            // Fails only if nobody is left in it.
            let _ = killpg(group(child), signal);
        }
    }

    /// Waits until it ends.
    pub fn wait(mut self) -> Result<ExitStatus, ProgramError> {
        let mut child = self.child.take().expect("only methods that consume the handle take it");
        child.wait().map_err(|source| self.place.error("wait for", source))
    }

    /// Waits until it ends and hands back what it printed to whatever was piped.
    pub fn output(mut self) -> Result<Output, ProgramError> {
        let child = self.child.take().expect("only methods that consume the handle take it");
        child.wait_with_output().map_err(|source| self.place.error("wait for", source))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.signal_group(Signal::SIGKILL);
        if let Some(child) = &mut self.child {
            // Either fails only if it has already ended and been waited for.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// A program leads its group, which has its number.
fn group(child: &Child) -> Pid {
    Pid::from_raw(child.id().cast_signed())
}

type Job = Box<dyn FnOnce() + Send>;

/// The kernel ends a program when the *thread* that started it ends. So one thread, which lives as
/// long as the process, starts them all.
static STARTER: Mutex<Option<mpsc::Sender<Job>>> = Mutex::new(None);

fn on_starter_thread<T: Send + 'static>(
    job: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    let (answer, answered) = mpsc::sync_channel(1);
    let job: Job = Box::new(move || drop(answer.send(job())));
    starter()?.send(job).map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe))?;
    answered.recv().map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe))?
}

fn starter() -> io::Result<mpsc::Sender<Job>> {
    let mut starter = STARTER.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(sender) = &*starter {
        return Ok(sender.clone());
    }
    let (sender, jobs) = mpsc::channel::<Job>();
    thread::Builder::new()
        .name("netns programs".to_owned())
        .spawn(move || jobs.into_iter().for_each(|job| job()))?;
    Ok(starter.insert(sender).clone())
}
