//! One colour a sender in every chart. The first eight are of IBM's Carbon Design System
//! (<https://carbondesignsystem.com/data-visualization/color-palettes>), those of its fourteen for
//! categories that people with any kind of colour blindness tell apart best: some of the others
//! look alike to them. The rest were searched for, as far from those and from one another as colours
//! get that stand out from white paper; from the ninth sender on lines are dashed as well.

use plotters::style::{Color, RGBAColor, RGBColor};

use super::canvas::{Canvas, Point, Stroke};

pub const PAPER: RGBColor = RGBColor(255, 255, 255);
pub const INK: RGBColor = RGBColor(34, 34, 34);
pub const FAINT_INK: RGBColor = RGBColor(102, 102, 102);
pub const GRID: RGBColor = RGBColor(222, 222, 222);
pub const OUTAGE: RGBColor = RGBColor(228, 228, 228);
pub const DEADLINE: RGBColor = RGBColor(160, 0, 0);

/// Neighbours lie far apart.
pub const COLOURS: [RGBColor; 20] = [
    RGBColor(105, 41, 196),
    RGBColor(178, 134, 0),
    RGBColor(0, 157, 154),
    RGBColor(138, 56, 0),
    RGBColor(1, 39, 73),
    RGBColor(250, 77, 86),
    RGBColor(165, 110, 255),
    RGBColor(0, 93, 93),
    RGBColor(123, 111, 51),
    RGBColor(3, 3, 219),
    RGBColor(171, 27, 147),
    RGBColor(75, 75, 51),
    RGBColor(243, 3, 195),
    RGBColor(75, 39, 51),
    RGBColor(171, 39, 255),
    RGBColor(87, 3, 3),
    RGBColor(111, 159, 99),
    RGBColor(51, 15, 111),
    RGBColor(135, 135, 219),
    RGBColor(183, 3, 99),
];
/// Carbon's Gray 50.
const GREY: RGBColor = RGBColor(141, 141, 141);
/// So many lines are solid before the first is dashed.
const SOLID: usize = 8;

/// Of a sender, the same in all charts of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SenderLook {
    /// By its number among those in colour, of which there are no more than colours.
    Coloured(usize),
    /// One of too many: grey.
    Other,
}

impl SenderLook {
    pub fn colour(self) -> RGBColor {
        match self {
            Self::Coloured(number) => COLOURS[number],
            Self::Other => GREY,
        }
    }

    pub fn opaque(self) -> RGBAColor {
        self.colour().mix(1.0)
    }

    /// The colour on white, as opaque as `share`: unlike true opacity it hides the grid behind it.
    pub fn tint(self, share: f64) -> RGBAColor {
        let RGBColor(red, green, blue) = self.colour();
        let mix = |part: u8| (255.0 - (255.0 - f64::from(part)) * share).round() as u8;
        RGBColor(mix(red), mix(green), mix(blue)).mix(1.0)
    }

    /// Of a whole line.
    pub fn dash(self) -> f64 {
        match self {
            Self::Coloured(number) => [0.0, 9.0, 5.0][(number / SOLID).min(2)],
            Self::Other => 0.0,
        }
    }
}

/// What marks a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    Circle,
    Square,
    Triangle,
    Diamond,
    /// Two strokes that cross.
    Cross,
}

impl Shape {
    /// About as large as each other.
    pub fn fill(self, canvas: &mut Canvas, (x, y): Point, radius: f64, colour: RGBAColor) {
        let r = radius;
        match self {
            Self::Circle => canvas.circle((x, y), r, colour),
            Self::Square => {
                canvas.rectangle((x - r * 0.9, y - r * 0.9), (x + r * 0.9, y + r * 0.9), colour);
            }
            Self::Triangle => canvas.polygon(
                &[(x, y - r * 1.2), (x + r * 1.1, y + r * 0.8), (x - r * 1.1, y + r * 0.8)],
                colour,
            ),
            Self::Diamond => canvas.polygon(
                &[(x, y - r * 1.3), (x + r * 1.3, y), (x, y + r * 1.3), (x - r * 1.3, y)],
                colour,
            ),
            Self::Cross => {
                let stroke = Stroke { colour, width: 2.0, dash: 0.0 };
                canvas.line((x - r, y - r), (x + r, y + r), stroke);
                canvas.line((x - r, y + r), (x + r, y - r), stroke);
            }
        }
    }
}

#[cfg(test)]
mod tests;
