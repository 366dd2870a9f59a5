//! The receipt in the summary.

use super::document::{Link, LinkFigure};
use crate::recording::receipt::judge::What;
use crate::report::Report;
use crate::report::impairment::{FigureReport, Finding, LinkReport};

pub(in crate::report) fn links(report: &Report) -> Vec<Link<'_>> {
    let links = report.impairment.iter().flat_map(|impairment| &impairment.links);
    links.map(|link| Link::new(link, &report.path_names)).collect()
}

impl<'a> Link<'a> {
    fn new(link: &'a LinkReport, paths: &'a [String]) -> Self {
        Self {
            path: paths.get(link.path.index()).map_or("", String::as_str),
            direction: link.direction,
            profile: link.asked.as_ref(),
            packets: link.packets,
            figures: link.figures.iter().map(LinkFigure::from).collect(),
        }
    }
}

impl From<&FigureReport> for LinkFigure {
    fn from(figure: &FigureReport) -> Self {
        let judged = &figure.pooled;
        let (unit, factor) = unit(judged.what);
        let scaled = |value: Option<f64>| value.map(|value| value * factor);
        Self {
            figure: judged.what.to_string(),
            unit,
            asked: scaled(judged.asked),
            realised: scaled(judged.did),
            low: scaled(judged.interval.low),
            high: scaled(judged.interval.high),
            packets: judged.packets,
            verdict: judged.verdict.to_string(),
            disagrees_in: figure.findings.iter().map(Finding::place).collect(),
            spoilt_in: figure.late.iter().map(Finding::place).collect(),
        }
    }
}

/// The unit a figure is written in, and what makes it of the one it is held in.
fn unit(what: What) -> (&'static str, f64) {
    match what {
        What::Delay | What::Jitter => ("ms", 1e-6),
        What::Burst => ("packets", 1.0),
        What::Rate => ("bit/s", 1.0),
        What::Loss | What::Overtaking | What::Ahead | What::Copies | What::Corruption => {
            ("share", 1.0)
        }
    }
}
