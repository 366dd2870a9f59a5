//! `impairlab show FILE`: the plan as it will run, with every profile resolved and every default
//! filled in.

use std::io::{self, Write};
use std::path::Path;

use super::{CommandError, OutputError};
use crate::scenario::plan::Plan;
use crate::scenario::{self, written};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// A scenario file that says everything.
    Yaml,
    Json,
}

pub fn run(file: &Path, format: Format, out: &mut dyn Write) -> Result<(), CommandError> {
    let plan = scenario::load(file)?;
    let written = match format {
        Format::Yaml => write!(out, "{}", written::scenario(&plan)),
        Format::Json => json(&plan, out),
    };
    Ok(written.map_err(OutputError)?)
}

fn json(plan: &Plan, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, plan)?;
    writeln!(out)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn shown(file: &str, format: Format) -> Result<String, CommandError> {
        let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("scenarios").join(file);
        let mut out = Vec::new();
        run(&file, format, &mut out)?;
        Ok(String::from_utf8(out).expect("text"))
    }

    #[test]
    fn a_scenario_is_shown_as_yaml() {
        let yaml = shown("handover-5s.yaml", Format::Yaml).expect("a right scenario");
        insta::assert_snapshot!(yaml);
    }

    #[test]
    fn json_has_the_same_plan() {
        let json = shown("handover-5s.yaml", Format::Json).expect("a right scenario");
        let plan: Plan = serde_json::from_str(&json).expect("a plan");
        let yaml = shown("handover-5s.yaml", Format::Yaml).expect("a right scenario");
        assert_eq!(written::scenario(&plan), yaml);
    }

    #[test]
    fn a_wrong_scenario_is_not_shown() {
        let error = shown("no-such.yaml", Format::Yaml).expect_err("a missing file");
        assert!(matches!(error, CommandError::Scenario(_)));
    }
}
