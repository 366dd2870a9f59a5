//! A program that carries a stream: found before a trial, watched while it runs, asked for its last
//! words when it dies. It ends with its handle, and with this process.

use std::env;
use std::ffi::OsString;
use std::io::Read;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use netns::{Namespace, Running};
use nix::sys::time::TimeValLike;
use nix::time::{clock_getcpuclockid, clock_gettime};
use nix::unistd::{AccessFlags, Pid, access};

use super::error::KernelSocketError;

/// Where a guest looks, and everybody who has no PATH.
pub const FOLDERS: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/// Bytes of what a program printed last that are kept.
const LAST_WORDS: usize = 2048;
/// Characters of a line of it that are shown.
const LONGEST_LINE: usize = 200;
/// As much as a pipe holds.
const GULP: usize = 64 << 10;
const PAUSE: Duration = Duration::from_millis(10);
/// How long one that has ended is listened to: what it said is on its way.
const HEAR_OUT: Duration = Duration::from_millis(200);

/// By the PATH of this process.
pub fn find(program: &'static str) -> Result<PathBuf, KernelSocketError> {
    find_in(program, env::var_os("PATH").unwrap_or_else(|| FOLDERS.into()))
}

/// As a shell looks: one that may not be executed is passed over, and named if there is no other.
pub fn find_in(program: &'static str, folders: OsString) -> Result<PathBuf, KernelSocketError> {
    let places = env::split_paths(&folders).map(|folder| folder.join(program));
    let (usable, not): (Vec<_>, Vec<_>) = places
        .filter(|place| place.is_file())
        .partition(|place| access(place, AccessFlags::X_OK).is_ok());
    usable.into_iter().next().ok_or_else(|| match not.into_iter().next() {
        Some(path) => KernelSocketError::NotExecutable { program, path },
        None => KernelSocketError::NoProgram {
            program,
            folders: folders.to_string_lossy().into_owned(),
        },
    })
}

pub struct Program {
    running: Running,
    name: &'static str,
    words: Arc<Mutex<Vec<u8>>>,
    /// Closed when nobody can say more.
    silence: Receiver<()>,
    /// Of one that has ended.
    left: Option<Left>,
}

struct Left {
    cpu_time: Duration,
    how: String,
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
        let (kept, (speaking, silence)) = (Arc::clone(&words), channel());
        if let Some(stderr) = running.take_stderr() {
            let thread = thread::Builder::new().name(name.to_owned());
            let listener = thread.spawn(move || listen(stderr, &kept, speaking));
            listener.map_err(|source| KernelSocketError::Output { program: name, source })?;
        }
        Ok(Self { running, name, words, silence, left: None })
    }

    pub fn name(&self) -> &'static str {
        self.name
    }

    /// How it ended and what it said last, if it has ended.
    pub fn ended(&mut self) -> Option<String> {
        if self.left.is_none() && self.running.has_ended() {
            self.left = Some(self.leave());
        }
        self.left.as_ref().map(|left| left.how.clone())
    }

    fn leave(&mut self) -> Left {
        // Before the kernel forgets it.
        let cpu_time = self.cpu_time();
        let status = match self.running.try_wait() {
            Ok(status) => status.map_or_else(|| "not yet".to_owned(), |status| status.to_string()),
            Err(error) => error.to_string(),
        };
        // Not for ever: something that it has started may hold its output open.
        let _ = self.silence.recv_timeout(HEAR_OUT);
        Left { cpu_time, how: format!("{status}; it said: {}", self.said()) }
    }

    pub fn freeze(&self) {
        self.running.freeze();
    }

    /// Its last words, in one line.
    pub fn said(&self) -> String {
        last_words(&self.words.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Processor time of all of its threads, those that have ended included.
    pub fn cpu_time(&self) -> Duration {
        if let Some(left) = &self.left {
            return left.cpu_time;
        }
        let clock = clock_getcpuclockid(Pid::from_raw(self.running.id().cast_signed()));
        let time = clock.and_then(clock_gettime);
        // One that has just ended has no clock any more.
        let nanos = time.map_or(0, |time| time.num_nanoseconds());
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(0))
    }
}

/// The last three lines, without what would move a terminal's cursor.
fn last_words(words: &[u8]) -> String {
    let text = String::from_utf8_lossy(words);
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let lines: Vec<String> = lines.map(printable).collect();
    match lines.last_chunk::<3>() {
        Some(last) => last.join("; "),
        None if lines.is_empty() => "nothing".to_owned(),
        None => lines.join("; "),
    }
}

fn printable(line: &str) -> String {
    let shown = |character: char| if character.is_control() { '\u{fffd}' } else { character };
    let mut text: String = line.chars().take(LONGEST_LINE).map(shown).collect();
    if line.chars().nth(LONGEST_LINE).is_some() {
        text.push('…');
    }
    text
}

/// In gulps, with a pause after each: one that talks without end is held up by its full pipe, so
/// that it takes no processor from the trial, and time in a guest goes on. `_speaking` is held
/// until the output ends.
fn listen(mut stderr: impl Read, words: &Mutex<Vec<u8>>, _speaking: Sender<()>) {
    let mut buffer = vec![0; GULP];
    while let Ok(length @ 1..) = stderr.read(&mut buffer) {
        let mut words = words.lock().unwrap_or_else(PoisonError::into_inner);
        words.extend_from_slice(&buffer[..length]);
        let surplus = words.len().saturating_sub(LAST_WORDS);
        words.drain(..surplus);
        drop(words);
        thread::sleep(PAUSE);
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_program_that_may_not_be_executed_is_passed_over_and_named_if_it_is_the_only_one() {
        let [first, second] = [(); 2].map(|()| tempfile::tempdir().expect("a folder"));
        let folders = || env::join_paths([first.path(), second.path()]).expect("no colon in them");
        let place = |folder: &tempfile::TempDir, mode| {
            let path = folder.path().join("tunnel");
            fs::write(&path, "#!/bin/sh\n").expect("written");
            fs::set_permissions(&path, Permissions::from_mode(mode)).expect("changed");
            path
        };
        let found = || find_in("tunnel", folders());
        assert!(matches!(found(), Err(KernelSocketError::NoProgram { .. })));
        let of_nobody = place(&first, 0o644);
        match found() {
            Err(KernelSocketError::NotExecutable { path, .. }) => assert_eq!(path, of_nobody),
            other => panic!("{other:?}"),
        }
        let usable = place(&second, 0o755);
        assert_eq!(found().expect("one that can be executed"), usable);
    }

    #[test]
    fn last_words_are_the_last_three_lines_and_fit_on_one() {
        assert_eq!(last_words(b""), "nothing");
        assert_eq!(last_words(b"\n \r\n"), "nothing");
        assert_eq!(last_words(b"one\n\ntwo \r\n"), "one; two");
        assert_eq!(last_words(b"one\ntwo\nthree\nfour"), "two; three; four");
        assert_eq!(last_words(b"\x1b[2Jgone\xff"), "\u{fffd}[2Jgone\u{fffd}");
        assert_eq!(last_words(&[b'y'; 2048]), format!("{}…", "y".repeat(LONGEST_LINE)));
    }

    #[test]
    fn endless_words_are_heard_and_only_the_last_are_kept() {
        let words = Mutex::new(Vec::new());
        let (speaking, silence) = channel();
        listen(std::io::repeat(b'y').take(1 << 20), &words, speaking);
        assert_eq!(words.lock().expect("whole").len(), LAST_WORDS);
        assert!(silence.recv().is_err(), "it is known that nothing more comes");
    }
}
