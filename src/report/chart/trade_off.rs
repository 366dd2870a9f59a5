//! What a sender's P99 costs: latency against amplification, one point each, with the front of
//! those that no other beats in both. Colours are the senders', as in every chart, and shapes the
//! use of paths. Of sixty senders most are grey, and have no name.

mod key;
mod names;

use plotters::style::Color;

use super::Data;
use super::axis::{Axis, Span, ratio_label};
use super::canvas::{Align, Canvas, Point, Stroke, WIDTH};
use super::frame::{
    BOTTOM, MARGIN, Plot, axis_below, axis_left, deadline_across, deadline_ms, deadline_name, head,
    label, latency_title, note, thin, top,
};
use super::intervals::{Intervals, ends};
use super::labels::{Area, Drawn};
use super::palette::{FAINT_INK, INK, PAPER, SenderLook, Shape};
use super::selection::{others, remark, signs};
use crate::recording::Figure;
use crate::report::{Redundancy, SenderReport, Standing};
use crate::statistics::{Interval, Latency, Quantile};

/// Of the legend, right of the plot.
const LEGEND: f64 = 196.0;
/// A row of points above the plot, for senders whose P99 is "lost".
const LOST_ROW: f64 = 15.0;
const LOST_BAND: f64 = 19.0;
/// Points of one row stay this far apart.
const APART: f64 = 13.0;
const STRONG: f64 = 6.5;
const WEAK: f64 = 5.0;
/// Of a grey one: no eye takes it for one in colour.
const FAINT: f64 = 3.5;

pub fn height(data: &Data) -> f64 {
    top(data) + (key::height(data) + bottom(data)).max(570.0)
}

/// Of a choice there is more to say.
fn bottom(data: &Data) -> f64 {
    const TWO_LINES: f64 = 32.0;
    if others(data.report).is_some() { BOTTOM + TWO_LINES } else { BOTTOM }
}

/// A sender that has both figures.
struct Spot<'a> {
    sender: &'a SenderReport,
    look: SenderLook,
    amplification: f64,
    across: Interval<f64>,
    p99: Figure,
}

/// A spot on the canvas.
struct Placed<'a> {
    spot: Spot<'a>,
    at: Point,
}

pub fn draw(data: &Data, canvas: &mut Canvas) {
    head(data, canvas, "P99 against its cost");
    let spots = spots(data);
    let (left, right) = (MARGIN + 72.0, WIDTH - MARGIN - LEGEND - 20.0);
    let across = cost_axis(&spots, Span { from: left, to: right });
    let rows = lost_rows(&spots, &across);
    let band = LOST_BAND + LOST_ROW * rows.iter().flatten().max().map_or(0.0, |row| *row as f64);
    let plot = Plot { left, right, top: top(data) + band, bottom: canvas.height() - bottom(data) };
    let up = latency_axis(data, &spots, &plot);
    let title = "amplification: bytes of IP packets, up and down, per byte of payload";
    axis_below(canvas, &plot, &across, ratio_label, title);
    axis_left(canvas, &plot, &up, &latency_title("P99", &up));
    lost_band(canvas, &plot, band);
    deadline_across(data, canvas, &plot, &up);
    let mut placed: Vec<Placed> = spots
        .into_iter()
        .zip(rows)
        .map(|(spot, row)| {
            let lost = row.map(|row| plot.top - LOST_BAND / 2.0 - LOST_ROW * row as f64);
            let y = lost.unwrap_or_else(|| up.place(spot.p99_ms()));
            Placed { at: (across.place(spot.amplification), y), spot }
        })
        .collect();
    // The best lie above the others, and those with a name above those without.
    placed.sort_by_key(|it| (it.spot.on_front(), it.spot.look != SenderLook::Other));
    let mut lines = front(canvas, &placed, &plot);
    lines.extend(placed.iter().flat_map(|it| it.whiskers(canvas, &across, &up)));
    placed.iter().for_each(|it| it.mark(canvas));
    let marks: Vec<Point> = placed.iter().map(|it| it.at).collect();
    let deadline = deadline_name(data, canvas, &plot, &up, &marks);
    let drawn = Drawn { marks: &marks, texts: &[deadline], lines: &lines };
    let room = Area { left: left + 2.0, top: plot.top + 1.0, right, bottom: plot.bottom };
    let above = Area { top: top(data) - 14.0, bottom: plot.top - 1.0, ..room };
    let rooms = [room, above].into_iter();
    let nameless = rooms.map(|room| names::draw(data, canvas, &placed, room, drawn)).sum();
    key::draw(data, canvas, &placed, (right + 24.0, top(data) + 8.0));
    note(canvas, &how_to_read(data, &placed, nameless));
}

