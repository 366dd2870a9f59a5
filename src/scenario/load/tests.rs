use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::*;
use crate::link::profile::{Distribution, Loss};
use crate::scenario::limits;
use crate::scenario::senders::SENDERS;

mod bad;

/// Everything that has to be there.
const SMALL: &str = "\
version: 1
name: small
paths:
  4g: { delay: 40ms, jitter: 10ms, loss: 2% }
  5g: { delay: 25ms }
timeline:
  - { at: 20s, path: 4g, outage: 5s }
workload:
  control: { rate: 50/s, size: 600B, duration: 60s, deadline: 250ms }
senders:
  kcp: { kcp: { path: 4g } }
  both: { replicate: { paths: [4g, 5g], quic: { mode: datagram } } }
";

fn small_with(old: &str, new: &str) -> String {
    assert!(SMALL.contains(old), "`{old}` is in the small scenario");
    SMALL.replace(old, new)
}

fn read(text: &str) -> Result<Plan, Diagnostics> {
    load_str(Path::new("small.yaml"), text)
}

fn shipped() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    let entries = fs::read_dir(folder).expect("the shipped scenarios are there");
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.expect("a readable folder").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "yaml"))
        .collect();
    files.sort();
    files
}

#[test]
fn every_shipped_scenario_is_read_and_named_as_its_file() {
    let files = shipped();
    assert!(files.len() >= 4);
    for file in files {
        let plan = load(&file).unwrap_or_else(|diagnostics| panic!("{diagnostics}"));
        assert_eq!(Some(plan.name.as_str()), file.file_stem().and_then(|stem| stem.to_str()));
        assert!(plan.paths.iter().all(|path| !path.sources.is_empty()), "{}", plan.name);
    }
}

#[test]
fn the_reference_lists_every_shipped_scenario_and_no_other() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    let files = fs::read_dir(folder).expect("the shipped scenarios").flatten();
    let names = files
        .filter_map(|entry| Some(entry.file_name().to_str()?.strip_suffix(".yaml")?.to_owned()));
    let shipped: BTreeSet<String> = names.collect();
    let reference = include_str!("../../../scenarios/README.md");
    let (_, table) = reference.split_once("| scenario | what it shows |\n|---|---|\n").expect("it");
    let (table, _) = table.split_once("\n\n").expect("its end");
    let first_cells = table.lines().filter_map(|line| line.split('|').nth(1));
    let listed =
        first_cells.flat_map(|cell| cell.split(',')).map(|name| name.trim().trim_matches('`'));
    assert_eq!(listed.map(str::to_owned).collect::<BTreeSet<_>>(), shipped);
}

/// What is said to come later is not in the table of senders.
#[test]
fn the_reference_says_of_no_sender_that_it_is_not_available() {
    let reference = include_str!("../../../scenarios/README.md");
    let last = reference.trim_end().rsplit("\n\n").next().expect("a paragraph");
    assert!(last.contains("are not available in this version"), "{last}");
    for sender in SENDERS {
        assert!(!last.contains(&format!("`{}`", sender.keyword)), "{last}");
    }
}

#[test]
fn the_example_of_the_reference_is_read() {
    let reference = include_str!("../../../scenarios/README.md");
    let (_, example) = reference.split_once("```yaml\n").expect("an example");
    let (example, _) = example.split_once("```").expect("its end");
    let plan = read(example).unwrap_or_else(|diagnostics| panic!("{diagnostics}"));
    assert_eq!((plan.trials(), plan.timeline.changes.len(), plan.claims.len()), (15, 6, 1));
}

#[test]
fn defaults_are_filled_in() {
    let plan = read(SMALL).expect("a right scenario");
    assert_eq!((plan.repeat, plan.seed, plan.about.as_str()), (1, 1, ""));
    let json = serde_json::to_value(&plan.senders).expect("a plan is JSON");
    insta::assert_snapshot!(serde_json::to_string_pretty(&json).expect("JSON"));
}

#[test]
fn an_mtu_that_is_too_small_for_what_goes_around_kcp_is_refused() {
    for mtu in 50..=120 {
        let kcp = format!(
            "kcp: {{ kcp: {{ path: 4g, behaviour: kcp-go-5.6, mtu: {mtu}B, \
             fec: {{ data: 3, parity: 2 }}, crypt: aes }} }}"
        );
        // The layers take 28 bytes, and KCP's smallest datagram is one of 50.
        match read(&small_with("kcp: { kcp: { path: 4g } }", &kcp)) {
            Ok(_) => assert!(mtu >= 78, "{mtu}"),
            Err(mistakes) => {
                assert!(mtu < 78, "{mtu}: {mistakes}");
                let expected = "has no room for the headers: 78B are the least with these";
                assert!(mistakes.to_string().contains(expected), "{mistakes}");
            }
        }
    }
}

