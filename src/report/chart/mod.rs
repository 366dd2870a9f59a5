//! The charts of a report, each drawn once and written as SVG and as PNG. A new chart is one file
//! and one line below.

mod amplification;
mod axis;
mod canvas;
mod frame;
mod intervals;
mod labels;
mod over_time;
mod palette;
mod quantiles;
mod render;
mod selection;
mod tail;
mod trade_off;

pub use canvas::ChartError;
pub use render::{ChartFile, render_all};

use crate::recording::Recording;
use canvas::Canvas;
use palette::SenderLook;

use super::{Report, SenderReport};

/// What a chart is drawn from.
struct Data<'a> {
    report: &'a Report,
    recordings: &'a [Recording],
    /// One for each place.
    looks: Vec<SenderLook>,
}

impl<'a> Data<'a> {
    fn new(report: &'a Report, recordings: &'a [Recording]) -> Self {
        Self { report, recordings, looks: selection::looks(report) }
    }

    fn look(&self, sender: &SenderReport) -> SenderLook {
        self.looks[sender.place]
    }
}

struct Chart {
    /// The stem of its files.
    name: &'static str,
    /// In pixels at normal size; a chart with a row for each sender grows with them.
    height: fn(&Data) -> f64,
    draw: fn(&Data, &mut Canvas),
}

const CHARTS: [Chart; 5] = [
    Chart { name: "quantiles", height: quantiles::height, draw: quantiles::draw },
    Chart { name: "tail", height: tail::height, draw: tail::draw },
    Chart { name: "over-time", height: over_time::height, draw: over_time::draw },
    Chart { name: "trade-off", height: trade_off::height, draw: trade_off::draw },
    Chart { name: "amplification", height: amplification::height, draw: amplification::draw },
];
