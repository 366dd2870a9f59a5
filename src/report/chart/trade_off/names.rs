//! Which senders are named in the chart, and where their names go.

use plotters::style::Color;

use super::{Placed, Spot};
use crate::report::chart::Data;
use crate::report::chart::canvas::{Align, Canvas, Point, Stroke, Text, text_width};
use crate::report::chart::frame::{LABEL, fitted, label};
use crate::report::chart::labels::{Area, place};
use crate::report::chart::palette::{FAINT_INK, INK, PAPER};
use crate::report::chart::selection::chosen;

const LONGEST_NAME: f64 = 190.0;
/// The name of one that is not on the front stays this near to its point, or is left out.
const NEAR: f64 = 30.0;

/// Of the points in a room, those of the front first, so that they have the best places.
pub(super) fn draw(
    data: &Data,
    canvas: &mut Canvas,
    placed: &[Placed],
    room: Area,
    taken: &[Area],
) {
    let chosen = chosen(data.report);
    let all = chosen.len() == data.report.senders.len();
    let is_named = |it: &&Placed| chosen.iter().any(|one| one.place == it.spot.sender.place);
    let inside = placed.iter().filter(|it| (room.top..=room.bottom).contains(&it.at.1));
    let mut named: Vec<&Placed> = inside.filter(is_named).collect();
    named.sort_by_key(|it| !it.spot.on_front());
    let unnamed = placed.iter().filter(|it| !is_named(it));
    let marks = unnamed.map(|it| Area::around(it.at, (12.0, 12.0)));
    let taken: Vec<Area> = taken.iter().copied().chain(marks).collect();
    let texts: Vec<String> = named.iter().map(|it| text(&it.spot)).collect();
    let sizes = named.iter().zip(&texts).map(|(it, text)| {
        (it.at, (text_width(text, LABEL, it.spot.is_certain_member()) + 4.0, 15.0))
    });
    let places = place(&sizes.collect::<Vec<(Point, Point)>>(), room, &taken);
    let found: Vec<(&Placed, &String, Area)> = named
        .iter()
        .zip(&texts)
        .zip(places)
        .filter_map(|((it, text), area)| Some((*it, text, area?)))
        .filter(|(it, _, area)| all || it.spot.on_front() || distance(it.at, area) <= NEAR)
        .collect();
    found.iter().for_each(|(it, _, area)| leader(canvas, it, area));
    for (it, text, area) in &found {
        // Paper behind the name, so that neither the grid nor the line of another name runs through
        // it.
        canvas.rectangle((area.left, area.top), (area.right, area.bottom), PAPER.mix(0.85));
        let colour = if it.spot.on_front() { INK } else { FAINT_INK };
        let look = Text { bold: it.spot.is_certain_member(), colour, ..label(Align::Centre) };
        canvas.text(text, area.middle(), look);
    }
}

fn text(spot: &Spot) -> String {
    let bold = spot.is_certain_member();
    fitted(&spot.sender.pooled.sender, LABEL, bold, LONGEST_NAME)
}

fn leader(canvas: &mut Canvas, placed: &Placed, found: &Area) {
    let (x, y) = placed.at;
    if distance(placed.at, found) > 14.0 {
        let near = (x.clamp(found.left, found.right), y.clamp(found.top, found.bottom));
        let stroke = Stroke { colour: FAINT_INK.mix(0.7), width: 1.0, dash: 0.0 };
        canvas.line((x, y), near, stroke);
    }
}

fn distance((x, y): Point, to: &Area) -> f64 {
    (x.clamp(to.left, to.right) - x).hypot(y.clamp(to.top, to.bottom) - y)
}

impl Spot<'_> {
    fn is_certain_member(&self) -> bool {
        self.on_front() && self.is_certain()
    }
}
