//! Guests that cannot be had, that fail, and that never end: each says what it is.

use std::fs;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use crate::{PROGRAM, command, complaint, in_guest, kernel_or_skip, text};

/// What `exec` says with this as its kernel.
fn with_kernel(kernel: &Path) -> (i32, String) {
    complaint(&command(&["exec", "true"]).env("IMPAIRLAB_UML", kernel).output().unwrap())
}

/// A program that answers `--help` with this.
fn answering(folder: &Path, help: &str) -> (i32, String) {
    doing(folder, &format!("cat <<END\n{help}\nEND"))
}

/// A shell script in place of the kernel.
fn doing(folder: &Path, script: &str) -> (i32, String) {
    let path = folder.join("linux");
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
    with_kernel(&path)
}

#[test]
fn a_kernel_that_cannot_serve_is_refused_with_what_it_lacks() {
    let place = tempfile::tempdir().unwrap();
    let cases = [
        (with_kernel(Path::new("/no/such/kernel")), "no User-Mode Linux kernel is at /no/such"),
        (
            with_kernel(Path::new("/etc/passwd")),
            "cannot run the User-Mode Linux kernel /etc/passwd",
        ),
        (with_kernel(Path::new("/bin/true")), "is not a User-Mode Linux kernel"),
        (answering(place.path(), "User Mode Linux v6.12.1\nhostfs="), "without virtual time"),
        (
            answering(place.path(), "User Mode Linux v6.12.1\ntime-travel=inf-cpu"),
            "without the host's files",
        ),
        (
            answering(place.path(), "User Mode Linux v6.1.9\ntime-travel=inf-cpu\nhostfs="),
            "is Linux 6.1.9, whose netem takes no seed",
        ),
    ];
    for ((code, said), expected) in cases {
        assert_eq!(code, 3, "{said}");
        assert!(said.contains(expected), "{said:?} has no {expected:?}");
    }
}

#[test]
fn a_kernel_that_does_not_end_its_answer_is_given_up_with_all_that_it_started() {
    let place = tempfile::tempdir().unwrap();
    let (code, said) = doing(place.path(), "tail -f \"$0\" & echo 'User Mode Linux v6.12'; wait");
    assert_eq!(code, 3, "{said}");
    assert!(said.contains("has not ended after 10 s"), "{said}");
    let name = place.path().display().to_string();
    // A process that was killed is gone when the kernel next comes to it, and not before.
    let gone = (0..1000).any(|_| {
        sleep(Duration::from_millis(10));
        commands_that_name(&name).is_empty()
    });
    assert!(gone, "{:?}", commands_that_name(&name));
}

fn commands_that_name(name: &str) -> Vec<String> {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let commands = processes.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    commands.map(|bytes| text(&bytes)).filter(|it| it.contains(name)).collect()
}

#[test]
fn a_cache_without_a_kernel_says_how_to_make_one() {
    let place = tempfile::tempdir().unwrap();
    let mut command = command(&["exec", "true"]);
    command.env_remove("IMPAIRLAB_UML").env("XDG_CACHE_HOME", place.path());
    let (code, said) = complaint(&command.output().unwrap());
    assert_eq!(code, 3);
    assert!(said.contains("scripts/build-uml"), "{said}");
    let folder = place.path().join("impairlab/uml/current");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("linux"), "").unwrap();
    let (_, said) = complaint(&command.output().unwrap());
    assert!(said.contains("another configuration"), "{said}");
}

#[test]
fn a_guest_larger_than_the_machine_and_a_folder_that_is_not_there_are_refused() {
    kernel_or_skip!();
    let (code, said) = complaint(&in_guest(&["--memory", "262144"], "true"));
    assert_eq!(code, 125);
    assert!(said.contains("a guest of 262144 MiB"), "{said}");
    for place in ["/no/such/folder", "/etc/passwd", "/proc"] {
        let mut command = command(&["exec", "true"]);
        let (code, said) = complaint(&command.env("TMPDIR", place).output().unwrap());
        assert_eq!(code, 125, "{said}");
        let expected = format!("cannot make a folder for the guest in {place}");
        assert!(said.contains(&expected) && said.contains("set TMPDIR"), "{said}");
    }
}

#[test]
fn a_limit_that_the_guest_runs_into_is_named_instead_of_the_boot_log() {
    kernel_or_skip!();
    for (limit, named) in [
        ("-v 500000", "the address space of a process is limited (ulimit -v)"),
        ("-f 1000", "the size of files is limited (ulimit -f)"),
        ("-n 12", "the number of open files is limited (ulimit -n)"),
    ] {
        let script = format!("ulimit {limit}; exec {PROGRAM} exec true");
        let mut command = Command::new("sh");
        let output = command.args(["-c", &script]).env("TMPDIR", "/dev/shm").output().unwrap();
        let (code, said) = complaint(&output);
        assert_eq!(code, 125, "{said}");
        assert!(said.contains(named) && !said.contains("console"), "{said}");
    }
}

