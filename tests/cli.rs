//! The program as its users meet it: what it prints, what it leaves behind and how it ends.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

const PROGRAM: &str = env!("CARGO_BIN_EXE_impairlab");
const SHORT: &str = include_str!("short.yaml");

/// A folder with a scenario in it, and the program started there.
struct Place(TempDir);

impl Place {
    fn with(scenario: &str) -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        fs::write(place.path("scenario.yaml"), scenario).unwrap();
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn command(&self, program: &str, args: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(args).current_dir(self.0.path()).env("NO_COLOR", "1").env("COLUMNS", "120");
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        self.command(PROGRAM, args).output().unwrap()
    }

    /// The folder of the only run.
    fn results(&self, root: &str) -> PathBuf {
        let runs: Vec<_> = fs::read_dir(self.path(root).join("short")).unwrap().collect();
        assert_eq!(runs.len(), 1);
        runs.into_iter().next().unwrap().unwrap().path()
    }
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap_or(-1)
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

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
fn every_wrong_scenario_ends_with_code_2_and_its_place() {
    let cases = [
        ("unknown key", SHORT.replace("delay: 40ms", "dealy: 40ms"), "`dealy`"),
        ("wrong unit", SHORT.replace("40ms", "40 parsecs"), "parsecs"),
        ("negative delay", SHORT.replace("delay: 40ms", "delay: -40ms"), "-40ms"),
        ("loss of 120 %", SHORT.replace("loss: 2%", "loss: 120%"), "120"),
        ("duplicate key", SHORT.replace("name: short", "name: short\nname: again"), "`name`"),
        ("two paths of one name", SHORT.replace("b: { delay", "a: { delay"), "`a`"),
        ("timeline past the end", with_timeline("{ at: 5s, path: a, outage: 1s }"), "end"),
        ("timeline on an unknown path", with_timeline("{ at: 1s, path: c, outage: 1s }"), "`c`"),
        ("sender on an unknown path", SHORT.replace("kcp: { path: a }", "kcp: { path: c }"), "`c`"),
        ("missing profile", SHORT.replace("delay: 40ms", "profile: none"), "none"),
        ("empty", String::new(), "nothing in this file"),
        ("10 MB", "#".repeat(10_000_000), "10000000 bytes"),
    ];
    for (name, scenario, says) in cases {
        let place = Place::with(&scenario);
        for args in [&["run", "--engine", "sim", "scenario.yaml"][..], &["check", "scenario.yaml"]]
        {
            let output = place.run(args);
            let printed = stdout(&output) + &stderr(&output);
            assert_eq!(code(&output), 2, "{name}: {printed}");
            assert!(printed.contains(says), "{name}: {printed}");
            assert!(printed.contains("scenario.yaml"), "{name} has its place: {printed}");
        }
        assert!(!place.path("results").exists(), "{name}: nothing is left behind");
    }
}

fn with_timeline(entry: &str) -> String {
    SHORT.replace("workload:", &format!("timeline: [{entry}]\nworkload:"))
}

#[test]
fn wrong_usage_ends_with_code_2() {
    let place = Place::with(SHORT);
    for args in [
        &["run"][..],
        &["run", "--engine", "ns3", "scenario.yaml"],
        &["run", "--repeat", "0", "scenario.yaml"],
        &["run", "--engine", "sim", "--sender", "tcp", "scenario.yaml"],
        &["run", "--engine", "sim", "absent.yaml"],
        &["dance"],
    ] {
        let output = place.run(args);
        assert_eq!(code(&output), 2, "{args:?}: {}", stderr(&output));
        assert!(!stderr(&output).is_empty());
    }
}

/// Never on a clean link, silently.
#[test]
fn without_netem_its_engine_ends_with_code_3_and_says_how_to_get_it() {
    if impairlab::engine::netem::Netem::probe().is_ok() {
        eprintln!("skipped: this kernel has netem");
        return;
    }
    let place = Place::with(SHORT);
    let output = place.run(&["run", "--engine", "netem", "scenario.yaml"]);
    assert_eq!(code(&output), 3, "{}", stderr(&output));
    assert!(stderr(&output).starts_with("error: engine netem cannot run here: no "));
    assert!(stderr(&output).contains("doctor"), "{}", stderr(&output));
    assert!(!place.path("results").exists(), "nothing is left behind");
}

#[test]
fn an_unknown_sender_is_answered_with_the_known_ones() {
    let place = Place::with(SHORT);
    let output = place.run(&["run", "--engine", "sim", "--sender", "tcp", "scenario.yaml"]);
    assert_eq!(
        stderr(&output),
        "error: no sender is called tcp in this scenario; it has: udp, kcp, quic, mpquic, both\n"
    );
}

/// In a user namespace of its own even root has to obey the mode of a folder.
#[test]
fn results_that_may_not_be_written_end_with_code_4_before_any_trial() {
    let place = Place::with(SHORT);
    fs::create_dir(place.path("locked")).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o555);
    fs::set_permissions(place.path("locked"), mode).unwrap();
    let args =
        ["--user", PROGRAM, "run", "--engine", "sim", "--results", "locked", "scenario.yaml"];
    let output = place.command("unshare", &args).output().unwrap();
    assert_eq!(code(&output), 4, "{}", stderr(&output));
    assert!(stderr(&output).contains("cannot make the folder locked/short"), "{}", stderr(&output));
    assert!(!stderr(&output).contains("connected"), "no trial was started");
    assert_eq!(fs::read_dir(place.path("locked")).unwrap().count(), 0);
}

