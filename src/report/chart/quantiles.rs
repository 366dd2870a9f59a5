//! P50, P99 and P999 of each sender as bars, with their intervals.

use plotters::style::Color;

use super::Data;
use super::axis::{Axis, Span, latency_label};
use super::canvas::{Align, Canvas, Stroke, Text, WIDTH, text_width};
use super::frame::{
    BOTTOM, LABEL, MARGIN, Plot, SMALL, axis_below, deadline_label, deadline_ms, deadline_stroke,
    fitted, head, label, latency_title, note, outline, small, top, whisker, widest_name,
};
use super::intervals::{Intervals, ends};
use super::palette::{DEADLINE, INK, PAPER, SenderLook};
use super::selection::{remark, signs};
use crate::recording::Figure;
use crate::report::{SenderReport, figures};
use crate::statistics::Latency;

const BAR: f64 = 17.0;
const GROUP: f64 = 3.0 * BAR + 14.0;
/// How strong the colour of each quantile's bar is.
const TINTS: [f64; 3] = [0.4, 0.7, 1.0];
const FEWEST_GROUPS: f64 = 1.0;

pub fn height(data: &Data) -> f64 {
    top(data) + BOTTOM + 16.0 + GROUP * (data.report.senders.len() as f64).max(FEWEST_GROUPS)
}

pub fn draw(data: &Data, canvas: &mut Canvas) {
    head(data, canvas, "Latency of each sender");
    let names = widest_name(data).min(200.0);
    let plot = Plot {
        left: MARGIN + names + 12.0 + text_width("P999", SMALL, false) + 8.0,
        right: WIDTH - MARGIN - 70.0,
        top: top(data) + 16.0,
        bottom: canvas.height() - BOTTOM,
    };
    let axis = axis(data, &plot);
    axis_below(canvas, &plot, &axis, latency_label, &latency_title("latency", &axis));
    let bars = bars(data, &plot, &axis);
    bars.iter().for_each(|bar| bar.draw(canvas));
    canvas.line((plot.left, plot.top), (plot.left, plot.bottom), super::frame::thin(INK));
    deadline(data, canvas, &plot, &axis);
    // Above the deadline, which may run through them.
    bars.iter().for_each(|bar| bar.write(canvas));
    for (place, sender) in data.report.senders.iter().enumerate() {
        let name = fitted(&sender.label(), LABEL, false, names);
        let middle = top_of_group(&plot, place) + 1.5 * BAR;
        canvas.text(&name, (MARGIN, middle), label(Align::Left));
    }
    note(canvas, &how_to_read(data, &axis));
}

fn axis(data: &Data, plot: &Plot) -> Axis {
    let figures = data.report.senders.iter().flat_map(|sender| sender.pooled.quantiles);
    let latencies =
        figures.flat_map(|figure| [figure.value, figure.interval.low, figure.interval.high]);
    let values = latencies.flatten().map(Latency::as_ms_or_infinity);
    let values = values.chain([deadline_ms(data)]);
    Axis::of_latencies(values, Span { from: plot.left, to: plot.right })
}

fn how_to_read(data: &Data, axis: &Axis) -> String {
    let figures = || data.report.senders.iter().flat_map(|sender| &sender.pooled.quantiles);
    let few = match figures().any(|figure| !figure.enough) {
        true => "Hatched and marked *: too few samples to bound the quantile from above. ",
        false => "",
    };
    let scale = match axis.is_log() {
        true => " Equal lengths are equal factors: compare the ends of the bars.",
        false => "",
    };
    let drawable =
        figures().filter(|figure| figure.enough && figure.value.is_some_and(|it| !it.is_lost()));
    let intervals: Intervals = drawable.map(|figure| ends(&figure.interval).is_some()).collect();
    format!(
        "{}{}{}{few}A lost message counts as infinitely late.{scale}",
        signs(data.report),
        remark(data.report, "In colour:"),
        intervals.sentence(data.report, "Whiskers")
    )
}

struct Bar<'a> {
    axis: &'a Axis,
    plot: &'a Plot,
    figure: &'a Figure,
    look: SenderLook,
    top: f64,
    tint: f64,
}

