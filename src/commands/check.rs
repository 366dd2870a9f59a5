//! `impairlab check FILES…`: reads scenario files without running them.

use std::io::{self, Write};
use std::path::PathBuf;

use crate::engine::netem;
use crate::report::figures;
use crate::scenario::plan::Plan;
use crate::scenario::quantity::print_duration;
use crate::scenario::senders::Engines;
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
                writeln!(
                    out,
                    "wrong {}: {}",
                    file.display(),
                    figures::plural(diagnostics.count() as u64, "mistake")
                )?;
            }
        }
    }
    Ok(wrong)
}

fn in_short(plan: &Plan) -> String {
    let count = |count: usize, noun| figures::plural(count as u64, noun);
    let (paths, senders) = (count(plan.paths.len(), "path"), count(plan.senders.len(), "sender"));
    let duration = print_duration(plan.workload.periodic().duration);
    let trials = count(plan.trials(), "trial");
    format!("{paths}, {senders}, {trials} of {duration}{}", engines(plan))
}

/// Where the plan can run, whatever the machine, and what keeps it from the other engines.
fn engines(plan: &Plan) -> String {
    if plan.vehicles > 1 {
        return format!("; {} vehicles on sim only", plan.vehicles);
    }
    let needy = plan.senders.iter().filter(|sender| sender.protocol.needs_a_kernel());
    let needy: Vec<_> = needy.map(|sender| sender.name.as_str()).collect();
    let mut text = if needy.is_empty() {
        format!("; on {}", Engines::All.names().join(", "))
    } else {
        let engines = Engines::WithKernel.names().join(", ");
        format!("; {} on {engines} only", needy.join(", "))
    };
    if let Err(reason) = netem::possible(plan) {
        text += &format!("; not on netem and uml: {reason}");
    }
    text
}

#[cfg(test)]
mod tests;