/// On a file system of the test's own, of this size.
fn on_a_small_disk(place: &Place, size: &str) -> (Output, String) {
    fs::create_dir(place.path("disk")).unwrap();
    let script = format!(
        "mount -t tmpfs -o size={size} none disk
         {PROGRAM} run --engine sim --results disk scenario.yaml
         code=$?; find disk -type f | sort; find disk -name '*.json' -exec tail -qc 2 {{}} +; exit $code"
    );
    let args = ["--user", "--map-root-user", "--mount", "sh", "-c", &script];
    let output = place.command("unshare", &args).output().unwrap();
    let listed = stdout(&output);
    (output, listed)
}

#[test]
fn a_full_disk_ends_with_code_4_and_no_half_file() {
    for (size, during) in [("8k", "before"), ("96k", "while")] {
        let place = Place::with(SHORT);
        let (output, listed) = on_a_small_disk(&place, size);
        assert_eq!(code(&output), 4, "{during} it runs: {}", stderr(&output));
        assert!(stderr(&output).contains("No space left"), "{}", stderr(&output));
        assert!(!listed.contains(".part") && !listed.contains("probe"), "{listed}");
        match during {
            "while" => assert!(listed.contains("plan.json"), "what fitted is kept: {listed}"),
            _ => assert_eq!(listed, "", "nothing was measured, so nothing is left"),
        }
    }
}

#[test]
fn without_root_and_user_namespaces_relay_ends_with_code_3_and_auto_takes_sim() {
    let place = Place::with(SHORT);
    let without_rights = |engine: &str| {
        let script = format!(
            "echo 0 > /proc/sys/user/max_user_namespaces
             exec setpriv --bounding-set=-all --inh-caps=-all --securebits=+noroot \
             {PROGRAM} run --engine {engine} --sender udp scenario.yaml"
        );
        let args = ["--user", "--map-root-user", "sh", "-c", &script];
        place.command("unshare", &args).output().unwrap()
    };
    let relay = without_rights("relay");
    assert_eq!(code(&relay), 3, "{}", stderr(&relay));
    assert!(stderr(&relay).contains("engine relay cannot run here"), "{}", stderr(&relay));
    assert!(stderr(&relay).contains("--engine sim"), "{}", stderr(&relay));
    assert!(!place.path("results").exists());

    let auto = without_rights("auto");
    assert_eq!(code(&auto), 0, "{}", stderr(&auto));
    assert!(stderr(&auto).contains("Engine sim (virtual time), since"), "{}", stderr(&auto));
    assert!(stdout(&auto).contains("engine sim"));
}

