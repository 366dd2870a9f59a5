//! `impairlab show FILE`: the plan as it will run, with every profile resolved and every default filled in.

use std::io::{self, Write};
use std::path::Path;

use thiserror::Error;

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
    #[error("cannot write the plan: {0}")]
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
