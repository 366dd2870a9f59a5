//! Runs a program in the guest. What it prints goes through pipes, as it would outside, and is then
//! written through to the host at once: so nothing is lost with a guest that hangs.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::{self, JoinHandle};

use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::Pid;

use super::error::{GuestError, step};
use super::files::host_folder;
use crate::engine::syscalls::run_first_in_first_out;
use crate::engine::uml::job::{self, Answer, Program};

/// The threads that carry output come before any program: a program that prints and then never
/// stops computing has been heard.
const PRIORITY: i32 = 1;

pub fn run(program: &Program) -> Result<Answer, GuestError> {
    for folder in &program.writable {
        share(folder)?;
    }
    let mut child = match start(program) {
        Ok(child) => child,
        Err(error) => return Ok(not_started(program, &error)),
    };
    let output = carry(child.stdout.take(), job::OUTPUT)?;
    let errors = carry(child.stderr.take(), job::ERRORS)?;
    let status = wait_for(&child)?;
    end_all_others();
    for carrier in [output, errors] {
        // It ends with the last process that could write.
        let carried = carrier.join().map_err(|_| GuestError::CarrierCrashed)?;
        step(|| "pass on what the program prints".to_owned(), carried)?;
    }
    Ok(match (status.code(), status.signal()) {
        (Some(code), _) => Answer::Exited { code: code as u8 },
        (None, signal) => Answer::Killed { signal: signal.unwrap_or_default() },
    })
}

fn share(folder: &Path) -> Result<(), GuestError> {
    let not_utf8 = || GuestError::NotUtf8 { folder: folder.display().to_string() };
    let text = folder.to_str().ok_or_else(not_utf8)?;
    step(|| format!("make {text}"), fs::create_dir_all(folder))?;
    host_folder(text, folder)
}

fn start(program: &Program) -> io::Result<Child> {
    Command::new(&program.program)
        .args(&program.arguments)
        .env_clear()
        .envs(program.environment.iter().map(|(name, value)| (name, value)))
        .current_dir(&program.folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
}

fn not_started(program: &Program, error: &io::Error) -> Answer {
    let name = program.program.to_string_lossy();
    let in_folder = match program.folder.is_dir() {
        true => String::new(),
        false => format!(" in {}, which the guest cannot enter", program.folder.display()),
    };
    let message = format!("cannot run {name}{in_folder}: {error}");
    Answer::NotStarted { message, missing: error.kind() == io::ErrorKind::NotFound }
}

type Carrier = JoinHandle<io::Result<()>>;

fn carry(from: Option<impl Read + Send + 'static>, name: &str) -> Result<Carrier, GuestError> {
    let mut from = from.expect("it was asked to be piped");
    let mut options = OpenOptions::new();
    // Each write goes to the host before it returns.
    let to = options.append(true).custom_flags(libc::O_DSYNC).open(super::file(name));
    let mut to = step(|| format!("open {name}"), to)?;
    let body = move || {
        // The guest's own kernel grants it; without it a hanging program's last words are lost.
        let _ = run_first_in_first_out(PRIORITY);
        copy(&mut from, &mut to)
    };
    let thread = thread::Builder::new().name(name.to_owned()).spawn(body);
    step(|| "start a thread".to_owned(), thread)
}

fn copy(from: &mut impl Read, to: &mut File) -> io::Result<()> {
    let mut buffer = vec![0; 64 << 10];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(length) => to.write_all(&buffer[..length])?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// As the first process, this one is also the parent of every process whose own parent has gone.
fn wait_for(child: &Child) -> Result<ExitStatus, GuestError> {
    let child = Pid::from_raw(child.id() as i32);
    loop {
        match waitpid(None, None) {
            Ok(WaitStatus::Exited(process, code)) if process == child => {
                return Ok(ExitStatus::from_raw((code & 0xff) << 8));
            }
            Ok(WaitStatus::Signaled(process, signal, _)) if process == child => {
                return Ok(ExitStatus::from_raw(signal as i32));
            }
            Ok(_) | Err(Errno::EINTR) => {}
            Err(errno) => return step(|| "wait for the program".to_owned(), Err(errno)),
        }
    }
}

/// Whatever the program left running ends with it, as it would with its machine.
fn end_all_others() {
    const ALL_OTHERS: Pid = Pid::from_raw(-1);
    // There may be none.
    let _ = kill(ALL_OTHERS, Signal::SIGKILL);
    while !matches!(waitpid(None, None), Err(Errno::ECHILD)) {}
}
