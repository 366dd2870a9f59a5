use super::*;

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
    let profile = LinkProfile { limit, delay: Duration::from_millis(10), ..LinkProfile::default() };
    let mut ledger = empty();
    ledger.change(&profile);
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
