//! The receipt as text: one line a link, asked → realised, and a sentence for each figure that
//! disagrees.

use std::collections::BTreeSet;

use super::super::impairment::{Finding, Impairment, LinkReport};
use super::super::table::{Cell, Table, Tone, paint};
use super::super::{Report, figures};
use super::{MARK, SPOILT, Style, list, wrap};
use crate::recording::receipt::judge::{Judged, Verdict, What};
use crate::timeline::is_dark;

/// Sentences about figures that disagree; the summary has all of them.
const MOST_FINDINGS: usize = 6;

const COLUMNS: [(What, &str); 9] = [
    (What::Loss, "loss"),
    (What::Burst, "burst"),
    (What::Delay, "delay"),
    (What::Jitter, "jitter"),
    (What::Overtaking, "overtaking"),
    (What::Rate, "rate"),
    (What::Ahead, "reordered"),
    (What::Copies, "duplicates"),
    (What::Corruption, "corrupted"),
];

pub(super) fn render(report: &Report, style: Style) -> String {
    let Some(impairment) = &report.impairment else { return String::new() };
    let bad = impairment.disagrees() || impairment.is_spoilt();
    let title = paint(
        &wrap(&headline(impairment), style.width),
        if bad { Tone::Bad } else { Tone::Heading },
        style.colour,
    );
    let findings = findings(report, impairment).into_iter().chain(spoilt(impairment));
    let findings = list(&findings.collect::<Vec<_>>(), Tone::Bad, style);
    let notes = list(&notes(impairment), Tone::Faint, style);
    let table = table(report, impairment).render(style.width, style.colour);
    format!("{title}\n{table}{findings}{notes}")
}

fn headline(impairment: &Impairment) -> String {
    let all = impairment.links.iter().flat_map(|link| &link.figures);
    let count = |verdict: Verdict| all.clone().filter(|it| it.pooled.verdict == verdict).count();
    let (wrong, right) = (count(Verdict::Disagrees), count(Verdict::Agrees));
    let also = |verdict: Verdict, what: &str| match count(verdict) {
        0 => String::new(),
        some => format!(", {some} {what}"),
    };
    let spoilt = also(Verdict::Spoilt, "spoilt by the host");
    let few = also(Verdict::TooFew, "had too few packets");
    format!("Impairment, asked → realised: {}{spoilt}{few}", agreement(wrong, right))
}

fn agreement(wrong: usize, right: usize) -> String {
    let agree = |count| if count == 1 { "agrees" } else { "agree" };
    let figures = |count: usize| figures::plural(count as u64, "figure");
    match wrong {
        0 => format!("{} {}", figures(right), agree(right)),
        _ => format!("{} dis{}, {right} {}", figures(wrong), agree(wrong), agree(right)),
    }
}