fn bars<'a>(data: &'a Data, plot: &'a Plot, axis: &'a Axis) -> Vec<Bar<'a>> {
    let of_sender = |(place, sender): (usize, &'a SenderReport)| {
        let bar = move |(row, figure): (usize, &'a Figure)| Bar {
            axis,
            plot,
            figure,
            look: data.look(sender),
            top: top_of_group(plot, place) + BAR * row as f64,
            tint: TINTS[row],
        };
        sender.pooled.quantiles.iter().enumerate().map(bar)
    };
    data.report.senders.iter().enumerate().flat_map(of_sender).collect()
}

fn top_of_group(plot: &Plot, place: usize) -> f64 {
    plot.top + GROUP * place as f64 + 7.0
}

impl Bar<'_> {
    fn draw(&self, canvas: &mut Canvas) {
        let Some(end) = self.end() else { return };
        let (from, to) = ((self.plot.left, self.top + 1.5), (end, self.top + BAR - 1.5));
        if self.figure.enough {
            canvas.rectangle(from, to, self.look.tint(self.tint));
        } else {
            canvas.rectangle(from, to, self.look.tint(self.tint * 0.25));
            self.hatch(canvas, end);
        }
        outline(canvas, from, to, self.look);
    }

    /// Its names, its whisker and, on white, its value.
    fn write(&self, canvas: &mut Canvas) {
        let middle = self.top + BAR / 2.0;
        let quantile = self.figure.quantile.to_string();
        canvas.text(&quantile, (self.plot.left - 6.0, middle), small(Align::Right));
        let Some((value, end)) = self.figure.value.zip(self.end()) else {
            canvas.text("no messages", (self.plot.left + 6.0, middle), small(Align::Left));
            return;
        };
        let mark = if self.figure.enough { "" } else { " *" };
        let text = format!("{}{mark}", figures::latency(value));
        let (width, far) = (text_width(&text, SMALL, false), self.whisker(canvas, end));
        // At the end of a long whisker it would be taken for what the whisker says: it then stands
        // on the line, beside its bar.
        let beside = far - end > width + 24.0;
        let from = if beside { end + 6.0 } else { far + 6.0 };
        let to = from + width;
        if beside && self.figure.interval.high.is_some_and(Latency::is_lost) {
            canvas.text("lost", (far + 6.0, middle), small(Align::Left));
        }
        canvas.rectangle((from - 2.0, middle - 6.0), (to + 2.0, middle + 6.0), PAPER.mix(1.0));
        canvas.text(&text, (from, middle), Text { size: SMALL, ..label(Align::Left) });
    }

    fn end(&self) -> Option<f64> {
        let value = self.figure.value?;
        Some(match value.is_lost() {
            true => self.plot.right,
            false => self.axis.place(value.as_ms_or_infinity()),
        })
    }

    /// Slanted lines, cut at the edges of the bar.
    fn hatch(&self, canvas: &mut Canvas, end: f64) {
        let (top, bottom) = (self.top + 1.5, self.top + BAR - 1.5);
        let stroke = Stroke { colour: self.look.opaque(), width: 1.0, dash: 0.0 };
        let rise = bottom - top;
        let mut start = self.plot.left - rise + 3.0;
        while start < end {
            let (low, high) = (start.max(self.plot.left), (start + rise).min(end));
            if high - low > 0.5 {
                canvas.line((low, bottom - (low - start)), (high, bottom - (high - start)), stroke);
            }
            start += 6.0;
        }
    }

    /// Returns where the whisker, or the bar, ends. A whisker without an upper end runs off to the
    /// right.
    fn whisker(&self, canvas: &mut Canvas, end: f64) -> f64 {
        let Some((low, high)) = ends(&self.figure.interval) else { return end };
        let high = high.as_ms().map_or(self.plot.right, |ms| self.axis.place(ms));
        let (low, middle) = (self.axis.place(low), self.top + BAR / 2.0);
        whisker(canvas, (low, high), middle);
        end.max(high)
    }
}

fn deadline(data: &Data, canvas: &mut Canvas, plot: &Plot, axis: &Axis) {
    let x = axis.place(deadline_ms(data));
    canvas.line((x, plot.top - 8.0), (x, plot.bottom), deadline_stroke());
    let look = Text { colour: DEADLINE, ..small(Align::Centre) };
    canvas.text(&deadline_label(data), (x, plot.top - 16.0), look);
}
