//! When a path that had been dark was used again, by each sender that has another one.

use std::time::Duration;

use super::{Style, list, runs};
use crate::recording::{OfRuns, PathInUse, Recovery, Summary};
use crate::report::table::Tone;
use crate::report::{Report, figures};

/// Keeps a figure and its unit on one line.
const NO_BREAK: &str = "\u{a0}";

pub(super) fn render(report: &Report, style: Style) -> String {
    let senders = report.senders.iter().map(|sender| &sender.pooled);
    let senders = senders.filter(|sender| !sender.paths_back().is_empty());
    let (at_once, later): (Vec<&Summary>, Vec<&Summary>) = senders.partition(|it| is_at_once(it));
    let later: Vec<String> = later.into_iter().map(|it| of_sender(report, it)).collect();
    let at_once: Vec<&str> = at_once.iter().map(|sender| sender.sender.as_str()).collect();
    let at_once = (!at_once.is_empty()).then(|| format!("at once {}", at_once.join(", ")));
    let later = (!later.is_empty()).then(|| later.join(", "));
    let parts: Vec<String> = later.into_iter().chain(at_once).collect();
    if parts.is_empty() {
        return String::new();
    }
    let line = format!(
        "dark path in use again after its outage (as much on the wire as before{}): {}",
        of_what(report),
        parts.join("; ")
    );
    list(&[line], Tone::Plain, style).replace(NO_BREAK, " ")
}

/// At the median of the runs, on each path that was dark, and nothing else to say: with many senders
/// those of which there is more to say would not be found among them.
fn is_at_once(summary: &Summary) -> bool {
    summary.paths_back().iter().all(|path| {
        let OfRuns { median, never, unknown, .. } = path.after;
        median == Recovery::After(Duration::ZERO) && never == 0 && unknown == 0
    })
}

/// Of which outages and runs one figure is.
fn of_what(report: &Report) -> String {
    let mut paths: Vec<_> = report.outages.iter().map(|outage| outage.path).collect();
    paths.sort();
    let several = paths.windows(2).any(|pair| pair[0] == pair[1]);
    let worst = several.then_some("of the outages of a path in a run the slowest");
    let median = (runs(report) > 1).then_some("the median of the runs");
    worst.into_iter().chain(median).map(|part| format!("; {part}")).collect()
}

fn of_sender(report: &Report, summary: &Summary) -> String {
    // Where only one path was dark, the heading says which.
    let named = report.outages.iter().any(|outage| outage.path != report.outages[0].path);
    let unit = unit(summary);
    let of = |path: &PathInUse| match named {
        true => {
            let name = report.path_names.get(path.path.index()).map_or("?", String::as_str);
            format!("{name}{NO_BREAK}{}", of_path(path, unit))
        }
        false => of_path(path, unit),
    };
    let figures: Vec<String> = summary.paths_back().iter().map(of).collect();
    format!("{} {}", summary.sender, figures.join(" and "))
}

fn of_path(path: &PathInUse, unit: &str) -> String {
    let figure = figures::recovery(Some(path.after.median)).replace(' ', NO_BREAK);
    let why = path.unknown.iter().map(ToString::to_string);
    let notes: Vec<String> = exceptions(&path.after, unit).into_iter().chain(why).collect();
    match &notes[..] {
        [] => figure,
        notes => format!("{figure} ({})", notes.join("; ")),
    }
}

/// What the figures of outages are counted in.
pub(super) fn unit(summary: &Summary) -> &'static str {
    if summary.vehicles.is_some() { "vehicles" } else { "runs" }
}

/// The runs that a median of several does not tell of.
pub(super) fn exceptions(of_runs: &OfRuns, unit: &str) -> Option<String> {
    let OfRuns { median, runs, never, unknown } = *of_runs;
    let never = (median != Recovery::Never || never < runs).then_some(never);
    let unknown = (median != Recovery::Unknown || unknown < runs).then_some(unknown);
    let told = [("never", never), ("unknown", unknown)].map(|(word, count)| {
        let count = count.filter(|count| *count > 0)?;
        Some(format!("{word} in {count}"))
    });
    let told: Vec<String> = told.into_iter().flatten().collect();
    (!told.is_empty()).then(|| format!("{} of {runs} {unit}", told.join(" and ")))
}
