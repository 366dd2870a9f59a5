//! The way in: a file, or its text, to a plan.

use std::path::Path;
use std::sync::Arc;

use super::compile::compile;
use super::diagnostic::{Diagnostics, Mistakes};
use super::file::File;
use super::plan::Plan;

/// Reads a scenario file and the profiles and tables it names. All mistakes in all of them come
/// back together.
pub fn load(path: &Path) -> Result<Plan, Diagnostics> {
    load_with_text(path).map(|(plan, _)| plan)
}

/// The same, with the file as it is written.
pub fn load_with_text(path: &Path) -> Result<(Plan, String), Diagnostics> {
    match File::read(path) {
        Ok(file) => Ok((plan(&file)?, file.text.clone())),
        Err(mistake) => Err(Diagnostics::unreadable(path.to_owned(), mistake)),
    }
}

/// As [`load`], for text that is already there; `path` is its name in messages, and what it names
/// is looked up beside.
pub fn load_str(path: &Path, text: &str) -> Result<Plan, Diagnostics> {
    plan(&File::new(path, text))
}

fn plan(file: &Arc<File>) -> Result<Plan, Diagnostics> {
    let mistakes = Mistakes::default();
    let plan = compile(file, &mistakes);
    mistakes.conclude(plan)
}

#[cfg(test)]
mod tests;
