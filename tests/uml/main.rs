//! Guests: real kernels in virtual time, as `exec` and engine `uml` start them.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod bad_input;
mod buckets;
mod left_behind;
mod programs;
mod repeatable;
mod sabotage;
mod senders;

use std::process::{Command, Output, Stdio};

use impairlab::engine::uml::Kernel;

pub const PROGRAM: &str = env!("CARGO_BIN_EXE_impairlab");
/// Set where a kernel is expected, so that its absence is a failure.
const REQUIRED: &str = "IMPAIRLAB_UML_TESTS";

/// Leaves the test, saying so, where there is no kernel and none is expected.
macro_rules! kernel_or_skip {
    () => {
        match $crate::kernel() {
            Some(kernel) => kernel,
            None => return,
        }
    };
}
pub(crate) use kernel_or_skip;

pub fn kernel() -> Option<Kernel> {
    match Kernel::find() {
        Ok(kernel) => Some(kernel),
        Err(error) => {
            assert!(std::env::var_os(REQUIRED).is_none(), "{error}");
            eprintln!("skipped: {error}");
            None
        }
    }
}

pub fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(PROGRAM);
    command.args(arguments).env("NO_COLOR", "1").stdin(Stdio::null());
    command
}

/// Runs a shell script in a guest.
pub fn in_guest(options: &[&str], script: &str) -> Output {
    let mut command = command(&["exec"]);
    command.args(options).args(["--", "/bin/sh", "-c", script]).output().unwrap()
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// What a command that should have worked printed.
pub fn printed(output: &Output) -> String {
    assert!(output.status.success(), "{}: {}", output.status, text(&output.stderr));
    text(&output.stdout)
}

/// The exit code of a command, and what it said was wrong.
pub fn complaint(output: &Output) -> (i32, String) {
    (output.status.code().unwrap_or(-1), text(&output.stderr))
}
