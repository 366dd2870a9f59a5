//! However a process ends that has built a lab, nothing stays behind. The kernel's own count is the
//! judge: each test here starts itself again in a user namespace that may have no more network
//! namespaces than its labs need, so that a single one left over would keep the next lab from being
//! built.

use std::fs;
use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::thread;
use std::time::Duration;

use netns::{End, MacAddress, Namespace, NamespaceError, Running, Topology};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

const NAMESPACES: [&str; 3] = ["vehicle", "middle", "cloud"];
const PATHS: [&str; 2] = ["4g", "5g"];
/// What a child says when it has its namespaces and begins to wire them.
const BUILDING: &str = "building";
const KILLS: u64 = 50;
const MANY_LABS: usize = 100;
/// The kernel frees namespaces when it comes to it.
const ATTEMPTS: u32 = 12_000;
const PAUSE: Duration = Duration::from_millis(5);
/// `ENOSPC`: the limit on namespaces is reached.
const NO_ROOM: ErrorKind = ErrorKind::StorageFull;

#[test]
fn after_sigkill_or_sigterm_at_any_moment() {
    in_a_tight_user_namespace("kill_many");
}

#[test]
fn after_sigkill_among_a_hundred_labs() {
    in_a_user_namespace_for("kill_among_many", MANY_LABS * NAMESPACES.len());
}

#[test]
fn after_a_panic() {
    in_a_tight_user_namespace("panic_once");
}

#[test]
fn after_drop() {
    in_a_tight_user_namespace("drop_many");
}

#[test]
#[ignore = "started by after_sigkill_or_sigterm_at_any_moment"]
fn kill_many() {
    for round in 0..KILLS {
        let child = this_program("build_for_ever").stderr(Stdio::piped()).spawn();
        let mut child = child.expect("started");
        let _stderr = wait_until_it_builds(&mut child);
        thread::sleep(some_moment(round));
        let signal = if round % 2 == 0 { Signal::SIGKILL } else { Signal::SIGTERM };
        kill(Pid::from_raw(child.id().cast_signed()), signal).expect("killed");
        let status = child.wait().expect("waited for");
        assert_eq!(status.signal(), Some(signal as i32));
        nothing_is_left();
    }
}

/// Killed while it builds, with half of them there.
#[test]
#[ignore = "started by after_sigkill_among_a_hundred_labs"]
fn kill_among_many() {
    let child = this_program("build_many").stderr(Stdio::piped()).spawn();
    let mut child = child.expect("started");
    let mut stderr = BufReader::new(child.stderr.take().expect("piped"));
    let said = stderr.by_ref().lines().map_while(Result::ok);
    let begun = said.filter(|line| line == BUILDING).take(MANY_LABS / 2).count();
    assert_eq!(begun, MANY_LABS / 2);
    child.kill().expect("killed");
    child.wait().expect("waited for");
    // There is room for as many only once not one of the last is left.
    drop((0..MANY_LABS).map(|_| build()).collect::<Vec<_>>());
    alone();
}

#[test]
#[ignore = "started by kill_among_many"]
fn build_many() {
    let mut labs = Vec::new();
    while labs.len() < MANY_LABS {
        let namespaces = NAMESPACES.map(made_once_there_is_room);
        eprintln!("{BUILDING}");
        labs.push(furnish(namespaces));
    }
    thread::sleep(Duration::from_secs(600));
}

#[test]
#[ignore = "started by after_a_panic"]
fn panic_once() {
    let child = this_program("build_and_panic").stderr(Stdio::piped()).spawn().expect("started");
    let output = child.wait_with_output().expect("waited for");
    assert_eq!(output.status.code(), Some(101));
    assert!(String::from_utf8_lossy(&output.stderr).contains("with a lab at hand"));
    nothing_is_left();
}

#[test]
#[ignore = "started by after_drop"]
fn drop_many() {
    for _ in 0..10 {
        nothing_is_left();
    }
}

/// The libtest harness would catch the panic, but not one on the way out of the program.
#[test]
#[ignore = "started by panic_once"]
fn build_and_panic() {
    let _lab = build();
    panic!("with a lab at hand");
}

#[test]
#[ignore = "started by kill_many"]
fn build_for_ever() {
    loop {
        let namespaces = NAMESPACES.map(made_once_there_is_room);
        eprintln!("{BUILDING}");
        let lab = furnish(namespaces);
        // Many of the moments to be killed at should find a lab.
        thread::sleep(Duration::from_millis(50));
        drop(lab);
    }
}

