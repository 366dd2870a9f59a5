//! From this program to the kernel's process: started as a process of its own, it ties itself to
//! its parent's life and to one processor, and becomes the kernel. And the processors that guests
//! of this program have among themselves.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{self, Command};
use std::sync::{Mutex, PoisonError};

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::sys::personality::{self, Persona};
use nix::sys::prctl::set_pdeathsig;
use nix::sys::resource::{Resource, setrlimit};
use nix::sys::signal::{SigSet, Signal};
use nix::unistd::{Pid, getppid};

use super::error::UmlError;

/// The seed of the kernel's random numbers, for the seeder.
pub const SEED: &str = "IMPAIRLAB_UML_SEED";
/// What is loaded into the kernel's process.
pub const SEEDER: &str = "IMPAIRLAB_UML_SEEDER";

/// Becomes the kernel; returns only if that cannot be done. `parent` is the process whose end is to
/// be the guest's end too.
pub fn launch(parent: i32, processor: usize, command: &[OsString]) -> io::Error {
    match prepare(parent, processor) {
        Ok(()) => {}
        Err(error) => return error,
    }
    let Some((kernel, arguments)) = command.split_first() else {
        return io::ErrorKind::InvalidInput.into();
    };
    let mut kernel = Command::new(kernel);
    kernel.args(arguments);
    if let Some(seeder) = std::env::var_os(SEEDER) {
        kernel.env("LD_PRELOAD", seeder).env_remove(SEEDER);
    }
    kernel.exec()
}

fn prepare(parent: i32, processor: usize) -> io::Result<()> {
    set_pdeathsig(Signal::SIGKILL)?;
    // Should the parent have died before the line above, no signal will come.
    if getppid() != Pid::from_raw(parent) {
        process::exit(1);
    }
    // This program takes an error for it; the kernel is to be ended, and to have said why.
    let mut file_size = SigSet::empty();
    file_size.add(Signal::SIGXFSZ);
    file_size.thread_unblock()?;
    // A kernel that panics aborts; nobody wants its whole memory on disk.
    setrlimit(Resource::RLIMIT_CORE, 0, 0)?;
    // The kernel and each process of the guest take turns: on two processors each turn would cost a
    // wake-up. A container may forbid it, which costs time and nothing else.
    let mut set = CpuSet::new();
    if set.set(processor).is_ok() {
        let _ = sched_setaffinity(Pid::from_raw(0), &set);
    }
    // Where its heap begins decides how much memory the guest has; the same in every run. Some
    // containers forbid it, and the guest is then a little less repeatable.
    let _ = personality::get().and_then(|now| personality::set(now | Persona::ADDR_NO_RANDOMIZE));
    Ok(())
}

/// One processor for one guest at a time; free again when it is dropped.
#[derive(Debug)]
pub struct Processor(usize);

/// Processors in use, each as often as it is.
static USED: Mutex<Vec<usize>> = Mutex::new(Vec::new());

impl Processor {
    /// The one with the fewest guests of this program. Programs started side by side begin at
    /// different ones.
    pub fn least_used() -> Result<Self, UmlError> {
        let mine = sched_getaffinity(Pid::from_raw(0))
            .map_err(|errno| UmlError::Start { source: errno.into() })?;
        let usable = (0..CpuSet::count()).filter(|&index| mine.is_set(index).unwrap_or(false));
        let mut usable: Vec<usize> = usable.collect();
        let shift = process::id() as usize % usable.len().max(1);
        usable.rotate_left(shift);
        let mut used = USED.lock().unwrap_or_else(PoisonError::into_inner);
        let uses = |processor: &&usize| used.iter().filter(|other| other == processor).count();
        let chosen = *usable.iter().min_by_key(uses).unwrap_or(&0);
        used.push(chosen);
        Ok(Self(chosen))
    }

    pub fn index(&self) -> usize {
        self.0
    }
}

impl Drop for Processor {
    fn drop(&mut self) {
        let mut used = USED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = used.iter().position(|&processor| processor == self.0) {
            used.swap_remove(at);
        }
    }
}
