//! Programs in guests: what they see, what comes out of them, and how time passes for them.

use std::fs;
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use crate::{PROGRAM, command, complaint, in_guest, kernel_or_skip, printed, text};

#[test]
fn output_errors_and_exit_code_come_out_apart() {
    kernel_or_skip!();
    let output = in_guest(&[], "echo to output; echo to errors >&2; exit 7");
    assert_eq!(text(&output.stdout), "to output\n");
    assert_eq!(text(&output.stderr), "to errors\n");
    assert_eq!(output.status.code(), Some(7));
}

#[test]
fn an_hour_of_sleep_is_an_hour_by_the_guests_clocks() {
    kernel_or_skip!();
    let script = "date +%s; read a b </proc/uptime; echo $a; sleep 3600; \
                  date +%s; read a b </proc/uptime; echo $a";
    // Far less real time than an hour is allowed: if time were real, this would end with 124.
    let output = printed(&in_guest(&["--timeout", "10m"], script));
    let figures: Vec<f64> = output.lines().map(|line| line.parse().unwrap()).collect();
    let [day, up, later_day, later_up] = figures[..] else { panic!("{output}") };
    for passed in [later_day - day, later_up - up] {
        assert!((3600.0..3601.0).contains(&passed), "{passed} s");
    }
    assert_eq!(day, 1_704_067_200.0, "the job begins with the year 2024");
}

#[test]
fn large_output_arrives_whole_and_in_order() {
    kernel_or_skip!();
    let output = printed(&in_guest(&[], "seq 1 1000000"));
    let expected: String = (1..=1_000_000).map(|number| format!("{number}\n")).collect();
    assert!(output == expected, "{} bytes instead of {}", output.len(), expected.len());
}

#[test]
fn the_guest_sees_the_hosts_files_and_changes_none_but_in_output_folders() {
    kernel_or_skip!();
    let place = tempfile::tempdir().unwrap();
    let path = |name: &str| place.path().join(name);
    fs::write(path("seen"), "from outside\n").unwrap();
    let script = "cat seen; echo changed > seen; cat seen; echo new > other; rm -r /etc; \
                  echo kept > out/file; echo $WORD; cat; pwd; id -u";
    let mut command = command(&["exec", "--output", "out", "--", "/bin/sh", "-c", script]);
    let output = printed(&command.current_dir(&place).env("WORD", "as outside").output().unwrap());
    let folder = place.path().canonicalize().unwrap();
    let expected = format!("from outside\nchanged\nas outside\n{}\n0\n", folder.display());
    assert_eq!(output, expected);
    assert_eq!(fs::read_to_string(path("seen")).unwrap(), "from outside\n");
    assert_eq!(fs::read_to_string(path("out/file")).unwrap(), "kept\n");
    assert!(!path("other").exists() && Path::new("/etc/passwd").exists());
}

/// Its answer is left in a folder that the program has hidden, and taken out of the tree.
#[test]
fn a_program_may_mount_over_every_folder_of_the_guests_own() {
    kernel_or_skip!();
    let script = "mount -t tmpfs none /run && umount -l /run && umount -l /run/impairlab && \
                  for folder in /run /dev /sys /tmp; do mount -t tmpfs none $folder || exit 1; done; \
                  echo mounted; exit 7";
    let output = in_guest(&[], script);
    assert_eq!(text(&output.stdout), "mounted\n", "{}", text(&output.stderr));
    assert_eq!(output.status.code(), Some(7), "{}", text(&output.stderr));
}

#[test]
fn an_output_folder_that_is_missing_is_made_and_named() {
    kernel_or_skip!();
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().canonicalize().unwrap().join("new/out");
    let options = ["--output", folder.to_str().unwrap()];
    let script = format!("echo kept > {}/file", folder.display());
    let made = in_guest(&options, &script);
    printed(&made);
    assert_eq!(text(&made.stderr), format!("made the output folder {}\n", folder.display()));
    assert_eq!(fs::read_to_string(folder.join("file")).unwrap(), "kept\n");
    assert_eq!(text(&in_guest(&options, &script).stderr), "");
}