#[test]
fn doctor_says_what_there_is() {
    let place = Place::with(SHORT);
    let output = place.run(&["doctor", "--json"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let diagnosis: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(diagnosis["engines"][0]["name"], "sim");
    let capabilities = diagnosis["capabilities"].as_array().unwrap();
    for missing in capabilities.iter().filter(|one| one["available"] == false) {
        assert!(missing["reason"].is_string() && missing["remedy"].is_string(), "{missing}");
    }
}

#[test]
fn many_vehicles_run_in_virtual_time_only() {
    let place = Place::with(&SHORT.replace("workload:", "vehicles: 20\nworkload:"));
    for engine in ["relay", "netem", "uml"] {
        let refused = place.run(&["run", "--engine", engine, "scenario.yaml"]);
        assert_eq!(code(&refused), 2, "{engine}");
        assert!(stderr(&refused).contains("use --engine sim"), "{}", stderr(&refused));
    }
    let ran = place.run(&["run", "--engine", "auto", "--quiet", "--json", "scenario.yaml"]);
    assert_eq!(code(&ran), 0, "{}", stderr(&ran));
    let summary: serde_json::Value = serde_json::from_slice(&ran.stdout).unwrap();
    for sender in summary["senders"].as_array().unwrap() {
        assert_eq!(sender["vehicles"]["count"], 20);
        assert_eq!(sender["all_runs"]["messages"], 20 * 200);
        assert!(sender["vehicles"]["gateway_cpu_us"].as_f64().unwrap() > 0.0, "{sender}");
    }
}

#[test]
fn help_documents_every_exit_code() {
    let place = Place::with(SHORT);
    let help = stdout(&place.run(&["--help"]));
    for code in ["0", "1", "2", "3", "4", "5", "6", "7", "8", "130"] {
        assert!(
            help.lines().any(|line| line.trim_start().starts_with(&format!("{code}  "))),
            "{code}"
        );
    }
}

/// Each part of what `run` prints, known by how it begins, is in the README's sample.
#[test]
fn the_sample_of_the_readme_has_every_part() {
    let place = Place::with(include_str!("../scenarios/handover-5s.yaml"));
    let run = place.run(&["run", "--engine", "sim", "--quiet", "scenario.yaml"]);
    let readme = include_str!("../README.md");
    let (_, sample) = readme.split_once("```text\n").expect("a sample");
    let (sample, _) = sample.split_once("```").expect("its end");
    let beginnings = |text: &str| -> Vec<String> {
        let words = text.split("\n\n").filter_map(|part| part.split_whitespace().next());
        words.map(|word| word.trim_end_matches(':').to_owned()).collect()
    };
    assert_eq!(beginnings(sample), beginnings(&stdout(&run)));
}

#[test]
fn shipped_scenarios_are_right() {
    let scenarios = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    let files: Vec<PathBuf> = fs::read_dir(scenarios)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "yaml"))
        .collect();
    assert!(files.len() >= 4);
    let place = Place::with(SHORT);
    for file in files {
        let file = file.to_str().unwrap();
        // Twice each; of the thousand vehicles the sender that takes least.
        let mut words = vec!["run", "--engine", "sim", "--quiet", "--results", "all"];
        words.extend(["--repeat", "2", file]);
        if file.ends_with("thousand-vehicles.yaml") {
            words.extend(["--sender", "udp"]);
        }
        let run = place.run(&words);
        if file.contains("/kernel-senders") {
            // It takes a kernel: tests/kernel_senders has senders like these.
            assert!(stderr(&run).contains("engine sim has no kernel"), "{}", stderr(&run));
            assert_eq!(code(&run), 2, "{}", stderr(&run));
            continue;
        }
        assert_eq!(code(&run), 0, "{file}: {}", stderr(&run));
    }
}
