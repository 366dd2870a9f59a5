//! The legend: a colour a sender, a shape a use of paths, and what lies on the front.

use plotters::style::Color;

use super::{FAINT, Placed, STRONG, WEAK, front_stroke, shape};
use crate::report::Redundancy;
use crate::report::chart::Data;
use crate::report::chart::canvas::{Align, Canvas, Point, Text, WIDTH};
use crate::report::chart::frame::{LABEL, MARGIN, ROW, fitted, label, small};
use crate::report::chart::palette::{FAINT_INK, INK, PAPER, SenderLook, Shape};
use crate::report::chart::selection::{chosen, others};

/// From the mark to its name.
const INDENT: f64 = 18.0;
/// Above a title.
const SPACE: f64 = 6.0;
const TITLES: usize = 3;
/// What is said of the front.
const MOST_OF_FRONT: usize = 4;

/// At most.
pub(super) fn height(data: &Data) -> f64 {
    let rows = chosen(data.report).len() + 1 + Redundancy::ALL.len() + MOST_OF_FRONT + TITLES;
    ROW * rows as f64 + SPACE * TITLES as f64
}

pub(super) fn draw(data: &Data, canvas: &mut Canvas, placed: &[Placed], from: Point) {
    let mut key = Key { canvas, x: from.0, y: from.1 };
    key.senders(data, placed);
    key.title("Paths");
    for redundancy in Redundancy::ALL {
        let has = |it: &Placed| it.spot.sender.kind.redundancy == redundancy;
        if placed.iter().any(|it| has(it) && it.spot.sender.is_ranked()) {
            shape(redundancy).fill(key.canvas, key.middle(), WEAK, FAINT_INK.mix(1.0));
            key.name(&redundancy.to_string(), false);
        }
    }
    key.title("Front");
    let (x, y) = key.middle();
    key.canvas.line((x - 8.0, y), (x + 8.0, y), front_stroke());
    key.ring();
    key.name("on it: beaten by none", false);
    if placed.iter().any(|it| it.spot.on_front() && it.spot.is_certain()) {
        key.name("bold: for certain", true);
    }
    if placed.iter().any(|it| !it.spot.on_front() && it.spot.sender.is_ranked()) {
        key.canvas.circle(key.middle(), WEAK, FAINT_INK.mix(1.0));
        key.name(without_ring(placed), false);
    }
    if placed.iter().any(|it| !it.spot.sender.is_ranked()) {
        Shape::Cross.fill(key.canvas, key.middle(), WEAK, FAINT_INK.mix(1.0));
        key.name("cross: not ranked", false);
    }
}

/// Who has no P99 is not on the front even where nobody beats it.
fn without_ring(placed: &[Placed]) -> &'static str {
    match placed.iter().any(|it| it.spot.p99_ms().is_infinite() && it.spot.sender.is_ranked()) {
        true => "no ring: beaten, or no P99",
        false => "no ring: beaten",
    }
}

struct Key<'a, 'b> {
    canvas: &'a mut Canvas<'b>,
    x: f64,
    y: f64,
}

impl Key<'_, '_> {
    /// In the order of the report, which is not that of the points.
    fn senders(&mut self, data: &Data, placed: &[Placed]) {
        self.title("Senders");
        for sender in chosen(data.report) {
            if let Some(it) = placed.iter().find(|it| it.spot.sender.place == sender.place) {
                let (shape, colour) = (it.spot.shape(), data.look(sender).opaque());
                shape.fill(self.canvas, self.middle(), WEAK, colour);
                self.name(&sender.label(), false);
            }
        }
        if let Some(others) = others(data.report) {
            self.canvas.circle(self.middle(), FAINT, SenderLook::Other.opaque());
            self.name(&others, false);
        }
    }

    fn title(&mut self, text: &str) {
        self.y += SPACE;
        self.canvas.text(text, (self.x - 6.0, self.y), small(Align::Left));
        self.y += ROW;
    }

    fn middle(&self) -> Point {
        (self.x, self.y)
    }

    fn ring(&mut self) {
        let at = self.middle();
        for (radius, colour) in
            [(STRONG + 1.0, INK), (STRONG - 0.2, PAPER), (STRONG - 1.0, FAINT_INK)]
        {
            self.canvas.circle(at, radius, colour.mix(1.0));
        }
    }

    fn name(&mut self, text: &str, bold: bool) {
        let room = WIDTH - MARGIN - self.x - INDENT;
        let look = Text { bold, ..label(Align::Left) };
        self.canvas.text(&fitted(text, LABEL, bold, room), (self.x + INDENT, self.y), look);
        self.y += ROW;
    }
}
