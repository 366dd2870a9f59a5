//! The same seed, the same run: what is random in a guest comes from its seed alone.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::{command, in_guest, kernel_or_skip, printed};

const SHORT: &str = include_str!("../short.yaml");
const OUTAGE: &str = "timeline: [ { at: 2s, path: a, outage: 500ms } ]\n";

#[test]
fn random_numbers_in_a_guest_come_from_its_seed() {
    let kernel = kernel_or_skip!();
    if let Some(lacks) = kernel.lacks_seeder() {
        return eprintln!("skipped: {lacks}");
    }
    // Of the kernel, and by way of it of the C library, of addresses and of process ids.
    let script = "od -N 32 -t x8 /dev/urandom; cat /proc/sys/kernel/random/uuid /proc/self/maps; \
                  awk 'BEGIN { srand(); print rand(), PROCINFO[\"pid\"] }'; date +%N; mktemp -u";
    let run = |seed| printed(&in_guest(&["--seed", seed], script));
    let (first, again, other) = (run("1"), run("1"), run("2"));
    assert_eq!(first, again);
    assert_ne!(first.lines().next(), other.lines().next());
}

#[test]
fn a_trial_gives_the_same_recording_byte_for_byte() {
    let kernel = kernel_or_skip!();
    if let Some(lacks) = kernel.lacks_seeder() {
        return eprintln!("skipped: {lacks}");
    }
    let place = tempfile::tempdir().unwrap();
    let scenario = place.path().join("scenario.yaml");
    fs::write(&scenario, format!("{SHORT}{OUTAGE}")).unwrap();
    let run = |name: &str, seed: &str| recordings(place.path(), &scenario, name, seed);
    let (first, again, other) = (run("first", "1"), run("again", "1"), run("other", "2"));
    assert_eq!(first.len(), 5);
    for (sender, bytes) in &first {
        assert!(bytes == &again[sender], "{sender:?}: two runs with one seed differ");
        assert!(bytes != &other[sender], "{sender:?}: another seed changes nothing");
    }
}

fn recordings(place: &Path, scenario: &Path, name: &str, seed: &str) -> BTreeMap<PathBuf, Vec<u8>> {
    let results = place.join(name);
    let mut command = command(&["run", "--quiet", "--engine", "uml", "--seed", seed]);
    let output = command.arg("--results").arg(&results).arg(scenario).output().unwrap();
    printed(&output);
    let run = fs::read_dir(results.join("short")).unwrap().next().unwrap().unwrap();
    let files = fs::read_dir(run.path().join("recordings")).unwrap().flatten();
    let read = |path: PathBuf| (PathBuf::from(path.file_name().unwrap()), fs::read(path).unwrap());
    files.map(|file| read(file.path())).collect()
}
