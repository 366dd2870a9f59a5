use proptest::prelude::*;

use super::*;
use crate::link::Pushed;
use crate::link::profile::{
    Correlated, Distribution, Loss, Order, RateLimit, Reorder, Slot, SlotSpacing, TokenBucket,
};
use crate::units::Rate;

pub(super) fn always() -> Correlated {
    certain(1.0)
}

pub(super) fn certain(probability: f64) -> Correlated {
    Correlated { probability: p(probability), correlation: p(0.0) }
}

pub(super) fn delayed(delay: Duration) -> LinkProfile {
    LinkProfile { delay, ..LinkProfile::default() }
}

fn limited(bits_per_second: u64) -> LinkProfile {
    let rate = Rate::from_bits_per_second(bits_per_second).expect("not zero");
    let limit = RateLimit { rate, packet_overhead: 0, cell_size: 0, cell_overhead: 0 };
    LinkProfile { rate: Some(limit), ..LinkProfile::default() }
}

/// What the kernel's netem does with this seed (attribute TCA_NETEM_PRNG_SEED) and `loss 10%`.
#[test]
fn drops_the_packets_that_netem_drops() {
    let profile = LinkProfile { loss: Loss::Random(certain(0.1)), ..delayed(MS) };
    let arrived = numbers(&through(&profile, 25, 100, MS));
    let dropped: Vec<u32> = (0..25).filter(|number| !arrived.contains(number)).collect();
    // netem's packets are counted from one.
    assert_eq!(dropped, [5, 12, 24].map(|nth| nth - 1));
}

#[test]
fn the_default_profile_passes_packets_on_at_once() {
    let departed = through(&LinkProfile::default(), 3, 100, MS);
    assert_eq!(dues(&departed), [Instant::ZERO, at(MS), at(2 * MS)]);
}

#[test]
fn delay_is_exact() {
    let departed = through(&delayed(40 * MS), 3, 100, MS);
    assert_eq!(dues(&departed), [at(40 * MS), at(41 * MS), at(42 * MS)]);
}

#[test]
fn nothing_leaves_before_it_is_due() {
    let mut link = Link::new(&delayed(40 * MS), 1);
    assert_eq!(link.next_wakeup(), None);
    link.push(at(MS), Packet::new(100, 0));
    assert_eq!(link.next_wakeup(), Some(at(41 * MS)));
    assert_eq!(link.pop(at(41 * MS) - Duration::from_nanos(1)), None);
    assert!(link.pop(at(41 * MS)).is_some());
    assert_eq!((link.next_wakeup(), link.is_empty()), (None, true));
}

#[test]
fn a_late_pop_is_told_when_the_packet_left() {
    let mut link = Link::new(&delayed(40 * MS), 1);
    link.push(at(MS), Packet::new(100, 0));
    assert_eq!(link.pop(at(90 * MS)).map(|departed| departed.due), Some(at(41 * MS)));
}

#[test]
fn rate_spaces_packets_by_length_over_rate() {
    // 1,000 bytes at 8 Mbit/s take 1 ms each, after the delay.
    let profile = LinkProfile { delay: 10 * MS, ..limited(8_000_000) };
    let departed = through(&profile, 5, 1_000, Duration::ZERO);
    assert_eq!(dues(&departed), [11, 12, 13, 14, 15].map(|ms| at(ms * MS)));
}

#[test]
fn rate_lets_an_idle_link_rest() {
    let departed = through(&limited(8_000_000), 3, 1_000, 5 * MS);
    assert_eq!(dues(&departed), [1, 6, 11].map(|ms| at(ms * MS)));
}

#[test]
fn rate_turns_jitter_into_waiting_not_into_reordering() {
    let profile = LinkProfile { delay: 40 * MS, jitter: 20 * MS, ..limited(80_000_000) };
    let departed = through(&profile, 200, 1_000, MS);
    assert_eq!(numbers(&departed), (0..200).collect::<Vec<_>>());
    let tenth = Duration::from_micros(100);
    assert!(departed.windows(2).all(|pair| pair[1].due >= pair[0].due + tenth));
}

