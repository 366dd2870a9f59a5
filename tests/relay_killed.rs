//! The relay engine without root, killed at random moments. The process is root in a user namespace
//! that may hold no more network namespaces than one trial needs: so the kernel itself refuses the
//! next trial if a killed one has left anything that keeps one of its namespaces, and with it any
//! link in it, alive. `RELAY_KILLS` sets how many it kills, 50 without it.

#[expect(dead_code, reason = "the other tests use more of it")]
mod namespaces;
#[expect(dead_code, unused_imports, unused_macros, reason = "the other tests use more of it")]
mod relay_trials;

use std::ops::ControlFlow;
use std::process::{Child, Command, ExitCode, Stdio};
use std::thread;
use std::time::Duration;

use impairlab::engine::relay::Relay;
use impairlab::engine::{Engine, EngineError, LabError};
use impairlab::link::profile::LinkProfile;
use impairlab::recording::Status;
use netns::NamespaceError;
use relay_trials::{delayed, trial};

/// Tells the process that it is one of those that run a trial.
const TRIAL: &str = "RELAY_KILLED_TRIAL";
/// Vehicle, middle and cloud.
const NAMESPACES: &str = "3";
/// The kernel takes namespaces down in its own time; one that is still there after this long will
/// stay.
const PATIENCE: u32 = 600;

fn main() -> ExitCode {
    if std::env::var_os(TRIAL).is_some() {
        return run_a_trial();
    }
    // The test runners' way of asking what there is to run.
    if std::env::args().any(|argument| argument == "--list") {
        println!("killed_trials_leave_nothing: test");
        return ExitCode::SUCCESS;
    }
    if let Err(error) = netns::become_root_in_user_namespace() {
        namespaces::skip(&error);
        return ExitCode::SUCCESS;
    }
    std::fs::write("/proc/sys/user/max_net_namespaces", NAMESPACES).expect("root may set limits");
    killed_trials_leave_nothing()
}

fn killed_trials_leave_nothing() -> ExitCode {
    let kills =
        std::env::var("RELAY_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(50);
    let mut random = 1_u64;
    for _ in 0..kills {
        // Knuth's MMIX generator: anywhere from the first namespace to well into the workload.
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let mut child = start_a_trial();
        thread::sleep(Duration::from_millis((random >> 33) % 1500));
        child.kill().expect("the process is ours");
        child.wait().expect("the process is ours");
    }
    let status = start_a_trial().wait().expect("the process is ours");
    assert!(status.success(), "a trial fails after {kills} others were killed: {status}");
    println!("{kills} trials killed, and the next one found room for its namespaces");
    ExitCode::SUCCESS
}

fn start_a_trial() -> Child {
    let this = std::env::current_exe().expect("a process knows its program");
    let mut command = Command::new(this);
    command.env(TRIAL, "1").stdin(Stdio::null()).spawn().expect("it can be run again")
}

/// Fails if there is no room for its namespaces, or if it does not run to its end.
fn run_a_trial() -> ExitCode {
    let trial = trial(delayed(10), LinkProfile::default());
    for _ in 0..PATIENCE {
        match Relay.run(&trial, &mut |_| ControlFlow::Continue(())) {
            Ok(recording) if recording.status == Status::Complete => return ExitCode::SUCCESS,
            Ok(recording) => panic!("{:?}", recording.status),
            Err(EngineError::Lab(LabError::Namespace(NamespaceError::Create {
                source, ..
            }))) if source.raw_os_error() == Some(libc::ENOSPC) => {
                thread::sleep(Duration::from_millis(50));
            }
            Err(error) => panic!("{error}"),
        }
    }
    eprintln!("no room for the namespaces of a trial");
    ExitCode::FAILURE
}
