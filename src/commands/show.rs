//! `impairlab show FILE`: the plan as it will run, with every profile resolved and every default
//! filled in.

use std::io::{self, Write};
use std::path::Path;

use super::{CommandError, OutputError};
use crate::scenario::plan::Plan;
use crate::scenario::{self, Mistake, limits, written};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// A scenario file that says everything.
    Yaml,
    Json,
}

pub fn run(file: &Path, format: Format, out: &mut dyn Write) -> Result<(), CommandError> {
    let plan = scenario::load(file)?;
    let written = match format {
        Format::Yaml => write!(out, "{}", written_in_full(&plan)?),
        Format::Json => json(&plan, out),
    };
    Ok(written.map_err(OutputError)?)
}

fn json(plan: &Plan, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, plan)?;
    writeln!(out)
}

/// What is printed can be read again, and so has the limits of a file.
fn written_in_full(plan: &Plan) -> Result<String, CommandError> {
    let text = written::scenario(plan);
    let bytes = text.len() as u64;
    let reason = if bytes > limits::FILE_BYTES {
        Some(Mistake::FileTooLarge { bytes }.to_string())
    } else {
        let mistakes = scenario::load_str(Path::new("written.yaml"), &text).err();
        mistakes.map(|it| it.iter().map(|it| it.mistake.to_string()).collect::<Vec<_>>().join("; "))
    };
    reason.map_or(Ok(text), |reason| Err(CommandError::TooLongToShow { reason }))
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

    /// Each of 600 entries is two changes, and 1,000 entries are the most that are read.
    #[test]
    fn what_could_not_be_read_again_is_not_printed() {
        let entry = |n: u32| {
            let (at, delay) = (100 * n, 1 + n);
            format!("{{ at: {at}ms, set: {{ delay: {delay}ms }}, for: 50ms }}")
        };
        let entries: Vec<String> = (0..600).map(entry).collect();
        let text = format!(
            "version: 1\nname: long\npaths: {{ a: {{}} }}\ntimeline: [{}]\n\
             workload: {{ control: {{ rate: 1/s, size: 100B, duration: 60s, deadline: 1s }} }}\n\
             senders: {{ it: {{ udp: {{}} }} }}\n",
            entries.join(", ")
        );
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("long.yaml");
        std::fs::write(&file, text).expect("a new file");
        let mut out = Vec::new();
        let error = run(&file, Format::Yaml, &mut out).expect_err("it is too long");
        assert_eq!(
            error.to_string(),
            "this scenario is too long to be written in full: 1200 entries are too many: 1000 are \
             the most; `show --json` prints its plan"
        );
        assert!(out.is_empty());
        run(&file, Format::Json, &mut out).expect("the plan itself");
        assert!(!out.is_empty());
    }
}
