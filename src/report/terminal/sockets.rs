//! What the kernel said of its own senders, one line a socket: of all runs together.

use super::super::table::{Cell, Table, Tone, paint};
use super::super::{Report, figures};
use super::{Style, list};
use crate::recording::{EndSockets, MptcpFigures, TcpFigures};
use crate::units::PathId;

const TITLE: &str =
    "TCP of the kernel, as it tells (tcp_info; figures of time at the end of a run)";
const SIDES: [&str; 2] = ["vehicle", "cloud"];

pub(super) fn render(report: &Report, style: Style) -> String {
    let rows = rows(report);
    if rows.is_empty() {
        return String::new();
    }
    let mut table = Table::new(&[
        "socket",
        "control",
        "data sent",
        "again",
        "needlessly",
        "timeouts",
        "RTT",
        "least RTT",
        "window",
    ]);
    rows.into_iter().for_each(|row| table.push(row));
    let title = paint(TITLE, Tone::Heading, style.colour);
    let table = table.render(style.width, style.colour);
    format!("{title}\n{table}{}", list(&reinjected(report), Tone::Plain, style))
}

/// What no count of the subflows holds.
fn reinjected(report: &Report) -> Vec<String> {
    let senders = report.senders.iter().filter_map(|sender| {
        let runs: Vec<_> = sender.runs.iter().filter_map(|run| run.sockets.as_ref()).collect();
        let [vehicle, cloud] = [0, 1].map(|side| {
            let ends = runs.iter().filter_map(|ends| ends[side].mptcp);
            reinjected_by(SIDES[side], &ends.collect::<Vec<_>>())
        });
        Some(format!("{} {}, {}", sender.pooled.sender, vehicle?, cloud?))
    });
    let senders: Vec<String> = senders.collect();
    if senders.is_empty() {
        return Vec::new();
    }
    vec![format!("payload that a further subflow was given, too: {}", senders.join(" · "))]
}

/// One side's in all runs that tell; `None`: it is no multipath TCP.
fn reinjected_by(side: &str, ends: &[MptcpFigures]) -> Option<String> {
    let runs = ends.len();
    let known: Vec<u64> = ends.iter().filter_map(|end| end.reinjected_bytes).collect();
    let bytes = figures::count(known.iter().sum());
    match known.len() {
        _ if runs == 0 => None,
        0 => Some(format!("{side} unknown")),
        telling if telling == runs => Some(format!("{side} {bytes} B")),
        telling => Some(format!("{side} {bytes} B in {telling} of {runs} runs")),
    }
}

fn rows(report: &Report) -> Vec<Vec<Cell>> {
    let mut rows = Vec::new();
    for sender in &report.senders {
        let runs: Vec<_> = sender.runs.iter().filter_map(|run| run.sockets.as_ref()).collect();
        for (side, side_name) in SIDES.into_iter().enumerate() {
            let ends: Vec<&EndSockets> = runs.iter().map(|ends| &ends[side]).collect();
            for path in paths(&ends) {
                let name = path.and_then(|path| report.path_names.get(path.index()));
                let name = name.map_or("?", String::as_str);
                let name = format!("{} {side_name} {name}", sender.pooled.sender);
                rows.extend(row(name, &ends, path));
            }
        }
    }
    rows
}

/// In the order of the first run that has them.
fn paths(ends: &[&EndSockets]) -> Vec<Option<PathId>> {
    let mut found = Vec::new();
    for socket in ends.iter().flat_map(|end| &end.connections) {
        if !found.contains(&socket.path) {
            found.push(socket.path);
        }
    }
    found
}

/// Counts are added up; of times, the mean; of the least of them, the least.
fn row(name: String, ends: &[&EndSockets], path: Option<PathId>) -> Option<Vec<Cell>> {
    let of_path = |end: &&EndSockets| end.connections.iter().find(|tcp| tcp.path == path).copied();
    let sockets: Vec<TcpFigures> = ends.iter().filter_map(of_path).collect();
    let control = ends.first()?.congestion.clone();
    let sum = |part: fn(&TcpFigures) -> u64| sockets.iter().map(part).sum::<u64>();
    let mean = |part: fn(&TcpFigures) -> u64| sum(part) as f64 / sockets.len().max(1) as f64;
    let timeouts: Option<u64> = sockets.iter().map(|tcp| tcp.timeouts).sum();
    let least = sockets.iter().filter_map(|tcp| tcp.min_rtt_us).min();
    let ms = |us: f64| figures::milliseconds(us / 1e3);
    let or_none = |text: Option<String>| text.unwrap_or_else(|| figures::NONE.to_owned());
    let cells = [
        name,
        control,
        figures::count(sum(|tcp| tcp.data_segments_sent)),
        figures::count(sum(|tcp| tcp.retransmitted)),
        figures::count(sum(|tcp| tcp.spurious)),
        or_none(timeouts.map(figures::count)),
        ms(mean(|tcp| tcp.rtt_us)),
        or_none(least.map(|us| ms(us as f64))),
        figures::count(mean(|tcp| tcp.congestion_window).round() as u64),
    ];
    Some(cells.map(Cell::new).to_vec())
}
