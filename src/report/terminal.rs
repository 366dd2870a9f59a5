//! The report as text: a table of the senders, what a reader must know of it, and measured beside
//! claimed.

mod claims;
mod error_correction;
mod fidelity;
mod front;
mod impairment;
mod paths_back;
mod sockets;
mod vehicles;

use std::collections::BTreeSet;
use std::env;
use std::io::{self, IsTerminal};
use std::time::Duration;

use super::figures;
use super::table::{Cell, Table, Tone, paint};
use super::{Report, SenderReport};
use crate::recording::{Figure, Recovery, Summary};
use crate::statistics::{FEWEST_RUNS, Latency};
use crate::workload::Workload;

/// Of the place the text goes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Columns.
    pub width: usize,
    pub colour: bool,
}

/// Where nobody says how wide the output is: the table in one block.
const DEFAULT_WIDTH: usize = 120;
const NARROWEST: usize = 40;

impl Style {
    /// Of standard output: as wide as the terminal or `COLUMNS` says; colours on a terminal without
    /// `NO_COLOR` (<https://no-color.org>).
    pub fn detect() -> Self {
        let columns = env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
        let terminal = || console::Term::stdout().size_checked().map(|(_, width)| width.into());
        let width: usize = columns.or_else(terminal).unwrap_or(DEFAULT_WIDTH);
        Self { width: width.max(NARROWEST), colour: may_colour(&io::stdout()) }
    }
}

/// Whether this stream is a terminal that shows colours, and the user has not asked for none.
pub fn may_colour(stream: &impl IsTerminal) -> bool {
    let no_colour = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let dumb = env::var_os("TERM").is_some_and(|term| term == "dumb");
    stream.is_terminal() && !no_colour && !dumb
}

pub fn render(report: &Report, style: Style) -> String {
    let sections = [
        heading(report, style),
        senders(report, style),
        paths_back::render(report, style),
        footnotes(report, style),
        front::render(report, style),
        vehicles::render(report, style),
        claims::render(report, style),
        sockets::render(report, style),
        error_correction::render(report, style),
        impairment::render(report, style),
        fidelity::fidelity(report, style),
        fidelity::kernel(report, style),
        remarks(report, style),
    ];
    let written = sections.into_iter().filter(|section| !section.is_empty());
    written.collect::<Vec<_>>().join("\n")
}

fn heading(report: &Report, style: Style) -> String {
    let title = match report.about.as_str() {
        "" => report.scenario.clone(),
        about => format!("{}: {about}", report.scenario),
    };
    let title = paint(&wrap(&title, style.width), Tone::Heading, style.colour);
    [title, setup(report), paths(report)].map(|line| wrap(&line, style.width) + "\n").concat()
}

/// What was run, in one line: also the subtitle of every chart.
pub(super) fn setup(report: &Report) -> String {
    let engine = report.engine.map_or_else(|| figures::NONE.to_owned(), |e| e.to_string());
    let parts = [
        workload(&report.workload),
        format!("engine {engine}"),
        format!("seed {}", report.seed),
        sample_size(report),
    ];
    let outages = report.outages.iter().map(|outage| {
        let path = report.path_names.get(outage.path.index()).map_or("?", String::as_str);
        let (from, until) = (outage.from.as_secs_f64(), figures::seconds(outage.until));
        format!("{path} dark {from}–{until}")
    });
    // A timeline full of outages would be longer than all the rest.
    let outages: Vec<String> = match report.outages.len() {
        0..=2 => outages.collect(),
        many => vec![format!("{many} outages")],
    };
    // What the remarks say at length, in a word: a chart has no remarks.
    let reservations = report.reservations().map(|reservation| reservation.to_string());
    parts.into_iter().chain(outages).chain(reservations).collect::<Vec<_>>().join(" · ")
}

/// What the senders met, in one line: below [`setup`] everywhere.
pub(super) fn paths(report: &Report) -> String {
    report.paths.join(" · ")
}

fn sample_size(report: &Report) -> String {
    let messages = report.senders.iter().map(|sender| sender.pooled.messages).max();
    let runs = figures::plural(runs(report) as u64, "run");
    let vehicles = report.senders.iter().filter_map(|sender| sender.pooled.vehicles.as_ref());
    let vehicles = vehicles.map(|it| u64::from(it.count)).max();
    let vehicles =
        vehicles.map_or_else(String::new, |count| format!("{} vehicles, ", figures::count(count)));
    format!("{vehicles}{runs}, n = {}", figures::count(messages.unwrap_or(0)))
}

