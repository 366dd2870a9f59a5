use super::*;
use crate::recording::sample;
use crate::report::summarise;
use crate::statistics::Latency;

const FRONT: Standing = Standing { on_front: true, certain: Some(true) };
const BEATEN: Standing = Standing { on_front: false, certain: Some(true) };

fn kind(family: &'static str, redundancy: Redundancy) -> Kind {
    Kind { family, redundancy, error_correction: false }
}

/// One after another, each with a P99 of a millisecond more.
fn report(senders: &[(Kind, Standing)]) -> Report {
    let mut report = summarise(&sample::plan(1), &sample::recordings(1));
    let like = report.senders[1].clone();
    let sender = |(place, (kind, standing)): (usize, &(Kind, Standing))| {
        let mut sender = like.clone();
        (sender.place, sender.kind, sender.standing) = (place, *kind, Some(*standing));
        sender.pooled.sender = format!("sender-{place}");
        for figure in &mut sender.pooled.quantiles {
            figure.value = Some(Latency::from_nanos(1_000_000 * (place as u64 + 1)));
        }
        sender
    };
    report.senders = senders.iter().enumerate().map(sender).collect();
    report
}

fn places(report: &Report) -> Vec<usize> {
    chosen(report).iter().map(|sender| sender.place).collect()
}

#[test]
fn no_two_senders_look_alike_however_many_are_on_the_front() {
    for count in 1..=crate::scenario::limits::SENDERS {
        let report = report(&vec![(kind("quic", Redundancy::OnePath), FRONT); count]);
        let looks = looks(&report);
        let coloured: Vec<_> =
            looks.iter().filter(|look| **look != SenderLook::Other).map(|it| it.colour()).collect();
        assert_eq!(coloured.len(), count.min(MOST));
        for (n, colour) in coloured.iter().enumerate() {
            assert!(!coloured[n + 1..].contains(colour), "{count}: {n}");
        }
        let grey = count.saturating_sub(MOST);
        let says = format!("There are no more colours: {grey} of these are grey. ");
        assert_eq!(remark(&report, "Shown:").contains(&says), grey > 0, "{count}");
    }
}

#[test]
fn each_protocol_alone_is_shown_beside_better_copies_of_it() {
    let copies = [Redundancy::Datagrams, Redundancy::Messages];
    let of = |family| {
        let copies = copies.into_iter().cycle().take(6).map(move |it| (kind(family, it), BEATEN));
        copies.chain([(kind(family, Redundancy::OnePath), BEATEN); 2])
    };
    let all: Vec<_> = of("kcp").chain(of("quic")).chain(of("udp")).collect();
    // Of each protocol the best copy, and the better of the two that are alone.
    assert_eq!(places(&report(&all)), [0, 6, 8, 14, 16, 22]);
    let said = remark(&report(&all), "Shown:");
    assert!(said.starts_with("Shown: 6 of 24 senders: "), "{said}");
    assert!(!said.contains("error correction"), "{said}");
}

#[test]
fn with_error_correction_a_protocol_is_another() {
    let plain = kind("kcp", Redundancy::OnePath);
    let corrected = Kind { error_correction: true, ..plain };
    let mut all = vec![(corrected, BEATEN); 10];
    all.extend([(plain, BEATEN); 10]);
    assert_eq!(places(&report(&all)), [0, 10]);
    assert!(remark(&report(&all), "Shown:").contains("with error correction and without"));
}

/// Who is on the front for certain comes before them, who may be there by chance after.
#[test]
fn where_colours_are_short_protocols_alone_keep_theirs() {
    let copied = kind("quic", Redundancy::Datagrams);
    let chance = Standing { certain: Some(false), ..FRONT };
    let mut all = vec![(copied, chance); 30];
    all.push((kind("kcp", Redundancy::OnePath), BEATEN));
    all.push((copied, FRONT));
    let places = places(&report(&all));
    assert_eq!(places.len(), MOST);
    assert!(places.ends_with(&[MOST - 3, 30, 31]), "{places:?}");
}
