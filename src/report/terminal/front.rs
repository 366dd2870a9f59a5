//! The senders that no other beats in both P99 and amplification, in a few lines below the table.

use super::{Style, list, paint, too_few_runs, wrap};
use crate::report::table::Tone;
use crate::report::{Report, Reservation, SenderReport, Standing, figures};
use crate::statistics::Quantile;

/// With fewer there is nothing to choose from.
const FEWEST_SENDERS: usize = 3;

pub(super) fn render(report: &Report, style: Style) -> String {
    if report.senders.len() < FEWEST_SENDERS {
        return String::new();
    }
    let mut on_front: Vec<&SenderReport> =
        report.senders.iter().filter(|sender| stands(sender, |it| it.on_front)).collect();
    on_front.sort_by(|a, b| cost(a).total_cmp(&cost(b)));
    let members: Vec<String> = on_front.into_iter().map(member).collect();
    let ranked = report.senders.iter().any(SenderReport::is_ranked);
    let members = match (members.is_empty(), ranked) {
        (true, true) => "none: each that is ranked loses more than 1 %".to_owned(),
        (true, false) => "nobody is ranked".to_owned(),
        (false, _) => members.join(" · "),
    };
    let title = "Beaten by no other in both P99 and amplification";
    let title = paint(&wrap(title, style.width), Tone::Heading, style.colour);
    format!("{title}\n{}{}", wrap(&members, style.width) + "\n", doubts(report, style))
}

/// `mpquic 48.3 ms at 2.29`; with a mark where it is not certain.
fn member(sender: &SenderReport) -> String {
    let p99 = sender.pooled.figure(Quantile::P99).and_then(|figure| figure.value);
    let mark = if stands(sender, |it| it.certain == Some(false)) { "?" } else { "" };
    let (name, p99) = (&sender.pooled.sender, figures::latency_or_none(p99));
    format!("{name}{mark} {p99} at {}", figures::ratio(cost(sender)))
}

fn doubts(report: &Report, style: Style) -> String {
    let count = |which: fn(Standing) -> bool| {
        report.senders.iter().filter(|sender| stands(sender, which)).count()
    };
    let mut notes = Vec::new();
    if count(|it| it.on_front && it.certain == Some(false)) > 0 {
        notes.push("? the 95 % intervals of others reach it".to_owned());
    }
    match count(|it| !it.on_front && it.certain == Some(false)) {
        0 => {}
        one_more => {
            let senders = figures::plural(one_more as u64, "more sender");
            notes.push(format!("{senders} may be among them, by the 95 % intervals"));
        }
    }
    let unranked = not_ranked(report);
    let hangs = unranked.is_some() && !too_few_runs(report);
    notes.extend(unranked);
    if count(|it| it.certain.is_none()) > 0 && !hangs {
        notes.push("by the bare figures: there are no intervals to judge by".to_owned());
    }
    list(&notes, Tone::Faint, style)
}

/// Those with a reservation. Their true figures may be anywhere.
fn not_ranked(report: &Report) -> Option<String> {
    let of = |reservation: Reservation| {
        let senders = report.senders.iter().filter(|it| it.reservations.contains(&reservation));
        let names: Vec<&str> = senders.map(|sender| sender.pooled.sender.as_str()).collect();
        format!("{reservation} ({})", names.join(", "))
    };
    let all: Vec<String> = report.reservations().map(of).collect();
    (!all.is_empty())
        .then(|| format!("not ranked, though they might beat others: {}", all.join("; ")))
}

fn stands(sender: &SenderReport, which: impl Fn(Standing) -> bool) -> bool {
    sender.standing.is_some_and(which)
}

fn cost(sender: &SenderReport) -> f64 {
    sender.pooled.amplification.map_or(f64::INFINITY, |amplification| amplification.total())
}