/// The most that any sender has.
pub(super) fn runs(report: &Report) -> usize {
    report.senders.iter().map(|sender| sender.runs.len()).max().unwrap_or(0)
}

fn workload(workload: &Workload) -> String {
    let periodic = workload.periodic();
    let response = match workload {
        Workload::Control(_) => String::new(),
        Workload::Echo { response_size, .. } => format!(" → {response_size} B"),
    };
    format!(
        "{} {}/s × {} B{response} for {}, deadline {}",
        workload.keyword(),
        periodic.rate,
        periodic.size,
        figures::seconds(periodic.duration),
        figures::duration(periodic.deadline),
    )
}

const HEADINGS: [&str; 13] = [
    "sender",
    "P50",
    "P99",
    "P999",
    "worst",
    "lost",
    "late",
    "longest gap",
    RECOVERY,
    "amp. up",
    "down",
    "total",
    "order",
];
/// Not shown where there is nothing to recover from.
const RECOVERY: &str = "recovery";

fn senders(report: &Report, style: Style) -> String {
    let shown = |heading: &str| heading != RECOVERY || !report.outages.is_empty();
    let headings: Vec<&'static str> = HEADINGS.into_iter().filter(|it| shown(it)).collect();
    let mut table = Table::new(&headings).joining(&["down", "total"]);
    let deadline = report.workload.periodic().deadline;
    for sender in &report.senders {
        let cells = row(sender, deadline).into_iter().zip(HEADINGS);
        table.push(cells.filter(|(_, heading)| shown(heading)).map(|(cell, _)| cell).collect());
    }
    if report.senders.is_empty() {
        return "no sender has run\n".to_owned();
    }
    // A block of nothing but the order would double the length of the table.
    let narrower = table.without_last();
    if table.width() > style.width && narrower.width() <= style.width {
        return narrower.render(style.width, style.colour) + &in_words(report, style);
    }
    table.render(style.width, style.colour)
}

/// What the column of the order says.
fn in_words(report: &Report, style: Style) -> String {
    let summaries = report.senders.iter().map(|sender| &sender.pooled);
    let unordered = summaries.filter(|summary| !summary.delivery.ordered);
    let unordered: Vec<&str> = unordered.map(|summary| summary.sender.as_str()).collect();
    let line = match &unordered[..] {
        [] => "all deliver in order".to_owned(),
        all if all.len() == report.senders.len() => "none delivers in order".to_owned(),
        some => format!("all deliver in order but {}", some.join(", ")),
    };
    format!("\n{}", list(&[line], Tone::Faint, style))
}

fn row(sender: &SenderReport, deadline: Duration) -> Vec<Cell> {
    let summary = &sender.pooled;
    let [p50, p99, p999] = summary.quantiles.map(|figure| quantile(&figure, deadline));
    let amplification = |part: fn(&crate::recording::Amplification) -> f64| {
        Cell::new(figures::ratio_or_none(summary.amplification.as_ref().map(part)))
    };
    vec![
        Cell::marked(&summary.sender, &sender.signs()),
        p50,
        p99,
        p999,
        Cell::new(figures::latency_or_none(summary.worst)),
        share(summary.lost_share(), summary),
        share(summary.late_share(), summary),
        Cell::new(gap(summary)),
        Cell::new(figures::recovery(summary.recovery())),
        amplification(|amplification| amplification.up),
        amplification(|amplification| amplification.down),
        amplification(|amplification| amplification.total()),
        Cell::toned(order(summary), Tone::Faint),
    ]
}

/// The mark for a quantile with too few samples behind it.
const MARK: &str = "*";

/// The mark for a figure of a link that the host spoilt.
const SPOILT: &str = "†";

fn quantile(figure: &Figure, deadline: Duration) -> Cell {
    let Some(value) = figure.value else { return Cell::new(figures::NONE) };
    // A blank keeps the digits of marked and unmarked figures in line.
    let mark = if figure.enough { " " } else { MARK };
    let late = value > Latency::from(deadline);
    Cell::toned(figures::latency(value) + mark, if late { Tone::Bad } else { Tone::Good })
}

fn share(share: f64, of: &Summary) -> Cell {
    if of.messages == 0 {
        return Cell::new(figures::NONE);
    }
    Cell::toned(figures::share(share), if share > 0.0 { Tone::Bad } else { Tone::Plain })
}

fn gap(summary: &Summary) -> String {
    let gap = summary.longest_gap.gap.length();
    figures::latency_or_none((gap > Latency::from(Duration::ZERO)).then_some(gap))
}

