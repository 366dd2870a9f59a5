//! The accumulator itself: calls in any order, profiles to and fro, limits.

use proptest::prelude::*;

use super::profiles::mobile;
use super::*;
use crate::recording::receipt::MOST_PROFILES;

#[derive(Debug, Clone, Copy)]
enum Outcome {
    Lost,
    Overflowed,
    Left {
        after: u64,
        late: u64,
        marked: bool,
        corrupted: bool,
    },
    /// Still on the link at the end.
    Unknown,
}

fn any_outcome() -> impl Strategy<Value = Outcome> {
    let left = (0..90_000_000_u64, 0..1000_u64, any::<bool>(), any::<bool>());
    prop_oneof![
        1 => Just(Outcome::Lost),
        1 => Just(Outcome::Overflowed),
        8 => left.prop_map(|(after, late, marked, corrupted)| {
            Outcome::Left { after: after + late, late, marked, corrupted }
        }),
        1 => Just(Outcome::Unknown),
    ]
}

/// When the packet of this number enters.
fn entry(number: usize) -> Instant {
    Instant::from_nanos(1_000_000_000 + number as u64 * 5_000_000)
}

fn delayed(ms: u64) -> LinkProfile {
    LinkProfile { delay: Duration::from_millis(ms), ..mobile() }
}

/// Of packets under one of three profiles; the outcomes told in the order given.
fn receipts(packets: &[(Outcome, u64)], order: &[usize]) -> Vec<Receipt> {
    let mut witness = Witness::new(&delayed(0));
    let mut tickets = Vec::new();
    for (number, (_, profile)) in packets.iter().enumerate() {
        if number > 0 && *profile != packets[number - 1].1 {
            witness.change(&delayed(*profile));
        }
        tickets.push(witness.entered(entry(number), LENGTH));
    }
    order.iter().for_each(|&it| tell(&mut witness, tickets[it], packets[it].0, entry(it)));
    witness.finish()
}

fn tell(witness: &mut Witness, ticket: Ticket, outcome: Outcome, entered: Instant) {
    match outcome {
        Outcome::Lost => witness.lost(ticket),
        Outcome::Overflowed => witness.overflowed(ticket),
        Outcome::Left { after, late, marked, corrupted } => {
            if marked {
                witness.marked(ticket);
            }
            if corrupted {
                witness.corrupted(ticket);
            }
            let at = entered + Duration::from_nanos(after);
            witness.left_late(ticket, at, Duration::from_nanos(late));
        }
        Outcome::Unknown => {}
    }
}

proptest! {
    #[test]
    fn outcomes_in_any_order_give_the_same_receipt(
        (packets, shuffled) in prop::collection::vec((any_outcome(), 0..3_u64), 1..80)
            .prop_flat_map(|packets| {
                let order: Vec<usize> = (0..packets.len()).collect();
                (Just(packets), Just(order).prop_shuffle())
            }),
    ) {
        let in_order: Vec<usize> = (0..packets.len()).collect();
        let receipts_in_order = receipts(&packets, &in_order);
        prop_assert_eq!(&receipts_in_order, &receipts(&packets, &shuffled));
        for receipt in receipts_in_order {
            let did = receipt.did;
            prop_assert_eq!(did.lost + did.overflowed + did.left, did.settled);
            prop_assert!(did.settled <= did.entered);
        }
    }
}

#[test]
fn profiles_to_and_fro_are_two_rows() {
    let (one, other) = (mobile(), LinkProfile::default());
    let mut witness = Witness::new(&one);
    for round in 0..100 {
        let ticket = witness.entered(entry(round), LENGTH);
        witness.lost(ticket);
        witness.change(if round % 2 == 0 { &other } else { &one });
    }
    let receipts = witness.finish();
    let told = receipts.iter().map(|it| (it.did.lost, it.did.spells, it.did.bursts));
    assert_eq!(told.collect::<Vec<_>>(), [(50, 50, 50), (50, 50, 50)]);
}

#[test]
fn profiles_beyond_the_limit_are_pooled() {
    let mut witness = Witness::new(&LinkProfile::default());
    for ms in 1..=100 {
        let ticket = witness.entered(entry(ms as usize), LENGTH);
        witness.lost(ticket);
        witness.change(&delayed(ms));
    }
    let receipts = witness.finish();
    assert_eq!(receipts.len(), MOST_PROFILES + 1);
    let pooled = receipts.last().expect("there are some");
    assert_eq!((&pooled.asked, pooled.did.lost), (&None, 100 - MOST_PROFILES as u64));
    assert!(judge(pooled).iter().all(|it| matches!(it.verdict, Verdict::NotJudged(_))));
}

/// One packet whose outcome never comes holds back no more than the limit.
#[test]
fn memory_is_bounded() {
    let mut witness = Witness::new(&LinkProfile::default());
    let packets = MOST_PENDING + 1000;
    for number in 0..packets {
        let ticket = witness.entered(entry(number), LENGTH);
        if number > 0 {
            witness.left(ticket, entry(number));
        }
    }
    assert!(witness.pending.len() < MOST_PENDING);
    let did = witness.finish().remove(0).did;
    assert_eq!((did.entered, did.left), (packets as u64, packets as u64 - 1));
}

#[test]
fn a_second_copy_counts_as_one_whenever_it_comes() {
    let mut witness = Witness::new(&LinkProfile::default());
    let ticket = witness.entered(entry(0), LENGTH);
    witness.left(ticket, entry(0));
    witness.left(ticket, entry(0));
    let did = witness.finish().remove(0).did;
    assert_eq!((did.left, did.copies), (1, 1));
}

/// A packet that is on its way when a bucket comes may wait in it: its delay is told, and not held
/// against the profile that it entered under.
#[test]
fn what_the_next_profiles_bucket_holds_up_is_not_held_against_this_one() {
    let rate = crate::units::Rate::from_bits_per_second(8_000_000).expect("not zero");
    let bucket = crate::link::profile::TokenBucket { rate, burst: 3_000, queue: 3_000 };
    let late_by = |ms: u64, next: &LinkProfile| {
        let mut witness = Witness::new(&LinkProfile::default());
        let ticket = witness.entered(entry(0), LENGTH);
        witness.change(next);
        witness.left(ticket, entry(0) + Duration::from_millis(ms));
        let receipt = witness.finish().remove(0);
        assert_eq!((receipt.did.delay.count, receipt.did.delay.sum), (1, ms as f64 * 1e6));
        disagrees(&judge(&receipt))
    };
    let with_bucket = LinkProfile { bucket: Some(bucket), ..LinkProfile::default() };
    assert_eq!(late_by(9, &with_bucket), []);
    assert_eq!(late_by(9, &delayed(1)), [What::Delay]);
}
