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
    ledger.change(0, &LinkProfile { delay: Duration::from_millis(10), ..profile });
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

/// A queue of one, without loss: what is in it at the end came before those that found it full.
#[test]
fn where_nothing_is_lost_the_one_that_found_room_is_still_queued() {
    let mut ledger = ledger_of(LinkProfile { limit: 1, ..LinkProfile::default() });
    [(0, 0), (5, 1)].into_iter().for_each(|(at, id)| ledger.enter(at * MS, print(id)));
    ledger.leave(10 * MS, print(0));
    [(20, 2), (21, 3), (22, 4)].into_iter().for_each(|(at, id)| ledger.enter(at * MS, print(id)));
    let count = ledger.finish(queued(1));
    let link = count.link;
    assert_eq!((link.delivered, link.overflowed, link.lost, count.strays), (1, 3, 0, 0));
    let unseen = count.receipts.iter().any(|receipt| receipt.unseen.contains(&Effect::Loss));
    assert!(!unseen, "it is known of each packet what became of it");
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
fn where_nothing_is_lost_what_is_missing_found_no_room_if_there_was_little() {
    let counts = |limit| {
        let mut ledger = ledger_of(LinkProfile { limit, ..LinkProfile::default() });
        (0..4).for_each(|id| ledger.enter(u64::from(id) * MS, print(id)));
        [0, 1].into_iter().for_each(|id| ledger.leave(11 * MS, print(id)));
        let count = ledger.finish(queued(1)).link;
        (count.lost, count.overflowed, count.delivered)
    };
    // Two were in the queue when the third came.
    assert_eq!([3, 4, 5, 1000].map(counts), [(0, 1, 2), (0, 1, 2), (1, 0, 2), (1, 0, 2)]);
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
    ledger.change(MS, &LinkProfile::default());
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
    ledger.change(0, profile);
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

/// A datagram over IPv6 with its number as the payload, and the right checksum.
fn small(number: u64) -> Vec<u8> {
    let mut frame =
        vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 0, 0x86, 0xdd, 0x60, 0, 0, 0, 0, 16, 17, 64];
    let address = |last| [0xfd, 0x4d, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last];
    frame.extend([address(1), address(2)].concat());
    // With these ports the checksums of 6 and 7 differ in one bit.
    frame.extend([0x12, 0x51, 0x11, 0x51, 0, 16, 0, 0]);
    frame.extend(number.to_le_bytes());
    let words = frame[22..].as_chunks::<2>().0;
    let sum: u32 = words.iter().map(|word| u32::from(u16::from_be_bytes(*word))).sum();
    let sum = sum + 16 + 17;
    let folded = (sum & 0xffff) + (sum >> 16);
    frame[60..62].copy_from_slice(&(!(folded as u16)).to_be_bytes());
    frame
}

fn with_flip(number: u64, bit: usize) -> Fingerprint {
    let mut frame = small(number);
    frame[bit / 8] ^= 1 << (bit % 8);
    Fingerprint::of(&frame)
}

/// How many delays there were, and their sum in milliseconds.
fn delays(count: &Count) -> (u64, f64) {
    let [receipt] = count.receipts.as_slice() else { panic!("one profile") };
    let delay = receipt.did.delay;
    (delay.count, (delay.sum + delay.count as f64 * 10e6) / 1e6)
}

#[test]
fn of_two_frames_that_differ_in_two_bits_the_right_one_had_a_bit_flipped() {
    let bits = small(0).len() * 8;
    let mut doubtful = 0;
    for (wrong, right, bit) in (0..bits).flat_map(|bit| [(6, 7, bit), (7, 6, bit)]) {
        for wrong_first in [true, false] {
            let mut ledger = ledger_of(LinkProfile::default());
            ledger.enter(MS, Fingerprint::of(&small(6)));
            ledger.enter(3 * MS, Fingerprint::of(&small(7)));
            let exits = [(wrong, with_flip(wrong, bit)), (right, Fingerprint::of(&small(right)))];
            let mut sum = 0.0;
            for ((number, print), at) in
                if wrong_first { exits } else { [exits[1], exits[0]] }.into_iter().zip([12, 20])
            {
                ledger.leave(at * MS, print);
                doubtful += usize::from(!ledger.doubts.is_empty());
                sum += at as f64 - if number == 6 { 1.0 } else { 3.0 };
            }
            let count = ledger.finish(Remains::default());
            let LinkCount { delivered, corrupted, duplicated, lost, overflowed, .. } = count.link;
            let fates = (delivered, corrupted, duplicated, lost + overflowed, count.strays);
            assert_eq!(fates, (2, 1, 0, 0, 0), "{wrong}, bit {bit}");
            assert_eq!(delays(&count), (2, sum), "{wrong}, bit {bit}");
            assert_eq!(count.link.marked, 0, "no profile marks");
        }
    }
    assert!(doubtful > 0, "the two frames are told apart by more than two bits");
}

#[test]
fn where_the_other_got_lost_the_likelier_delay_tells() {
    for (wrong, at) in [(6, 11), (7, 13)] {
        let mut ledger = ledger(1000);
        ledger.enter(MS, Fingerprint::of(&small(6)));
        ledger.enter(3 * MS, Fingerprint::of(&small(7)));
        // The lowest bit of the payload.
        ledger.leave(at * MS, with_flip(wrong, 62 * 8));
        assert_eq!(ledger.doubts.len(), 1);
        let count = ledger.finish(Remains::default());
        assert_eq!((count.link.delivered, count.link.lost, count.strays), (1, 1, 0));
        assert_eq!(delays(&count), (1, 10.0));
    }
}

#[test]
fn a_copy_may_be_the_one_with_the_wrong_bit() {
    let probability = Probability::new(0.5).expect("between 0 and 1");
    let duplicate = Correlated { probability, ..Correlated::default() };
    let mut ledger = ledger_of(LinkProfile { duplicate, ..LinkProfile::default() });
    ledger.enter(MS, Fingerprint::of(&small(6)));
    ledger.enter(3 * MS, Fingerprint::of(&small(7)));
    ledger.leave(11 * MS, Fingerprint::of(&small(6)));
    ledger.leave(11 * MS, with_flip(6, 62 * 8));
    ledger.leave(13 * MS, Fingerprint::of(&small(7)));
    let count = ledger.finish(Remains::default());
    let link = count.link;
    assert_eq!((link.delivered, link.duplicated, link.lost + link.overflowed), (3, 1, 0));
}

#[test]
fn what_enters_is_kept_over_time_if_asked_for() {
    let periodic = crate::recording::sample::workload().periodic().clone();
    let volume = Volume::new(crate::units::PathId(0), &periodic);
    let mut ledger = empty().with_volume(Some(volume));
    ledger.enter(0, print(1));
    ledger.change(5 * MS, &LinkProfile::default());
    for (at, id) in [(6, 2), (24, 3), (26, 4), (66, 5)] {
        ledger.enter(at * MS, print(id));
    }
    let volume = ledger.finish(Remains::default()).volume.expect("it was asked for");
    assert_eq!(volume.bytes, [86, 172, 0, 86]);
}
