//! Output that cannot be written, to a full device or past the limit of the size of files
//! (`ulimit -f`): each ends with a message and the exit code that the help has for it.

use std::fs;
use std::process::Output;

use crate::{PROGRAM, Place, SHORT, code, stderr, stdout};

const RUN: &str = "run --quiet --engine sim --sender udp scenario.yaml";

/// A folder with a scenario and with results of it in `done`.
fn place() -> Place {
    let place = Place::with(SHORT);
    let ran = place.run(&RUN.split(' ').collect::<Vec<_>>());
    assert_eq!(code(&ran), 0, "{}", stderr(&ran));
    fs::rename(place.results("results"), place.path("done")).unwrap();
    place
}

fn shell(place: &Place, script: &str) -> Output {
    place.command("sh", &["-c", script]).output().unwrap()
}

#[test]
fn what_cannot_be_printed_ends_with_code_4() {
    let place = place();
    for command in [
        RUN,
        "report done",
        "check scenario.yaml",
        "show scenario.yaml",
        "senders kcp",
        "schema",
        "doctor",
    ] {
        let output = shell(&place, &format!("{PROGRAM} {command} > /dev/full"));
        assert_eq!(code(&output), 4, "{command}: {}", stderr(&output));
        assert!(stderr(&output).contains("No space left"), "{command}: {}", stderr(&output));
    }
}

/// In blocks of 512 bytes.
#[test]
fn a_limit_of_the_size_of_files_is_an_error_and_no_silent_end() {
    let place = place();
    for (limit, command) in
        [(1, "schema > printed"), (16, RUN), (16, "report done"), (0, "senders kcp > printed")]
    {
        let output = shell(&place, &format!("ulimit -f {limit}; {PROGRAM} {command}"));
        let said = stderr(&output);
        assert_eq!(code(&output), 4, "{command}: {said}");
        assert!(said.contains("File too large") && said.contains("ulimit -f"), "{command}: {said}");
    }
    assert_eq!(stdout(&shell(&place, "find . -name '*.part'")), "");
}
