//! Guests that cannot be had, that fail, and that never end: each says what it is.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::{command, complaint, in_guest, kernel_or_skip};

/// What `exec` says with this as its kernel.
fn with_kernel(kernel: &Path) -> (i32, String) {
    complaint(&command(&["exec", "true"]).env("IMPAIRLAB_UML", kernel).output().unwrap())
}

/// A program that answers `--help` with this.
fn answering(folder: &Path, help: &str) -> (i32, String) {
    let path = folder.join("linux");
    fs::write(&path, format!("#!/bin/sh\ncat <<END\n{help}\nEND\n")).unwrap();
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
    let mut command = command(&["exec", "true"]);
    let (code, said) = complaint(&command.env("TMPDIR", "/no/such/folder").output().unwrap());
    assert_eq!(code, 125);
    assert!(said.contains("cannot make a folder for the guest in /no/such/folder"), "{said}");
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
