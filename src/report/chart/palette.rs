//! One colour a sender in every chart, from the eight of Okabe and Ito (2008), which people with
//! any kind of colour blindness tell apart. From the ninth sender on they come again, with another
//! dash.

use plotters::style::{Color, RGBAColor, RGBColor};

use super::canvas::{Canvas, Point};

pub const PAPER: RGBColor = RGBColor(255, 255, 255);
pub const INK: RGBColor = RGBColor(34, 34, 34);
pub const FAINT_INK: RGBColor = RGBColor(102, 102, 102);
pub const GRID: RGBColor = RGBColor(222, 222, 222);
/// Curves that are there for comparison only.
pub const OTHERS: RGBColor = RGBColor(200, 200, 200);
pub const OUTAGE: RGBColor = RGBColor(228, 228, 228);
pub const DEADLINE: RGBColor = RGBColor(160, 0, 0);

/// Those that stand out best on white come first; yellow, which does so least, comes last.
const COLOURS: [RGBColor; 8] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(0, 0, 0),
    RGBColor(240, 228, 66),
];

/// By the place of a sender in the plan, or of anything else that has a colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SenderLook(pub usize);

impl SenderLook {
    pub fn colour(self) -> RGBColor {
        COLOURS[self.0 % COLOURS.len()]
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

    /// Of a whole line; the first eight are solid.
    pub fn dash(self) -> f64 {
        [0.0, 9.0, 5.0, 2.5][(self.0 / COLOURS.len()).min(3)]
    }
}

/// What marks a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    Circle,
    Square,
    Triangle,
    Diamond,
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
        }
    }
}