/// `nameless`: how many points in colour there was no room for a name for.
fn how_to_read(data: &Data, placed: &[Placed], nameless: usize) -> String {
    let any = |which: fn(&Spot) -> bool| placed.iter().any(|it| which(&it.spot));
    let says = |is_so: bool, sentence: &'static str| if is_so { sentence } else { "" };
    let intervals: Intervals = placed.iter().flat_map(|it| it.spot.intervals()).collect();
    let intervals = intervals.sentence(data.report, "Lines through a point");
    let hollow = says(
        any(|spot| !spot.p99.enough && spot.sender.is_ranked()),
        "Hollow: too few samples to bound the P99 from above. ",
    );
    let lost = says(
        any(|spot| spot.p99_ms().is_infinite()),
        "Lost: more than 1 % never arrives, so there is no P99, and no place on the front. ",
    );
    let certain = says(
        any(|spot| spot.on_front() && spot.is_certain()),
        "Bold: on the front for all values within the intervals; of others near it chance may decide. ",
    );
    let unranked = match any(|spot| !spot.sender.is_ranked()) {
        true => format!("{}Crosses beat nobody, and are beaten by nobody. ", signs(data.report)),
        false => String::new(),
    };
    let (shown, nameless) = match nameless {
        0 => ("Named and in colour:", String::new()),
        1 => ("In colour:", "For the name of one there is no room: see its colour. ".to_owned()),
        n => ("In colour:", format!("For the names of {n} there is no room: see their colours. ")),
    };
    let remark = remark(data.report, shown);
    // Which says the same.
    let front = says(remark.is_empty(), "Front: no other sender beats it in both. ");
    format!(
        "{remark}{nameless}Lower and further left is better. {front}{certain}{unranked}{intervals}\
         {hollow}{lost}The handshake is not in the cost."
    )
}

fn spots<'a>(data: &'a Data) -> Vec<Spot<'a>> {
    let spot = |sender: &'a SenderReport| {
        let p99 = *sender.pooled.figure(Quantile::P99)?;
        p99.value?;
        Some(Spot {
            sender,
            look: data.look(sender),
            amplification: sender.pooled.amplification?.total(),
            across: sender.pooled.amplification_interval,
            p99,
        })
    };
    data.report.senders.iter().filter_map(spot).collect()
}

fn cost_axis(spots: &[Spot], span: Span) -> Axis {
    let figures =
        spots.iter().flat_map(|spot| [Some(spot.amplification), spot.across.low, spot.across.high]);
    Axis::of_costs(figures.flatten(), span)
}

fn latency_axis(data: &Data, spots: &[Spot], plot: &Plot) -> Axis {
    let figures = spots
        .iter()
        .flat_map(|spot| [spot.p99.value, spot.p99.interval.low, spot.p99.interval.high]);
    let values = figures.flatten().map(Latency::as_ms_or_infinity).chain([deadline_ms(data)]);
    let mut values: Vec<f64> = values.collect();
    // Room for names below the best.
    values.extend(values.iter().copied().reduce(f64::min).map(|least| least * 0.7));
    Axis::logarithmic(values.into_iter(), Span { from: plot.bottom, to: plot.top })
}

/// For each spot that is lost the row of its point, from 0 up: those side by side have one row,
/// those that would lie on one another are stacked.
fn lost_rows(spots: &[Spot], across: &Axis) -> Vec<Option<usize>> {
    let mut ends: Vec<f64> = Vec::new();
    let mut rows = vec![None; spots.len()];
    let mut lost: Vec<usize> =
        (0..spots.len()).filter(|n| spots[*n].p99_ms().is_infinite()).collect();
    lost.sort_by(|a, b| spots[*a].amplification.total_cmp(&spots[*b].amplification));
    for n in lost {
        let x = across.place(spots[n].amplification);
        let row = ends.iter().position(|end| x - end >= APART).unwrap_or(ends.len());
        match ends.get_mut(row) {
            Some(end) => *end = x,
            None => ends.push(x),
        }
        rows[n] = Some(row);
    }
    rows
}

fn lost_band(canvas: &mut Canvas, plot: &Plot, band: f64) {
    let y = plot.top - LOST_BAND / 2.0;
    canvas.text("lost", (plot.left - 8.0, y), label(Align::Right));
    canvas.line((plot.left, plot.top), (plot.right, plot.top), thin(FAINT_INK));
    canvas.line((plot.left, plot.top - band), (plot.left, plot.bottom), thin(INK));
}

