//! What each sender put on the wire for each byte of payload, up and down.

use plotters::style::Color;

use super::Data;
use super::axis::{Axis, Span, ratio_label};
use super::canvas::{Align, Canvas, Stroke, Text, WIDTH, text_width};
use super::frame::{
    BOTTOM, LABEL, MARGIN, Plot, ROW, SMALL, axis_below, fitted, head, label, note, outline, small,
    thin, top, whisker, widest_name,
};
use super::intervals::Intervals;
use super::palette::{FAINT_INK, INK, PAPER, SenderLook};
use super::selection::{remark, signs};
use crate::recording::Summary;
use crate::report::figures;

const BAR: f64 = 20.0;
const STEP: f64 = 34.0;
const DOWN_TINT: f64 = 0.45;
const FEWEST_BARS: f64 = 2.0;

pub fn height(data: &Data) -> f64 {
    top(data) + BOTTOM + ROW + STEP * (data.report.senders.len() as f64).max(FEWEST_BARS)
}

pub fn draw(data: &Data, canvas: &mut Canvas) {
    head(data, canvas, "Amplification");
    let names = widest_name(data).min(200.0);
    let plot = Plot {
        left: MARGIN + names + 12.0,
        // Room for the longest label behind the longest bar.
        right: WIDTH - MARGIN - 190.0,
        top: top(data) + ROW,
        bottom: canvas.height() - BOTTOM,
    };
    let totals = data.report.senders.iter().filter_map(|sender| sender.pooled.amplification);
    let most = totals.map(|amplification| amplification.total()).fold(1.0, f64::max);
    let axis = Axis::linear(most, Span { from: plot.left, to: plot.right });
    axis_below(canvas, &plot, &axis, ratio_label, "bytes of IP packets per byte of payload");
    payload(canvas, &plot, &axis);
    for (place, sender) in data.report.senders.iter().enumerate() {
        let top = plot.top + STEP * place as f64 + (STEP - BAR) / 2.0;
        let name = fitted(&sender.label(), LABEL, false, names);
        canvas.text(&name, (MARGIN, top + BAR / 2.0), label(Align::Left));
        bar(canvas, &plot, &axis, top, data.look(sender), &sender.pooled);
    }
    canvas.line((plot.left, plot.top), (plot.left, plot.bottom), thin(INK));
    note(canvas, &how_to_read(data));
}

fn how_to_read(data: &Data) -> String {
    let with_a_bar = data.report.senders.iter().filter(|it| it.pooled.amplification.is_some());
    let intervals: Intervals =
        with_a_bar.map(|it| it.pooled.amplification_interval.is_bounded()).collect();
    format!(
        "{}{}{}Strong: up, vehicle to cloud. Pale: down. IP headers count, Ethernet's do not. \
         Payload: that of each message once, however often it was sent. The handshake is not in it.",
        signs(data.report),
        remark(data.report, "In colour:"),
        intervals.sentence(data.report, "Whiskers")
    )
}

fn bar(canvas: &mut Canvas, plot: &Plot, axis: &Axis, top: f64, look: SenderLook, of: &Summary) {
    let middle = top + BAR / 2.0;
    let Some(amplification) = of.amplification else {
        canvas.text("no messages", (plot.left + 6.0, middle), small(Align::Left));
        return;
    };
    let (up, total) = (axis.place(amplification.up), axis.place(amplification.total()));
    canvas.rectangle((plot.left, top), (up, top + BAR), look.opaque());
    canvas.rectangle((up, top), (total, top + BAR), look.tint(DOWN_TINT));
    outline(canvas, (plot.left, top), (total, top + BAR), look);
    let text = format!(
        "{} ({} up, {} down)",
        figures::ratio(amplification.total()),
        figures::ratio(amplification.up),
        figures::ratio(amplification.down)
    );
    let end = interval(canvas, axis, middle, of).unwrap_or(total).max(total);
    let (from, to) = (end + 8.0, end + 8.0 + text_width(&text, SMALL, false));
    canvas.rectangle((from - 2.0, middle - 6.0), (to + 2.0, middle + 6.0), PAPER.mix(1.0));
    canvas.text(&text, (from, middle), Text { size: SMALL, ..label(Align::Left) });
}

/// Returns where its upper end is.
fn interval(canvas: &mut Canvas, axis: &Axis, middle: f64, of: &Summary) -> Option<f64> {
    let (low, high) = (of.amplification_interval.low?, of.amplification_interval.high?);
    let (low, high) = (axis.place(low), axis.place(high));
    whisker(canvas, (low, high), middle);
    Some(high)
}

fn payload(canvas: &mut Canvas, plot: &Plot, axis: &Axis) {
    let x = axis.place(1.0);
    canvas.line((x, plot.top), (x, plot.bottom), Stroke { dash: 5.0, ..thin(FAINT_INK) });
    canvas.text("1 = the payload itself", (x, plot.top - 10.0), small(Align::Centre));
}
