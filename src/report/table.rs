//! Columns of text that line up, in as many blocks as the width asks for. Knows nothing of what the
//! cells mean.

use std::iter;
use std::ops::Range;

/// Widest a cell is printed; more is cut with an ellipsis.
const MAX_CELL: usize = 28;
const SPACING: &str = "  ";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    Plain,
    Good,
    Bad,
    Faint,
    Heading,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    text: String,
    tone: Tone,
}

impl Cell {
    pub fn new(text: impl Into<String>) -> Self {
        Self::toned(text, Tone::Plain)
    }

    pub fn toned(text: impl Into<String>, tone: Tone) -> Self {
        Self { text: cut(text.into(), MAX_CELL), tone }
    }

    /// With a mark, if it is not empty, that is never cut off.
    pub fn marked(text: &str, mark: &str) -> Self {
        if mark.is_empty() {
            return Self::new(text);
        }
        let room = MAX_CELL - 1 - mark.chars().count();
        Self { text: format!("{} {mark}", cut(text.to_owned(), room)), tone: Tone::Bad }
    }
}

fn cut(text: String, room: usize) -> String {
    if text.chars().count() > room {
        text.chars().take(room - 1).chain(['…']).collect()
    } else {
        text
    }
}

/// The first column names the row: it is on the left and repeated in each block. The others are on
/// the right.
#[derive(Debug)]
pub struct Table {
    headings: Vec<&'static str>,
    joined: &'static [&'static str],
    rows: Vec<Vec<Cell>>,
}

impl Table {
    pub fn new(headings: &[&'static str]) -> Self {
        Self { headings: headings.to_vec(), joined: &[], rows: Vec::new() }
    }

    /// Columns whose headings go on with that of the one before: they stay in its block, if that
    /// has room for them.
    pub fn joining(self, joined: &'static [&'static str]) -> Self {
        Self { joined, ..self }
    }

    /// Of as many cells as there are headings.
    pub fn push(&mut self, row: Vec<Cell>) {
        debug_assert_eq!(row.len(), self.headings.len());
        self.rows.push(row);
    }

    /// Columns of text that it takes in one block.
    pub fn width(&self) -> usize {
        self.width_of(0) + self.width_beside_name(1..self.headings.len())
    }

    /// The same, less its last column.
    pub fn without_last(&self) -> Self {
        let (mut headings, mut rows) = (self.headings.clone(), self.rows.clone());
        headings.pop();
        rows.iter_mut().for_each(|row| drop(row.pop()));
        Self { headings, joined: self.joined, rows }
    }

    pub fn render(&self, width: usize, colour: bool) -> String {
        let blocks = self.blocks(width).into_iter().map(|columns| self.block(&columns, colour));
        blocks.collect::<Vec<_>>().join("\n")
    }

    /// Fills each block with as many columns as fit, at least one beside the name.
    fn blocks(&self, width: usize) -> Vec<Vec<usize>> {
        let mut blocks: Vec<Vec<usize>> = Vec::new();
        let mut used = usize::MAX;
        for group in self.groups(width) {
            let more = self.width_beside_name(group.clone());
            if used.saturating_add(more) <= width {
                used += more;
                blocks.iter_mut().last().into_iter().for_each(|block| block.extend(group.clone()));
            } else {
                used = self.width_of(0) + more;
                blocks.push([0].into_iter().chain(group).collect());
            }
        }
        blocks
    }

    /// The columns beside the name, those together that are to be in one block and can be.
    fn groups(&self, width: usize) -> Vec<Range<usize>> {
        let mut groups: Vec<Range<usize>> = Vec::new();
        for column in 1..self.headings.len() {
            let fits = |group: &Range<usize>| {
                self.width_of(0) + self.width_beside_name(group.start..column + 1) <= width
            };
            match groups.last_mut() {
                Some(group) if self.joined.contains(&self.headings[column]) && fits(group) => {
                    group.end = column + 1;
                }
                _ => groups.push(column..column + 1),
            }
        }
        groups
    }

