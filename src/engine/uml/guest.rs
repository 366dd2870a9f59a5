//! The inside: this program as the first process of a guest. It makes the guest a place that looks
//! like the host, does the job, leaves the answer and switches the machine off. It is the only part
//! of the engine that never runs on the host.

mod error;
mod files;
mod program;
mod trial;

use std::fs::{self, OpenOptions};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::thread::sleep;

use nix::sys::reboot::{RebootMode, reboot};
use nix::unistd::{getpid, sethostname, sync};

use self::error::{GuestError, step};
use super::job::{self, Answer, Job};

/// Where the job's folder is inside, once the guest has its own files. This process works in it,
/// and names its files from there: a program may mount something over the place.
const FOLDER: &str = "/run/impairlab";

/// Whether this process is the init of a guest: the first process there is, started by the name
/// that only a guest's kernel knows.
pub fn is_init() -> bool {
    let name = std::env::args_os().next();
    let expected = Path::new(job::FOLDER_FROM_INSIDE).join(job::INIT);
    getpid().as_raw() == 1 && name.is_some_and(|name| Path::new(&name) == expected)
}

/// All that a guest is for; the machine is off afterwards.
pub fn run() -> ! {
    if let Err(error) = files::set_up(Path::new(FOLDER)) {
        complain(&error);
        switch_off();
    }
    // The kernel starts over when a program reboots it, and would do its job once more.
    let boot = OpenOptions::new().write(true).create_new(true).open(file(job::BOOTED));
    if boot.is_err_and(|error| error.kind() == ErrorKind::AlreadyExists) {
        let _ = fs::write(file(job::REBOOTED), "");
        switch_off();
    }
    let answer = do_job().unwrap_or_else(|error| Answer::NotSetUp { message: error.to_string() });
    if let Err(error) = leave(&answer) {
        complain(&error);
    }
    switch_off()
}

fn do_job() -> Result<Answer, GuestError> {
    let text = step(|| "read its job".to_owned(), fs::read(file(job::JOB)))?;
    // Only programs that ask for the name of the machine would miss it.
    let _ = sethostname("impairlab");
    netns::bring_up_loopback()?;
    sleep(job::UPTIME);
    match serde_json::from_slice(&text)? {
        Job::Program(program) => program::run(&program),
        Job::Trial(job) => trial::run(&job.trial()),
        Job::Admission(plan) => Ok(trial::admit(&plan)),
    }
}

/// In one piece: the host reads it only if its name is there.
fn leave(answer: &Answer) -> Result<(), GuestError> {
    let part = file("answer.part");
    let written = fs::write(&part, serde_json::to_vec(answer)?);
    sync();
    let left = written.and_then(|()| fs::rename(part, file(job::ANSWER)));
    step(|| "leave its answer".to_owned(), left)
}

/// The kernel's console is what is left to say it on; where that is missing, nothing is.
fn complain(error: &GuestError) {
    let _ = fs::write("/dev/kmsg", format!("impairlab: the guest {error}"));
}

/// From the folder that this process is in.
fn file(name: &str) -> PathBuf {
    PathBuf::from(name)
}

fn switch_off() -> ! {
    sync();
    match reboot(RebootMode::RB_POWER_OFF) {
        Ok(_) => unreachable!("a machine that is off runs nothing"),
        Err(error) => panic!("the guest cannot be switched off: {error}"),
    }
}