/// Two paths through three namespaces, with a thread and a program inside.
struct Lab {
    _namespaces: [Namespace; 3],
    _program: Running,
}

fn build() -> Lab {
    furnish(NAMESPACES.map(made_once_there_is_room))
}

fn furnish([vehicle, middle, cloud]: [Namespace; 3]) -> Lab {
    let mut topology = Topology::new();
    for (number, path) in (1_u32..).zip(PATHS) {
        let mac = |end| MacAddress::local(10 * number + end);
        let address = |host| format!("10.0.{number}.{host}/24").parse().expect("address");
        topology.veth(
            End::new(&vehicle, path, mac(1)).address(address(1)),
            End::new(&middle, &format!("{path}-up"), mac(2)),
        );
        topology.veth(
            End::new(&middle, &format!("{path}-down"), mac(3)),
            End::new(&cloud, path, mac(4)).address(address(2)),
        );
    }
    topology.build().expect("built");
    let thread = middle.spawn("idle", || thread::sleep(Duration::from_millis(1)));
    let program = cloud.command("sleep").arg("1000").spawn().expect("started");
    thread.expect("spawned").join().expect("joined");
    Lab { _namespaces: [vehicle, middle, cloud], _program: program }
}

/// Holds on to nothing but what the lab has already: whatever came before it has to go.
fn made_once_there_is_room(name: &str) -> Namespace {
    let made = poll(|| match Namespace::new(name) {
        Err(NamespaceError::Create { source, .. }) if source.kind() == NO_ROOM => None,
        made => Some(made.expect("made")),
    });
    made.expect("there is room for a lab once all that came before are gone")
}

fn nothing_is_left() {
    drop(build());
    alone();
}

fn alone() {
    let alone = poll(|| others_in_this_user_namespace().is_empty().then_some(()));
    assert!(alone.is_some(), "still there: {:?}", others_in_this_user_namespace());
}

fn poll<T>(mut attempt: impl FnMut() -> Option<T>) -> Option<T> {
    (0..ATTEMPTS).find_map(|_| {
        let found = attempt();
        if found.is_none() {
            thread::sleep(PAUSE);
        }
        found
    })
}

/// Every process that a lab could have started is in the user namespace of the one that built it.
/// What has ended and only waits to be noted by its parent is in no network namespace any more.
fn others_in_this_user_namespace() -> Vec<String> {
    let namespace = |process: &str, kind| fs::read_link(format!("/proc/{process}/ns/{kind}")).ok();
    let (own, own_id) = (namespace("self", "user"), std::process::id().to_string());
    let processes = fs::read_dir("/proc").expect("/proc").filter_map(Result::ok);
    let names = processes.filter_map(|entry| entry.file_name().into_string().ok());
    let ids = names.filter(|name| name.parse::<u32>().is_ok() && *name != own_id);
    let still_here = |id: &String| namespace(id, "user") == own && namespace(id, "net").is_some();
    ids.filter(still_here).collect()
}

/// Without this most children would be killed while they wait for the last lab to go. The pipe is
/// handed back, for the child goes on writing into it.
fn wait_until_it_builds(child: &mut Child) -> BufReader<ChildStderr> {
    let mut stderr = BufReader::new(child.stderr.take().expect("piped"));
    let said = stderr.by_ref().lines().map_while(Result::ok).any(|line| line == BUILDING);
    assert!(said, "it never began to build");
    stderr
}

/// Spread over the time that a child takes to build a lab, keep it, drop it and begin with the
/// next.
fn some_moment(round: u64) -> Duration {
    let mixed = (round + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33;
    Duration::from_micros(mixed % 150_000)
}

/// This test program again, to run one of its tests.
fn this_program(test: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("own path"));
    command.args(["--exact", test, "--ignored", "--nocapture"]).stdout(Stdio::null());
    command
}

fn in_a_tight_user_namespace(test: &str) {
    in_a_user_namespace_for(test, NAMESPACES.len());
}

fn in_a_user_namespace_for(test: &str, namespaces: usize) {
    let links = host_links();
    let script =
        format!("echo {namespaces} >/proc/sys/user/max_net_namespaces && exec \"$0\" \"$@\"");
    let program = this_program(test);
    let mut unshare = Command::new("unshare");
    unshare.args(["--user", "--map-root-user", "sh", "-c", &script]);
    unshare.arg(program.get_program()).args(program.get_args());
    let output = unshare.output().expect("unshare runs");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {stderr}", output.status);
    assert_eq!(host_links(), links);
}

fn host_links() -> Vec<u8> {
    Command::new("ip").args(["-brief", "link"]).output().expect("ip runs").stdout
}
