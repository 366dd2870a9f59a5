//! A table as Markdown, and how a figure is shown in it.

use std::fmt;

use crate::figures::Figure;

pub struct Table {
    title: String,
    rows: Vec<Vec<String>>,
    columns: usize,
}

impl Table {
    pub fn new<const N: usize>(title: impl Into<String>, heading: [&str; N]) -> Self {
        let heading = heading.map(str::to_owned).to_vec();
        Self { title: title.into(), rows: vec![heading], columns: N }
    }

    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        let row: Vec<String> = cells.into_iter().collect();
        debug_assert_eq!(row.len(), self.columns, "a cell for each column");
        self.rows.push(row);
    }
}

impl fmt::Display for Table {
    /// Nothing if it has no rows.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.rows.len() == 1 {
            return Ok(());
        }
        writeln!(f, "### {}\n", self.title)?;
        for (number, row) in self.rows.iter().enumerate() {
            writeln!(f, "| {} |", row.join(" | "))?;
            if number == 0 {
                writeln!(f, "|{}", "---|".repeat(self.columns))?;
            }
        }
        writeln!(f)
    }
}

/// Milliseconds to a tenth.
pub fn milliseconds(figure: Figure) -> String {
    with_interval(figure, 1)
}

/// To a hundredth.
pub fn ratio(figure: Figure) -> String {
    with_interval(figure, 2)
}

fn with_interval(figure: Figure, digits: usize) -> String {
    let number = |value: f64| {
        if value.is_infinite() { "lost".to_owned() } else { format!("{value:.digits$}") }
    };
    match (figure.interval.low, figure.interval.high) {
        (Some(low), Some(high)) => {
            format!("{} ({}–{})", number(figure.value), number(low), number(high))
        }
        _ => number(figure.value),
    }
}
