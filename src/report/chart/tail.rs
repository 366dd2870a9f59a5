//! The whole distribution of each sender, with as much room for the last tenth of a percent as for
//! the first ninety.

use plotters::style::Color;

use super::Data;
use super::axis::{Axis, Span};
use super::canvas::{Align, Canvas, Point, Stroke, WIDTH};
use super::frame::{
    BOTTOM, MARGIN, Plot, TOP, axis_left, deadline_across, deadline_ms, deadline_name, head,
    height_with_legend, label, latency_title, legend, legend_width, note, thin, title_below,
};
use super::palette::{FAINT_INK, GRID, OTHERS, SenderLook};
use super::selection::{chosen, remark};
use crate::recording::Summary;
use crate::report::SenderReport;
use crate::statistics::{Distribution, Latency, Quantile};

/// The band above the plot in which curves end that reach "lost".
const LOST_BAND: f64 = 22.0;
/// Nines after which the axis ends at the latest: one in a million.
const MOST_NINES: f64 = 6.0;

pub fn height(data: &Data) -> f64 {
    height_with_legend(chosen(data.report).len() + 1, 640.0)
}

pub fn draw(data: &Data, canvas: &mut Canvas) {
    head(data, canvas, "Latency by percentile");
    let plot = Plot {
        left: MARGIN + 72.0,
        right: WIDTH - MARGIN - legend_width(data) - 20.0,
        top: TOP + LOST_BAND,
        bottom: canvas.height() - BOTTOM,
    };
    let axis = axis(data, &plot);
    let nines = Nines::of(data, &plot);
    axis_left(canvas, &plot, &axis, &latency_title("latency", &axis));
    nines.draw(canvas, &plot);
    canvas.text("lost", (plot.left - 8.0, plot.top - LOST_BAND / 2.0), label(Align::Right));
    canvas.line((plot.left, plot.top), (plot.right, plot.top), thin(FAINT_INK));
    let chosen = looks(data);
    for sender in &data.report.senders {
        if !chosen.iter().any(|(one, _)| one.place == sender.place) {
            let points =
                Curve::new(&axis, &nines, &plot, SenderLook(0)).points(&sender.pooled.latencies);
            canvas.polyline(&points, others_stroke());
        }
    }
    for (sender, look) in &chosen {
        Curve::new(&axis, &nines, &plot, *look).draw(canvas, &sender.pooled);
    }
    deadline_across(data, canvas, &plot, &axis);
    deadline_name(data, canvas, &plot, &axis, &[]);
    legend(canvas, &legend_lines(data, &chosen), (plot.right + 20.0, plot.top + 8.0));
    note(
        canvas,
        &format!(
            "Read: at 99 %, the latency that 99 of 100 messages do not exceed. Faint: too few \
             samples beyond this percentile to bound it from above. A curve that leaves at the top \
             has reached the share that was lost. {}",
            remark(data.report, "In colour:")
        ),
    );
}

/// Those that are shown in colour: each with its own as in the other charts, or of many with one
/// that none of the others here has.
fn looks<'a>(data: &'a Data) -> Vec<(&'a SenderReport, SenderLook)> {
    let chosen = chosen(data.report);
    let all = chosen.len() == data.report.senders.len();
    let look = |(place, sender): (usize, &'a SenderReport)| {
        (sender, SenderLook(if all { sender.place } else { place }))
    };
    chosen.into_iter().enumerate().map(look).collect()
}

fn others_stroke() -> Stroke {
    Stroke { colour: OTHERS.mix(1.0), width: 1.0, dash: 0.0 }
}

fn legend_lines(data: &Data, chosen: &[(&SenderReport, SenderLook)]) -> Vec<(String, Stroke)> {
    let named = chosen.iter().map(|(sender, look)| {
        let stroke = Stroke { colour: look.opaque(), width: 2.0, dash: look.dash() };
        (sender.pooled.sender.clone(), stroke)
    });
    let others = data.report.senders.len() - chosen.len();
    let others = (others > 0).then(|| (format!("{others} others"), others_stroke()));
    named.chain(others).collect()
}

fn axis(data: &Data, plot: &Plot) -> Axis {
    let ends = data.report.senders.iter().flat_map(|sender| {
        let latencies = &sender.pooled.latencies;
        // The very first would take half the height for what no eye finds at the left edge.
        [latencies.ranked(latencies.count().div_ceil(100)), latencies.worst_delivered()]
    });
    let values = ends.flatten().map(Latency::as_ms_or_infinity).chain([deadline_ms(data)]);
    Axis::logarithmic(values, Span { from: plot.bottom, to: plot.top })
}

