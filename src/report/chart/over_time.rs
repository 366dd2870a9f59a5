//! Latency of each message over the time it was scheduled, one strip a sender, with the outages
//! shaded.

use std::collections::BTreeMap;
use std::time::Duration;

use plotters::style::{Color, RGBAColor};

use super::Data;
use super::axis::{Axis, Span, latency_label};
use super::canvas::{Align, Canvas, Stroke, Text, WIDTH, text_width};
use super::frame::{
    BOTTOM, LABEL, MARGIN, Plot, SMALL, TALL, axis_below, deadline_ms, deadline_stroke, fitted,
    head, label, note, small, thin, top,
};
use super::palette::{DEADLINE, FAINT_INK, GRID, OUTAGE, PAPER, SenderLook};
use super::selection::{chosen, remark, signs};
use crate::recording::{Messages, Recording, Status};
use crate::report::{SenderReport, figures};
use crate::statistics::Latency;

const STRIP: f64 = 92.0;
/// Between two strips, for the name of the lower one and its ticks for lost messages.
const BETWEEN: f64 = 34.0;
/// The ticks of lost messages stand in this much above a strip.
const LOST: f64 = 8.0;
/// Messages in one cell of this size are drawn as one dot, so that a long trial is no larger than a
/// short one.
const CELL: f64 = 1.5;

pub fn height(data: &Data) -> f64 {
    top(data) + BOTTOM + (STRIP + BETWEEN) * (chosen(data.report).len() as f64).max(1.0)
}

pub fn draw(data: &Data, canvas: &mut Canvas) {
    head(data, canvas, "Latency over time");
    let (left, right) = (MARGIN + 72.0, WIDTH - MARGIN - 16.0);
    let end = data.report.workload.periodic().duration.as_secs_f64();
    let time = Axis::exactly(end, Span { from: left, to: right });
    let first = |sender: &SenderReport| {
        let repetition = sender.runs.first()?.repetition;
        let name = &sender.pooled.sender;
        data.recordings.iter().find(|trial| trial.sender == *name && trial.repetition == repetition)
    };
    outage_names(data, canvas, &time);
    let mut bottom = top(data);
    for (place, sender) in chosen(data.report).into_iter().enumerate() {
        let top = top(data) + BETWEEN + (STRIP + BETWEEN) * place as f64;
        bottom = top + STRIP;
        let strip = Strip {
            latency: latency_axis(data, Span { from: bottom, to: top }),
            time: &time,
            plot: Plot { left, right, top, bottom },
            look: data.look(sender),
            first: place == 0,
        };
        strip.draw(data, canvas, sender, first(sender));
    }
    if bottom - top(data) > TALL {
        // The names of outages are nearer.
        let y = if data.report.outages.is_empty() { top(data) - 6.0 } else { top(data) - 18.0 };
        for (value, x) in time.ticks(64.0) {
            canvas.text(&seconds_label(value), (x, y), label(Align::Centre));
        }
    }
    let below = Plot { left, right, top: bottom, bottom };
    axis_below(
        canvas,
        &below,
        &time,
        seconds_label,
        "scheduled at, since the start of the workload",
    );
    let upright = Text { upright: true, ..label(Align::Centre) };
    let title = "latency, logarithmic scale";
    canvas.text(title, (MARGIN - 4.0, (top(data) + BETWEEN + bottom) / 2.0), upright);
    note(canvas, &how_to_read(data));
}

/// Above the first strip, where no message can lie on them; those that would touch the one before
/// are left out.
fn outage_names(data: &Data, canvas: &mut Canvas, time: &Axis) {
    let mut free_from = 0.0;
    for outage in &data.report.outages {
        let name = data.report.path_names.get(outage.path.index()).map_or("?", String::as_str);
        let text = format!("{name} dark");
        let half = text_width(&text, SMALL, false) / 2.0;
        let (from, until) = (outage.from.as_secs_f64(), outage.until.as_secs_f64());
        let middle = (time.place(from) + time.place(until)) / 2.0;
        if middle - half >= free_from {
            canvas.text(&text, (middle, top(data) - 3.0), small(Align::Centre));
            free_from = middle + half + 6.0;
        }
    }
}

