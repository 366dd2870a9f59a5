//! What error correction did at each end that hears it: of all runs together.

use super::super::table::{Cell, Table, Tone, paint};
use super::super::{Report, figures};
use super::Style;
use crate::protocol::ShardCounts;

const TITLE: &str = "Error correction, by what came to each end (datagrams)";
const SIDES: [&str; 2] = ["vehicle", "cloud"];

pub(super) fn render(report: &Report, style: Style) -> String {
    let ends = report.senders.iter().flat_map(|sender| {
        let ends = SIDES.into_iter().zip(sender.pooled.error_correction.into_iter().flatten());
        ends.map(|(side, counts)| row(&format!("{} {side}", sender.pooled.sender), counts))
    });
    let rows: Vec<Vec<Cell>> = ends.collect();
    if rows.is_empty() {
        return String::new();
    }
    let mut table =
        Table::new(&["end", "data", "parity", "made again", "share", "for nothing", "failed"]);
    rows.into_iter().for_each(|row| table.push(row));
    let title = paint(TITLE, Tone::Heading, style.colour);
    format!("{title}\n{}", table.render(style.width, style.colour))
}

/// The share is that of all data that there was in the end.
fn row(name: &str, counts: ShardCounts) -> Vec<Cell> {
    let ShardCounts { data, parity, recovered, known, failed } = counts;
    let share = figures::share(recovered as f64 / (data + recovered).max(1) as f64);
    let count = figures::count;
    let cells = [count(data), count(parity), count(recovered), share, count(known), count(failed)];
    [name.to_owned()].into_iter().chain(cells).map(Cell::new).collect()
}
