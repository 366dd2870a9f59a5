//! What every chart has around it: title, what was run, grid, axis titles, legend and a line on how
//! to read it.

use plotters::style::{Color, RGBColor};

use super::Data;
use super::axis::Axis;
use super::canvas::{Align, Canvas, Point, Stroke, Text, WIDTH, text_width};
use super::labels::Area;
use super::palette::{DEADLINE, FAINT_INK, GRID, INK, PAPER, SenderLook};
use crate::report::{SenderReport, figures, terminal};

pub const MARGIN: f64 = 24.0;
/// Where the space under a title and two lines of subtitle begins.
const TOP: f64 = 110.0;
/// From one line of the subtitle to the next.
const SUBTITLE: f64 = 18.0;
pub const LABEL: f64 = 12.0;
pub const SMALL: f64 = 11.0;
/// Height of a row of labels.
pub const ROW: f64 = 18.0;
/// Space under the plot for the tick labels, the title of the axis and a note of up to three lines.
pub const BOTTOM: f64 = 112.0;

/// The part of a canvas that the data is drawn in.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plot {
    pub left: f64,
    pub right: f64,
    pub top: f64,
    pub bottom: f64,
}

pub fn label(align: Align) -> Text {
    Text { size: LABEL, colour: INK, align, bold: false, upright: false }
}

pub fn small(align: Align) -> Text {
    Text { size: SMALL, colour: FAINT_INK, align, bold: false, upright: false }
}

pub fn thin(colour: RGBColor) -> Stroke {
    Stroke { colour: colour.mix(1.0), width: 1.0, dash: 0.0 }
}

/// White paper, the title, and below it what was run and through what.
pub fn head(data: &Data, canvas: &mut Canvas, title: &str) {
    canvas.rectangle((0.0, 0.0), (WIDTH, canvas.height()), PAPER.mix(1.0));
    let title = format!("{title} · {}", data.report.scenario);
    let bold = Text { size: 18.0, bold: true, ..label(Align::Left) };
    canvas.text(&fitted(&title, bold.size, true, WIDTH - 2.0 * MARGIN), (MARGIN, 30.0), bold);
    let look = Text { colour: FAINT_INK, ..label(Align::Left) };
    for (place, line) in subtitle(data).iter().enumerate() {
        let at = (MARGIN, 54.0 + SUBTITLE * place as f64);
        canvas.text(&fitted(line, LABEL, false, WIDTH - 2.0 * MARGIN), at, look);
    }
}

/// Where the space under title and subtitle begins: many paths take several lines.
pub fn top(data: &Data) -> f64 {
    TOP + SUBTITLE * subtitle(data).len().saturating_sub(2) as f64
}

/// What was run and through what, cut into lines between two parts.
fn subtitle(data: &Data) -> Vec<String> {
    let both = [terminal::setup(data.report), terminal::paths(data.report)];
    both.iter().flat_map(|text| lines(text, " · ", LABEL, WIDTH - 2.0 * MARGIN)).collect()
}

/// How to read it, in the last lines of the canvas.
pub fn note(canvas: &mut Canvas, text: &str) {
    let lines = lines(text, " ", SMALL, WIDTH - 2.0 * MARGIN);
    let first = canvas.height() - 10.0 - 16.0 * (lines.len() as f64 - 0.5);
    for (place, line) in lines.iter().enumerate() {
        canvas.text(line, (MARGIN, first + 16.0 * place as f64), small(Align::Left));
    }
}

/// Beyond this height of a plot the labels under it are out of sight from its top.
pub const TALL: f64 = 900.0;

/// Grid lines and labels of an axis from left to right, under the plot, and above a tall one too.
pub fn axis_below(
    canvas: &mut Canvas,
    plot: &Plot,
    axis: &Axis,
    write: fn(f64) -> String,
    title: &str,
) {
    let tall = plot.bottom - plot.top > TALL;
    for (value, x) in axis.ticks(64.0) {
        canvas.line((x, plot.top), (x, plot.bottom), thin(GRID));
        canvas.text(&write(value), (x, plot.bottom + 14.0), label(Align::Centre));
        if tall {
            canvas.text(&write(value), (x, plot.top - 32.0), label(Align::Centre));
        }
    }
    title_below(canvas, plot, title);
}

pub fn title_below(canvas: &mut Canvas, plot: &Plot, title: &str) {
    let middle = (plot.left + plot.right) / 2.0;
    canvas.text(title, (middle, plot.bottom + 36.0), label(Align::Centre));
}

/// Grid lines and labels of an axis from bottom to top, left of the plot.
pub fn axis_left(canvas: &mut Canvas, plot: &Plot, axis: &Axis, title: &str) {
    for (value, y) in axis.ticks(20.0) {
        // The band above the plot has a label of its own, and a line without one says nothing.
        if y < plot.top + LABEL / 2.0 {
            continue;
        }
        canvas.line((plot.left, y), (plot.right, y), thin(GRID));
        canvas.text(&super::axis::latency_label(value), (plot.left - 8.0, y), label(Align::Right));
    }
    let upright = Text { upright: true, ..label(Align::Centre) };
    canvas.text(title, (MARGIN - 4.0, (plot.top + plot.bottom) / 2.0), upright);
}

/// `latency`, and that its scale is logarithmic where it is.
pub fn latency_title(what: &str, axis: &Axis) -> String {
    if axis.is_log() { format!("{what}, logarithmic scale") } else { what.to_owned() }
}