fn how_to_read(data: &Data) -> String {
    let shaded = match data.report.outages.len() {
        0 => "",
        _ => "Shaded: a path is dark; paler where the sender does not use it. ",
    };
    let run = match data.report.senders.iter().map(|sender| sender.runs.len()).max() {
        Some(2..) => "Only the first run is shown. ",
        _ => "",
    };
    let vehicles = match data.report.senders.iter().any(|it| it.pooled.vehicles.is_some()) {
        true => "Dots and ticks are of the first vehicle, losses and gaps at the right of all. ",
        false => "",
    };
    let histogram =
        data.recordings.iter().any(|trial| matches!(trial.messages, Messages::Histogram(_)));
    let edge = match least_ms(data) < floor_ms(data) {
        true => "Dots at the lower edge of a strip lie there or below. ",
        false => "",
    };
    let dot = match histogram {
        false => "a message, by when it was due",
        true => "P50, P99 or the worst of the messages due in a slice of time",
    };
    format!(
        "{}{}{run}{vehicles}{shaded}Each dot: {dot}. {edge}Ticks above a strip: messages that were \
         lost. The latencies of all senders have the same scale.",
        signs(data.report),
        remark(data.report, "Shown:")
    )
}

fn seconds_label(seconds: f64) -> String {
    format!("{seconds} s")
}

/// From the least latency of all, but at most a decade below the least median: a message that was
/// delivered at once would take half the height, and one without any latency has no logarithm.
fn latency_axis(data: &Data, span: Span) -> Axis {
    let worst = chosen(data.report).into_iter().map(|it| it.pooled.latencies.worst_delivered());
    let worst = worst.flatten().map(Latency::as_ms_or_infinity);
    let low = least_ms(data).max(floor_ms(data));
    Axis::logarithmic(worst.chain([low, deadline_ms(data)]), span)
}

fn least_ms(data: &Data) -> f64 {
    let least = chosen(data.report).into_iter().map(|it| it.pooled.latencies.ranked(1));
    least.flatten().map(Latency::as_ms_or_infinity).fold(f64::INFINITY, f64::min)
}

fn floor_ms(data: &Data) -> f64 {
    let medians = chosen(data.report).into_iter().map(|it| {
        let latencies = &it.pooled.latencies;
        latencies.ranked(latencies.count().div_ceil(2))
    });
    let median = medians.flatten().map(Latency::as_ms_or_infinity).fold(f64::INFINITY, f64::min);
    median / 10.0
}

struct Strip<'a> {
    latency: Axis,
    time: &'a Axis,
    plot: Plot,
    look: SenderLook,
    /// From the top.
    first: bool,
}