/// The axis of percentiles: 0, 90, 99, 99.9 % … are equally far apart.
struct Nines {
    most: f64,
    left: f64,
    width: f64,
}

impl Nines {
    /// As far as there is at least one message beyond.
    fn of(data: &Data, plot: &Plot) -> Self {
        let messages = data.report.senders.iter().map(|sender| sender.pooled.messages).max();
        let most = (messages.unwrap_or(1).max(1000) as f64).log10().min(MOST_NINES);
        Self { most, left: plot.left, width: plot.right - plot.left }
    }

    /// Of the share of messages that are beyond.
    fn place(&self, beyond: f64) -> f64 {
        self.left + (-beyond.log10() / self.most).clamp(0.0, 1.0) * self.width
    }

    fn draw(&self, canvas: &mut Canvas, plot: &Plot) {
        let half = std::iter::once(0.5);
        let tens = (0..=self.most.floor() as i32).map(|nines| 10f64.powi(-nines));
        for beyond in half.chain(tens) {
            let x = self.place(beyond);
            canvas.line((x, plot.top - LOST_BAND), (x, plot.bottom), thin(GRID));
            let decimals = (-beyond.log10().ceil() as usize).saturating_sub(2);
            let text = format!("{:.*} %", decimals, (1.0 - beyond) * 100.0);
            canvas.text(&text, (x, plot.bottom + 14.0), label(Align::Centre));
        }
        title_below(
            canvas,
            plot,
            "share of messages that are at most this late, logarithmic scale of the rest",
        );
    }
}

struct Curve<'a> {
    axis: &'a Axis,
    nines: &'a Nines,
    plot: &'a Plot,
    look: SenderLook,
}

impl<'a> Curve<'a> {
    fn new(axis: &'a Axis, nines: &'a Nines, plot: &'a Plot, look: SenderLook) -> Self {
        Self { axis, nines, plot, look }
    }

    fn draw(&self, canvas: &mut Canvas, summary: &Summary) {
        let points = self.points(&summary.latencies);
        // Beyond this share there are too few samples for an upper bound: q^n = 2.5 %.
        let certain = self.nines.place(beyond_certainty(summary.messages));
        let split = points.partition_point(|(x, _)| *x <= certain);
        let strong = Stroke { colour: self.look.opaque(), width: 2.0, dash: self.look.dash() };
        canvas.polyline(&points[..split], strong);
        let faint = Stroke { colour: self.look.tint(0.5), width: 1.5, ..strong };
        canvas.polyline(&points[split.saturating_sub(1)..], faint);
        self.lost(canvas, &summary.latencies);
    }

    /// One point for each place where the curve moves by a pixel or more.
    fn points(&self, latencies: &Distribution) -> Vec<Point> {
        let all = latencies.count() as f64;
        let mut points: Vec<Point> = Vec::new();
        let mut up_to = 0;
        for (latency, count) in latencies.counts() {
            let Some(ms) = latency.as_ms() else { break };
            let y = self.axis.place(ms);
            // A message stands at the middle of its own share, so that the last one is not at 100
            // %.
            for share in [up_to as f64 + 0.5, (up_to + count) as f64 - 0.5] {
                let point = (self.nines.place(1.0 - share / all), y);
                let far = |last: &Point| (last.0 - point.0).abs() + (last.1 - point.1).abs() >= 0.5;
                if points.last().is_none_or(far) {
                    points.push(point);
                }
            }
            up_to += count;
        }
        points
    }

    /// An arrow to "lost" at the share from which on every message is.
    fn lost(&self, canvas: &mut Canvas, latencies: &Distribution) {
        let delivered = latencies.at_most(Latency::from_nanos(u64::MAX - 1));
        if delivered == latencies.count() {
            return;
        }
        let x = self.nines.place(1.0 - delivered as f64 / latencies.count() as f64);
        let y = latencies
            .worst_delivered()
            .map_or(self.plot.bottom, |worst| self.axis.place(worst.as_ms_or_infinity()));
        let (top, colour) = (self.plot.top - LOST_BAND + 4.0, self.look.opaque());
        canvas.line((x, y), (x, top + 6.0), Stroke { colour, width: 2.0, dash: 3.0 });
        canvas.polygon(&[(x, top), (x + 5.0, top + 9.0), (x - 5.0, top + 9.0)], colour);
    }
}

/// The share of messages beyond the highest quantile that `samples` can bound from above.
fn beyond_certainty(samples: u64) -> f64 {
    // n needed for P99 × 0.01 ≈ 3.69, and that product hardly depends on the quantile.
    let needed = Quantile::P99.samples_needed() as f64 * (1.0 - Quantile::P99.as_f64());
    (needed / samples.max(1) as f64).min(1.0)
}
