use std::sync::Arc;

use super::*;
use crate::link::profile::Reorder;
use crate::units::Rate;

const MS: Duration = Duration::from_millis(1);

fn probability(value: f64) -> Probability {
    Probability::new(value).expect("between 0 and 1")
}

fn of(profile: &LinkProfile) -> Options {
    options(profile, None).expect("netem can do it")
}

#[test]
fn a_link_that_does_nothing_is_a_netem_that_does_nothing() {
    assert_eq!(of(&LinkProfile::default()), Options::default());
}

#[test]
fn numbers_go_over_as_they_are() {
    let chances = |p| Correlated { probability: probability(p), correlation: probability(p / 2.0) };
    let profile = LinkProfile {
        delay: 40 * MS,
        jitter: 10 * MS,
        delay_correlation: probability(0.25),
        loss: Loss::Random(chances(0.02)),
        duplicate: chances(0.01),
        corrupt: chances(0.005),
        reorder: Some(Reorder {
            probability: probability(0.5),
            correlation: probability(0.1),
            gap: 5,
        }),
        limit: 77,
        ecn: true,
        ..LinkProfile::default()
    };
    let encoded = options(&profile, Some(7)).expect("netem can do it").encode();
    let held = Options::parse(encoded.expect("it fits").options()).expect("as encoded");
    assert_eq!((held.delay, held.jitter, held.limit, held.gap), (40 * MS, 10 * MS, 77, 5));
    assert_eq!(held.delay_correlation, Chance(1_073_741_824));
    let netem::Loss::Random(loss) = held.loss else { panic!("{:?}", held.loss) };
    assert_eq!((loss.probability, loss.correlation), (Chance(85_899_346), Chance(42_949_673)));
    assert_eq!(held.duplicate.probability, Chance(42_949_673));
    assert_eq!(held.corrupt.probability, Chance(21_474_836));
    assert_eq!(held.reorder.probability, Chance(2_147_483_648));
    assert_eq!((held.ecn, held.seed), (true, Some(7)));
}

#[test]
fn jitter_is_drawn_from_the_tables_of_the_link() {
    let drawn = |distribution| {
        let profile = LinkProfile { distribution, ..LinkProfile::default() };
        of(&profile).distribution
    };
    assert_eq!(drawn(Distribution::Uniform), netem::Distribution::Uniform);
    let netem::Distribution::Table(normal) = drawn(Distribution::Normal) else {
        panic!("a table is needed")
    };
    assert_eq!(normal[..], distribution::table(&Distribution::Normal).expect("a table")[..]);
    let own = Distribution::Table(Arc::from([1, 2, 3]));
    assert_eq!(drawn(own), netem::Distribution::Table(vec![1, 2, 3]));
}

#[test]
fn kept_order_is_a_rate_that_takes_no_time() {
    let keep = LinkProfile { order: Order::Keep, ..LinkProfile::default() };
    let rate = of(&keep).rate.expect("a rate");
    let largest: u64 = 65_535 + 14;
    assert_eq!(largest * 1_000_000_000 / rate.bytes_per_second, 0);
    let slow = RateLimit {
        rate: Rate::from_bits_per_second(80).expect("not zero"),
        packet_overhead: 1,
        cell_size: 48,
        cell_overhead: 5,
    };
    let limited = of(&LinkProfile { rate: Some(slow), ..keep }).rate.expect("a rate");
    assert_eq!((limited.bytes_per_second, limited.packet_overhead), (10, 1));
    assert_eq!((limited.cell_size, limited.cell_overhead), (48, 5));
}

#[test]
fn two_certain_ways_out_of_a_state_do_not_add_up_to_none() {
    let [half, none] = [probability(0.5), Probability::NEVER];
    let four = Loss::FourState { p13: half, p31: half, p32: half, p23: none, p14: half };
    let netem::Loss::FourState { p13, p31, p32, p14, .. } = loss(&four) else {
        panic!("four states")
    };
    assert_eq!(p13.0.checked_add(p14.0), Some(u32::MAX));
    assert_eq!(p31.0.checked_add(p32.0), Some(u32::MAX));
}

#[test]
fn slots_are_drawn_from_a_table_or_have_one_length() {
    let drawn = |spacing| {
        let slot = Slot { spacing, packets: 5, bytes: u32::MAX };
        of(&LinkProfile { slot: Some(slot), ..LinkProfile::default() }).slot
    };
    let distributed = |delay, jitter| SlotSpacing::Distributed {
        delay,
        jitter,
        distribution: Distribution::Uniform,
    };
    let one_length = netem::Slot {
        spacing: Spacing::Between { min: 3 * MS, max: 3 * MS },
        packets: 5,
        bytes: 0,
    };
    assert_eq!(drawn(distributed(3 * MS, Duration::ZERO)), Some(one_length.clone()));
    assert_eq!(drawn(SlotSpacing::Between { min: 3 * MS, max: 3 * MS }), Some(one_length));
    assert_eq!(drawn(distributed(Duration::ZERO, Duration::ZERO)), None);
    let between = drawn(SlotSpacing::Between { min: MS, max: 3 * MS }).expect("slots");
    assert_eq!(Some(between.clone()), drawn(distributed(2 * MS, MS)));
    let Spacing::Distributed { table, .. } = between.spacing else { panic!("a table is needed") };
    assert_eq!(table.iter().map(|&sample| i64::from(sample)).sum::<i64>(), 0);
    assert_eq!((table[0], table.len()), (-8191, 8192));
}

#[test]
fn a_bucket_is_a_token_bucket_filter_behind_netem() {
    assert_eq!(bucket(&LinkProfile::default()), None);
    let rate = Rate::from_bits_per_second(8_000_000).expect("not zero");
    let token_bucket = Some(TokenBucket { rate, burst: 32_000, queue: 250_000 });
    let profile = LinkProfile { bucket: token_bucket, ..LinkProfile::default() };
    let tbf = bucket(&profile).expect("a bucket");
    assert_eq!((tbf.rate, tbf.burst, tbf.limit), (1_000_000, 32_000, 250_000));
    assert_eq!(of(&profile).rate, None, "netem itself has none");
    assert_eq!(tbf.differences(tbf.encode().options()), [""; 0]);
    assert_eq!(OPEN_BUCKET.differences(tbf.encode().options()), ["rate", "limit", "burst"]);
}

#[test]
fn what_netem_would_do_otherwise_is_refused() {
    let too_long = LONGEST_JITTER + Duration::from_nanos(1);
    let jitter = LinkProfile { jitter: too_long, ..LinkProfile::default() };
    assert_eq!(options(&jitter, None), Err(OptionsError::Jitter(too_long)));
    let spacing = SlotSpacing::Between { min: Duration::ZERO, max: 2 * too_long };
    let slot = Some(Slot { spacing, packets: 0, bytes: 0 });
    let slots = LinkProfile { slot, ..LinkProfile::default() };
    assert_eq!(options(&slots, None), Err(OptionsError::SlotJitter(too_long)));
    let limited = |packet_overhead, cell_overhead| {
        let rate = Rate::from_bits_per_second(1).expect("not zero");
        let limit = RateLimit { rate, packet_overhead, cell_size: 48, cell_overhead };
        options(&LinkProfile { rate: Some(limit), ..LinkProfile::default() }, None).err()
    };
    assert_eq!(limited(-42, -48), None);
    assert_eq!(limited(-43, 0), Some(OptionsError::PacketOverhead(-43)));
    let cells = OptionsError::CellOverhead { size: 48, overhead: -49 };
    assert_eq!(limited(0, -49), Some(cells));
}
