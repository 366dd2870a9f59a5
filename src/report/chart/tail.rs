//! The whole distribution of each sender, with as much room for the last tenth of a percent as for
//! the first ninety.

use super::Data;
use super::axis::{Axis, Span};
use super::canvas::{Align, Canvas, Point, Stroke, WIDTH, text_width};
use super::frame::{
    BOTTOM, MARGIN, Plot, SMALL, axis_left, deadline_across, deadline_ms, deadline_name, head,
    height_with_legend, label, latency_title, legend, legend_width, note, small, thin, title_below,
    top,
};
use super::palette::{FAINT_INK, GRID, SenderLook};
use super::selection::{chosen, others, remark, signs};
use crate::recording::Summary;
use crate::report::{SenderReport, figures};
use crate::statistics::{Distribution, Latency, Quantile};

/// The band above the plot in which curves end that reach "lost".
const LOST_BAND: f64 = 22.0;
/// Nines after which the axis ends at the latest: one in a million.
const MOST_NINES: f64 = 6.0;

pub fn height(data: &Data) -> f64 {
    height_with_legend(data, chosen(data.report).len() + 1, 640.0)
}

pub fn draw<'a>(data: &Data<'a>, canvas: &mut Canvas) {
    head(data, canvas, "Latency by percentile");
    let lines = legend_lines(data);
    let plot = Plot {
        left: MARGIN + 72.0,
        right: WIDTH - MARGIN - legend_width(&lines) - 20.0,
        top: top(data) + LOST_BAND,
        bottom: canvas.height() - BOTTOM,
    };
    let axis = axis(data, &plot);
    let nines = Nines::of(data, &plot);
    axis_left(canvas, &plot, &axis, &latency_title("latency", &axis));
    nines.draw(canvas, &plot);
    canvas.text("lost", (plot.left - 8.0, plot.top - LOST_BAND / 2.0), label(Align::Right));
    canvas.line((plot.left, plot.top), (plot.right, plot.top), thin(FAINT_INK));
    let curve = |sender: &'a SenderReport| Curve {
        axis: &axis,
        nines: &nines,
        plot: &plot,
        look: data.look(sender),
        of: &sender.pooled,
    };
    let curves: Vec<Curve> = data.report.senders.iter().map(curve).collect();
    let (grey, coloured): (Vec<&Curve>, Vec<&Curve>) =
        curves.iter().partition(|curve| curve.look == SenderLook::Other);
    grey.iter().chain(&coloured).for_each(|curve| curve.draw(canvas));
    shares_lost(canvas, &curves);
    deadline_across(data, canvas, &plot, &axis);
    let points: Vec<Point> =
        coloured.iter().flat_map(|curve| curve.points(&curve.of.latencies)).collect();
    deadline_name(data, canvas, &plot, &axis, &points);
    legend(canvas, &lines, (plot.right + 20.0, plot.top + 8.0));
    note(canvas, &how_to_read(data));
}

fn how_to_read(data: &Data) -> String {
    let lost = match data.report.senders.iter().any(|sender| sender.pooled.lost > 0) {
        true => "Arrow: all messages beyond were lost, so that the curve has no more to show. ",
        false => "",
    };
    format!(
        "{}{}Read: at 99 %, the latency that 99 of 100 messages do not exceed. Thin: too few samples \
         beyond this percentile to bound it from above. {lost}",
        signs(data.report),
        remark(data.report, "In colour:")
    )
}

/// With the share lost, which is where a curve ends.
fn legend_lines(data: &Data) -> Vec<(String, Stroke)> {
    let named = chosen(data.report).into_iter().map(|sender| {
        let look = data.look(sender);
        let lost = match sender.pooled.lost {
            0 => String::new(),
            _ => format!(" · {} lost", figures::share(sender.pooled.lost_share())),
        };
        (format!("{}{lost}", sender.label()), stroke(look))
    });
    named.chain(others(data.report).map(|text| (text, stroke(SenderLook::Other)))).collect()
}

/// Those that are there for comparison only stay behind.
fn stroke(look: SenderLook) -> Stroke {
    let (colour, width) = match look {
        SenderLook::Coloured(_) => (look.opaque(), 2.0),
        SenderLook::Other => (look.tint(0.6), 1.0),
    };
    Stroke { colour, width, dash: look.dash() }
}

/// Beside the heads of the arrows in colour where there is room; all those are in the legend.
fn shares_lost(canvas: &mut Canvas, curves: &[Curve]) {
    let mut heads: Vec<(f64, &Curve)> =
        curves.iter().filter_map(|curve| Some((curve.arrow()?[1].0, curve))).collect();
    heads.sort_by(|a, b| a.0.total_cmp(&b.0));
    for (place, (x, curve)) in heads.iter().enumerate() {
        if curve.look == SenderLook::Other {
            continue;
        }
        let text = figures::share(curve.of.lost_share());
        let end = x + HEAD + 3.0 + text_width(&text, SMALL, false);
        let next = heads.get(place + 1).map_or(f64::INFINITY, |(next, _)| next - HEAD);
        if end < next && end < curve.plot.right {
            let y = curve.plot.top - LOST_BAND / 2.0;
            canvas.text(&text, (x + HEAD + 3.0, y), small(Align::Left));
        }
    }
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
    of: &'a Summary,
}

/// Half the width of the head of an arrow.
const HEAD: f64 = 5.0;

impl Curve<'_> {
    fn draw(&self, canvas: &mut Canvas) {
        let points = self.points(&self.of.latencies);
        // Beyond this share there are too few samples for an upper bound: q^n = 2.5 %.
        let certain = self.nines.place(beyond_certainty(self.of.messages));
        let split = points.partition_point(|(x, _)| *x <= certain);
        let strong = stroke(self.look);
        canvas.polyline(&points[..split], strong);
        canvas.polyline(&points[split.saturating_sub(1)..], Stroke { width: 1.0, ..strong });
        if let Some([from, head]) = self.arrow() {
            let (x, top) = head;
            canvas.line(from, (x, top + 6.0), Stroke { dash: 3.0, ..strong });
            canvas.polygon(&[head, (x + HEAD, top + 9.0), (x - HEAD, top + 9.0)], strong.colour);
        }
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

    /// Up to "lost" at the share from which on every message is; `None`: none is.
    fn arrow(&self) -> Option<[Point; 2]> {
        if self.of.lost == 0 {
            return None;
        }
        let x = self.nines.place(self.of.lost_share());
        let worst = self.of.worst.and_then(Latency::as_ms);
        let y = worst.map_or(self.plot.bottom, |ms| self.axis.place(ms));
        Some([(x, y), (x, self.plot.top - LOST_BAND + 4.0)])
    }
}

/// The share of messages beyond the highest quantile that `samples` can bound from above.
fn beyond_certainty(samples: u64) -> f64 {
    // n needed for P99 × 0.01 ≈ 3.69, and that product hardly depends on the quantile.
    let needed = Quantile::P99.samples_needed() as f64 * (1.0 - Quantile::P99.as_f64());
    (needed / samples.max(1) as f64).min(1.0)
}
