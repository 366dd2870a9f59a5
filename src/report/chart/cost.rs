//! What a sender's P99 costs: latency against amplification, one point each.

use plotters::style::Color;

use super::Data;
use super::axis::{Axis, Span, ratio_label};
use super::canvas::{Align, Canvas, Point, Stroke, WIDTH, text_width};
use super::frame::{
    BOTTOM, LABEL, MARGIN, Plot, TOP, axis_below, axis_left, deadline_across, deadline_ms, fitted,
    head, label, latency_title, note, thin, whiskers,
};
use super::labels::{Area, place};
use super::palette::{FAINT_INK, INK, PAPER, SenderLook};
use crate::recording::Figure;
use crate::statistics::{Latency, Quantile};

/// The band above the plot for senders whose P99 is "lost".
const LOST_BAND: f64 = 34.0;
const LONGEST_NAME: f64 = 170.0;

pub fn height(_: &Data) -> f64 {
    640.0
}

/// A sender that has both figures.
struct Spot<'a> {
    look: SenderLook,
    name: &'a str,
    amplification: f64,
    p99: Figure,
}

pub fn draw(data: &Data, canvas: &mut Canvas) {
    head(data, canvas, "P99 against its cost");
    let plot = Plot {
        left: MARGIN + 72.0,
        right: WIDTH - MARGIN - 8.0,
        top: TOP + LOST_BAND,
        bottom: canvas.height() - BOTTOM,
    };
    let spots = spots(data);
    let most = spots.iter().map(|spot| spot.amplification).fold(1.0, f64::max);
    let across = Axis::linear(most, Span { from: plot.left, to: plot.right });
    let up = latency_axis(data, &spots, &plot);
    axis_below(
        canvas,
        &plot,
        &across,
        ratio_label,
        "amplification: bytes of IP packets, up and down, per byte of payload",
    );
    axis_left(canvas, &plot, &up, &latency_title("P99", &up));
    lost_band(canvas, &plot);
    let deadline = deadline_across(data, canvas, &plot, &up);
    let points: Vec<Point> = spots
        .iter()
        .map(|spot| (across.place(spot.amplification), height_of(spot, &up, &plot)))
        .collect();
    let drawn = spots.iter().zip(&points).filter_map(|(spot, at)| whisker(canvas, spot, *at, &up));
    let taken: Vec<Area> = drawn.chain([deadline]).collect();
    for (spot, at) in spots.iter().zip(&points) {
        spot.look.mark(canvas, *at, 6.0, !spot.p99.enough);
    }
    names(canvas, &spots, &points, &plot, &taken);
    let intervals = whiskers(data);
    note(
        canvas,
        &format!(
            "Lower and further left is better. {intervals} Hollow: too few samples to bound the \
             P99 from above. The cost of the handshake is not in it."
        ),
    );
}

fn spots<'a>(data: &'a Data) -> Vec<Spot<'a>> {
    let spot = |(place, sender): (usize, &'a crate::report::SenderReport)| {
        let p99 = *sender.pooled.figure(Quantile::P99)?;
        p99.value?;
        let amplification = sender.pooled.amplification?.total();
        Some(Spot { look: SenderLook(place), name: &sender.pooled.sender, amplification, p99 })
    };
    data.report.senders.iter().enumerate().filter_map(spot).collect()
}

fn latency_axis(data: &Data, spots: &[Spot], plot: &Plot) -> Axis {
    let figures = spots
        .iter()
        .flat_map(|spot| [spot.p99.value, spot.p99.interval.low, spot.p99.interval.high]);
    let values = figures.flatten().map(Latency::as_ms_or_infinity).chain([deadline_ms(data)]);
    Axis::of_latencies(values, Span { from: plot.bottom, to: plot.top })
}

fn lost_band(canvas: &mut Canvas, plot: &Plot) {
    let y = plot.top - LOST_BAND / 2.0;
    canvas.text("lost", (plot.left - 8.0, y), label(Align::Right));
    canvas.line((plot.left, plot.top), (plot.right, plot.top), thin(FAINT_INK));
    canvas.line((plot.left, plot.top - LOST_BAND), (plot.left, plot.bottom), thin(INK));
}

fn height_of(spot: &Spot, up: &Axis, plot: &Plot) -> f64 {
    let ms = spot.p99.value.and_then(Latency::as_ms);
    ms.map_or(plot.top - LOST_BAND / 2.0, |ms| up.place(ms))
}

/// Returns where it is.
fn whisker(canvas: &mut Canvas, spot: &Spot, (x, _): Point, up: &Axis) -> Option<Area> {
    let (low, high) = (spot.p99.interval.low?.as_ms()?, spot.p99.interval.high?.as_ms()?);
    let stroke = Stroke { colour: spot.look.tint(0.8), width: 1.5, dash: 0.0 };
    canvas.line((x, up.place(low)), (x, up.place(high)), stroke);
    for end in [low, high].map(|ms| up.place(ms)) {
        canvas.line((x - 4.0, end), (x + 4.0, end), stroke);
    }
    Some(Area { left: x - 5.0, right: x + 5.0, top: up.place(high), bottom: up.place(low) })
}

/// Each name where there is room, with a line to its point where that is not beside it.
fn names(canvas: &mut Canvas, spots: &[Spot], points: &[Point], plot: &Plot, taken: &[Area]) {
    let texts: Vec<String> =
        spots.iter().map(|spot| fitted(spot.name, LABEL, false, LONGEST_NAME)).collect();
    let sizes = texts.iter().map(|text| (text_width(text, LABEL, false) + 4.0, 15.0));
    let sized: Vec<(Point, Point)> = points.iter().copied().zip(sizes).collect();
    let room = Area {
        left: plot.left + 2.0,
        top: plot.top - LOST_BAND,
        right: plot.right,
        bottom: plot.bottom,
    };
    let places = place(&sized, room, taken);
    let found = || places.iter().enumerate().filter_map(|(n, area)| Some((n, area.as_ref()?)));
    for (n, area) in found() {
        leader(canvas, points[n], area, spots[n].look);
    }
    for (n, area) in found() {
        // Paper behind the name, so that neither the grid nor the line of another name runs through
        // it.
        let paper = PAPER.mix(0.8);
        canvas.rectangle((area.left, area.top), (area.right, area.bottom), paper);
        canvas.text(&texts[n], area.middle(), label(Align::Centre));
    }
}

fn leader(canvas: &mut Canvas, (x, y): Point, found: &Area, look: SenderLook) {
    let near = (x.clamp(found.left, found.right), y.clamp(found.top, found.bottom));
    if (near.0 - x).hypot(near.1 - y) > 14.0 {
        canvas.line((x, y), near, Stroke { colour: look.colour().mix(0.6), width: 1.0, dash: 0.0 });
    }
}
