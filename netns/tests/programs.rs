//! Programs inside namespaces.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::Stdio;

use netns::Namespace;

#[test]
fn a_program_runs_inside() {
    let namespace = Namespace::new("host").expect("namespace");
    let readlink = |program: netns::Program| {
        let output = program.args(["-n", "/proc/self/ns/net"]).output().expect("readlink runs");
        String::from_utf8(output.stdout).expect("text")
    };
    let inside = namespace.run(|| std::fs::read_link("/proc/thread-self/ns/net")).expect("entered");
    let inside = inside.expect("a link").to_string_lossy().into_owned();
    assert_eq!(readlink(namespace.command("readlink")), inside);
    let outside = std::fs::read_link("/proc/self/ns/net").expect("a link");
    assert_ne!(outside.to_string_lossy(), inside);
}

#[test]
fn output_status_and_environment_come_through() {
    let namespace = Namespace::new("host").expect("namespace");
    let sh = |script: &str| namespace.command("sh").args(["-c", script]);
    let output = sh("echo $GREETING; echo oops >&2; exit 3").env("GREETING", "hello").output();
    let output = output.expect("sh runs");
    assert_eq!((&output.stdout[..], &output.stderr[..]), (&b"hello\n"[..], &b"oops\n"[..]));
    assert_eq!(output.status.code(), Some(3));
    assert!(sh("exit 0").spawn().expect("started").wait().expect("ended").success());
}

#[test]
fn a_program_that_cannot_start_is_named_with_its_place() {
    let namespace = Namespace::new("cloud").expect("namespace");
    let error = namespace.command("no-such-program").spawn().expect_err("not there");
    assert_eq!(
        error.to_string(),
        "cannot start no-such-program in network namespace cloud: No such file or directory (os \
         error 2)"
    );
}

#[test]
fn a_program_ends_with_its_handle() {
    let namespace = Namespace::new("host").expect("namespace");
    let sh = namespace.command("sh").args(["-c", "echo ready; exec sleep 1000"]);
    let mut running = sh.stdout(Stdio::piped()).spawn().expect("started");
    let mut ready = [0; 6];
    let mut stdout = running.take_stdout().expect("piped");
    stdout.read_exact(&mut ready).expect("it said so");
    assert!(running.try_wait().expect("asked").is_none());
    let process = format!("/proc/{}", running.id());
    assert!(Path::new(&process).exists());
    drop(running);
    assert!(!Path::new(&process).exists());
}

/// Both when its handle is dropped, and when it has ended before that.
#[test]
fn what_a_program_has_started_ends_with_it() {
    let namespace = Namespace::new("host").expect("namespace");
    for last in ["wait", "exit 1"] {
        let script = format!("sleep 1000 & echo $!; {last}");
        let sh = namespace.command("sh").args(["-c", &script]);
        let mut running = sh.stdout(Stdio::piped()).spawn().expect("started");
        let mut stdout = BufReader::new(running.take_stdout().expect("piped"));
        let mut started = String::new();
        stdout.read_line(&mut started).expect("it said so");
        while last != "wait" && running.try_wait().expect("asked").is_none() {
            std::thread::yield_now();
        }
        drop(running);
        // Nobody holds the pipe any more: what was started has ended.
        assert_eq!(stdout.read_to_end(&mut Vec::new()).expect("read"), 0, "{last}: {started}");
    }
}

#[test]
fn a_frozen_program_does_nothing_and_ends_with_its_handle() {
    let namespace = Namespace::new("host").expect("namespace");
    let yes = namespace.command("yes").stdout(Stdio::piped());
    let mut running = yes.spawn().expect("started");
    let mut stdout = BufReader::new(running.take_stdout().expect("piped"));
    stdout.read_line(&mut String::new()).expect("it talks");
    running.freeze();
    let status = format!("/proc/{}/status", running.id());
    let state = || std::fs::read_to_string(&status).expect("it is there");
    while !state().contains("State:\tT") {
        std::thread::yield_now();
    }
    assert!(!running.has_ended() && running.try_wait().expect("asked").is_none());
    drop(running);
    assert!(!Path::new(&status).exists());
}

/// The thread that asked for a program may end long before the program does.
#[test]
fn a_program_outlives_the_thread_that_started_it() {
    let namespace = Namespace::new("host").expect("namespace");
    let started = std::thread::spawn(move || {
        let sh = namespace.command("sh").args(["-c", "read line; echo $line"]);
        sh.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("started")
    });
    let mut running = started.join().expect("joined");
    let mut stdin = running.take_stdin().expect("piped");
    std::io::Write::write_all(&mut stdin, b"still here\n").expect("written");
    drop(stdin);
    assert_eq!(running.output().expect("ended").stdout, b"still here\n");
}

#[test]
fn no_descriptor_reaches_a_program() {
    let namespaces = ["one", "two"].map(|name| Namespace::new(name).expect("namespace"));
    let ls = namespaces[0].command("ls").args(["-l", "/proc/self/fd"]).output().expect("ls runs");
    let listed = String::from_utf8(ls.stdout).expect("text");
    assert!(!listed.contains("net:["), "{listed}");
}
