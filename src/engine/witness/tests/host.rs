//! A link that does as it is asked on a host that is late: an honest host is no matter, and one that
//! delays packets for long has its own verdict.

use super::profiles::{limit, mobile};
use super::*;

const PACKETS: u64 = 5000;
const SPACING: Duration = Duration::from_millis(2);

/// Each packet leaves as late as the host says of its number, and none before the one before.
fn judged(profile: &LinkProfile, host: impl Fn(u64) -> Duration) -> Vec<Judged> {
    let mut witness = Witness::new(profile);
    let mut link = Link::new(profile, 1);
    let mut left = Instant::ZERO;
    let mut number = 0;
    let mut pop = |link: &mut Link<Ticket>, witness: &mut Witness, now| {
        while let Some(departed) = link.pop(now) {
            left = left.max(departed.due + host(number));
            number += 1;
            let late = left.saturating_since(departed.due);
            witness.left_late(departed.packet.payload, left, late);
        }
    };
    let mut now = Instant::from_nanos(1_000_000_000);
    for _ in 0..PACKETS {
        pop(&mut link, &mut witness, now);
        let ticket = witness.entered(now, LENGTH);
        if link.push(now, Packet::new(LENGTH, ticket)) == Pushed::Lost {
            witness.lost(ticket);
        }
        now = now + SPACING;
    }
    pop(&mut link, &mut witness, now + Duration::from_secs(100));
    judge(&witness.finish().remove(0))
}

fn spoilt(figures: &[Judged]) -> Vec<What> {
    let late = figures.iter().filter(|figure| figure.verdict == Verdict::Spoilt);
    late.map(|figure| figure.what).collect()
}

fn profiles() -> [LinkProfile; 4] {
    let steady = |ms| LinkProfile { delay: Duration::from_millis(ms), ..LinkProfile::default() };
    // A little less than what comes: every packet waits for the one before.
    let limited = LinkProfile { rate: limit(2_900_000), ..steady(3) };
    [steady(0), steady(3), mobile(), limited]
}

/// As on an idle machine, but for one stall of 15 ms in a thousand packets: more would spoil the
/// trial.
#[test]
fn a_host_that_keeps_time_is_no_matter() {
    let host = |number: u64| match number % 1000 {
        999 => Duration::from_millis(15),
        other => Duration::from_micros(20 + other % 60),
    };
    for profile in profiles() {
        let figures = judged(&profile, host);
        assert_eq!((spoilt(&figures), disagrees(&figures)), (vec![], vec![]), "{profile:?}");
    }
}

/// Before there was a verdict for it `3.00 → 73.2 ms` agreed.
#[test]
fn a_delay_that_the_host_made_is_not_the_links() {
    let host = |number: u64| Duration::from_millis(if number < 100 { 0 } else { 70 });
    for profile in profiles() {
        let figures = judged(&profile, host);
        assert_eq!(spoilt(&figures)[0], What::Delay, "{profile:?}");
        assert_eq!(disagrees(&figures), [], "{profile:?}");
        let loss = figure(&figures, What::Loss).verdict;
        assert_eq!(loss, Verdict::Agrees, "{profile:?}");
    }
}

/// A quarter of a short delay, and a millisecond of any.
#[test]
fn the_limit_is_a_quarter_of_the_delay_and_a_millisecond_at_most() {
    let steady = |ms| LinkProfile { delay: Duration::from_millis(ms), ..LinkProfile::default() };
    for (delay, excused) in [(0, 240), (2, 490), (4, 990), (400, 990)] {
        let late = |us: u64| spoilt(&judged(&steady(delay), |_| Duration::from_micros(us)));
        assert_eq!(late(excused), [], "{delay} ms");
        assert_eq!(late(excused + 20), [What::Delay], "{delay} ms");
    }
}

#[test]
fn a_jitter_that_the_host_made_is_not_the_links() {
    let host = |number: u64| Duration::from_micros(if number.is_multiple_of(8) { 7000 } else { 0 });
    let steady = LinkProfile { delay: Duration::from_millis(40), ..LinkProfile::default() };
    assert!(spoilt(&judged(&steady, host)).contains(&What::Jitter));
}

/// Whatever the host did, so much is not its doing.
#[test]
fn a_wrong_link_is_not_excused_by_a_late_host() {
    let asked = LinkProfile { delay: Duration::from_millis(3), ..LinkProfile::default() };
    let mut witness = Witness::new(&asked);
    for number in 0..100 {
        let entered = Instant::from_nanos(number * 20_000_000);
        let ticket = witness.entered(entered, LENGTH);
        let (after, late) = (Duration::from_millis(83), Duration::from_millis(70));
        witness.left_late(ticket, entered + after, late);
    }
    let figures = judge(&witness.finish()[0]);
    assert_eq!(figure(&figures, What::Delay).verdict, Verdict::Disagrees);
}