/// A receive timestamp may be older than the last look at the link.
#[test]
fn rate_holds_for_a_packet_that_is_pushed_late() {
    let mut link = Link::new(&limited(8_000_000), 1);
    link.push(Instant::ZERO, Packet::new(1_000, 0));
    assert!(link.pop(at(2 * MS)).is_some());
    let before_the_first_had_left = at(Duration::from_micros(500));
    link.push(before_the_first_had_left, Packet::new(1_000, 1));
    assert_eq!(link.next_wakeup(), Some(at(2 * MS)));
}

#[test]
fn the_limit_counts_all_that_is_on_the_link() {
    let mut link = Link::new(&LinkProfile { limit: 5, ..delayed(10 * MS) }, 1);
    for number in 0..7 {
        let expected = if number < 5 { Pushed::Queued } else { Pushed::Overflowed };
        assert_eq!(link.push(at(MS), Packet::new(100, number)), expected);
    }
    assert_eq!(link.counters().overflowed.packets, 2);
    // At the very instant at which the five leave there is room again.
    assert_eq!(link.push(at(11 * MS), Packet::new(100, 7)), Pushed::Queued);
}

#[test]
fn a_full_bottleneck_holds_limit_packets_and_loses_the_rest() {
    // Each takes 1 ms and two come each ms. By the last, at 499.5 ms, 499 have left and 10 wait.
    let profile = LinkProfile { limit: 10, ..limited(8_000_000) };
    let mut link = Link::new(&profile, 1);
    let mut worst = Duration::ZERO;
    for number in 0..1_000 {
        let now = at(MS * number / 2);
        while link.pop(now).is_some() {}
        if link.push(now, Packet::new(1_000, number)) == Pushed::Queued {
            let queued = u32::try_from(link.len()).expect("few");
            worst = worst.max(MS * queued);
        }
    }
    assert_eq!(worst, 10 * MS);
    assert_eq!(link.counters().overflowed.packets, 1_000 - 499 - 10);
}

#[test]
fn a_duplicate_comes_before_its_original_and_has_none_itself() {
    let profile = LinkProfile { duplicate: always(), ..delayed(MS) };
    assert_eq!(numbers(&through(&profile, 3, 100, MS)), [0, 0, 1, 1, 2, 2]);
}

#[test]
fn duplicated_and_lost_sends_one() {
    let loss = Loss::Random(always());
    let profile = LinkProfile { duplicate: always(), loss, ..delayed(MS) };
    let mut link = Link::new(&profile, 1);
    assert_eq!(link.push(at(MS), Packet::new(100, 0)), Pushed::Queued);
    assert_eq!(link.len(), 1);
    assert_eq!((link.counters().lost.packets, link.counters().duplicated.packets), (1, 1));
}

/// The copy enters between the check of the limit and the packet itself, which then exceeds it by
/// one.
#[test]
fn a_duplicate_may_exceed_the_limit_by_one() {
    let profile = LinkProfile { duplicate: always(), limit: 1, ..delayed(MS) };
    let mut link = Link::new(&profile, 1);
    assert_eq!(link.push(at(MS), Packet::new(100, 0)), Pushed::Queued);
    assert_eq!(link.len(), 2);
    assert_eq!(link.push(at(MS), Packet::new(100, 1)), Pushed::Overflowed);
    assert_eq!(link.counters().overflowed.packets, 2);
}

#[test]
fn ecn_marks_who_is_capable_and_loses_the_rest() {
    let profile = LinkProfile { loss: Loss::Random(always()), ecn: true, ..delayed(MS) };
    let mut link = Link::new(&profile, 1);
    let capable = Packet { ecn_capable: true, ..Packet::new(100, 0) };
    assert_eq!(link.push(at(MS), capable), Pushed::Queued);
    assert_eq!(link.push(at(MS), Packet::new(100, 1)), Pushed::Lost);
    let arrived = drain(&mut link);
    assert!(arrived.len() == 1 && arrived[0].packet.marked);
    assert_eq!((link.counters().marked.packets, link.counters().lost.packets), (1, 1));
}

#[test]
fn corruption_flips_one_bit_within_the_frame() {
    let profile = LinkProfile { corrupt: always(), ..delayed(MS) };
    for departed in through(&profile, 1_000, 60, MS) {
        let flip = departed.packet.corrupted.expect("is corrupted");
        assert!(flip.offset < 60 && flip.bit < 8);
    }
}

