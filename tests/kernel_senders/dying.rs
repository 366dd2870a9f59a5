//! kcptun that dies, is mute or talks without end: the run says so with its last words, ends with
//! the exit code that `--help` tells, and leaves no process and no namespace.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::trials::{has_kcptun, relay, uml};

const SCENARIO: &str = "\
version: 1
name: dying
paths: { p: { delay: 10ms } }
workload: { control: { rate: 50/s, size: 600B, duration: 6s, deadline: 250ms } }
senders: { tunnel: { kcptun: { path: p, mode: fast3, fec: { data: 3, parity: 2 } } } }
";
const PROGRAMS: [&str; 2] = ["kcptun-client", "kcptun-server"];
/// Bytes of datagrams on the path that no handshake needs.
const UNDER_WAY: u64 = 30_000;
/// Rounds of 10 ms after which what is waited for will not come.
const PATIENCE: u32 = 6_000;
const ROUND: Duration = Duration::from_millis(10);

/// A folder with the scenario, and the programs that a run of it finds first.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    /// `client`: a script that is run in its place.
    fn new(client: Option<&str>) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("scenario.yaml"), SCENARIO).expect("written");
        if let Some(script) = client {
            let path = folder.path().join(PROGRAMS[0]);
            fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("written");
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("set");
        }
        Self { folder }
    }

    fn start(&self, arguments: &[&str]) -> Run {
        let path = std::env::var("PATH").expect("a PATH");
        let mut command = Command::new(env!("CARGO_BIN_EXE_impairlab"));
        command.args(arguments).current_dir(self.folder.path()).env("NO_COLOR", "1");
        command.env("PATH", format!("{}:{path}", self.folder.path().display()));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Run { child: command.spawn().expect("it starts") }
    }

    fn relay(&self) -> Run {
        self.start(&["run", "--quiet", "--engine", "relay", "scenario.yaml"])
    }

    /// The one recording, as text.
    fn recording(&self) -> String {
        let runs = self.folder.path().join("results/dying");
        let run = fs::read_dir(runs).expect("results").next().expect("a run").expect("read");
        fs::read_to_string(run.path().join("recordings/tunnel-0.json")).expect("a recording")
    }
}

struct Run {
    child: Child,
}

/// One of kcptun's processes, and the namespace it is in.
struct Process {
    pid: u32,
    namespace: PathBuf,
}

impl Run {
    /// Once it runs.
    fn program(&self, name: &str) -> Process {
        for _ in 0..PATIENCE {
            if let Some(pid) = child_of(self.child.id(), name)
                && let Ok(namespace) = fs::read_link(format!("/proc/{pid}/ns/net"))
            {
                return Process { pid, namespace };
            }
            sleep(ROUND);
        }
        panic!("no {name} was started");
    }

    fn end(self) -> (String, Option<i32>) {
        let Output { status, stdout, stderr } = self.child.wait_with_output().expect("it ends");
        (String::from_utf8_lossy(&[stdout, stderr].concat()).into_owned(), status.code())
    }
}

/// Remarks are wrapped.
fn in_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn child_of(parent: u32, name: &str) -> Option<u32> {
    let is_it = |pid: &u32| {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let has = |line: String| status.lines().any(|one| one == line);
        has(format!("Name:\t{name}")) && has(format!("PPid:\t{parent}"))
    };
    processes().find(is_it)
}

fn processes() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").expect("it is there").flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

impl Process {
    /// Once messages pass.
    fn kill_under_way(&self, signal: Signal) {
        let sent = || {
            let table = fs::read_to_string(format!("/proc/{}/net/dev", self.pid)).ok()?;
            let line = table.lines().find_map(|line| line.trim().strip_prefix("p0:"))?;
            line.split_whitespace().nth(8)?.parse::<u64>().ok()
        };
        for _ in 0..PATIENCE {
            if sent().is_some_and(|bytes| bytes > UNDER_WAY) {
                let pid = Pid::from_raw(self.pid.cast_signed());
                return kill(pid, signal).expect("it runs");
            }
            sleep(ROUND);
        }
        panic!("nothing passes");
    }

    /// Neither it nor anything in its namespace.
    fn assert_gone(&self) {
        let is_in = |pid: &u32| {
            fs::read_link(format!("/proc/{pid}/ns/net")).is_ok_and(|at| at == self.namespace)
        };
        let left: Vec<u32> = processes().filter(is_in).collect();
        assert!(left.is_empty(), "{left:?} are in the namespace of {}", self.pid);
        assert!(!Path::new(&format!("/proc/{}", self.pid)).exists(), "{} is there", self.pid);
    }
}