impl Strip<'_> {
    fn draw(
        &self,
        data: &Data,
        canvas: &mut Canvas,
        sender: &SenderReport,
        trial: Option<&Recording>,
    ) {
        self.outages(data, canvas, trial);
        self.grid(data, canvas);
        self.stop(data, canvas, trial);
        self.name(canvas, sender);
        match trial.map(|trial| &trial.messages) {
            Some(Messages::Each(messages)) => {
                let points = messages.iter().map(|message| (message.scheduled, message.latency()));
                self.dots(canvas, points);
            }
            Some(Messages::Histogram(histogram)) => {
                for window in &histogram.windows {
                    let middle = window.from / 2 + window.until / 2;
                    let figures = [window.p50, window.p99, window.max].map(Latency::from_nanos);
                    let delivered = figures.into_iter().filter(|_| window.delivered > 0);
                    let lost = (window.delivered < window.scheduled).then_some(Latency::LOST);
                    self.dots(canvas, delivered.chain(lost).map(|latency| (middle, latency)));
                }
            }
            None => (),
        }
        if self.first {
            self.deadline_name(data, canvas);
        }
    }

    fn outages(&self, data: &Data, canvas: &mut Canvas, trial: Option<&Recording>) {
        let used = trial.map(|trial| trial.protocol.paths()).unwrap_or_default();
        for outage in &data.report.outages {
            let place = |time: Duration| self.time.place(time.as_secs_f64());
            let strength = if used.contains(&outage.path) { 1.0 } else { 0.35 };
            let (from, until) = (place(outage.from), place(outage.until));
            let top = self.plot.top - LOST - 2.0;
            canvas.rectangle((from, top), (until, self.plot.bottom), OUTAGE.mix(strength));
        }
    }

    /// Where the trial was interrupted, and what follows was never measured.
    fn stop(&self, data: &Data, canvas: &mut Canvas, trial: Option<&Recording>) {
        let Some(Status::Interrupted { after }) = trial.map(|trial| &trial.status) else { return };
        if *after >= data.report.workload.periodic().duration {
            return;
        }
        let x = self.time.place(after.as_secs_f64());
        let Plot { right, top, bottom, .. } = self.plot;
        canvas.line((x, top - LOST), (x, bottom), Stroke { dash: 3.0, ..thin(FAINT_INK) });
        let text = format!("interrupted at {:.1} s", after.as_secs_f64());
        let wide = text_width(&text, SMALL, false) + 6.0;
        let (x, align) = match x + wide <= right {
            true => (x + 6.0, Align::Left),
            false => (x - 6.0, Align::Right),
        };
        canvas.text(&text, (x, bottom - 10.0), small(align));
    }

    fn grid(&self, data: &Data, canvas: &mut Canvas) {
        let Plot { left, right, top, bottom } = self.plot;
        for (value, y) in self.latency.ticks(17.0) {
            canvas.line((left, y), (right, y), thin(GRID));
            canvas.text(&latency_label(value), (left - 8.0, y), label(Align::Right));
        }
        let y = self.latency.place(deadline_ms(data));
        canvas.line((left, y), (right, y), deadline_stroke());
        canvas.line((left, top), (left, bottom), thin(FAINT_INK));
        canvas.line((left, bottom), (right, bottom), thin(FAINT_INK));
    }

    /// On paper, so that no message lies under it.
    fn deadline_name(&self, data: &Data, canvas: &mut Canvas) {
        let (left, y) = (self.plot.left + 6.0, self.latency.place(deadline_ms(data)));
        let text = super::frame::deadline_label(data);
        // Near the top it would lie on the ticks of lost messages.
        let middle = if y - self.plot.top > 16.0 { y - 8.0 } else { y + 8.0 };
        let right = left + text_width(&text, SMALL, false);
        canvas.rectangle((left - 2.0, middle - 7.0), (right + 2.0, middle + 7.0), PAPER.mix(0.85));
        let look = Text { colour: DEADLINE, ..small(Align::Left) };
        canvas.text(&text, (left, middle), look);
    }

    fn name(&self, canvas: &mut Canvas, sender: &SenderReport) {
        // Of the run that is shown, not of all.
        let summary = sender.runs.first().map_or(&sender.pooled, |run| &run.summary);
        let y = self.plot.top - LOST - 12.0;
        let name = fitted(&sender.label(), LABEL, true, 400.0);
        canvas.text(&name, (self.plot.left, y), Text { bold: true, ..label(Align::Left) });
        let lost = match summary.lost {
            0 => "none lost".to_owned(),
            _ => format!("{} lost", figures::share(summary.lost_share())),
        };
        let gap = figures::latency(summary.longest_gap.gap.length());
        let text = format!("{lost} · longest gap {gap}");
        canvas.text(&text, (self.plot.right, y), small(Align::Right));
    }

    /// Each cell that a message falls in, those above one another as one line.
    fn dots(&self, canvas: &mut Canvas, messages: impl Iterator<Item = (u64, Latency)>) {
        let mut columns: BTreeMap<i64, Vec<i64>> = BTreeMap::new();
        let mut lost: Vec<i64> = Vec::new();
        let cell = |place: f64| (place / CELL).round() as i64;
        for (scheduled, latency) in messages {
            let column = cell(self.time.place(scheduled as f64 / 1e9));
            match latency.as_ms() {
                Some(ms) => columns.entry(column).or_default().push(cell(self.latency.place(ms))),
                None => lost.push(column),
            }
        }
        for (column, mut cells) in columns {
            cells.sort_unstable();
            let runs = cells.chunk_by(|above, below| below - above <= 1);
            runs.for_each(|run| self.cells(canvas, column, run[0], run[run.len() - 1]));
        }
        lost.dedup();
        let stroke = Stroke { colour: self.colour(), width: 1.0, dash: 0.0 };
        for column in lost {
            let (x, y) = (column as f64 * CELL, self.plot.top - 2.0);
            canvas.line((x, y - LOST), (x, y), stroke);
        }
    }

    fn cells(&self, canvas: &mut Canvas, column: i64, first: i64, last: i64) {
        let (x, half) = (column as f64 * CELL, CELL / 2.0 + 0.25);
        let (top, bottom) = (first as f64 * CELL - half, last as f64 * CELL + half);
        canvas.rectangle((x - half, top), (x + half, bottom), self.colour());
    }

    fn colour(&self) -> RGBAColor {
        self.look.opaque()
    }
}