#[test]
fn reordering_sends_every_gapth_packet_ahead_without_delay() {
    let reorder = Some(Reorder { probability: p(1.0), correlation: p(0.0), gap: 5 });
    let departed = through(&LinkProfile { reorder, ..delayed(100 * MS) }, 10, 100, MS);
    assert_eq!(numbers(&departed), [4, 9, 0, 1, 2, 3, 5, 6, 7, 8]);
    assert_eq!(departed[0].due, at(4 * MS));
}

#[test]
fn reordered_counts_what_comes_after_a_later_arrival() {
    let reorder = Some(Reorder { probability: p(1.0), correlation: p(0.0), gap: 5 });
    let mut link = Link::new(&LinkProfile { reorder, ..delayed(100 * MS) }, 1);
    for number in 0..10 {
        link.push(at(MS * number), Packet::new(100, number));
    }
    drain(&mut link);
    assert_eq!(link.counters().reordered.packets, 8);
}

fn slotted(spacing: Duration, packets: u32, bytes: u32) -> LinkProfile {
    let spacing = SlotSpacing::Between { min: spacing, max: spacing };
    LinkProfile { slot: Some(Slot { spacing, packets, bytes }), ..LinkProfile::default() }
}

#[test]
fn a_slot_lets_so_many_packets_through() {
    // The first packet meets the slot that opens with the link; by the second's time it is stale.
    let departed = through(&slotted(10 * MS, 3, 0), 8, 100, Duration::from_micros(1));
    let slot_of = |nth: usize| departed[nth].due.as_millis();
    assert_eq!((0..8).map(slot_of).collect::<Vec<_>>(), [0, 10, 10, 10, 20, 20, 20, 30]);
}

#[test]
fn a_slot_lets_so_many_bytes_through_and_the_last_packet_may_exceed_them() {
    let departed = through(&slotted(10 * MS, 0, 250), 7, 100, Duration::ZERO);
    assert_eq!(dues(&departed)[..7], [0, 0, 0, 10, 10, 10, 20].map(|ms| at(ms * MS)));
}

#[test]
fn slots_are_spaced_between_their_bounds() {
    let spacing = SlotSpacing::Between { min: 5 * MS, max: 15 * MS };
    let slot = Some(Slot { spacing, packets: 1, bytes: 0 });
    let profile = LinkProfile { slot, limit: 5_000, ..LinkProfile::default() };
    let departed = through(&profile, 4_000, 100, Duration::ZERO);
    let gaps: Vec<f64> = departed
        .windows(2)
        .map(|pair| pair[1].due.saturating_since(pair[0].due).as_secs_f64() * 1e3)
        .collect();
    assert!(gaps.iter().all(|gap| (5.0..15.0).contains(gap)));
    let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
    assert!((mean - 10.0).abs() < 0.2, "{mean}");
}

#[test]
fn slots_of_a_distribution_without_jitter_are_evenly_spaced() {
    let distribution = Distribution::Normal;
    let spacing = SlotSpacing::Distributed { delay: 10 * MS, jitter: Duration::ZERO, distribution };
    let slot = Some(Slot { spacing, packets: 1, bytes: 0 });
    let profile = LinkProfile { slot, ..LinkProfile::default() };
    let departed = through(&profile, 3, 100, Duration::ZERO);
    assert_eq!(dues(&departed), [0, 10, 20].map(|ms| at(ms * MS)));
}

#[test]
fn jitter_reorders_unless_order_is_kept() {
    let jittery = LinkProfile { jitter: 20 * MS, ..delayed(40 * MS) };
    assert!(!numbers(&through(&jittery, 500, 100, MS)).is_sorted());
    let kept = LinkProfile { order: Order::Keep, ..jittery };
    assert!(numbers(&through(&kept, 500, 100, MS)).is_sorted());
}

