//! The User-Mode Linux kernel: where it is, and whether it is one that can serve.

use std::env;
use std::fs;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{ChildStdout, Command, Stdio};
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use super::error::KernelError;
use crate::engine::real_clock::Clock;
use crate::units::Instant;

/// Names a kernel other than the one that `scripts/build-uml` made.
pub const OVERRIDE: &str = "IMPAIRLAB_UML";
/// What `scripts/build-uml` builds from; a copy lies beside each kernel that it made.
const CONFIGURATION: &str = include_str!("../../../uml/kernel.config");
/// Bytes of the answer to `--help` that are read at most.
const LONGEST_ANSWER: usize = 1 << 20;
/// How long it may take: a kernel answers in milliseconds.
const PATIENCE: Duration = Duration::from_secs(10);
/// The first version whose netem takes a seed.
const OLDEST: (u32, u32) = (6, 6);

/// A kernel that runs in virtual time and sees the host's files.
#[derive(Debug, Clone)]
pub struct Kernel {
    pub path: PathBuf,
    /// As `uname -r` inside will tell it.
    pub release: String,
    /// Gives the kernel's random numbers from a seed; without it every run has others.
    pub seeder: Option<PathBuf>,
}

impl Kernel {
    /// The kernel that the user named, or else the one that `scripts/build-uml` made.
    pub fn find() -> Result<Self, KernelError> {
        if let Some(path) = env::var_os(OVERRIDE).filter(|path| !path.is_empty()) {
            let seeder =
                |kernel: &Path| existing(kernel.with_file_name(SEEDER)).or_else(built_seeder);
            return Self::examine(PathBuf::from(path), seeder);
        }
        let folder = built_folder().ok_or(KernelError::NoHome)?;
        let path = folder.join("linux");
        if !path.exists() {
            return Err(KernelError::Missing { path });
        }
        let built_from = fs::read_to_string(folder.join("kernel.config")).unwrap_or_default();
        if built_from != CONFIGURATION {
            return Err(KernelError::OtherConfiguration { path });
        }
        Self::examine(path, |_| built_seeder())
    }

    /// A line for the user if runs with this kernel cannot be repeated.
    pub fn lacks_seeder(&self) -> Option<String> {
        self.seeder.is_none().then(|| {
            format!(
                "Without {SEEDER} beside the kernel, what is random in the guest is different in \
                 every run: `scripts/build-uml` makes it"
            )
        })
    }

    fn examine(
        path: PathBuf,
        seeder: impl FnOnce(&Path) -> Option<PathBuf>,
    ) -> Result<Self, KernelError> {
        if !path.exists() {
            return Err(KernelError::Missing { path });
        }
        // It is started in another folder, so its name must not depend on this one.
        let path = match path.canonicalize() {
            Ok(path) => path,
            Err(source) => return Err(KernelError::NotExecutable { path, source }),
        };
        let help = match ask_for_help(&path) {
            Ok(answer) => String::from_utf8_lossy(&answer).into_owned(),
            Err(Unanswered::Failed(source)) => {
                return Err(KernelError::NotExecutable { path, source });
            }
            Err(Unanswered::Silent) => {
                return Err(KernelError::Silent { path, seconds: PATIENCE.as_secs() });
            }
        };
        let Some(release) = release(&help) else { return Err(KernelError::NotUml { path }) };
        let needed = [
            ("time-travel=inf-cpu", "virtual time (CONFIG_UML_TIME_TRAVEL_SUPPORT)"),
            ("hostfs=", "the host's files (CONFIG_HOSTFS)"),
        ];
        for (sign, option) in needed {
            if !help.contains(sign) {
                return Err(KernelError::Lacks { path, option });
            }
        }
        if version(release).is_none_or(|version| version < OLDEST) {
            return Err(KernelError::TooOld { path, release: release.to_owned() });
        }
        let seeder = seeder(&path);
        Ok(Self { release: release.to_owned(), seeder, path })
    }
}

const SEEDER: &str = "seeder.so";

fn built_seeder() -> Option<PathBuf> {
    existing(built_folder()?.join(SEEDER))
}

fn existing(path: PathBuf) -> Option<PathBuf> {
    path.canonicalize().ok()
}

/// Where `scripts/build-uml` leaves the kernel that it made last.
fn built_folder() -> Option<PathBuf> {
    let set = |name| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")))?;
    Some(cache.join("impairlab/uml/current"))
}

fn ask_for_help(kernel: &Path) -> Result<Vec<u8>, Unanswered> {
    let mut command = Command::new(kernel);
    command.arg("--help").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    // Whatever it starts is to end with it.
    let mut child = command.process_group(0).spawn()?;
    let output = child.stdout.take().expect("it was asked to be piped");
    let answer = read_within(output, PATIENCE);
    // Whatever it is, it has said enough; it may have ended by itself.
    let _ = killpg(Pid::from_raw(child.id() as i32), Signal::SIGKILL);
    child.wait()?;
    answer
}

/// Reads to the end, or as much as is read at most.
fn read_within(mut from: ChildStdout, patience: Duration) -> Result<Vec<u8>, Unanswered> {
    let clock = Clock::start();
    let (mut answer, mut part) = (Vec::new(), [0; 4096]);
    while answer.len() < LONGEST_ANSWER {
        let left = patience.saturating_sub(clock.now().saturating_since(Instant::ZERO));
        let wait = PollTimeout::try_from(left).unwrap_or(PollTimeout::MAX);
        match poll(&mut [PollFd::new(from.as_fd(), PollFlags::POLLIN)], wait) {
            Ok(0) => return Err(Unanswered::Silent),
            Ok(_) => {}
            Err(Errno::EINTR) => continue,
            Err(errno) => return Err(io::Error::from(errno).into()),
        }
        match from.read(&mut part)? {
            0 => break,
            length => answer.extend_from_slice(&part[..length]),
        }
    }
    Ok(answer)
}

/// Why there is no answer to `--help`.
enum Unanswered {
    Failed(io::Error),
    Silent,
}

impl From<io::Error> for Unanswered {
    fn from(error: io::Error) -> Self {
        Self::Failed(error)
    }
}

/// `User Mode Linux v6.12.48` in the first line.
fn release(help: &str) -> Option<&str> {
    help.lines().next()?.strip_prefix("User Mode Linux v").map(str::trim)
}

fn version(release: &str) -> Option<(u32, u32)> {
    let mut parts = release.split(|c: char| !c.is_ascii_digit());
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_release_is_read_from_the_first_line_and_compared_by_number() {
        let release = release("User Mode Linux v6.12.48-impairlab\n\tavailable at …").unwrap();
        assert_eq!(version(release), Some((6, 12)));
        assert!(version("6.5.0").unwrap() < OLDEST && version("6.6").unwrap() >= OLDEST);
        assert_eq!(version("six"), None);
    }
}