    fn width_beside_name(&self, columns: Range<usize>) -> usize {
        columns.map(|column| SPACING.len() + self.width_of(column)).sum()
    }

    fn width_of(&self, column: usize) -> usize {
        let cells = self.rows.iter().map(|row| row[column].text.chars().count());
        cells.chain(iter::once(self.headings[column].chars().count())).max().unwrap_or(0)
    }

    fn block(&self, columns: &[usize], colour: bool) -> String {
        let heading: Vec<Cell> =
            self.headings.iter().map(|text| Cell::toned(*text, Tone::Heading)).collect();
        let rows = iter::once(&heading).chain(&self.rows);
        rows.map(|row| self.line(row, columns, colour)).collect()
    }

    fn line(&self, row: &[Cell], columns: &[usize], colour: bool) -> String {
        let cells = columns.iter().map(|column| {
            let cell = &row[*column];
            let padding = " ".repeat(self.width_of(*column) - cell.text.chars().count());
            let text = paint(&cell.text, cell.tone, colour);
            if *column == 0 { format!("{text}{padding}") } else { format!("{padding}{text}") }
        });
        let line = cells.collect::<Vec<_>>().join(SPACING);
        format!("{}\n", line.trim_end())
    }
}

/// With the escape sequences of ECMA-48 that every terminal knows.
pub fn paint(text: &str, tone: Tone, colour: bool) -> String {
    let code = match tone {
        Tone::Plain => "",
        Tone::Good => "32",
        Tone::Bad => "31",
        Tone::Faint => "2",
        Tone::Heading => "1",
    };
    if colour && !code.is_empty() { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new(&["sender", "P50", "P99"]);
        table.push(vec![Cell::new("kcp"), Cell::new("50.2 ms"), Cell::toned("lost", Tone::Bad)]);
        table.push(vec![
            Cell::new("a-name-that-is-far-too-long-for-it"),
            Cell::new("–"),
            Cell::new("–"),
        ]);
        table
    }

    #[test]
    fn columns_line_up() {
        insta::assert_snapshot!(table().render(80, false), @"
        sender                            P50   P99
        kcp                           50.2 ms  lost
        a-name-that-is-far-too-long…        –     –
        ");
    }

    #[test]
    fn what_does_not_fit_goes_below_with_the_name_again() {
        insta::assert_snapshot!(table().render(40, false), @"
        sender                            P50
        kcp                           50.2 ms
        a-name-that-is-far-too-long…        –

        sender                         P99
        kcp                           lost
        a-name-that-is-far-too-long…     –
        ");
    }

    #[test]
    fn what_a_heading_goes_on_with_goes_with_it() {
        let mut table = Table::new(&["sender", "lost", "amp. up", "down"]).joining(&["down"]);
        table.push(["kcp", "0 %", "1.50", "0.10"].map(Cell::new).to_vec());
        insta::assert_snapshot!(table.render(25, false), @"
        sender  lost
        kcp      0 %

        sender  amp. up  down
        kcp        1.50  0.10
        ");
        insta::assert_snapshot!(table.render(18, false), @"
        sender  lost
        kcp      0 %

        sender  amp. up
        kcp        1.50

        sender  down
        kcp     0.10
        ");
    }

    #[test]
    fn a_mark_is_not_cut_off() {
        let text = |name: &str| Cell::marked(name, "†").text;
        assert_eq!(text("kcp"), "kcp †");
        assert_eq!(text("a-name-that-is-far-too-long-for-it"), "a-name-that-is-far-too-lo… †");
        assert_eq!(Cell::marked("kcp", ""), Cell::new("kcp"));
    }

    #[test]
    fn colours_do_not_move_columns() {
        let coloured = table().render(80, true);
        assert!(coloured.contains("\x1b[31mlost\x1b[0m"));
        let plain: String = ["\x1b[31m", "\x1b[1m", "\x1b[0m"]
            .iter()
            .fold(coloured, |text, code| text.replace(code, ""));
        assert_eq!(plain, table().render(80, false));
    }
}
