//! The real programs, each a process of its own that ends with the test, however that ends.

use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use netns::Namespace;

use super::Case;
use super::lab::{Lab, echo_address, entrance_of, server_of};

const CLIENT: &str = "kcptun-client";
const SERVER: &str = "kcptun-server";
/// Set where they are expected, so that their absence is a failure.
const REQUIRED: &str = "IMPAIRLAB_KCPTUN_TESTS";

/// Leaves the test, saying so, where the programs are not installed and not expected.
macro_rules! programs_or_skip {
    () => {
        if !$crate::programs::are_installed() {
            return;
        }
    };
}
pub(crate) use programs_or_skip;

pub fn are_installed() -> bool {
    let installed = [CLIENT, SERVER, "setpriv"].into_iter().all(|program| {
        Command::new(program).arg("--version").stdout(Stdio::null()).status().is_ok()
    });
    if !installed {
        let how = "kcptun-client, kcptun-server or setpriv is missing: \
                   apt-get install kcptun util-linux";
        assert!(std::env::var_os(REQUIRED).is_none(), "{how}");
        eprintln!("skipped: {how}");
    }
    installed
}

pub fn server(lab: &Lab, case: Case) -> Program {
    let addresses = ["-l".to_owned(), server_of(case.number).to_string()];
    let target = ["-t".to_owned(), echo_address().to_string()];
    Program::start(&lab.cloud, SERVER, [&addresses[..], &target, &case.flags()].concat())
}

pub fn client(lab: &Lab, case: Case) -> Program {
    let entrance = ["-l".to_owned(), entrance_of(case.number).to_string()];
    let server = ["-r".to_owned(), server_of(case.number).to_string()];
    Program::start(&lab.vehicle, CLIENT, [&entrance[..], &server, &case.flags()].concat())
}

/// Runs until it is dropped.
pub struct Program {
    stop: Option<Sender<()>>,
    keeper: Option<JoinHandle<()>>,
}

impl Program {
    /// The kernel ends the program with the thread that started it, so that thread stays.
    fn start(namespace: &Namespace, program: &'static str, arguments: Vec<String>) -> Self {
        let (stop, stopped) = channel();
        let keep = move || keep(start_inside(program, &arguments), &stopped);
        let keeper = namespace.spawn(program, keep).expect("a thread can be had");
        Self { stop: Some(stop), keeper: Some(keeper) }
    }
}

fn start_inside(program: &str, arguments: &[String]) -> Child {
    Command::new("setpriv")
        .args(["--pdeathsig", "KILL", "--", program, "--quiet"])
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("setpriv is there")
}

fn keep(mut child: Child, stopped: &Receiver<()>) {
    // An error is what comes when the other end is dropped.
    let _ = stopped.recv();
    let ended = child.try_wait().expect("the process is ours");
    child.kill().expect("the process is ours");
    child.wait().expect("the process is ours");
    assert!(ended.is_none(), "it ended by itself: {ended:?}");
}

impl Drop for Program {
    fn drop(&mut self) {
        drop(self.stop.take());
        let ended = self.keeper.take().map(JoinHandle::join);
        if !std::thread::panicking() {
            assert!(matches!(ended, Some(Ok(()))), "the program did not stay until it was ended");
        }
    }
}
