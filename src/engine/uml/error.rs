//! What can go wrong with a guest, from the kernel that is not there to the program that hangs.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use thiserror::Error;

use crate::recording::file::remedy;
use crate::recording::format::ReadError;

use super::limits::Limit;
use super::standstill::Standstill;

/// Why the kernel that was found cannot serve.
#[derive(Debug, Error)]
pub enum KernelError {
    #[error(
        "no User-Mode Linux kernel is at {}: make it with `scripts/build-uml` (once, about six \
         minutes), or set IMPAIRLAB_UML to one", path.display()
    )]
    Missing { path: PathBuf },
    #[error("neither HOME nor XDG_CACHE_HOME says where the kernel could be: set IMPAIRLAB_UML")]
    NoHome,
    #[error(
        "{} was built from another configuration than this impairlab asks for: run \
         `scripts/build-uml` again", path.display()
    )]
    OtherConfiguration { path: PathBuf },
    #[error("cannot run the User-Mode Linux kernel {}: {source}", path.display())]
    NotExecutable { path: PathBuf, source: io::Error },
    #[error(
        "{} is not a User-Mode Linux kernel: asked for `--help`, it does not say that it is one; \
         IMPAIRLAB_UML has to name a kernel built with ARCH=um", path.display()
    )]
    NotUml { path: PathBuf },
    #[error(
        "{} is not a User-Mode Linux kernel: asked for `--help`, it has not ended after {seconds} \
         s; IMPAIRLAB_UML has to name a kernel built with ARCH=um", path.display()
    )]
    Silent { path: PathBuf, seconds: u64 },
    #[error(
        "{} was built without {option}: make one that has it with `scripts/build-uml`",
        path.display()
    )]
    Lacks { path: PathBuf, option: &'static str },
    #[error(
        "{} is Linux {release}, whose netem takes no seed: it has to be 6.6 or later \
         (`scripts/build-uml` makes 6.12)", path.display()
    )]
    TooOld { path: PathBuf, release: String },
}

/// Why a guest did not do its work.
#[derive(Debug, Error)]
pub enum UmlError {
    #[error(transparent)]
    Kernel(#[from] KernelError),
    #[error(
        "a guest of {needed_mib} MiB needs as much free memory, and {place} has {free_mib} MiB: \
         ask for less (exec --memory), run fewer side by side (--jobs), or free some"
    )]
    NoMemory { needed_mib: u64, free_mib: u64, place: String },
    #[error(
        "cannot make a folder for the guest in {}: {source} (set TMPDIR to a folder on tmpfs that \
         you may write to)", path.display()
    )]
    Folder { path: PathBuf, source: io::Error },
    #[error("cannot {action} {}: {source}{}", path.display(), remedy(source))]
    File { action: &'static str, path: PathBuf, source: io::Error },
    #[error("cannot start the guest: {source}")]
    Start { source: io::Error },
    #[error("the guest's kernel stopped: {message}\n{console}")]
    Panicked { message: String, console: Console },
    #[error("the guest ended without a result ({status})\n{console}")]
    NoResult { status: String, console: Console },
    #[error("the guest ended without a result: {limit}. Raise it, or ask for less memory")]
    Limited { limit: Limit },
    #[error(
        "the guest ended without a result: it was rebooted, and does its work in one boot only"
    )]
    Rebooted,
    #[error("the guest ran out of its {memory_mib} MiB and killed {program}: give it more memory")]
    OutOfMemory { program: String, memory_mib: u64 },
    #[error(
        "the guest was ended after {:.0} s of real time: {standstill}.\n{console}",
        limit.as_secs_f64()
    )]
    TimeLimit { limit: Duration, standstill: Box<Standstill>, console: Console },
    #[error("the guest could not be set up: {message}")]
    Guest { message: String },
    #[error("in the guest: {message}")]
    Engine { message: String },
    #[error("what the guest left makes no sense: {0}")]
    Answer(#[from] serde_json::Error),
    #[error("the recording that the guest left cannot be used: {0}")]
    Recording(#[from] ReadError),
}

/// The last lines that the guest's kernel printed.
#[derive(Debug)]
pub struct Console(pub String);

impl std::fmt::Display for Console {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.0.is_empty() {
            return f.write_str("Its console says nothing about it.");
        }
        write!(f, "The end of the guest's console:\n{}", self.0)
    }
}
