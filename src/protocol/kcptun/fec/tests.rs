//! Both ends of the code over a path that loses, repeats and reorders: what can be recovered is,
//! nothing else is, and nothing false ever comes out.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;
use crate::splitmix::SplitMix64;

fn sizes(data: u32, parity: u32) -> GroupSizes {
    GroupSizes::new(data, parity).expect("a group")
}

/// Groups of datagrams that are all different, and of different lengths.
fn datagrams(sizes: GroupSizes, groups: usize, random: &mut SplitMix64) -> Vec<Vec<u8>> {
    let datagram = |number: usize, random: &mut SplitMix64| {
        let len = random.next() as usize % 50;
        let filling = (0..len).map(|_| random.next() as u8);
        (number as u32).to_be_bytes().into_iter().chain(filling).collect()
    };
    (0..groups * sizes.data()).map(|number| datagram(number, random)).collect()
}

/// Shards near the wrap of their numbers, one list for each group.
fn shards(sizes: GroupSizes, datagrams: &[Vec<u8>]) -> Vec<Vec<Vec<u8>>> {
    let start = sizes.wrap() - 2 * sizes.shards() as u32;
    let mut encoder = Encoder::starting_at(sizes, start);
    let encode_group =
        |group: &[Vec<u8>]| group.iter().flat_map(|one| encoder.encode(one)).collect();
    datagrams.chunks(sizes.data()).map(encode_group).collect()
}

fn parse(bytes: &[u8]) -> Shard<'_> {
    Shard::parse(bytes).expect("a shard").expect("a good one")
}

/// What the decoder makes of these, but for duplicates.
fn recovered<'a>(decoder: &mut Decoder, shards: impl Iterator<Item = &'a Vec<u8>>) -> Vec<Vec<u8>> {
    let take = |bytes: &'a Vec<u8>| match decoder.take(0, &parse(bytes)) {
        Ok(recovered) => recovered,
        Err(error) => {
            assert!(matches!(error, DecoderError::Duplicate(_)), "{error}");
            Vec::new()
        }
    };
    shards.flat_map(take).collect()
}

fn shuffle<T>(items: &mut [T], random: &mut SplitMix64) {
    for end in (1..items.len()).rev() {
        items.swap(end, random.next() as usize % (end + 1));
    }
}

/// Two groups on their way.
#[derive(Default)]
struct Pair {
    arriving: Vec<Vec<u8>>,
    /// Datagrams lost that the rest of their group tells.
    missing: BTreeSet<Vec<u8>>,
    /// All datagrams of groups that can be recovered.
    known: BTreeSet<Vec<u8>>,
}

impl Pair {
    fn keep_some(
        &mut self,
        shards: &[Vec<u8>],
        datagrams: &[Vec<u8>],
        percent: u64,
        random: &mut SplitMix64,
    ) {
        let kept: Vec<bool> = shards.iter().map(|_| random.next() % 100 < percent).collect();
        let arriving = shards.iter().zip(&kept).filter(|(_, kept)| **kept);
        self.arriving.extend(arriving.map(|(shard, _)| shard.clone()));
        if kept.iter().filter(|kept| **kept).count() >= datagrams.len() {
            let missing = datagrams.iter().zip(&kept).filter(|(_, kept)| !**kept);
            self.missing.extend(missing.map(|(datagram, _)| datagram.clone()));
            self.known.extend(datagrams.iter().cloned());
        }
    }

