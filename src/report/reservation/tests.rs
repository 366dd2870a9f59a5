use std::time::Duration;

use super::*;
use crate::recording::{Fidelity, sample};
use crate::report::{Order, summarise};

/// `udp` is whole, the first run of `kcp` spoilt, and `quic` interrupted.
fn recordings(repeat: u32) -> Vec<Recording> {
    let mut recordings = sample::recordings(repeat);
    let kcp = recordings.iter_mut().find(|it| it.sender == "kcp").expect("a sample of it");
    let spoilt = Some("the host stood still for 80.0 ms".to_owned());
    kcp.fidelity = Some(Fidelity { spoilt, ..sample::fidelity() });
    for quic in recordings.iter_mut().filter(|it| it.sender == "quic") {
        quic.status = Status::Interrupted { after: Duration::from_secs(30) };
    }
    recordings
}

fn report(repeat: u32) -> Report {
    summarise(&sample::plan(repeat), &recordings(repeat))
}

fn of<'a>(report: &'a Report, name: &str) -> &'a SenderReport {
    report.senders.iter().find(|it| it.pooled.sender == name).expect("it ran")
}

#[test]
fn one_spoilt_run_is_a_reservation_on_all() {
    let report = report(5);
    let reservations = ["udp", "kcp", "quic"].map(|name| &of(&report, name).reservations[..]);
    let expected: [&[_]; 3] = [&[], &[Reservation::Spoilt], &[Reservation::Interrupted]];
    assert_eq!(reservations, expected);
    assert_eq!(
        ["udp", "kcp", "quic"].map(|it| of(&report, it).label()),
        ["udp", "kcp †", "quic ‡"]
    );
}

/// `kcp` costs least of those that have a P99: without a reservation it is on the front for certain.
#[test]
fn who_is_not_ranked_has_no_standing_and_leaves_others_no_certainty() {
    let whole = summarise(&sample::plan(5), &sample::recordings(5));
    let certain = |standing: &crate::report::Standing| standing.certain == Some(true);
    let surely_on = |of: &&SenderReport| of.standing.is_some_and(|it| it.on_front && certain(&it));
    assert!(whole.senders.iter().any(|it| surely_on(&it)));
    assert!(of(&whole, "kcp").standing.is_some_and(|it| it.on_front));
    let report = report(5);
    assert_eq!(["kcp", "quic"].map(|name| of(&report, name).standing), [None, None]);
    assert!(report.senders.iter().any(|it| it.standing.is_some_and(|it| it.on_front)));
    assert_eq!(report.senders.iter().filter(surely_on).count(), 0);
}

/// A figure that makes it the best changes nothing for the others.
#[test]
fn who_is_not_ranked_beats_nobody() {
    let mut recordings = recordings(1);
    let kcp = recordings.iter_mut().find(|it| it.sender == "kcp").expect("a sample of it");
    kcp.wire.iter_mut().for_each(|wire| {
        (wire.up.offered.bytes, wire.down.offered.bytes) = (1, 1);
    });
    if let crate::recording::Messages::Each(messages) = &mut kcp.messages {
        messages.iter_mut().for_each(|it| it.delivered = Some(it.scheduled + 1));
    }
    let standings = |report: &Report| {
        let others = report.senders.iter().filter(|it| it.is_ranked());
        others.map(|it| it.standing).collect::<Vec<_>>()
    };
    let best = summarise(&sample::plan(1), &recordings);
    assert_eq!(standings(&best), standings(&report(1)));
}

#[test]
fn by_name_and_as_in_the_scenario_who_is_not_ranked_stands_among_the_others() {
    for order in [Order::Name, Order::Scenario] {
        let of = |report: Report| {
            let senders = report.in_order(order).senders.into_iter();
            senders.map(|it| it.pooled.sender).collect::<Vec<_>>()
        };
        let whole = summarise(&sample::plan(1), &sample::recordings(1));
        assert_eq!(of(report(1)), of(whole), "{order:?}");
    }
}

#[test]
fn by_a_figure_who_is_not_ranked_comes_last() {
    for order in [Order::P50, Order::P99, Order::Lost, Order::Amplification] {
        let report = report(1).in_order(order);
        let last = &report.senders[report.senders.len() - 2..];
        assert!(last.iter().all(|it| !it.is_ranked()), "{order:?}");
    }
}

#[test]
fn claims_are_not_held_against_it() {
    let report = report(5);
    let kcp = report.claims.iter().filter(|claim| claim.sender == "kcp");
    let words: Vec<String> = kcp.map(|claim| claim.verdict_in_words()).collect();
    assert!(!words.is_empty() && words.iter().all(|it| it == "spoilt by the host"), "{words:?}");
}
