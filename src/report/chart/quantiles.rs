//! P50, P99 and P999 of each sender as bars, with their intervals.

use plotters::style::Color;

use super::Data;
use super::axis::{Axis, Span, latency_label};
use super::canvas::{Align, Canvas, Stroke, Text, WIDTH, text_width};
use super::frame::{
    BOTTOM, LABEL, MARGIN, Plot, SMALL, TOP, axis_below, deadline_label, deadline_ms,
    deadline_stroke, fitted, head, label, latency_title, note, small, whiskers, widest_name,
};
use super::palette::{DEADLINE, INK, SenderLook};
use crate::recording::Figure;
use crate::report::figures;
use crate::statistics::Latency;

const BAR: f64 = 17.0;
const GROUP: f64 = 3.0 * BAR + 14.0;
/// How strong the colour of each quantile's bar is.
const TINTS: [f64; 3] = [0.4, 0.7, 1.0];
const FEWEST_GROUPS: f64 = 1.0;

pub fn height(data: &Data) -> f64 {
    TOP + BOTTOM + 16.0 + GROUP * (data.report.senders.len() as f64).max(FEWEST_GROUPS)
}

pub fn draw(data: &Data, canvas: &mut Canvas) {
    head(data, canvas, "Latency of each sender");
    let names = widest_name(data).min(200.0);
    let plot = Plot {
        left: MARGIN + names + 12.0 + text_width("P999", SMALL, false) + 8.0,
        right: WIDTH - MARGIN - 70.0,
        top: TOP + 16.0,
        bottom: canvas.height() - BOTTOM,
    };
    let axis = axis(data, &plot);
    axis_below(canvas, &plot, &axis, latency_label, &latency_title("latency", &axis));
    for (place, sender) in data.report.senders.iter().enumerate() {
        let top = plot.top + GROUP * place as f64 + 7.0;
        let name = fitted(&sender.pooled.sender, LABEL, false, names);
        canvas.text(&name, (MARGIN, top + 1.5 * BAR), label(Align::Left));
        for (row, figure) in sender.pooled.quantiles.iter().enumerate() {
            let bar =
                Bar { axis: &axis, plot: &plot, top: top + BAR * row as f64, tint: TINTS[row] };
            bar.draw(canvas, figure, SenderLook(place));
        }
    }
    canvas.line((plot.left, plot.top), (plot.left, plot.bottom), super::frame::thin(INK));
    deadline(data, canvas, &plot, &axis);
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
    let mut figures = data.report.senders.iter().flat_map(|sender| &sender.pooled.quantiles);
    let few = match figures.any(|figure| !figure.enough) {
        true => " Hatched and marked *: too few samples to bound the quantile from above.",
        false => "",
    };
    let scale = match axis.is_log() {
        true => " Equal lengths are equal factors: compare the ends of the bars.",
        false => "",
    };
    format!("{}{few} A lost message counts as infinitely late.{scale}", whiskers(data))
}

struct Bar<'a> {
    axis: &'a Axis,
    plot: &'a Plot,
    top: f64,
    tint: f64,
}

impl Bar<'_> {
    fn draw(&self, canvas: &mut Canvas, figure: &Figure, look: SenderLook) {
        let middle = self.top + BAR / 2.0;
        canvas.text(
            &figure.quantile.to_string(),
            (self.plot.left - 6.0, middle),
            small(Align::Right),
        );
        let Some(value) = figure.value else {
            canvas.text("no messages", (self.plot.left + 6.0, middle), small(Align::Left));
            return;
        };
        let end = if value.is_lost() {
            self.plot.right
        } else {
            self.axis.place(value.as_ms_or_infinity())
        };
        let (from, to) = ((self.plot.left, self.top + 1.5), (end, self.top + BAR - 1.5));
        if figure.enough {
            canvas.rectangle(from, to, look.tint(self.tint));
        } else {
            canvas.rectangle(from, to, look.tint(self.tint * 0.25));
            self.hatch(canvas, end, look);
        }
        let label_from = self.whisker(canvas, figure, end);
        let mark = if figure.enough { "" } else { " *" };
        let text = format!("{}{mark}", figures::latency(value));
        canvas.text(&text, (label_from + 6.0, middle), Text { size: SMALL, ..label(Align::Left) });
    }

    /// Slanted lines, cut at the edges of the bar.
    fn hatch(&self, canvas: &mut Canvas, end: f64, look: SenderLook) {
        let (top, bottom) = (self.top + 1.5, self.top + BAR - 1.5);
        let stroke = Stroke { colour: look.opaque(), width: 1.0, dash: 0.0 };
        let rise = bottom - top;
        let mut start = self.plot.left - rise + 3.0;
        while start < end {
            let (low, high) = (start.max(self.plot.left), (start + rise).min(end));
            if high - low > 0.5 {
                canvas.line((low, bottom - (low - start)), (high, bottom - (high - start)), stroke);
            }
            start += 6.0;
        }
        let outline = [(self.plot.left, top), (end, top), (end, bottom), (self.plot.left, bottom)];
        canvas.polyline(&outline, stroke);
    }

    /// Returns where the whisker, or the bar, ends. A whisker without an upper end runs off to the
    /// right.
    fn whisker(&self, canvas: &mut Canvas, figure: &Figure, end: f64) -> f64 {
        let (Some(low), Some(high)) = (figure.interval.low, figure.interval.high) else {
            return end;
        };
        let place = |latency: Latency| match latency.as_ms() {
            Some(ms) => self.axis.place(ms),
            None => self.plot.right,
        };
        if low.is_lost() {
            return end;
        }
        let (low, high, middle) = (place(low), place(high), self.top + BAR / 2.0);
        let stroke = Stroke { colour: INK.mix(1.0), width: 1.0, dash: 0.0 };
        canvas.line((low, middle), (high, middle), stroke);
        for x in [low, high] {
            canvas.line((x, middle - 3.5), (x, middle + 3.5), stroke);
        }
        end.max(high)
    }
}

fn deadline(data: &Data, canvas: &mut Canvas, plot: &Plot, axis: &Axis) {
    let x = axis.place(deadline_ms(data));
    canvas.line((x, plot.top - 8.0), (x, plot.bottom), deadline_stroke());
    let look = Text { colour: DEADLINE, ..small(Align::Centre) };
    canvas.text(&deadline_label(data), (x, plot.top - 16.0), look);
}