fn table(report: &Report, impairment: &Impairment) -> Table {
    let shown = |what: What| {
        let figures = impairment.links.iter().filter_map(|link| figure(link, what));
        figures.into_iter().any(is_shown)
    };
    let columns: Vec<(What, &'static str)> =
        COLUMNS.into_iter().filter(|(what, _)| shown(*what)).collect();
    let headings = ["link", "packets"].into_iter().chain(columns.iter().map(|it| it.1));
    let mut table = Table::new(&headings.chain(["verdict"]).collect::<Vec<_>>());
    for link in &impairment.links {
        let name = Cell::new(name(report, link));
        let packets = Cell::new(figures::count(link.packets));
        let cells = columns.iter().map(|(what, _)| cell(figure(link, *what)));
        table.push([name, packets].into_iter().chain(cells).chain([verdict(link)]).collect());
    }
    table
}

/// What was neither asked for nor seen is left out; not a rate, of which nothing may be seen.
fn is_shown(figure: &Judged) -> bool {
    (figure.did.is_some() || figure.what == What::Rate) && !figure.is_idle()
}

fn figure(link: &LinkReport, what: What) -> Option<&Judged> {
    link.figures.iter().map(|figure| &figure.pooled).find(|figure| figure.what == what)
}

/// `4g up`, `4g up dark`, `4g up #2`.
pub(in crate::report) fn name(report: &Report, link: &LinkReport) -> String {
    let path = report.path_names.get(link.path.index()).map_or("?", String::as_str);
    let name = format!("{path} {}", link.direction);
    match &link.asked {
        None => format!("{name}, others"),
        Some(profile) if is_dark(profile) => format!("{name} dark"),
        Some(_) if link.of > 1 => format!("{name} #{}", link.place + 1),
        Some(_) => name,
    }
}

fn cell(figure: Option<&Judged>) -> Cell {
    let Some(figure) = figure.filter(|figure| is_shown(figure)) else {
        return Cell::toned(figures::NONE, Tone::Faint);
    };
    match figure.verdict {
        Verdict::Disagrees => Cell::toned(pair(figure) + " ", Tone::Bad),
        Verdict::Spoilt => Cell::toned(pair(figure) + SPOILT, Tone::Bad),
        Verdict::TooFew => Cell::toned(pair(figure) + MARK, Tone::Faint),
        Verdict::Agrees => Cell::new(pair(figure) + " "),
        Verdict::NotJudged(_) => Cell::toned(pair(figure) + " ", Tone::Faint),
    }
}

/// The unit of the first only where it is another one.
fn pair(figure: &Judged) -> String {
    let written =
        |value: Option<f64>| value.map_or(figures::NONE.to_owned(), |it| write(figure.what, it));
    let (asked, did) = (written(figure.asked), written(figure.did));
    let unit = |text: &str| text.split_once(' ').map(|(_, unit)| unit.to_owned());
    let asked = match asked.split_once(' ') {
        Some((number, unit_asked)) if unit(&did).as_deref() == Some(unit_asked) => {
            number.to_owned()
        }
        _ => asked,
    };
    format!("{asked} → {did}")
}

pub(in crate::report) fn write(what: What, value: f64) -> String {
    match what {
        What::Delay | What::Jitter => figures::milliseconds(value / 1e6),
        What::Burst => format!("{value:.2}"),
        What::Rate => format!("{} Mbit/s", figures::significant(value / 1e6)),
        What::Loss | What::Overtaking | What::Ahead | What::Copies | What::Corruption => {
            figures::percent(value)
        }
    }
}

/// Of what is shown of the link.
fn verdict(link: &LinkReport) -> Cell {
    let shown = || link.figures.iter().map(|figure| &figure.pooled).filter(|it| is_shown(it));
    let verdicts = || shown().map(|figure| (figure.what, figure.verdict));
    let wrong = verdicts().filter(|(_, verdict)| *verdict == Verdict::Disagrees);
    let wrong: Vec<String> = wrong.map(|(what, _)| what.to_string()).collect();
    let has = |wanted: Verdict| verdicts().any(|(_, verdict)| verdict == wanted);
    match wrong.len() {
        0 if has(Verdict::Spoilt) => Cell::toned("spoilt by host", Tone::Bad),
        0 if has(Verdict::Agrees) => Cell::toned("agrees", Tone::Good),
        0 if has(Verdict::TooFew) => Cell::toned("too few", Tone::Faint),
        0 if shown().next().is_none() => Cell::toned(figures::NONE, Tone::Faint),
        0 => Cell::toned("not judged", Tone::Faint),
        1..=2 => Cell::toned(format!("not {}", wrong.join(", ")), Tone::Bad),
        many => Cell::toned(format!("not {many} figures"), Tone::Bad),
    }
}

fn findings(report: &Report, impairment: &Impairment) -> Vec<String> {
    let all: Vec<_> = impairment.findings().collect();
    let said = all.iter().take(MOST_FINDINGS);
    let mut lines: Vec<String> = said
        .map(|(link, what, finding)| format!("! {}, {what}: {}", name(report, link), say(finding)))
        .collect();
    if all.len() > MOST_FINDINGS {
        lines.push(format!("! and {} more, in summary.json", all.len() - MOST_FINDINGS));
    }
    lines
}

fn say(finding: &Finding) -> String {
    let judged = &finding.judged;
    let value =
        |value: Option<f64>| value.map_or(figures::NONE.to_owned(), |it| write(judged.what, it));
    let interval = figures::interval(&judged.interval, |it| write(judged.what, it));
    format!(
        "asked {}, realised {} ({interval}) over {} ({}); suspect {}",
        value(judged.asked),
        value(judged.did),
        figures::plural(judged.packets, "packet"),
        finding.place(),
        suspect(finding),
    )
}

fn suspect(finding: &Finding) -> &'static str {
    match finding.judged.what {
        _ if finding.spoilt => "the host, which did not keep time in this trial",
        What::Loss | What::Burst => "packets dropped beside the link, or an engine at fault",
        What::Delay | What::Jitter => "a queue or timer beside the link, or an engine at fault",
        What::Rate => "something faster or slower than the link on the way",
        What::Overtaking | What::Ahead => "something beside the link that reorders",
        What::Copies | What::Corruption => "an engine at fault",
    }
}

fn notes(impairment: &Impairment) -> Vec<String> {
    let figures = || impairment.links.iter().flat_map(|link| &link.figures);
    let few = figures().any(|figure| figure.pooled.verdict == Verdict::TooFew);
    let few = few.then(|| format!("{MARK} too few packets to tell it from twice as much"));
    // Once each, however many links it is about.
    let reasons: BTreeSet<String> = figures()
        .filter(|figure| is_shown(&figure.pooled))
        .filter(|figure| matches!(figure.pooled.verdict, Verdict::NotJudged(_)))
        .map(|figure| format!("{} {}", figure.pooled.what, figure.pooled.verdict))
        .collect();
    few.into_iter().chain(reasons).collect()
}

/// Where the host was late, each trial once, and all runs of a sender where none shows it alone.
fn spoilt(impairment: &Impairment) -> Option<String> {
    let figures = impairment.links.iter().flat_map(|link| &link.figures);
    let late: Vec<&Finding> = figures.flat_map(|figure| &figure.late).collect();
    let alone = |it: &Finding| it.repetition.is_some();
    let shown = |it: &&&Finding| {
        alone(it) || !late.iter().any(|other| other.sender == it.sender && alone(other))
    };
    let mut trials: Vec<String> = Vec::new();
    for place in late.iter().filter(shown).map(|finding| finding.place()) {
        if !trials.contains(&place) {
            trials.push(place);
        }
    }
    let more = match trials.len().saturating_sub(MOST_FINDINGS) {
        0 => String::new(),
        more => format!("; and {more} more, in summary.json"),
    };
    trials.truncate(MOST_FINDINGS);
    (!trials.is_empty()).then(|| {
        let trials = trials.join("; ");
        format!("{SPOILT} spoilt by the host, which let packets leave late: {trials}{more}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_figure_agrees_and_several_agree() {
        let written =
            [(0, 1), (0, 31), (1, 1), (2, 0)].map(|(wrong, right)| agreement(wrong, right));
        let expected = [
            "one figure agrees",
            "31 figures agree",
            "one figure disagrees, 1 agrees",
            "2 figures disagree, 0 agree",
        ];
        assert_eq!(written, expected);
    }
}