pub fn deadline_ms(data: &Data) -> f64 {
    data.report.workload.periodic().deadline.as_secs_f64() * 1e3
}

pub fn deadline_stroke() -> Stroke {
    Stroke { dash: 5.0, ..thin(DEADLINE) }
}

pub fn deadline_label(data: &Data) -> String {
    format!("deadline {}", figures::duration(data.report.workload.periodic().deadline))
}

/// A line across the plot at the deadline.
pub fn deadline_across(data: &Data, canvas: &mut Canvas, plot: &Plot, axis: &Axis) {
    let y = axis.place(deadline_ms(data));
    canvas.line((plot.left, y), (plot.right, y), deadline_stroke());
}

/// Its name above the right end, or the left one where that would cover a mark; on paper, so that
/// no line runs through it. Returns where it is.
pub fn deadline_name(
    data: &Data,
    canvas: &mut Canvas,
    plot: &Plot,
    axis: &Axis,
    marks: &[Point],
) -> Area {
    let (text, y) = (deadline_label(data), axis.place(deadline_ms(data)));
    let width = text_width(&text, SMALL, false);
    let ends = [plot.right - 4.0 - width, plot.left + 6.0];
    let areas = ends.map(|left| Area { left, right: left + width, top: y - 17.0, bottom: y });
    let covers = |area: &Area| marks.iter().any(|at| area.meets(&Area::around(*at, (16.0, 16.0))));
    let area = areas.into_iter().find(|area| !covers(area)).unwrap_or(areas[0]);
    let (at, paper) = ((area.left, y - 9.0), PAPER.mix(0.85));
    let look = Text { colour: DEADLINE, ..small(Align::Left) };
    canvas.rectangle((area.left - 2.0, area.top + 1.0), (area.right + 2.0, y - 2.0), paper);
    canvas.text(&text, at, look);
    area
}

/// A line with two ends across a bar, edged with paper so that it is seen on a dark one.
pub fn whisker(canvas: &mut Canvas, (low, high): (f64, f64), middle: f64) {
    const HALF: f64 = 3.5;
    for (colour, width, edge) in [(PAPER, 2.5, 0.75), (INK, 1.0, 0.0)] {
        let stroke = Stroke { colour: colour.mix(1.0), width, dash: 0.0 };
        canvas.line((low, middle), (high, middle), stroke);
        for x in [low, high] {
            canvas.line((x, middle - HALF - edge), (x, middle + HALF + edge), stroke);
        }
    }
}

/// Around a bar that begins at an axis, so that it stands out from the paper however pale it is.
pub fn outline(canvas: &mut Canvas, from: Point, to: Point, look: SenderLook) {
    let stroke = Stroke { colour: look.opaque(), width: 1.0, dash: 0.0 };
    canvas.polyline(&[from, (to.0, from.1), to, (from.0, to.1)], stroke);
}

/// Lines with their names, one under another, from a point down.
pub fn legend(canvas: &mut Canvas, lines: &[(String, Stroke)], (x, y): Point) {
    for (place, (name, stroke)) in lines.iter().enumerate() {
        let y = y + ROW * place as f64;
        canvas.line((x, y), (x + 22.0, y), Stroke { width: 3.0, ..*stroke });
        let name = fitted(name, LABEL, false, WIDTH - MARGIN - x - 30.0);
        canvas.text(&name, (x + 30.0, y), label(Align::Left));
    }
}

/// How wide the legend is, with a limit so that a long name does not squeeze the plot.
pub fn legend_width(lines: &[(String, Stroke)]) -> f64 {
    let widths = lines.iter().map(|(name, _)| text_width(name, LABEL, false));
    (34.0 + widths.fold(0.0, f64::max)).min(260.0)
}

pub fn widest_name(data: &Data) -> f64 {
    let names = data.report.senders.iter().map(SenderReport::label);
    names.map(|name| text_width(&name, LABEL, false)).fold(0.0, f64::max)
}

/// Tall enough for a legend of so many lines, and never less than `least` under a short subtitle.
pub fn height_with_legend(data: &Data, lines: usize, least: f64) -> f64 {
    (top(data) + BOTTOM + ROW * lines as f64).max(least + top(data) - TOP)
}

/// The text, or as much of it as fits, with an ellipsis.
pub fn fitted(text: &str, size: f64, bold: bool, width: f64) -> String {
    if text_width(text, size, bold) <= width {
        return text.to_owned();
    }
    let mut kept: Vec<char> = text.chars().collect();
    loop {
        kept.pop();
        let shortened: String = kept.iter().chain(['…'].iter()).collect();
        if kept.is_empty() || text_width(&shortened, size, bold) <= width {
            return shortened;
        }
    }
}

/// Cut at separators only.
fn lines(text: &str, separator: &str, size: f64, width: f64) -> Vec<String> {
    let mut lines = vec![String::new()];
    for part in text.split(separator) {
        let last = lines.last().map_or("", String::as_str);
        let longer = match last {
            "" => part.to_owned(),
            last => format!("{last}{separator}{part}"),
        };
        if !last.is_empty() && text_width(&longer, size, false) > width {
            lines.push(part.to_owned());
        } else {
            lines.pop();
            lines.push(longer);
        }
    }
    lines
}
