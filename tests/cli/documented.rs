//! What the documents, the shipped scenarios and `doctor` promise.

use std::fs;
use std::path::{Path, PathBuf};

use super::{Place, SHORT, code, stderr, stdout};

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
    let place = Place::with(include_str!("../../scenarios/handover-5s.yaml"));
    let run = place.run(&["run", "--engine", "sim", "--quiet", "scenario.yaml"]);
    let readme = include_str!("../../README.md");
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
        let said = stderr(&run);
        // Some senders take a kernel (tests/kernel_senders has such): the others, as is advised.
        let Some((_, advice)) = said.split_once("--without ") else {
            assert_eq!(code(&run), 0, "{file}: {said}");
            continue;
        };
        assert!(said.contains("engine sim has no kernel"), "{file}: {said}");
        assert_eq!(code(&run), 2, "{file}: {said}");
        words.extend(["--without", advice.trim_end().trim_end_matches(')')]);
        let run = place.run(&words);
        assert_eq!(code(&run), 0, "{file}: {}", stderr(&run));
    }
}