#[test]
fn settings_of_a_direction_go_above_those_of_both_and_a_path_above_its_profile() {
    let text = small_with(
        "5g: { delay: 25ms }",
        "5g: { profile: 5g-city-medium, jitter: 1ms, up: { loss: 3% }, down: { jitter: 2ms } }",
    );
    let plan = read(&text).expect("a right scenario");
    let path = &plan.paths[1];
    let percent = |loss: &Loss| match loss {
        Loss::Random(random) => random.probability.as_f64() * 100.0,
        other => panic!("{other:?} is not random"),
    };
    assert_eq!(path.profile.as_deref(), Some("5g-city-medium"));
    assert_eq!((path.up.delay.as_millis(), path.up.jitter.as_millis()), (25, 1));
    assert_eq!((path.down.delay.as_millis(), path.down.jitter.as_millis()), (25, 2));
    assert_eq!((percent(&path.up.loss), percent(&path.down.loss)), (3.0, 1.5));
    assert_eq!(path.up.distribution, Distribution::Normal);
}

#[test]
fn a_profile_beside_the_scenario_goes_before_a_built_in_one_and_has_those_it_is_based_on() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let profiles = folder.path().join("profiles");
    fs::create_dir(&profiles).expect("a new folder");
    let base = "source: measured by hand\ndelay: 70ms\nup: { loss: 1% }\n";
    fs::write(profiles.join("4g-city-light.yaml"), base).expect("a new file");
    let based = "based-on: 4g-city-light\nsource: [a guess, another]\nloss: 9%\n";
    fs::write(profiles.join("tunnel.yaml"), based).expect("a new file");
    let text = small_with("5g: { delay: 25ms }", "5g: { profile: tunnel }");
    let plan = load_str(&folder.path().join("small.yaml"), &text).expect("a right scenario");
    let path = &plan.paths[1];
    assert_eq!(path.sources, ["measured by hand", "a guess", "another"]);
    assert_eq!(path.up.delay.as_millis(), 70);
    let nine = read(&small_with("loss: 2%", "loss: 9%")).expect("a right scenario");
    assert_eq!((&path.up.loss, &path.down.loss), (&nine.paths[0].up.loss, &nine.paths[0].up.loss));
}

#[test]
fn a_table_is_read_from_beside_the_scenario() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("a.dist"), "# two\n-8192 8192\n").expect("a new file");
    let text = small_with("jitter: 10ms", "jitter: 10ms, distribution: { table: a.dist }");
    let plan = load_str(&folder.path().join("small.yaml"), &text).expect("a right scenario");
    assert_eq!(plan.paths[0].up.distribution, Distribution::Table([-8192, 8192].into()));
}

#[test]
fn a_plan_survives_json() {
    let plan = read(SMALL).expect("a right scenario");
    let json = serde_json::to_string(&plan).expect("a plan is JSON");
    let again: Plan = serde_json::from_str(&json).expect("and JSON a plan");
    assert_eq!(again, plan);
}

#[test]
fn aliases_are_understood() {
    let text = small_with("4g: { delay: 40ms,", "4g: { delay: &d 40ms,")
        .replace("5g: { delay: 25ms }", "5g: { delay: *d }");
    let plan = read(&text).expect("a right scenario");
    assert_eq!(plan.paths[1].up.delay.as_millis(), 40);
}

/// Pieces of scenarios, so that random texts get past the first key.
fn piece() -> impl Strategy<Value = String> {
    let words = "version: 1\n|name: a\n|paths:|senders:|timeline:|workload:|  |\n|- |{|}|[|]|, |: \
        |delay|jitter|loss|rate|set|outage|at|path|kcp|udp|replicate|quic|40ms|2%|50/s|600B|-1|none\
        |&a |*a|<<: |!!int |\"|'|#|---\n|?|null|~|true|1.5|\u{feff}|\t";
    let words: Vec<String> = words.split('|').map(str::to_owned).collect();
    prop_oneof![4 => prop::sample::select(words), 1 => ".{0,6}"]
}

/// The small scenario with one place of it overwritten.
fn mangled() -> impl Strategy<Value = String> {
    let pieces = prop::collection::vec(piece(), 0..4).prop_map(|pieces| pieces.concat());
    (0..SMALL.len(), 0..12usize, pieces).prop_map(|(start, length, pieces)| {
        let end = (start + length).min(SMALL.len());
        format!("{}{pieces}{}", &SMALL[..start], &SMALL[end..])
    })
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        pieces in prop::collection::vec(piece(), 0..60),
        mangled in mangled(),
    ) {
        let texts = [String::from_utf8_lossy(&bytes).into_owned(), pieces.concat(), mangled];
        for text in texts {
            if let Err(diagnostics) = read(&text) {
                prop_assert!(diagnostics.count() > 0);
                prop_assert!(diagnostics.to_string().contains("small.yaml"));
            }
        }
    }
}

#[test]
fn a_file_is_read_up_to_its_limit_and_no_further() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("small.yaml");
    let room = limits::FILE_BYTES as usize - SMALL.len() - 2;
    fs::write(&file, format!("{SMALL}#{}\n", "x".repeat(room))).expect("a new file");
    load(&file).expect("a file of exactly the limit");
    fs::write(&file, format!("{SMALL}#{}\n", "x".repeat(room + 1))).expect("a new file");
    load(&file).expect_err("one byte too many");
}
