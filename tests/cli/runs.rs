//! What runs print and leave behind, and of which senders.

use std::fs;
use std::process::Stdio;

use super::{PROGRAM, Place, SHORT, code, stderr, stdout};

#[test]
fn a_run_leaves_everything_it_promises_and_report_draws_it_again() {
    let place = Place::with(SHORT);
    let run = place.run(&["run", "--engine", "sim", "scenario.yaml"]);
    assert_eq!(code(&run), 0, "{}", stderr(&run));
    let results = place.results("results");
    assert_eq!(fs::read_to_string(results.join("scenario.yaml")).unwrap(), SHORT);
    for file in ["plan.json", "environment.json", "summary.json", "messages.csv", "impairment.csv"]
    {
        assert!(fs::metadata(results.join(file)).unwrap().len() > 100, "{file}");
    }
    let count = |folder| fs::read_dir(results.join(folder)).unwrap().count();
    assert_eq!((count("recordings"), count("charts")), (5, 10));

    for file in ["summary.json", "messages.csv", "charts/tail.svg"] {
        let first = fs::read(results.join(file)).unwrap();
        fs::remove_file(results.join(file)).unwrap();
        let report = place.run(&["report", results.to_str().unwrap()]);
        assert_eq!(code(&report), 0, "{}", stderr(&report));
        assert!(stdout(&run).starts_with(&stdout(&report)));
        assert!(first == fs::read(results.join(file)).unwrap(), "{file} is drawn the same again");
    }
}

#[test]
fn two_processes_make_the_same_recordings_to_the_byte() {
    let place = Place::with(SHORT);
    for (root, jobs) in [("one", "1"), ("two", "2")] {
        let args = ["run", "--engine", "sim", "--jobs", jobs, "--results", root, "scenario.yaml"];
        let run = place.run(&args);
        assert_eq!(code(&run), 0, "{}", stderr(&run));
    }
    let recording = |root: &str, sender: &str| {
        fs::read(place.results(root).join(format!("recordings/{sender}-0.json"))).unwrap()
    };
    for sender in ["udp", "kcp", "quic", "mpquic", "both"] {
        assert!(recording("one", sender) == recording("two", sender), "{sender} differs");
    }
}

#[test]
fn one_of_a_thing_is_not_several() {
    let place = Place::with(SHORT);
    let run = place.run(&["run", "--engine", "sim", "--sender", "udp", "scenario.yaml"]);
    assert!(stderr(&run).starts_with("short: one trial of 4 s on engine sim"), "{}", stderr(&run));
    let check = place.run(&["check", "scenario.yaml"]);
    assert_eq!(
        stdout(&check),
        "ok    scenario.yaml: 2 paths, 5 senders, 5 trials of 4s; on sim, relay, netem, uml\n"
    );
    let kcp = SHORT.split("  kcp:").next().unwrap();
    fs::write(place.path("scenario.yaml"), kcp).unwrap();
    let check = place.run(&["check", "scenario.yaml"]);
    assert_eq!(
        stdout(&check),
        "ok    scenario.yaml: 2 paths, one sender, one trial of 4s; on sim, relay, netem, uml\n"
    );
}

#[test]
fn scripts_can_read_the_summary() {
    let place = Place::with(SHORT);
    let run = place.run(&["run", "--engine", "sim", "--json", "--quiet", "scenario.yaml"]);
    assert_eq!((code(&run), stderr(&run)), (0, String::new()));
    let summary: serde_json::Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!(summary["senders"].as_array().unwrap().len(), 5);
    let written = fs::read(place.results("results").join("summary.json")).unwrap();
    let written: serde_json::Value = serde_json::from_slice(&written).unwrap();
    assert_eq!(summary, written);
}

#[test]
fn ctrl_c_keeps_and_marks_what_was_measured() {
    let day = SHORT.replace("duration: 4s", "duration: 10h, keep: histogram");
    let place = Place::with(&day);
    let args = ["run", "--engine", "sim", "--sender", "udp", "scenario.yaml"];
    let mut child = place
        .command(PROGRAM, &args)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // It is under way once it has told of its progress.
    let mut stderr = std::io::BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("delivered") {
        line.clear();
        assert!(std::io::BufRead::read_line(&mut stderr, &mut line).unwrap() > 0, "it ended early");
    }
    let pid = nix::unistd::Pid::from_raw(i32::try_from(child.id()).unwrap());
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGINT).unwrap();
    std::io::copy(&mut stderr, &mut std::io::sink()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(code(&output), 130, "{}", stdout(&output));
    let recording = place.results("results").join("recordings/udp-0.json");
    assert!(fs::read_to_string(recording).unwrap().contains("interrupted"));
    assert!(stdout(&output).contains("interrupted after"), "{}", stdout(&output));
}

#[test]
fn a_standard_error_that_takes_nothing_costs_no_measurement() {
    let place = Place::with(SHORT);
    let script = format!("{PROGRAM} run --engine sim scenario.yaml 2>/dev/full");
    let output = place.command("sh", &["-c", &script]).output().unwrap();
    assert_eq!(code(&output), 0);
    assert!(place.results("results").join("summary.json").exists());
}

#[test]
fn senders_are_chosen_by_name_or_left_out_by_it() {
    let place = Place::with(SHORT);
    let run = |choice: &[&str]| {
        let words = ["run", "--engine", "sim", "--quiet", "--json", "scenario.yaml"];
        place.run(&[&words[..], choice].concat())
    };
    let ran = |choice: &[&str]| -> Vec<String> {
        let output = run(choice);
        assert_eq!(code(&output), 0, "{choice:?}: {}", stderr(&output));
        let summary: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let senders = summary["senders"].as_array().unwrap().iter();
        senders.map(|sender| sender["sender"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(ran(&["--sender", "quic,udp"]), ["udp", "quic"]);
    assert_eq!(ran(&["--sender", "quic", "--sender", "udp"]), ["udp", "quic"]);
    assert_eq!(ran(&["--sender", "quic, udp"]), ["udp", "quic"]);
    assert_eq!(ran(&["--without", "quic,udp,kcp"]), ["mpquic", "both"]);
    assert_eq!(ran(&["--without", " quic , udp,\tkcp"]), ["mpquic", "both"]);
    for (wrong, message) in [
        (&["--without", "udp,kcp,quic,mpquic,both"][..], "no sender is left"),
        (&["--without", "udp,tcp"], "no sender is called `tcp` in"),
        (&["--without", "udp", "--sender", "kcp"], "cannot be used with"),
        (&["--sender", ""], "an empty name among the senders"),
        (&["--sender", "udp,,kcp"], "an empty name among the senders"),
        (&["--without", "udp, "], "an empty name among the senders"),
    ] {
        let output = run(wrong);
        assert_eq!(code(&output), 2, "{wrong:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(message), "{wrong:?}: {}", stderr(&output));
    }
}
