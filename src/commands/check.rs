//! `impairlab check FILES…`: reads scenario files without running them.

use std::io::{self, Write};
use std::path::PathBuf;

use crate::scenario::plan::Plan;
use crate::scenario::quantity::print_duration;
use crate::scenario::{self, Colour};

/// Prints a line for each file that is right and every mistake of each that is not. Gives how many
/// are not.
pub fn run(files: &[PathBuf], colour: Colour, out: &mut dyn Write) -> io::Result<usize> {
    let mut wrong = 0;
    for file in files {
        match scenario::load(file) {
            Ok(plan) => writeln!(out, "ok    {}: {}", file.display(), in_short(&plan))?,
            Err(diagnostics) => {
                wrong += 1;
                writeln!(out, "{}\n", diagnostics.render(colour))?;
                writeln!(out, "wrong {}: {}", file.display(), mistakes(diagnostics.count()))?;
            }
        }
    }
    Ok(wrong)
}

fn in_short(plan: &Plan) -> String {
    let count = |count: usize, noun: &str| match count {
        1 => format!("1 {noun}"),
        _ => format!("{count} {noun}s"),
    };
    let (paths, senders) = (count(plan.paths.len(), "path"), count(plan.senders.len(), "sender"));
    let duration = print_duration(plan.workload.periodic().duration);
    format!("{paths}, {senders}, {} of {duration}", count(plan.trials(), "trial"))
}

fn mistakes(count: usize) -> String {
    match count {
        1 => "1 mistake".to_owned(),
        _ => format!("{count} mistakes"),
    }
}

#[cfg(test)]
mod tests;