/// P(X ≤ mean) = ½ and so on: what arrives is what the distribution says, to within sampling error.
#[test]
fn jitter_has_its_distribution() {
    let median = |distribution| {
        let profile = LinkProfile { jitter: 10 * MS, distribution, ..delayed(100 * MS) };
        let mut delays: Vec<f64> = through(&profile, 20_000, 100, MS)
            .iter()
            .map(|it| it.due.saturating_since(at(MS * it.packet.payload)).as_secs_f64() * 1e3)
            .collect();
        delays.sort_by(f64::total_cmp);
        delays[delays.len() / 2]
    };
    assert!((median(Distribution::Uniform) - 100.0).abs() < 0.5);
    assert!((median(Distribution::Normal) - 100.0).abs() < 0.5);
    // 100 + 10 · (2^⅓ − 1½) · 4/3
    assert!((median(Distribution::Pareto) - 96.8).abs() < 0.5);
}

/// As the kernel does, whose copy shares its bytes with the packet.
#[test]
fn a_mark_on_a_copy_is_one_on_the_packet_too() {
    let loss = Loss::Random(certain(0.5));
    let profile = LinkProfile { duplicate: always(), loss, ecn: true, ..delayed(MS) };
    let mut link = Link::new(&profile, 42_424_242);
    for number in 0..100 {
        let mut packet = Packet::new(100, number);
        packet.ecn_capable = true;
        link.push(at(MS * number), packet);
    }
    let departed = drain(&mut link);
    let marks = |pair: &[Departed<u32>]| [pair[0].packet.marked, pair[1].packet.marked];
    let (pairs, _) = departed.as_chunks::<2>();
    assert!(pairs.iter().all(|pair| marks(pair)[0] == marks(pair)[1]));
    let marked = pairs.iter().filter(|pair| marks(&pair[..])[0]).count();
    // One of two draws, three times in four.
    assert!((60..90).contains(&marked), "{marked}");
}

/// Behind the delay line, which goes on as it does without: netem's child in the kernel.
#[test]
fn a_bucket_lets_a_burst_pass_and_drops_what_exceeds_its_queue() {
    let rate = Rate::from_bits_per_second(8_000_000).expect("not zero");
    let bucket = Some(TokenBucket { rate, burst: 3_000, queue: 2_500 });
    let profile = LinkProfile { bucket, ..delayed(10 * MS) };
    let mut link = Link::new(&profile, 1);
    for number in 0..6 {
        assert_eq!(link.push(at(MS), Packet::new(1_000, number)), Pushed::Queued);
    }
    let departed = drain(&mut link);
    // Two may wait, and tokens for three are there: but all six come before the first leaves.
    assert_eq!(numbers(&departed), [0, 1]);
    assert_eq!(dues(&departed), [at(11 * MS), at(11 * MS)]);
    assert_eq!(link.counters().overflowed.packets, 4);
    for number in 6..10 {
        link.push(at(20 * MS + MS * (number - 6) / 2), Packet::new(1_000, number));
    }
    let departed = drain(&mut link);
    assert_eq!(numbers(&departed), [6, 7, 8, 9]);
    let half = MS / 2;
    let expected = [30 * MS, 30 * MS + half, 31 * MS, 31 * MS + half];
    assert_eq!(dues(&departed), expected.map(at));
}

#[test]
fn a_delay_without_end_neither_overflows_nor_hangs() {
    let mut link = Link::new(&delayed(Duration::MAX), 1);
    link.push(at(MS), Packet::new(100, 0));
    assert_eq!(link.pop(at(Duration::from_secs(1_000_000))), None);
    assert_eq!(numbers(&drain(&mut link)), [0]);
}

proptest! {
    /// Whatever the jitter does.
    #[test]
    fn kept_order_never_reorders(
        delay_ms in 0..100u32, jitter_ms in 0..200u32, gap_us in 0..5_000u64, seed in any::<u64>())
    {
        let profile = LinkProfile {
            jitter: MS * jitter_ms,
            distribution: Distribution::Normal,
            order: Order::Keep,
            ..delayed(MS * delay_ms)
        };
        let mut link = Link::new(&profile, seed);
        for number in 0..500 {
            link.push(at(Duration::from_micros(gap_us) * number), Packet::new(100, number));
        }
        prop_assert!(numbers(&drain(&mut link)).is_sorted());
        prop_assert_eq!(link.counters().reordered.packets, 0);
    }
}