/// The edge of what somebody reaches: all that lies above it and to its right is beaten. Returns
/// where it is.
fn front(canvas: &mut Canvas, placed: &[Placed], plot: &Plot) -> Vec<Area> {
    let mut corners: Vec<Point> =
        placed.iter().filter(|it| it.spot.on_front()).map(|it| it.at).collect();
    corners.sort_by(|a, b| a.0.total_cmp(&b.0));
    let Some((first, _)) = corners.first().copied() else { return Vec::new() };
    let mut line = vec![(first, plot.top)];
    for (x, y) in &corners {
        let before = line[line.len() - 1].1;
        line.extend([(*x, before), (*x, *y)]);
    }
    line.push((plot.right, line[line.len() - 1].1));
    canvas.polyline(&line[1..], front_stroke());
    line.windows(2).map(|pair| along(pair[0], pair[1])).collect()
}

/// Where a line is, across or upright.
fn along(from: Point, to: Point) -> Area {
    Area {
        left: from.0.min(to.0) - 1.0,
        right: from.0.max(to.0) + 1.0,
        top: from.1.min(to.1) - 1.0,
        bottom: from.1.max(to.1) + 1.0,
    }
}

fn front_stroke() -> Stroke {
    Stroke { colour: FAINT_INK.mix(1.0), width: 1.5, dash: 0.0 }
}

fn shape(redundancy: Redundancy) -> Shape {
    match redundancy {
        Redundancy::OnePath => Shape::Circle,
        Redundancy::Datagrams => Shape::Square,
        Redundancy::Messages => Shape::Diamond,
        Redundancy::OwnPaths => Shape::Triangle,
    }
}

impl Spot<'_> {
    fn p99_ms(&self) -> f64 {
        self.p99.value.map_or(f64::INFINITY, Latency::as_ms_or_infinity)
    }

    fn on_front(&self) -> bool {
        self.stands(|standing| standing.on_front)
    }

    fn shape(&self) -> Shape {
        if self.sender.is_ranked() { shape(self.sender.kind.redundancy) } else { Shape::Cross }
    }

    fn is_certain(&self) -> bool {
        self.stands(|standing| standing.certain == Some(true))
    }

    fn stands(&self, which: impl Fn(Standing) -> bool) -> bool {
        self.sender.standing.is_some_and(which)
    }

    /// Whether each is drawn. Of a P99 that is lost there may be none to draw, and of a cross there
    /// is none.
    fn intervals(&self) -> impl Iterator<Item = bool> {
        let p99 = ends(&self.p99.interval).is_some();
        let lost = self.p99_ms().is_infinite();
        let both = [self.across.is_bounded()].into_iter().chain((p99 || !lost).then_some(p99));
        both.filter(|_| self.sender.is_ranked())
    }
}

impl Placed<'_> {
    fn mark(&self, canvas: &mut Canvas) {
        let shape = self.spot.shape();
        let radius = match (self.spot.on_front(), self.spot.look) {
            (true, SenderLook::Coloured(_)) => STRONG,
            (false, SenderLook::Coloured(_)) => WEAK,
            (_, SenderLook::Other) => FAINT,
        };
        if self.spot.on_front() {
            shape.fill(canvas, self.at, radius + 2.0, INK.mix(1.0));
            shape.fill(canvas, self.at, radius + 0.8, PAPER.mix(1.0));
        }
        shape.fill(canvas, self.at, radius, self.spot.look.opaque());
        if !self.spot.p99.enough && self.spot.sender.is_ranked() {
            shape.fill(canvas, self.at, radius - 2.0, PAPER.mix(1.0));
        }
    }

    /// Returns where they are. One whose end is lost runs to the top of the plot, or to its point
    /// above that.
    fn whiskers(&self, canvas: &mut Canvas, across: &Axis, up: &Axis) -> Vec<Area> {
        let (x, y) = self.at;
        let stroke = Stroke { colour: self.spot.look.opaque(), width: 1.25, dash: 0.0 };
        let mut drawn = Vec::new();
        if !self.spot.sender.is_ranked() {
            return drawn;
        }
        if let (Some(low), Some(high)) = (self.spot.across.low, self.spot.across.high) {
            let (left, right) = (across.place(low), across.place(high));
            canvas.line((left, y), (right, y), stroke);
            drawn.push(along((left, y), (right, y)));
        }
        if let Some((low, high)) = ends(&self.spot.p99.interval) {
            let end = up.place(high.as_ms_or_infinity());
            let (bottom, top) = (up.place(low), if high.is_lost() { end.min(y) } else { end });
            canvas.line((x, top), (x, bottom), stroke);
            drawn.push(along((x, top), (x, bottom)));
        }
        drawn
    }
}

#[cfg(test)]
mod tests;
