//! The program as its users meet it: what it prints, what it leaves behind and how it ends.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod documented;
mod refusals;
mod runs;
mod unwritable;

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use tempfile::TempDir;

const PROGRAM: &str = env!("CARGO_BIN_EXE_impairlab");
const SHORT: &str = include_str!("../short.yaml");

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
