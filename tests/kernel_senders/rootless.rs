//! The senders with a kernel as a user with no rights at all runs them: root in a user namespace,
//! where the namespaces of the lab, multipath TCP and kcptun's processes are the user's own.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use nix::unistd::geteuid;

use crate::trials::{has_kcptun, relay};

const NOBODY: &str = "65534";
const SCENARIO: &str = "\
version: 1
name: rootless
paths: { a: { delay: 10ms, loss: 2% }, b: { delay: 15ms } }
workload: { control: { rate: 50/s, size: 600B, duration: 2s, deadline: 250ms } }
senders:
  tcp: { tcp: { path: a } }
  mptcp: { mptcp: { paths: [a, b] } }
  kcptun: { kcptun: { path: a, mode: fast3, fec: { data: 3, parity: 2 } } }
";

/// The program is handed over as standard input, for the user may not be allowed to look where it
/// lies.
#[test]
fn an_ordinary_user_runs_them_all_on_the_relay() {
    if !has_kcptun() || relay().is_none() {
        return;
    }
    if !geteuid().is_root() {
        return eprintln!("skipped: only root can become another user");
    }
    let folder = tempfile::tempdir().expect("a folder");
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).expect("set");
    fs::write(folder.path().join("scenario.yaml"), SCENARIO).expect("written");
    let program = fs::File::open(env!("CARGO_BIN_EXE_impairlab")).expect("it is built");
    let run = "exec /proc/self/fd/0 run --quiet --json --engine relay scenario.yaml";
    let output = Command::new("setpriv")
        .args(["--reuid", NOBODY, "--regid", NOBODY, "--clear-groups", "--inh-caps=-all"])
        .args(["sh", "-c", run])
        .stdin(program)
        .current_dir(folder.path())
        .output()
        .expect("setpriv runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    let summary: serde_json::Value = serde_json::from_slice(&output.stdout).expect("a summary");
    for sender in summary["senders"].as_array().expect("senders") {
        let all = &sender["all_runs"];
        assert_eq!((&all["messages"], &all["lost"]), (&100.into(), &0.into()), "{sender}");
    }
    let mptcp = &summary["senders"][1]["runs"][0]["kernel"][0]["mptcp"];
    assert_eq!((&mptcp["subflows"], &mptcp["fallback"]), (&2.into(), &false.into()), "{mptcp}");
}
