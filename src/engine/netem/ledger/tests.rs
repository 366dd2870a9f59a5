use super::*;
use crate::link::profile::Correlated;
use crate::units::Probability;

const MS: u64 = 1_000_000;

fn print(id: u8) -> Fingerprint {
    Fingerprint::of(&[&[2; 12], [0x88, 0xb5].as_slice(), &[id; 86]].concat())
}

fn flipped(id: u8) -> Fingerprint {
    let mut frame = [&[2; 12], [0x88, 0xb5].as_slice(), &[id; 86]].concat();
    frame[50] ^= 16;
    Fingerprint::of(&frame)
}

fn empty() -> Ledger {
    let horizon = Duration::from_secs(10);
    Ledger::new(&LinkProfile::default(), horizon, Duration::from_micros(1))
}

fn queued(queued: usize) -> Remains {
    Remains { queued, ..Remains::default() }
}

fn ledger(limit: u32) -> Ledger {
    let probability = Probability::new(0.1).expect("between 0 and 1");
    let loss = Loss::Random(Correlated { probability, ..Correlated::default() });
    ledger_of(LinkProfile { limit, loss, ..LinkProfile::default() })
}

fn ledger_of(profile: LinkProfile) -> Ledger {
    let mut ledger = empty();
    ledger.change(&LinkProfile { delay: Duration::from_millis(10), ..profile });
    ledger
}

#[test]
fn what_leaves_and_what_does_not() {
    let mut ledger = ledger(1000);
    (0..10).for_each(|id| ledger.enter(u64::from(id) * MS, print(id)));
    // One is lost, one is corrupted, one comes twice, and two change places.
    for (at, id) in [(10, 0), (12, 2), (11, 1), (14, 4), (14, 4), (16, 6), (17, 7), (19, 9)] {
        ledger.leave(at * MS, print(id));
    }
    ledger.leave(18 * MS, flipped(8));
    ledger.leave(19 * MS, print(200));
    let count = ledger.finish(queued(1));
    // Of the two that have not left, the later one is still in the queue.
    let expected = LinkCount {
        offered: WireCount { packets: 10, bytes: 860 },
        lost: 1,
        duplicated: 1,
        corrupted: 1,
        delivered: 9,
        ..LinkCount::default()
    };
    assert_eq!((count.link, count.strays), (expected, 1));
}

#[test]
fn frames_of_the_same_content_leave_in_their_order() {
    let mut ledger = ledger(1000);
    (0..3).for_each(|number| ledger.enter(number * MS, print(7)));
    (0..3).for_each(|number| ledger.leave((number + 10) * MS, print(7)));
    let count = ledger.finish(Remains::default());
    assert_eq!((count.link.delivered, count.link.duplicated, count.link.lost), (3, 0, 0));
    assert!(!count.packets.is_empty());
}

#[test]
fn a_frame_that_finds_the_queue_full_has_overflowed() {
    let mut ledger = ledger(3);
    // 0 is lost, 1, 2 and 3 fill the queue, 4 finds it full, 5 a place in it.
    (0..5).for_each(|id| ledger.enter(u64::from(id) * MS, print(id)));
    ledger.leave(11 * MS, print(1));
    ledger.enter(12 * MS, print(5));
    [2, 3, 5].into_iter().for_each(|id| ledger.leave(20 * MS, print(id)));
    let count = ledger.finish(Remains::default()).link;
    assert_eq!((count.lost, count.overflowed, count.delivered), (1, 1, 4));
}

#[test]
fn where_nothing_is_lost_what_is_missing_found_no_room() {
    let mut ledger = ledger_of(LinkProfile::default());
    (0..3).for_each(|id| ledger.enter(u64::from(id) * MS, print(id)));
    ledger.leave(11 * MS, print(1));
    let count = ledger.finish(queued(1)).link;
    assert_eq!((count.lost, count.overflowed, count.delivered), (0, 1, 1));
}

#[test]
fn what_has_not_left_within_the_horizon_is_lost_and_forgotten() {
    let mut ledger = ledger(1000);
    ledger.enter(0, print(1));
    ledger.enter(5_000 * MS, print(2));
    ledger.enter(10_000 * MS, print(3));
    assert_eq!((ledger.count.link.lost, ledger.entries.len()), (1, 2));
    ledger.leave(10_001 * MS, print(1));
    ledger.leave(10_002 * MS, print(2));
    ledger.leave(10_003 * MS, print(3));
    let count = ledger.finish(Remains::default());
    assert_eq!((count.link.lost, count.link.delivered, count.strays), (1, 2, 1));
}

#[test]
fn what_enters_before_the_workload_is_the_handshakes() {
    let mut ledger = empty();
    ledger.enter(0, print(1));
    ledger.change(&LinkProfile::default());
    ledger.enter(MS, print(2));
    ledger.leave(2 * MS, print(1));
    ledger.leave(3 * MS, print(2));
    let count = ledger.finish(Remains::default());
    assert_eq!((count.handshake.packets, count.link.offered.packets), (1, 1));
    assert_eq!(count.link.delivered, 1);
}

/// 0 and 2 do not leave.
fn behind_a_bucket(profile: &LinkProfile, refused: u64) -> Count {
    let mut ledger = empty().with_bucket();
    ledger.change(profile);
    (0..4).for_each(|id| ledger.enter(u64::from(id) * MS, print(id)));
    [1, 3].into_iter().for_each(|id| ledger.leave(90 * MS, print(id)));
    ledger.finish(Remains { queued: 0, refused })
}

#[test]
fn where_nothing_gets_lost_the_bucket_has_dropped_it() {
    let counts = |refused| {
        let count = behind_a_bucket(&LinkProfile::default(), refused);
        let [receipt] = count.receipts.as_slice() else { panic!("one profile") };
        assert_eq!((receipt.did.lost, receipt.did.overflowed), (0, 2));
        assert!(receipt.unseen.is_empty() && count.packets.is_empty());
        (count.link.lost, count.link.overflowed)
    };
    // The kernel's count has the last word.
    assert_eq!([2, 1, 0].map(counts), [(0, 2), (1, 1), (2, 0)]);
}

#[test]
fn where_frames_get_lost_the_kernel_tells_how_many_the_bucket_dropped() {
    let random = crate::link::profile::Correlated {
        probability: crate::units::Probability::new(0.5).expect("a probability"),
        ..Default::default()
    };
    let profile = LinkProfile { loss: Loss::Random(random), ..LinkProfile::default() };
    let counts = |refused| {
        let count = behind_a_bucket(&profile, refused);
        let unclear = count.receipts[0].unseen.contains(&Effect::Loss);
        (count.link.lost, count.link.overflowed, unclear)
    };
    assert_eq!([0, 1, 2].map(counts), [(2, 0, false), (1, 1, true), (0, 2, true)]);
}