#[test]
fn what_a_program_leaves_running_ends_with_it() {
    kernel_or_skip!();
    let output = printed(&in_guest(&[], "sleep 1000000 & (sleep 1; echo never) & echo done"));
    assert_eq!(output, "done\n");
}

#[test]
fn a_program_ended_by_a_signal_has_its_number_in_the_exit_code() {
    kernel_or_skip!();
    assert_eq!(in_guest(&[], "kill -TERM $$").status.code(), Some(128 + libc::SIGTERM));
}

#[test]
fn a_program_that_cannot_be_run_is_told_from_one_that_is_not_there() {
    kernel_or_skip!();
    let run = |program: &str| complaint(&command(&["exec", "--", program]).output().unwrap());
    let (code, said) = run("/no/such/program");
    assert_eq!(code, 127);
    assert!(said.contains("cannot run /no/such/program: No such file"), "{said}");
    let (code, said) = run("/etc/passwd");
    assert_eq!(code, 126);
    assert!(said.contains("cannot run /etc/passwd: Permission denied"), "{said}");
}

/// This test's own program runs in the guest: two of its threads sleep a day, one after the other.
#[test]
fn test_programs_run_in_guests() {
    const INSIDE: &str = "IMPAIRLAB_TEST_INSIDE";
    if std::env::var_os(INSIDE).is_some() {
        let day = Duration::from_secs(24 * 60 * 60);
        std::thread::spawn(move || sleep(day)).join().unwrap();
        return sleep(day);
    }
    kernel_or_skip!();
    let this = std::env::current_exe().unwrap();
    let mut command = command(&["exec", "--timeout", "10m", "--"]);
    command.arg(this).args(["--exact", "programs::test_programs_run_in_guests"]);
    let output = printed(&command.env(INSIDE, "1").output().unwrap());
    assert!(output.contains("1 passed"), "{output}");
}

/// The kernel's own netem between namespaces, measured by nobody of ours.
#[test]
fn ping_through_netem_takes_the_delay_that_was_asked_for() {
    kernel_or_skip!();
    let found = |name: &str| Path::new("/usr/sbin").join(name).exists();
    let ping = Path::new("/usr/bin/ping").exists() || Path::new("/bin/ping").exists();
    if !(found("tc") && found("ip") && ping) {
        return eprintln!("skipped: iproute2 and iputils-ping are not here");
    }
    let script = "export PATH=$PATH:/usr/sbin:/sbin; tc qdisc add dev lo root netem delay 50ms; \
                  ping -c 3 -i 1 127.0.0.1 >/dev/null; ping -c 20 -i 1 127.0.0.1";
    let output = printed(&in_guest(&[], script));
    let line = output.lines().find(|line| line.starts_with("rtt ")).unwrap();
    // Both ways cross the loopback: twice the delay.
    assert!(line.contains("= 100.0"), "{line}");
    assert!(output.contains(" 0% packet loss"), "{output}");
}

#[test]
fn an_ordinary_user_runs_guests_too() {
    let kernel = kernel_or_skip!();
    let place = tempfile::tempdir_in("/tmp").unwrap();
    // Copies, since the user may not be able to go where the originals are.
    let [linux, impairlab] = ["linux", "impairlab"].map(|name| place.path().join(name));
    fs::copy(&kernel.path, &linux).unwrap();
    fs::copy(PROGRAM, &impairlab).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&place, mode).unwrap();
    let mut command = std::process::Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(&impairlab);
    command.args(["exec", "--", "/bin/sh", "-c", "id -u; echo 1 > /etc/made && cat /etc/made"]);
    let output = command.current_dir("/").env("IMPAIRLAB_UML", &linux).output().unwrap();
    if text(&output.stderr).contains("setpriv:") {
        return eprintln!("skipped: {}", text(&output.stderr));
    }
    assert_eq!(printed(&output), "0\n1\n");
}
