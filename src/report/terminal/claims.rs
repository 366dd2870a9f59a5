//! What was measured, beside what somebody published.

use super::{Style, list, paint};
use crate::report::claims::{ClaimReport, ClaimedFigure};
use crate::report::table::{Cell, Table, Tone};
use crate::report::{Report, figures};
use crate::statistics::Verdict;

pub(super) fn render(report: &Report, style: Style) -> String {
    if report.claims.is_empty() {
        return String::new();
    }
    let mut sources: Vec<&str> = Vec::new();
    let headings = [
        "sender",
        "figure",
        "claimed",
        "measured",
        "difference",
        "95 % interval",
        "verdict",
        "source",
    ];
    let mut table = Table::new(&headings);
    for claim in &report.claims {
        let known = sources.iter().position(|source| *source == claim.source);
        let place = known.unwrap_or_else(|| {
            sources.push(&claim.source);
            sources.len() - 1
        });
        table.push(row(claim, place + 1));
    }
    let title = paint("Measured beside claimed", Tone::Heading, style.colour);
    let sources =
        sources.iter().enumerate().map(|(place, source)| format!("[{}] {source}", place + 1));
    let sources = list(&sources.collect::<Vec<_>>(), Tone::Faint, style);
    format!("{title}\n{}{sources}", table.render(style.width, style.colour))
}

fn row(claim: &ClaimReport, source: usize) -> Vec<Cell> {
    let write = |value: f64| match claim.figure {
        ClaimedFigure::Amplification => figures::ratio(value),
        _ => figures::milliseconds(value),
    };
    vec![
        Cell::new(claim.sender.clone()),
        Cell::new(figure(claim)),
        Cell::new(write(claim.claimed)),
        Cell::new(claim.measured.map_or_else(|| figures::NONE.to_owned(), write)),
        Cell::new(claim.difference().map_or_else(|| figures::NONE.to_owned(), difference)),
        Cell::new(figures::interval(&claim.interval, write)),
        Cell::toned(claim.verdict_in_words(), verdict_tone(claim)),
        Cell::toned(format!("[{source}]"), Tone::Faint),
    ]
}

/// The table of the senders has these of all runs together.
fn figure(claim: &ClaimReport) -> String {
    match claim.figure {
        ClaimedFigure::Worst | ClaimedFigure::LongestGap if claim.runs > 1 => {
            format!("{}, median", claim.figure)
        }
        _ => claim.figure.to_string(),
    }
}

fn difference(difference: f64) -> String {
    match difference {
        _ if difference.is_infinite() => "lost".to_owned(),
        _ if difference >= 1.0 => format!("{:.1} times", 1.0 + difference),
        _ => format!("{:+.0} %", difference * 100.0),
    }
}

fn verdict_tone(claim: &ClaimReport) -> Tone {
    match claim.verdict {
        _ if !claim.reservations.is_empty() => Tone::Bad,
        Verdict::Agrees => Tone::Good,
        Verdict::Differs => Tone::Bad,
        Verdict::Inconclusive | Verdict::NoInterval | Verdict::NotMeasured => Tone::Plain,
    }
}