/// The trial goes on to its end, since what a dead sender delivers is a result.
#[test]
fn a_program_that_is_killed_in_a_trial_is_said_with_its_last_words() {
    if !has_kcptun() || relay().is_none() {
        return;
    }
    for (killed, signal, expected) in [
        (0, Signal::SIGKILL, "kcptun-client ended: signal: 9 (SIGKILL); it said: "),
        (
            1,
            Signal::SIGKILL,
            "on the cloud's side, kcptun-server ended: signal: 9 (SIGKILL); it said: ",
        ),
        // Go's way to end with the stacks of all threads.
        (0, Signal::SIGQUIT, "kcptun-client ended: exit status: 2; it said: "),
    ] {
        let place = Place::new(None);
        let run = place.relay();
        let programs = PROGRAMS.map(|name| run.program(name));
        programs[killed].kill_under_way(signal);
        let (text, code) = run.end();
        assert_eq!(code, Some(0), "{text}");
        assert!(text.contains("tunnel, run 0: the connection was closed: "), "{text}");
        assert!(in_one_line(&text).contains(expected), "{expected} is not in\n{text}");
        assert!(place.recording().contains(expected), "{expected} is not recorded");
        programs.iter().for_each(Process::assert_gone);
    }
}

#[test]
fn a_client_that_never_listens_or_ends_at_once_is_an_error_with_its_last_words() {
    if !has_kcptun() || relay().is_none() {
        return;
    }
    for (script, expected) in [
        (
            "echo I sleep >&2; exec sleep 1000",
            "kcptun-client does not listen after 10 s; it said: I sleep",
        ),
        // What it started holds its output open.
        (
            "echo I go >&2; sleep 1000 & exit 7",
            "kcptun-client ended before it listened: exit status: 7; it said: I go",
        ),
        ("exec yes I talk >&2", "kcptun-client does not listen after 10 s; it said: I talk;"),
        (
            "exec tr '\\0' '\\033' </dev/zero >&2",
            "kcptun-client does not listen after 10 s; it said: \u{fffd}\u{fffd}",
        ),
    ] {
        let place = Place::new(Some(script));
        let run = place.relay();
        let server = run.program(PROGRAMS[1]);
        let (text, code) = run.end();
        assert_eq!(code, Some(1), "{text}");
        assert!(text.contains(&format!("error: sender tunnel: {expected}")), "{text}");
        assert!(text.contains("none of the trials could be run"), "{text}");
        assert!(text.len() < 2_000, "{} bytes", text.len());
        server.assert_gone();
    }
}

/// One that works, and fills its output all the while.
#[test]
fn endless_output_harms_no_trial() {
    if !has_kcptun() || relay().is_none() {
        return;
    }
    let real = "exec env PATH=\"${PATH#*:}\" kcptun-client \"$@\"";
    let place = Place::new(Some(&format!("yes I talk >&2 & {real}")));
    let run = place.relay();
    let programs = PROGRAMS.map(|name| run.program(name));
    let (text, code) = run.end();
    assert_eq!(code, Some(0), "{text}");
    assert!(!text.contains("closed"), "{text}");
    programs.iter().for_each(Process::assert_gone);
}

/// What a trial of engine uml does, from inside of its kernel: there, files and processes are the
/// guest's own.
fn in_guest(place: &Place, meanwhile: &str) -> String {
    let script = format!(
        "[ ! -e kcptun-client ] || cp kcptun-client /usr/local/bin/
         {} run --quiet --engine netem --results /tmp/results scenario.yaml & run=$!
         {meanwhile}
         wait $run; echo \"code $?\"
         pidof {} {} && echo SURVIVED
         exit 0",
        env!("CARGO_BIN_EXE_impairlab"),
        PROGRAMS[0],
        PROGRAMS[1],
    );
    let run = place.start(&["exec", "--", "/bin/sh", "-c", &script]);
    let (text, code) = run.end();
    assert_eq!(code, Some(0), "{text}");
    assert!(!text.contains("SURVIVED"), "{text}");
    in_one_line(&text)
}

#[test]
fn the_same_is_said_in_a_guest() {
    if !has_kcptun() || uml().is_none() {
        return;
    }
    let kill = |name: &str| format!("sleep 4; kill -9 $(pidof {name})");
    let text = in_guest(&Place::new(None), &kill(PROGRAMS[0]));
    let expected = "the connection was closed: kcptun-client ended: signal: 9 (SIGKILL); it said:";
    assert!(text.contains(expected) && text.contains("code 0"), "{text}");
    let text = in_guest(&Place::new(None), &kill(PROGRAMS[1]));
    let expected = "on the cloud's side, kcptun-server ended: signal: 9 (SIGKILL); it said:";
    assert!(text.contains(expected) && text.contains("code 0"), "{text}");
    // Time goes on though somebody is never silent.
    let text = in_guest(&Place::new(Some("exec yes I talk >&2")), "");
    let expected = "kcptun-client does not listen after 10 s; it said: I talk; I talk; I talk";
    assert!(text.contains(expected) && text.contains("code 1"), "{text}");
}
