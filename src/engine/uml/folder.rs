//! The folder that host and guest both see. Its removal is the work of a process of its own, which
//! waits for this one to be done with it or to die, however it dies. Should both be killed at once,
//! the next guest finds a folder that nobody holds the lock of, and removes it.

use std::env;
use std::fs::{self, DirBuilder, File};
use std::io::{self, Read};
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::sleep;
use std::time::Duration;

use nix::sys::signal::{SigSet, SigmaskHow, pthread_sigmask};
use nix::unistd::{geteuid, setsid};

use super::error::UmlError;

const PREFIX: &str = "impairlab-uml.";
/// Kept in memory by Linux distributions; where it is missing, /tmp serves.
const IN_MEMORY: &str = "/dev/shm";

/// Gone when this is dropped, and when this process is.
#[derive(Debug)]
pub struct JobFolder {
    path: PathBuf,
    remover: Child,
    /// Its end is the sign for the remover.
    alive: Option<ChildStdin>,
}

/// Where guests' folders and memory go: TMPDIR, or else a folder in memory. By its whole name, as
/// the guest's kernel runs in another folder.
pub fn place() -> Result<PathBuf, UmlError> {
    let path = match env::var_os("TMPDIR").filter(|folder| !folder.is_empty()) {
        Some(folder) => PathBuf::from(folder),
        None if Path::new(IN_MEMORY).is_dir() => PathBuf::from(IN_MEMORY),
        None => PathBuf::from("/tmp"),
    };
    path.canonicalize().map_err(|source| UmlError::Folder { path, source })
}

impl JobFolder {
    /// `impairlab` is this program, which removes the folder in another process.
    pub fn new(place: &Path, impairlab: &Path) -> Result<Self, UmlError> {
        let error = |source| UmlError::Folder { path: place.to_owned(), source };
        remove_abandoned(place);
        let (path, lock) = make(place).map_err(error)?;
        let remover = Command::new(impairlab)
            .args(["guest", "remove"])
            .arg(&path)
            .stdin(Stdio::piped())
            // Held open, this keeps the lock even when this process has gone.
            .stdout(lock)
            .stderr(Stdio::null())
            .spawn();
        let mut remover = remover.map_err(|source| {
            // The error that matters is the first one.
            let _ = fs::remove_dir(&path);
            error(source)
        })?;
        let alive = remover.stdin.take();
        Ok(Self { path, remover, alive })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }
}

impl Drop for JobFolder {
    fn drop(&mut self) {
        self.alive.take();
        // It fails only if somebody else has waited for the process.
        let _ = self.remover.wait();
    }
}

fn make(place: &Path) -> io::Result<(PathBuf, File)> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    const ATTEMPTS: u32 = 100;
    let mut last = io::ErrorKind::AlreadyExists.into();
    for _ in 0..ATTEMPTS {
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = place.join(format!("{PREFIX}{}.{count}", std::process::id()));
        match DirBuilder::new().mode(0o700).create(&path) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                last = error;
                continue;
            }
            Err(error) => return Err(error),
        }
        // In the moment before it is locked another program may take it for abandoned.
        match lock(&path) {
            Ok(locked) => return Ok(locked),
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn lock(path: &Path) -> io::Result<(PathBuf, File)> {
    let folder = File::open(path)?;
    folder.try_lock()?;
    Ok((path.canonicalize()?, folder))
}

/// What somebody else may not remove, or has just removed, is left to them.
fn remove_abandoned(place: &Path) {
    let Ok(entries) = fs::read_dir(place) else { return };
    for entry in entries.flatten() {
        let ours = entry.file_name().to_string_lossy().starts_with(PREFIX)
            && entry.metadata().is_ok_and(|file| file.is_dir() && file.uid() == geteuid().as_raw());
        if ours
            && let Ok(folder) = File::open(entry.path())
            && folder.try_lock().is_ok()
        {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// The work of the process that removes a folder: waits until standard input ends, and removes it.
/// Ctrl-C is not meant for it.
pub fn remove_when_orphaned(folder: &Path) {
    // Whoever it is that ends a group of processes at a terminal does not mean this one; if that
    // cannot be had, the next guest removes the folder.
    let _ = setsid();
    let _ = pthread_sigmask(SigmaskHow::SIG_BLOCK, Some(&SigSet::all()), None);
    let _ = io::stdin().read_to_end(&mut Vec::new());
    // The guest of a killed program is being killed too, and may still write.
    for _ in 0..500 {
        match fs::remove_dir_all(folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                sleep(Duration::from_millis(10));
            }
            _ => return,
        }
    }
}
