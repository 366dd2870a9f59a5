//! A program that carries a stream: found before a trial, watched while it runs, asked for its last
//! words when it dies. It ends with its handle, and with this process.

use std::env;
use std::ffi::OsString;
use std::io::Read;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use netns::{Namespace, Running};
use nix::sys::time::TimeValLike;
use nix::time::{clock_getcpuclockid, clock_gettime};
use nix::unistd::Pid;

use super::error::KernelSocketError;

/// Where a guest looks, and everybody who has no PATH.
pub const FOLDERS: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/// Bytes of what a program printed last that are kept.
const LAST_WORDS: usize = 2048;

/// By the PATH of this process.
pub fn find(program: &'static str) -> Result<PathBuf, KernelSocketError> {
    find_in(program, env::var_os("PATH").unwrap_or_else(|| FOLDERS.into()))
}

pub fn find_in(program: &'static str, folders: OsString) -> Result<PathBuf, KernelSocketError> {
    let mut places = env::split_paths(&folders).map(|folder| folder.join(program));
    places.find(|place| place.is_file()).ok_or_else(|| KernelSocketError::NoProgram {
        program,
        folders: folders.to_string_lossy().into_owned(),
    })
}

pub struct Program {
    running: Running,
    name: &'static str,
    words: Arc<Mutex<Vec<u8>>>,
    listener: Option<JoinHandle<()>>,
}

impl Program {
    pub fn start(
        host: &Namespace,
        name: &'static str,
        path: &PathBuf,
        arguments: &[String],
    ) -> Result<Self, KernelSocketError> {
        let command = host.command(path).args(arguments).stdin(Stdio::null());
        let mut running = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn()?;
        let words = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&words);
        let listener = running.take_stderr().map(|stderr| {
            let thread = thread::Builder::new().name(name.to_owned());
            thread.spawn(move || listen(stderr, &kept))
        });
        let listener = listener.transpose();
        let listener =
            listener.map_err(|source| KernelSocketError::Output { program: name, source })?;
        Ok(Self { running, name, words, listener })
    }

    pub fn name(&self) -> &'static str {
        self.name
    }

    /// How it ended and what it said last, if it has ended.
    pub fn ended(&mut self) -> Option<String> {
        let status = match self.running.try_wait() {
            Ok(None) => return None,
            Ok(Some(status)) => status.to_string(),
            Err(error) => error.to_string(),
        };
        // All that it said has arrived when nobody can say more.
        if let Some(listener) = self.listener.take() {
            // A listener that crashed has kept what it heard.
            let _ = listener.join();
        }
        Some(format!("{status}; it said: {}", self.said()))
    }

    /// Its last words, in one line.
    pub fn said(&self) -> String {
        let words = self.words.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&words);
        let lines: Vec<_> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        match lines.last_chunk::<3>() {
            Some(last) => last.join("; "),
            None if lines.is_empty() => "nothing".to_owned(),
            None => lines.join("; "),
        }
    }

    /// Processor time of all of its threads, those that have ended included.
    pub fn cpu_time(&self) -> Duration {
        let clock = clock_getcpuclockid(Pid::from_raw(self.running.id().cast_signed()));
        let time = clock.and_then(clock_gettime);
        // One that has just ended has no clock any more.
        let nanos = time.map_or(0, |time| time.num_nanoseconds());
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(0))
    }
}

fn listen(mut stderr: impl Read, words: &Mutex<Vec<u8>>) {
    let mut buffer = [0; 1024];
    while let Ok(length @ 1..) = stderr.read(&mut buffer) {
        let mut words = words.lock().unwrap_or_else(PoisonError::into_inner);
        words.extend_from_slice(&buffer[..length]);
        let surplus = words.len().saturating_sub(LAST_WORDS);
        words.drain(..surplus);
    }
}
