//! `impairlab show FILE`: the plan as it will run, with every profile resolved and every default
//! filled in.

use std::io::{self, Write};
use std::path::Path;

use thiserror::Error;

use crate::recording::file::remedy;
use crate::scenario::{self, Diagnostics, written};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// A scenario file that says everything.
    Yaml,
    Json,
}

#[derive(Debug, Error)]
pub enum ShowError {
    #[error("{0}")]
    Scenario(#[from] Diagnostics),
    #[error("cannot write the plan: {0}{remedy}", remedy = remedy(.0))]
    Output(#[from] io::Error),
}

pub fn run(file: &Path, format: Format, out: &mut dyn Write) -> Result<(), ShowError> {
    let plan = scenario::load(file)?;
    match format {
        Format::Yaml => write!(out, "{}", written::scenario(&plan))?,
        Format::Json => {
            serde_json::to_writer_pretty(&mut *out, &plan).map_err(io::Error::from)?;
            writeln!(out)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::scenario::plan::Plan;

    fn shown(file: &str, format: Format) -> Result<String, ShowError> {
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
        assert!(matches!(error, ShowError::Scenario(_)));
    }
}
