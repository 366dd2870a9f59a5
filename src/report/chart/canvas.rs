//! A sheet to draw on that becomes SVG or PNG. Every shape goes through here once, so that both
//! look the same; what is a line of a chart and what is its label is not known here.

use std::error::Error;
use std::sync::Once;

use plotters::backend::{BitMapBackend, DrawingBackend, SVGBackend};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{
    FontDesc, FontFamily, FontStyle, FontTransform, RGBAColor, RGBColor, ShapeStyle, TextStyle,
    register_font,
};
use plotters_backend::BackendCoord;

/// Pixels of the PNG to one of the chart's: sharp on a screen with dense pixels, and half a pixel
/// precise in SVG.
pub const SCALE: f64 = 2.0;
pub const WIDTH: f64 = 1100.0;

/// What an SVG viewer looks for; plotters looks the whole list up as one name, under which the
/// bundled font is registered.
const FAMILY: &str = "DejaVu Sans, Verdana, Helvetica, Arial, sans-serif";
const REGULAR: &[u8] = include_bytes!("../../../assets/fonts/DejaVuSans-latin.ttf");
const BOLD: &[u8] = include_bytes!("../../../assets/fonts/DejaVuSans-Bold-latin.ttf");

#[derive(Debug, thiserror::Error)]
pub enum ChartError {
    #[error("cannot draw: {0}")]
    Draw(#[source] Box<dyn Error + Send + Sync>),
    #[error("cannot encode PNG: {0}")]
    Png(#[from] png::EncodingError),
}

impl ChartError {
    /// The two surfaces have errors of their own types.
    fn draw(error: impl Error + Send + Sync + 'static) -> Self {
        Self::Draw(Box::new(error))
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Align {
    Left,
    Centre,
    Right,
}

/// How a text looks. Its position is the middle of its capitals, on the side that `align` names.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Text {
    /// Pixels of the em.
    pub size: f64,
    pub colour: RGBColor,
    pub align: Align,
    pub bold: bool,
    /// Reads from bottom to top.
    pub upright: bool,
}

/// How a line looks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stroke {
    pub colour: RGBAColor,
    pub width: f64,
    /// Length of the dashes and of the gaps between them; zero: none.
    pub dash: f64,
}

pub type Point = (f64, f64);

enum Surface<'a> {
    Svg(SVGBackend<'a>),
    Png(BitMapBackend<'a>),
}

pub struct Canvas<'a> {
    surface: Surface<'a>,
    height: f64,
    /// The first one; what is drawn after it does not matter any more.
    error: Option<ChartError>,
}

/// Draws the same thing on whichever surface it is.
macro_rules! draw {
    ($canvas:expr, $method:ident($($argument:expr),*)) => {
        match &mut $canvas.surface {
            Surface::Svg(svg) => svg.$method($($argument),*).map_err(ChartError::draw),
            Surface::Png(png) => png.$method($($argument),*).map_err(ChartError::draw),
        }
    };
}

impl<'a> Canvas<'a> {
    pub fn svg(document: &'a mut String, height: f64) -> Self {
        register_fonts();
        let surface = Surface::Svg(SVGBackend::with_string(document, pixels(height)));
        Self { surface, height, error: None }
    }

    /// `buffer` holds three bytes for each of [`pixels`].
    pub fn png(buffer: &'a mut [u8], height: f64) -> Self {
        register_fonts();
        let surface = Surface::Png(BitMapBackend::with_buffer(buffer, pixels(height)));
        Self { surface, height, error: None }
    }

    pub fn height(&self) -> f64 {
        self.height
    }

    pub fn finish(mut self) -> Result<(), ChartError> {
        let presented = draw!(self, present());
        self.error.map_or(presented, Err)
    }

    pub fn rectangle(&mut self, from: Point, to: Point, colour: RGBAColor) {
        let drawn = draw!(self, draw_rect(scaled(from), scaled(to), &colour, true));
        self.note(drawn);
    }

    pub fn line(&mut self, from: Point, to: Point, stroke: Stroke) {
        self.polyline(&[from, to], stroke);
    }

    pub fn polyline(&mut self, points: &[Point], stroke: Stroke) {
        if stroke.dash > 0.0 {
            let solid = Stroke { dash: 0.0, ..stroke };
            dashes(points, stroke.dash).iter().for_each(|dash| self.polyline(dash, solid));
            return;
        }
        let mut scaled: Vec<BackendCoord> = points.iter().map(|point| scaled(*point)).collect();
        // Two equal points have no direction, which the rasterizer of thick lines divides by.
        scaled.dedup();
        if scaled.len() < 2 {
            return;
        }
        let width = (stroke.width * SCALE).round().max(1.0) as u32;
        let style = ShapeStyle { color: stroke.colour, filled: false, stroke_width: width };
        let drawn = draw!(self, draw_path(scaled, &style));
        self.note(drawn);
    }

    pub fn circle(&mut self, centre: Point, radius: f64, colour: RGBAColor) {
        let radius = (radius * SCALE).round() as u32;
        let drawn = draw!(self, draw_circle(scaled(centre), radius, &colour, true));
        self.note(drawn);
    }

    pub fn polygon(&mut self, points: &[Point], colour: RGBAColor) {
        let points: Vec<BackendCoord> = points.iter().map(|point| scaled(*point)).collect();
        let drawn = draw!(self, fill_polygon(points, &colour));
        self.note(drawn);
    }

    pub fn text(&mut self, text: &str, at: Point, look: Text) {
        let (x, y) = at;
        let (em, top) = (look.size, self.top_of_baseline(look.size));
        // Down from the middle of the capitals to the baseline, and from there to where the backend
        // hangs the text.
        let down = CAPITALS / 2.0 * em - top;
        let at = if look.upright { (x + down, y) } else { (x, y + down) };
        let style = self.style(&look);
        let drawn = draw!(self, draw_text(text, &style, scaled(at)));
        self.note(drawn);
    }

    /// SVG hangs the baseline 0.76 em below the given point, plotters' rasterizer half its own
    /// size.
    fn top_of_baseline(&self, em: f64) -> f64 {
        match self.surface {
            Surface::Svg(_) => 0.76 * em,
            Surface::Png(_) => LINE / 2.0 * em,
        }
    }

    fn style<'b>(&self, look: &'b Text) -> TextStyle<'b> {
        // plotters takes the height of a line: its SVG divides by 1.24, its rasterizer by what the
        // font says.
        let line = match self.surface {
            Surface::Svg(_) => 1.24,
            Surface::Png(_) => LINE,
        };
        let font = font(look.size * line * SCALE, look.bold);
        let turned = if look.upright { FontTransform::Rotate270 } else { FontTransform::None };
        let horizontal = match look.align {
            Align::Left => HPos::Left,
            Align::Centre => HPos::Center,
            Align::Right => HPos::Right,
        };
        TextStyle::from(font.transform(turned))
            .color(&look.colour)
            .pos(Pos::new(horizontal, VPos::Top))
    }

