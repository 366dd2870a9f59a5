//! The crate without root: the example, run as a user with no rights at all. Needs root to become
//! that user.

use std::path::PathBuf;
use std::process::{Command, Output};

const NOBODY: &str = "65534";

/// Cargo builds the examples before it runs the tests, and puts them beside the directory of the
/// tests.
fn example() -> PathBuf {
    let test = std::env::current_exe().expect("the test's own path");
    let profile = test.parent().and_then(|deps| deps.parent()).expect("target/<profile>/deps");
    profile.join("examples/two_hosts")
}

/// The program is handed over as standard input, for the user may not be allowed to look where it
/// lies.
fn as_nobody(before: &str) -> Output {
    let program = std::fs::File::open(example());
    let program = program.expect("built by `cargo test`; with `--test`, add `--examples`");
    Command::new("setpriv")
        .args(["--reuid", NOBODY, "--regid", NOBODY, "--clear-groups", "--inh-caps=-all"])
        .args(["sh", "-c", &format!("{before} exec /proc/self/fd/0")])
        .stdin(program)
        .current_dir("/")
        .output()
        .expect("setpriv runs")
}

#[test]
fn any_user_can_build_a_lab_in_a_user_namespace() {
    let output = as_nobody("");
    let (stdout, stderr) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{stderr}");
    assert!(stdout.contains("root: yes") && stdout.contains("tbf: yes"), "{stdout}");
    assert!(stdout.contains("hello came from 10.0.1.1:7000"), "{stdout}");
}

/// Within a user namespace that allows no others.
#[test]
fn without_user_namespaces_it_says_so() {
    let forbid = "exec 3<&0; exec unshare -Ur sh -c 'echo 0 >/proc/sys/user/max_user_namespaces; \
                  exec setpriv --bounding-set=-all --inh-caps=-all /proc/self/fd/3'; ";
    let output = as_nobody(forbid);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    assert!(stderr.contains("NotAllowed"), "{stderr}");
}