#[test]
fn folders_that_the_guest_cannot_share_are_wrong_usage() {
    kernel_or_skip!();
    for (folder, reason) in [
        ("/", "every file of this machine is in it"),
        ("/proc/self", "the guest has its own in that place"),
        ("/sys", "the guest has its own in that place"),
        ("/etc/passwd", "File exists"),
    ] {
        let (code, said) = complaint(&in_guest(&["--output", folder], "true"));
        assert_eq!(code, 2, "{said}");
        assert!(said.contains(&format!("cannot use {folder} as an output folder")), "{said}");
        assert!(said.contains(reason), "{said}");
    }
    // Refused before it is made.
    assert_eq!(in_guest(&["--output", "/run/impairlab/new"], "true").status.code(), Some(2));
    assert!(!Path::new("/run/impairlab").exists());
}

#[test]
fn output_that_cannot_be_written_is_named_and_has_a_code() {
    kernel_or_skip!();
    let place = tempfile::tempdir().unwrap();
    for (script, expected) in [
        ("{} exec echo hello > /dev/full", "No space left"),
        // Larger than the guest's memory, so that only the output is in its way.
        ("ulimit -f 300000; {} exec --memory 128 head -c 200M /dev/zero > out", "ulimit -f"),
    ] {
        let script = script.replace("{}", PROGRAM);
        let mut command = Command::new("sh");
        let output = command.args(["-c", &script]).current_dir(&place).output().unwrap();
        let (code, said) = complaint(&output);
        assert_eq!(code, 125, "{script}: {said}");
        assert!(said.contains(expected), "{script}: {said}");
    }
}

#[test]
fn a_guest_that_is_rebooted_ends_at_once_and_says_so() {
    kernel_or_skip!();
    let (code, said) = complaint(&in_guest(&["--timeout", "0s"], "echo b > /proc/sysrq-trigger"));
    assert_eq!(code, 125, "{said}");
    assert!(said.contains("the guest ended without a result: it was rebooted"), "{said}");
}

/// As with any program behind a pipe that nobody reads: the guest ends, and not as if all was well.
#[test]
fn output_that_nobody_reads_ends_the_guest_as_sigpipe_would() {
    kernel_or_skip!();
    let script = "i=0; while [ $i -lt 20000 ]; do echo $i; i=$((i + 1)); done; sleep 3600";
    let mut command = command(&["exec", "--timeout", "0s", "--", "/bin/sh", "-c", script]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut first = [0];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(128 + libc::SIGPIPE));
    assert_eq!(text(&output.stderr), "");
}

#[test]
fn a_program_that_spins_is_named_when_the_time_is_up() {
    kernel_or_skip!();
    let output = in_guest(&["--timeout", "10s"], "sleep 5; echo begins; while :; do :; done");
    let (code, said) = complaint(&output);
    assert_eq!(code, 124, "{said}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "begins\n");
    assert!(said.contains("its clock stands still at 5"), "{said}");
    assert!(said.contains("where this runs: sh (process "), "{said}");
}

#[test]
fn a_program_that_reads_the_clock_in_a_loop_is_said_to() {
    kernel_or_skip!();
    let script = "sleep 5; exec bash -c 'while [[ $EPOCHREALTIME ]]; do :; done'";
    let (code, said) = complaint(&in_guest(&["--timeout", "10s"], script));
    assert_eq!(code, 124, "{said}");
    assert!(said.contains("its clock creeps, at "), "{said}");
    assert!(said.contains("It seems to read the clock in a loop"), "{said}");
}

#[test]
fn a_program_that_waits_for_ever_is_told_from_one_that_spins() {
    kernel_or_skip!();
    let (code, said) = complaint(&in_guest(&["--timeout", "5s"], "sleep infinity"));
    assert_eq!(code, 124, "{said}");
    assert!(said.contains("its clock went on, to "), "{said}");
}

#[test]
fn a_guest_whose_kernel_panics_shows_its_console() {
    kernel_or_skip!();
    let (code, said) = complaint(&in_guest(&[], "echo c > /proc/sysrq-trigger"));
    assert_eq!(code, 125);
    assert!(said.contains("the guest's kernel stopped: sysrq triggered crash"), "{said}");
    assert!(said.contains("Kernel panic - not syncing"), "{said}");
}

#[test]
fn a_program_that_runs_out_of_memory_is_named() {
    kernel_or_skip!();
    let (code, said) = complaint(&in_guest(&["--memory", "128"], "tail /dev/zero"));
    assert_eq!(code, 128 + libc::SIGKILL, "{said}");
    assert!(said.contains("the guest ran out of its 128 MiB and killed tail"), "{said}");
}
