//! Which senders a chart shows one by one where there are too many to be told apart, and the look
//! that each has in every chart.

use std::cmp::Ordering;

use super::palette::SenderLook;
use crate::report::{Report, SenderReport, figures};
use crate::statistics::{Latency, Quantile};

/// With no more than these all are shown.
const FEW: usize = 16;

/// In the order of the report: all of them, or of many those on the front of P99 and amplification
/// and, of those beaten, the one of each family with the best P99.
pub fn chosen(report: &Report) -> Vec<&SenderReport> {
    let few = report.senders.len() <= FEW;
    let senders = report.senders.iter();
    senders.filter(|sender| few || is_on_front(sender) || is_best_beaten(report, sender)).collect()
}

/// By the place of each sender in the plan, so that an order of the report changes no colour: those
/// chosen are in colour.
pub fn looks(report: &Report) -> Vec<SenderLook> {
    let mut places: Vec<usize> = chosen(report).iter().map(|sender| sender.place).collect();
    places.sort_unstable();
    let look = |place| match places.binary_search(&place) {
        Ok(number) => SenderLook::Coloured(number),
        Err(_) => SenderLook::Other,
    };
    (0..report.senders.len()).map(look).collect()
}

/// What is to be said of a choice that is not all; empty if it is.
pub fn remark(report: &Report, shown: &str) -> String {
    let (chosen, all) = (chosen(report).len(), report.senders.len());
    match chosen < all {
        true => format!(
            "{shown} {chosen} of {all} senders: those beaten by no other in both P99 and \
             amplification, and of each protocol the best of the others. "
        ),
        false => String::new(),
    }
}

/// What the signs after names say; empty without any.
pub fn signs(report: &Report) -> String {
    report.reservations().map(|it| format!("{}: {it}. ", it.sign())).collect()
}

/// How many are not chosen, for a legend; `None`: none.
pub fn others(report: &Report) -> Option<String> {
    let others = report.senders.len() - chosen(report).len();
    (others > 0).then(|| figures::plural(others as u64, "other"))
}

fn is_on_front(sender: &SenderReport) -> bool {
    sender.standing.is_some_and(|standing| standing.on_front)
}

fn is_best_beaten(report: &Report, sender: &SenderReport) -> bool {
    let family = report.senders.iter().filter(|other| other.kind.family == sender.kind.family);
    let beaten = family.filter(|other| !is_on_front(other));
    let best = beaten.min_by(|a, b| {
        let by_figures = rank(a).partial_cmp(&rank(b)).unwrap_or(Ordering::Equal);
        by_figures.then(a.place.cmp(&b.place))
    });
    best.is_some_and(|best| best.place == sender.place)
}

/// Those that are ranked first; then P99, the share lost and the cost.
fn rank(sender: &SenderReport) -> (bool, f64, f64, f64) {
    let p99 = sender.pooled.figure(Quantile::P99).and_then(|figure| figure.value);
    let cost = sender.pooled.amplification.map(|amplification| amplification.total());
    (
        !sender.is_ranked(),
        p99.map_or(f64::INFINITY, Latency::as_ms_or_infinity),
        sender.pooled.lost_share(),
        cost.unwrap_or(f64::INFINITY),
    )
}
