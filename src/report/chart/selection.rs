//! Which senders a chart shows one by one where there are too many to be told apart, and the look
//! that each has in every chart.

use std::cmp::Ordering;

use super::palette::{COLOURS, SenderLook};
use crate::report::{Kind, Redundancy, Report, SenderReport, Standing, figures};
use crate::statistics::{Latency, Quantile};

/// With no more than these all are shown.
const FEW: usize = 16;
/// Of more, so many at most: each has a colour of its own.
const MOST: usize = COLOURS.len();
const _: () = assert!(FEW <= MOST);

/// In the order of the report: all of them, or of many those that there is a reason to show, the
/// best reasons first.
pub fn chosen(report: &Report) -> Vec<&SenderReport> {
    let wanted = wanted(report);
    let places: Vec<usize> = wanted.iter().take(MOST).map(|sender| sender.place).collect();
    report.senders.iter().filter(|sender| places.contains(&sender.place)).collect()
}

/// Why one of many is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Reason {
    CertainlyOnFront,
    /// The best on one path, to which others are compared.
    BestAlone,
    OnFront,
    BestOfKind,
}

/// All of few; of many those with a reason, the best reason first.
fn wanted(report: &Report) -> Vec<&SenderReport> {
    if report.senders.len() <= FEW {
        return report.senders.iter().collect();
    }
    let with_reason = |sender| Some((reason(report, sender)?, sender));
    let mut wanted: Vec<_> = report.senders.iter().filter_map(with_reason).collect();
    wanted.sort_by(|(reason, a), (other, b)| reason.cmp(other).then(better(a, b)));
    wanted.into_iter().map(|(_, sender)| sender).collect()
}

fn reason(report: &Report, sender: &SenderReport) -> Option<Reason> {
    let is_best = is_best_of_kind(report, sender);
    match sender.standing {
        Some(Standing { on_front: true, certain: Some(true) }) => Some(Reason::CertainlyOnFront),
        _ if is_best && sender.kind.redundancy == Redundancy::OnePath => Some(Reason::BestAlone),
        Some(Standing { on_front: true, .. }) => Some(Reason::OnFront),
        _ => is_best.then_some(Reason::BestOfKind),
    }
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
    let (wanted, all) = (wanted(report).len(), report.senders.len());
    if wanted == all && wanted <= MOST {
        return String::new();
    }
    let corrected = match report.senders.iter().any(|sender| sender.kind.error_correction) {
        true => ", with error correction and without",
        false => "",
    };
    let left = match wanted.saturating_sub(MOST) {
        0 => String::new(),
        left => format!("There are no more colours: {left} of these are grey. "),
    };
    format!(
        "{shown} {} of {all} senders: those beaten by no other in both P99 and amplification, and \
         the best P99 of each protocol{corrected}: on one path, copied, and multipath. {left}",
        wanted.min(MOST)
    )
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

/// Whether no other of the same protocol that uses its paths likewise has a better P99.
fn is_best_of_kind(report: &Report, sender: &SenderReport) -> bool {
    let alike = report.senders.iter().filter(|other| kind(other) == kind(sender));
    alike.min_by(|a, b| better(a, b)).is_some_and(|best| best.place == sender.place)
}

/// What is compared with what: copies are copies, of datagrams or of messages.
fn kind(sender: &SenderReport) -> (&'static str, bool, bool, bool) {
    let Kind { family, redundancy, error_correction } = sender.kind;
    let copied = matches!(redundancy, Redundancy::Datagrams | Redundancy::Messages);
    (family, error_correction, copied, redundancy == Redundancy::OwnPaths)
}

fn better(a: &SenderReport, b: &SenderReport) -> Ordering {
    let by_figures = rank(a).partial_cmp(&rank(b)).unwrap_or(Ordering::Equal);
    by_figures.then(a.place.cmp(&b.place))
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

#[cfg(test)]
mod tests;