fn order(summary: &Summary) -> &'static str {
    if summary.delivery.ordered { "ordered" } else { "unordered" }
}

fn footnotes(report: &Report, style: Style) -> String {
    let few = report.senders.iter().flat_map(|sender| {
        let messages = sender.pooled.messages;
        let few = |figure: &&Figure| figure.value.is_some() && !figure.enough;
        let figures = sender.pooled.quantiles.iter().filter(few);
        figures.map(move |figure| {
            (figure.quantile.samples_needed(), figure.quantile.to_string(), messages)
        })
    });
    // The same note once, however many senders it is about.
    let few: BTreeSet<_> = few.collect();
    let mut notes: Vec<String> = few
        .into_iter()
        .map(|(needed, quantile, messages)| {
            let is = if messages == 1 { "is" } else { "are" };
            let (needed, messages) = (figures::count(needed), figures::count(messages));
            format!(
                "{MARK} too few samples: {quantile} needs {needed} messages for an upper bound, \
                 here {is} {messages}"
            )
        })
        .collect();
    if too_few_runs(report) {
        notes.push(format!(
            "intervals need {FEWEST_RUNS} runs (--repeat {FEWEST_RUNS}): the \
             messages of one run depend on one another"
        ));
    }
    notes.extend(report.order.in_words());
    notes.extend(report.reservations().map(|it| format!("{} {it}: not ranked", it.sign())));
    notes.extend(of_several_runs(report));
    notes.extend(not_recovered(report));
    notes.extend(unknown_recovery(report));
    notes
        .push("lost messages count as infinitely late; late: past the deadline or lost".to_owned());
    list(&notes, Tone::Faint, style)
}

/// For intervals.
pub(super) fn too_few_runs(report: &Report) -> bool {
    let units = report.senders.iter().map(|sender| sender.pooled.units).max();
    (1..FEWEST_RUNS).contains(&units.unwrap_or(0))
}

fn of_several_runs(report: &Report) -> Option<String> {
    let runs = runs(report);
    let recovery = match report.outages.len() {
        0 => None,
        1 => (runs > 1).then_some("the median of the runs"),
        _ if runs > 1 => Some("of the outages of a run the worst, of the runs the median"),
        _ => Some("the worst outage"),
    };
    let recovery = recovery.map(|of| format!("recovery: {of}"));
    let worst = (runs > 1).then(|| format!("worst and longest gap: the worst of {runs} runs"));
    let notes: Vec<String> = worst.into_iter().chain(recovery).collect();
    (!notes.is_empty()).then(|| notes.join("; "))
}

/// What a median does not tell.
fn not_recovered(report: &Report) -> Option<String> {
    let told = report.senders.iter().filter_map(|sender| {
        let of_runs = sender.pooled.recovery_of_runs()?;
        let unit = paths_back::unit(&sender.pooled);
        Some(format!("{} {}", sender.pooled.sender, paths_back::exceptions(&of_runs, unit)?))
    });
    let told: Vec<String> = told.collect();
    (!told.is_empty())
        .then(|| format!("recovery, what the median does not show: {}", told.join(", ")))
}

fn unknown_recovery(report: &Report) -> Option<String> {
    let near = match report.outages.len() {
        0 | 1 => "an end of the run",
        _ => "an end of the run or another outage",
    };
    let recoveries = report.senders.iter().map(|sender| sender.pooled.recovery());
    recoveries.into_iter().any(|recovery| recovery == Some(Recovery::Unknown)).then(|| {
        format!(
            "recovery unknown: there is no P99 to come back to, since more than 1 % was lost \
             before the outage too or the outage is too near {near}"
        )
    })
}

fn remarks(report: &Report, style: Style) -> String {
    let remarks: Vec<String> = report.remarks.iter().map(|remark| format!("! {remark}")).collect();
    list(&remarks, Tone::Bad, style)
}

fn list(lines: &[String], tone: Tone, style: Style) -> String {
    let paint = |line: &String| paint(&wrap(line, style.width), tone, style.colour) + "\n";
    lines.iter().map(paint).collect()
}

/// Breaks a line between words, and indents what follows.
fn wrap(text: &str, width: usize) -> String {
    let mut wrapped = String::new();
    let mut used = 0;
    for word in text.split(' ') {
        let length = word.chars().count();
        if used > 0 && used + 1 + length > width {
            wrapped.push_str("\n  ");
            used = 2;
        } else if used > 0 {
            wrapped.push(' ');
            used += 1;
        }
        wrapped.push_str(word);
        used += length;
    }
    wrapped
}

#[cfg(test)]
mod tests;