    fn repeat_and_shuffle(&mut self, random: &mut SplitMix64) {
        let again: Vec<_> =
            self.arriving.iter().filter(|_| random.next().is_multiple_of(4)).cloned().collect();
        self.arriving.extend(again);
        shuffle(&mut self.arriving, random);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

    /// Losses of any number in any place; what is left arrives twice now and then, and up to two
    /// groups out of order. A datagram that has arrived may come out once more: the decoder forgets
    /// a group that is complete, and parity or copies may follow (kcp-go does the same).
    #[test]
    fn what_can_be_recovered_is_and_nothing_else(
        data in 1..12_u32, parity in 1..8_u32, groups in 1..12_usize, keep_percent in 20..101_u64,
        shuffled: bool, seed: u64,
    ) {
        let sizes = sizes(data, parity);
        let mut random = SplitMix64::new(seed);
        let datagrams = datagrams(sizes, groups, &mut random);
        let sent = shards(sizes, &datagrams);
        let mut decoder = Decoder::new(sizes);
        for (shards, datagrams) in sent.chunks(2).zip(datagrams.chunks(2 * sizes.data())) {
            let groups = shards.iter().zip(datagrams.chunks(sizes.data()));
            let mut pair = Pair::default();
            for (shards, datagrams) in groups {
                pair.keep_some(shards, datagrams, keep_percent, &mut random);
            }
            if shuffled {
                pair.repeat_and_shuffle(&mut random);
            }
            let came_out = recovered(&mut decoder, pair.arriving.iter());
            let distinct = BTreeSet::from_iter(came_out.iter().cloned());
            prop_assert!(pair.missing.is_subset(&distinct), "{distinct:?}");
            prop_assert!(distinct.is_subset(&pair.known), "{distinct:?}");
            if !shuffled && parity < data {
                prop_assert_eq!(came_out.len(), pair.missing.len(), "each of them once");
            }
        }
    }

    /// Any order whatever, with most of it lost to the limit of the queue.
    #[test]
    fn no_order_makes_anything_false(data in 1..6_u32, parity in 1..6_u32, seed: u64) {
        let sizes = sizes(data, parity);
        let mut random = SplitMix64::new(seed);
        let datagrams = datagrams(sizes, 20, &mut random);
        let mut sent = shards(sizes, &datagrams).concat();
        sent.extend(sent.clone().into_iter().filter(|_| random.next().is_multiple_of(3)));
        shuffle(&mut sent, &mut random);
        let mut decoder = Decoder::new(sizes);
        for bytes in &sent {
            for one in decoder.take(0, &parse(bytes)).unwrap_or_default() {
                prop_assert!(datagrams.contains(&one));
            }
            prop_assert!(decoder.waiting() <= 3 * sizes.shards());
        }
    }

    /// Whatever a forger writes: bounded, and no panic.
    #[test]
    fn forged_shards_are_bounded(
        numbers in prop::collection::vec((any::<u32>(), 0..40_u32, any::<bool>()), 1..200),
        bodies in prop::collection::vec(prop::collection::vec(any::<u8>(), 2..20), 1..20),
        times in prop::collection::vec(0..200_000_u64, 200),
    ) {
        let mut decoder = Decoder::new(sizes(3, 2));
        for (at, (anywhere, near, is_near)) in numbers.iter().enumerate() {
            let number = if *is_near { *near } else { *anywhere };
            let kind = if number % 5 < 3 { Kind::Data } else { Kind::Parity };
            let shard = Shard { number, kind, body: &bodies[at % bodies.len()] };
            let _ = decoder.take(times[at], &shard);
            prop_assert!(decoder.waiting() <= 15);
        }
    }
}

/// Each number of losses in each place, for the sizes that kcptun's users set.
#[test]
fn every_pattern_of_losses_in_a_group_is_recovered_up_to_the_parity_and_not_beyond() {
    for (data, parity) in [(3, 2), (10, 3), (1, 1), (2, 4)] {
        let sizes = sizes(data, parity);
        let datagrams = datagrams(sizes, 1, &mut SplitMix64::new(1));
        let group = shards(sizes, &datagrams).concat();
        let mut by_losses = BTreeMap::<u32, usize>::new();
        for lost in 0_u32..1 << group.len() {
            let is_kept = |place: usize| lost >> place & 1 == 0;
            let kept = group.iter().enumerate().filter(|(place, _)| is_kept(*place));
            let mut recovered = recovered(&mut Decoder::new(sizes), kept.map(|(_, shard)| shard));
            // Those that arrived themselves come out again where parity alone tells them.
            recovered.retain(|one| {
                let place = datagrams.iter().position(|sent| sent == one).expect("nothing false");
                !is_kept(place)
            });
            let missing = (0..sizes.data()).filter(|place| !is_kept(*place));
            let missing: Vec<_> = missing.map(|place| datagrams[place].clone()).collect();
            let expected = if lost.count_ones() <= parity { missing } else { Vec::new() };
            // Twice where more parity follows than was needed.
            recovered.sort();
            recovered.dedup();
            assert_eq!(recovered, expected, "{data}+{parity}, {lost:b}");
            *by_losses.entry(lost.count_ones()).or_default() += 1;
        }
        assert_eq!(by_losses.len(), group.len() + 1);
    }
}

#[test]
fn shards_of_a_minute_ago_are_dropped_and_younger_ones_kept() {
    let sizes = sizes(3, 2);
    let datagrams = datagrams(sizes, 2, &mut SplitMix64::new(1));
    let [first, second] = &shards(sizes, &datagrams)[..] else { panic!("two groups") };
    for (later_ms, recovered) in [(EXPIRY_MS, true), (EXPIRY_MS + 1, false)] {
        let mut decoder = Decoder::new(sizes);
        for bytes in &first[..2] {
            decoder.take(0, &parse(bytes)).expect("in place");
        }
        // Something else has to come for the decoder to notice.
        decoder.take(later_ms, &parse(&second[0])).expect("in place");
        let came_out = decoder.take(later_ms, &parse(&first[4])).expect("in place");
        assert_eq!(came_out, if recovered { vec![datagrams[2].clone()] } else { Vec::new() });
    }
}

#[test]
fn a_shard_where_none_can_be_is_not_taken() {
    let mut decoder = Decoder::new(sizes(10, 3));
    let mut take = |number, kind| decoder.take(0, &Shard { number, kind, body: &[2, 0] });
    assert_eq!(take(0, Kind::Parity), Err(DecoderError::Misplaced(0)));
    assert_eq!(take(12, Kind::Data), Err(DecoderError::Misplaced(12)));
    assert_eq!(take(u32::MAX, Kind::Data), Err(DecoderError::Misplaced(u32::MAX)));
    assert_eq!(take(13, Kind::Data), Ok(Vec::new()));
    assert_eq!(take(13, Kind::Data), Err(DecoderError::Duplicate(13)));
}

#[test]
fn a_group_with_an_impossible_length_in_it_gives_nothing() {
    let mut decoder = Decoder::new(sizes(1, 1));
    let forged = Shard { number: 1, kind: Kind::Parity, body: &[9, 0, 1] };
    assert_eq!(decoder.take(0, &forged), Err(DecoderError::Forged(1)));
    assert_eq!(decoder.waiting(), 0);
}
