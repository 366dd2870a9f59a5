//! Which senders are named in the chart, and where their names go.

use plotters::style::Color;

use super::{Placed, Spot};
use crate::report::chart::Data;
use crate::report::chart::canvas::{Align, Canvas, Point, Stroke, Text, text_width};
use crate::report::chart::frame::{LABEL, fitted, label};
use crate::report::chart::labels::{Area, Drawn, Place, place};
use crate::report::chart::palette::{FAINT_INK, INK, PAPER, SenderLook};

const LONGEST_NAME: f64 = 190.0;

/// Of the points in a room those in colour, and those of the front first, so that they have the
/// best places. Returns how many there was no room for.
pub(super) fn draw(
    data: &Data,
    canvas: &mut Canvas,
    placed: &[Placed],
    room: Area,
    drawn: Drawn,
) -> usize {
    let inside = placed.iter().filter(|it| (room.top..=room.bottom).contains(&it.at.1));
    let mut named: Vec<&Placed> =
        inside.filter(|it| data.look(it.spot.sender) != SenderLook::Other).collect();
    named.sort_by_key(|it| !it.spot.on_front());
    let texts: Vec<String> = named.iter().map(|it| text(&it.spot)).collect();
    let sizes = named.iter().zip(&texts).map(|(it, text)| {
        (it.at, (text_width(text, LABEL, it.spot.is_certain_member()) + 4.0, 15.0))
    });
    let places = place(&sizes.collect::<Vec<(Point, Point)>>(), room, drawn);
    let found: Vec<(&Placed, &String, Place)> = named
        .iter()
        .zip(&texts)
        .zip(places)
        .filter_map(|((it, text), place)| Some((*it, text, place?)))
        .collect();
    found.iter().filter_map(|(.., place)| place.leader).for_each(|line| leader(canvas, line));
    for (it, text, Place { area, .. }) in &found {
        // Paper behind the name, so that the grid does not run through it.
        canvas.rectangle((area.left, area.top), (area.right, area.bottom), PAPER.mix(0.85));
        let colour = if it.spot.on_front() { INK } else { FAINT_INK };
        let look = Text { bold: it.spot.is_certain_member(), colour, ..label(Align::Centre) };
        canvas.text(text, area.middle(), look);
    }
    named.len() - found.len()
}

fn text(spot: &Spot) -> String {
    let bold = spot.is_certain_member();
    fitted(&spot.sender.label(), LABEL, bold, LONGEST_NAME)
}

/// Above all marks, and edged with paper, so that it is seen to end in a dot on its own.
fn leader(canvas: &mut Canvas, (from, to): (Point, Point)) {
    let stroke = Stroke { colour: INK.mix(1.0), width: 1.0, dash: 0.0 };
    canvas.line(from, to, Stroke { colour: PAPER.mix(1.0), width: 2.5, ..stroke });
    canvas.circle(to, 2.8, PAPER.mix(1.0));
    canvas.line(from, to, stroke);
    canvas.circle(to, 1.8, INK.mix(1.0));
}

impl Spot<'_> {
    fn is_certain_member(&self) -> bool {
        self.on_front() && self.is_certain()
    }
}
