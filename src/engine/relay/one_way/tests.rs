use super::*;
use crate::link::profile::{Correlated, Loss, Slot, SlotSpacing};
use crate::units::Probability;

const CHANGE: Duration = Duration::from_millis(100);

fn at(us: u64) -> Instant {
    Instant::from_nanos(us * 1000)
}

fn dark() -> LinkProfile {
    let always = Correlated { probability: Probability::ALWAYS, ..Correlated::default() };
    LinkProfile { loss: Loss::Random(always), ..LinkProfile::default() }
}

/// A clear link that becomes this one after [`CHANGE`].
fn becomes(profile: LinkProfile) -> OneWay {
    let change = Change { at: CHANGE, path: PathId(0), direction: Direction::Up, profile };
    let changes = std::iter::once(change);
    OneWay::with(&LinkProfile::default(), changes, |number| number as u64, Instant::ZERO)
}

/// Whether a packet that the kernel received then gets through.
fn passes(link: &mut OneWay, received: Instant) -> bool {
    let pool = Pool::new(1 << 20);
    let mut frame = pool.take(10 + 14 + 20).expect("there is room");
    frame.fill(0);
    frame[22..25].copy_from_slice(&[0x08, 0x00, 0x45]);
    link.push(received, frame, &pool).expect("it is IPv4");
    link.pop(received).is_some()
}

#[test]
fn the_stamp_of_a_packet_and_not_the_hour_of_its_reading_tells_its_profile() {
    let mut link = becomes(dark());
    // The thread is late: it has seen the time of the change go by.
    assert_eq!(link.catch_up(at(119_000)), None);
    assert!(passes(&mut link, at(99_999)));
    assert!(!passes(&mut link, at(100_000)));
    assert_eq!(link.missed(), None);
}

#[test]
fn a_packet_that_comes_after_its_change_was_made_is_told() {
    let mut link = becomes(dark());
    assert_eq!(link.catch_up(at(120_000)), None);
    assert!(!passes(&mut link, at(99_900)));
    assert_eq!(link.missed(), Some(Duration::from_micros(100)));
}

#[test]
fn slots_are_not_waited_with_and_their_lateness_is_told() {
    let spacing = SlotSpacing::Between { min: CHANGE, max: CHANGE };
    let slot = Some(Slot { spacing, packets: 0, bytes: 0 });
    let mut link = becomes(LinkProfile { slot, ..LinkProfile::default() });
    assert_eq!(link.next_wakeup(), Some(at(100_100)));
    assert_eq!(link.catch_up(at(100_099)), None);
    assert_eq!(link.catch_up(at(100_130)), Some(Duration::from_micros(130)));
}

#[test]
fn what_is_no_ip_packet_is_left_out() {
    let mut link = becomes(dark());
    let pool = Pool::new(1 << 20);
    let arp = pool.take(10 + 14 + 28).expect("there is room");
    assert_eq!(link.push(at(1), arp, &pool), Err(Unfit::Foreign));
    assert_eq!(link.count().offered.packets, 0);
}