    fn note(&mut self, drawn: Result<(), ChartError>) {
        if let (None, Err(error)) = (&self.error, drawn) {
            self.error = Some(error);
        }
    }
}

/// Heights in DejaVu Sans, in em: of a capital, and of a line (ascent and descent).
const CAPITALS: f64 = 0.729;
const LINE: f64 = 1.164;

/// How wide a text will be, in pixels.
pub fn text_width(text: &str, size: f64, bold: bool) -> f64 {
    register_fonts();
    // Measured large, because plotters rounds to whole pixels.
    let large = 10.0;
    let measured = font(size * LINE * large, bold).box_size(text);
    measured.map_or(0.0, |(width, _)| f64::from(width) / large)
}

pub fn pixels(height: f64) -> (u32, u32) {
    ((WIDTH * SCALE) as u32, (height * SCALE).ceil() as u32)
}

fn font(line: f64, bold: bool) -> FontDesc<'static> {
    let style = if bold { FontStyle::Bold } else { FontStyle::Normal };
    FontDesc::new(FontFamily::Name(FAMILY), line, style)
}

fn register_fonts() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        for (style, bytes) in [(FontStyle::Normal, REGULAR), (FontStyle::Bold, BOLD)] {
            assert!(register_font(FAMILY, style, bytes).is_ok(), "the bundled font is a font");
        }
    });
}

fn scaled((x, y): Point) -> BackendCoord {
    ((x * SCALE).round() as i32, (y * SCALE).round() as i32)
}

/// Cuts a line into dashes as long as the gaps between them.
fn dashes(points: &[Point], length: f64) -> Vec<Vec<Point>> {
    let mut dashes = vec![Vec::from_iter(points.first().copied())];
    let mut left = length;
    for pair in points.windows(2) {
        let ((x0, y0), (x1, y1)) = (pair[0], pair[1]);
        let distance = (x1 - x0).hypot(y1 - y0);
        let mut gone = 0.0;
        while distance - gone > left {
            gone += left;
            let cut = (x0 + (x1 - x0) * gone / distance, y0 + (y1 - y0) * gone / distance);
            dashes.iter_mut().last().into_iter().for_each(|dash| dash.push(cut));
            dashes.push(vec![cut]);
            left = length;
        }
        left -= distance - gone;
        dashes.iter_mut().last().into_iter().for_each(|dash| dash.push((x1, y1)));
    }
    dashes.into_iter().step_by(2).collect()
}
