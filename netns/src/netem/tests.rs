use std::collections::HashMap;

use proptest::prelude::*;

use super::*;

/// What `tc` was told, in our terms.
fn as_tc_was_told() -> Vec<Options> {
    let plain = || Options { limit: 10, ..Options::default() };
    let five = vec![-8192, -4096, 0, 4096, 8191];
    vec![
        Options::default(),
        everything(),
        Options {
            loss: Loss::GilbertElliott {
                to_bad: percent(1.0),
                to_good: percent(10.0),
                in_bad: percent(70.0),
                in_good: percent(0.1),
            },
            ..plain()
        },
        Options {
            loss: Loss::FourState {
                p13: percent(1.0),
                p31: percent(10.0),
                p32: percent(20.0),
                p23: percent(30.0),
                p14: percent(40.0),
            },
            ..plain()
        },
        Options {
            delay: Duration::from_millis(40),
            jitter: Duration::from_millis(10),
            distribution: Distribution::Table(five.clone()),
            ..plain()
        },
        Options {
            rate: Some(Rate {
                bytes_per_second: 12_500_000_000,
                packet_overhead: -14,
                cell_size: 0,
                cell_overhead: 0,
            }),
            ..plain()
        },
        Options {
            slot: Some(Slot {
                spacing: Spacing::Distributed {
                    delay: Duration::from_millis(5),
                    jitter: Duration::from_millis(2),
                    table: five,
                },
                packets: 3,
                bytes: 0,
            }),
            ..plain()
        },
    ]
}

/// Every field in use, none as it is by default.
fn everything() -> Options {
    let correlated = |probability, correlation| Correlated {
        probability: percent(probability),
        correlation: percent(correlation),
    };
    Options {
        delay: Duration::from_millis(40),
        jitter: Duration::from_millis(10),
        delay_correlation: percent(25.0),
        distribution: Distribution::Uniform,
        limit: 1234,
        loss: Loss::Random(correlated(1.0, 30.0)),
        duplicate: correlated(2.0, 10.0),
        corrupt: correlated(0.5, 5.0),
        reorder: correlated(3.0, 50.0),
        gap: 5,
        rate: Some(Rate {
            bytes_per_second: 1_250_000,
            packet_overhead: 14,
            cell_size: 48,
            cell_overhead: 5,
        }),
        slot: Some(Slot {
            spacing: Spacing::Between {
                min: Duration::from_millis(20),
                max: Duration::from_millis(30),
            },
            packets: 5,
            bytes: 9000,
        }),
        ecn: true,
        seed: None,
    }
}

fn percent(percent: f64) -> Chance {
    Chance::from_fraction(percent / 100.0).expect("between 0 and 100")
}

/// Options by `tc`, each with the arguments that it was given.
fn recorded() -> Vec<(&'static str, Vec<u8>)> {
    let lines = include_str!("iproute2.txt").lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| line.split_once(" | ").expect("arguments | bytes"))
        .map(|(arguments, hex)| (arguments, from_hex(hex)))
        .collect()
}

fn from_hex(hex: &str) -> Vec<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16).expect("a hexadecimal digit") as u8;
    hex.as_bytes().chunks(2).map(|pair| 16 * digit(pair[0]) + digit(pair[1])).collect()
}

#[test]
fn what_tc_sends_is_read_as_what_tc_was_told() {
    let (recorded, told) = (recorded(), as_tc_was_told());
    assert_eq!(recorded.len(), told.len());
    for ((arguments, bytes), told) in recorded.iter().zip(told) {
        assert_eq!(Options::parse(bytes).as_ref(), Ok(&told), "{arguments}");
    }
}

/// Ours holds more, as `tc` leaves out what is off; but what `tc` sends is in ours, byte for byte.
#[test]
fn whatever_tc_sends_is_sent_byte_for_byte() {
    for ((arguments, theirs), told) in recorded().iter().zip(as_tc_was_told()) {
        let ours = told.encode().expect("encoded");
        let (ours_fixed, ours) = ours.options().split_at(layout::FIXED_PART);
        let (theirs_fixed, theirs) = theirs.split_at(layout::FIXED_PART);
        assert_eq!(ours_fixed, theirs_fixed, "{arguments}");
        let ours: HashMap<_, _> =
            crate::attributes::parse(ours).expect("attributes").into_iter().collect();
        for (kind, value) in crate::attributes::parse(theirs).expect("attributes") {
            assert_eq!(ours.get(&kind), Some(&value), "{arguments}: attribute {kind}");
        }
    }
}

/// Every attribute is there although everything is off: the kernel keeps what a change leaves out.
#[test]
fn what_is_off_is_said_to_be_off() {
    let golden = [
        // Latency, limit, loss, gap, duplicate, jitter.
        "00000000e803000000000000000000000000000000000000",
        "10000100000000000000000000000000",         // correlation
        "0c0003000000000000000000",                 // reorder
        "0c0004000000000000000000",                 // corrupt
        "0800070000000000",                         // ECN
        "1400060000000000000000000000000000000000", // rate
        "0c0008000000000000000000",                 // rate, 64 bits
        "0c000a000000000000000000",                 // latency, nanoseconds
        "0c000b000000000000000000",                 // jitter, nanoseconds
        // Slots: 40 bytes.
        "2c000c00",
        "0000000000000000000000000000000000000000",
        "0000000000000000000000000000000000000000",
    ];
    let encoded = Options::default().encode().expect("encoded");
    assert_eq!(encoded.kind(), "netem");
    assert_eq!(encoded.options(), from_hex(&golden.concat()));
}

#[test]
fn a_seed_follows_as_eight_bytes() {
    let options = Options { seed: Some(42_424_242), ..Options::default() };
    let encoded = options.encode().expect("encoded");
    assert!(encoded.options().ends_with(&from_hex("0c000e00b257870200000000")));
}

#[test]
fn a_table_that_is_not_wanted_any_more_is_made_even() {
    let table = Options { distribution: Distribution::Table(vec![1, 2, 3]), ..Options::default() };
    let mut history = History::default();
    table.encode_after(&mut history).expect("encoded");

    let uniform = Options::default();
    let first = uniform.encode_after(&mut history).expect("encoded");
    let Distribution::Table(even) = Options::parse(first.options()).expect("parsed").distribution
    else {
        panic!("no table was sent");
    };
    assert_eq!((even.len(), even[0], even[8191]), (8192, -8191, 8191));

    let second = uniform.encode_after(&mut history).expect("encoded");
    assert_eq!(second, uniform.encode().expect("encoded"), "the kernel holds it by now");
}

#[test]
fn slots_after_a_slot_table_keep_their_bounds() {
    let slots = |spacing| Options {
        slot: Some(Slot { spacing, packets: 1, bytes: 0 }),
        ..Options::default()
    };
    let ms = Duration::from_millis;
    let mut history = History::default();
    let tabled = slots(Spacing::Distributed { delay: ms(5), jitter: ms(1), table: vec![0] });
    tabled.encode_after(&mut history).expect("encoded");
    Options::default().encode_after(&mut history).expect("encoded");

    let between = slots(Spacing::Between { min: ms(10), max: ms(20) });
    let encoded = between.encode_after(&mut history).expect("encoded");
    assert_eq!(Options::parse(encoded.options()), Ok(between));
    let drawn_from_the_table: Vec<u8> =
        [ms(15), ms(5)].iter().flat_map(|time| (time.as_nanos() as i64).to_ne_bytes()).collect();
    assert!(encoded.options().ends_with(&drawn_from_the_table));
}

#[test]
fn what_the_kernel_cannot_hold_is_refused() {
    let delay = Options { delay: Duration::MAX, ..Options::default() };
    assert_eq!(delay.encode(), Err(EncodeError::TooLong("delay")));
    let table = |samples| Distribution::Table(vec![0; samples]);
    let refused = |samples| Err(EncodeError::Table { table: "delay", samples });
    for samples in [0, LONGEST_TABLE + 1] {
        let options = Options { distribution: table(samples), ..Options::default() };
        assert_eq!(options.encode(), refused(samples));
    }
    let spacing = Spacing::Distributed {
        delay: Duration::ZERO,
        jitter: Duration::from_millis(1),
        table: vec![0; LONGEST_TABLE],
    };
    let both = Options {
        distribution: table(LONGEST_TABLE),
        slot: Some(Slot { spacing, packets: 0, bytes: 0 }),
        ..Options::default()
    };
    assert_eq!(both.encode(), Err(EncodeError::TablesTogether { samples: 32_768 }));
    let packets = Slot {
        spacing: Spacing::Between { min: Duration::ZERO, max: Duration::ZERO },
        packets: u32::MAX,
        bytes: 0,
    };
    let options = Options { slot: Some(packets), ..Options::default() };
    assert_eq!(options.encode(), Err(EncodeError::TooMany("packets a slot")));
}

#[test]
fn differences_are_named() {
    let asked = everything();
    assert!(asked.differences(&asked).is_empty());
    let held = Options { limit: 1, slot: None, seed: Some(7), ..asked.clone() };
    assert_eq!(
        asked.differences(&held),
        ["limit", "slot"],
        "a seed that nobody asked for is no difference"
    );
    let seeded = Options { seed: Some(8), ..asked };
    assert_eq!(seeded.differences(&held), ["limit", "slot", "seed"]);
}

fn chance() -> impl Strategy<Value = Chance> {
    any::<u32>().prop_map(Chance)
}

fn correlated() -> impl Strategy<Value = Correlated> {
    (chance(), chance())
        .prop_map(|(probability, correlation)| Correlated { probability, correlation })
}

fn time() -> impl Strategy<Value = Duration> {
    prop_oneof![0..=i64::MAX as u64, 0..1_000_000_000_u64].prop_map(Duration::from_nanos)
}

fn loss() -> impl Strategy<Value = Loss> {
    prop_oneof![
        correlated().prop_map(Loss::Random),
        [chance(), chance(), chance(), chance()].prop_map(|[to_bad, to_good, in_bad, in_good]| {
            Loss::GilbertElliott { to_bad, to_good, in_bad, in_good }
        }),
        [chance(), chance(), chance(), chance(), chance()]
            .prop_map(|[p13, p31, p32, p14, p23]| Loss::FourState { p13, p31, p32, p14, p23 }),
    ]
}

fn table() -> impl Strategy<Value = Vec<i16>> {
    prop::collection::vec(any::<i16>(), 1..50)
}

fn rate() -> impl Strategy<Value = Option<Rate>> {
    let rate = (1..=u64::MAX, any::<i32>(), any::<u32>(), any::<i32>());
    prop::option::of(rate.prop_map(
        |(bytes_per_second, packet_overhead, cell_size, cell_overhead)| Rate {
            bytes_per_second,
            packet_overhead,
            cell_size,
            cell_overhead,
        },
    ))
}

/// Only slots that are on: by the kernel's own rule, others read back as none.
fn slot() -> impl Strategy<Value = Option<Slot>> {
    let positive = || (1..=i64::MAX as u64).prop_map(Duration::from_nanos);
    let spacing = prop_oneof![
        (time(), positive()).prop_map(|(min, max)| Spacing::Between { min, max }),
        (time(), positive(), table()).prop_map(|(delay, jitter, table)| Spacing::Distributed {
            delay,
            jitter,
            table
        }),
    ];
    let count = || 0..=i32::MAX as u32;
    prop::option::of((spacing, count(), count()).prop_map(|(spacing, packets, bytes)| Slot {
        spacing,
        packets,
        bytes,
    }))
}

fn options() -> impl Strategy<Value = Options> {
    let distribution =
        prop_oneof![Just(Distribution::Uniform), table().prop_map(Distribution::Table),];
    let seed = prop::option::of(any::<u64>());
    let delay = (time(), time(), chance(), distribution);
    let chances = (loss(), correlated(), correlated(), correlated());
    let rest = (any::<u32>(), any::<u32>(), any::<bool>(), seed);
    (delay, chances, rate(), slot(), rest).prop_map(|(delay, chances, rate, slot, rest)| {
        let (delay, jitter, delay_correlation, distribution) = delay;
        let (loss, duplicate, corrupt, reorder) = chances;
        let (limit, gap, ecn, seed) = rest;
        Options {
            delay,
            jitter,
            delay_correlation,
            distribution,
            limit,
            loss,
            duplicate,
            corrupt,
            reorder,
            gap,
            rate,
            slot,
            ecn,
            seed,
        }
    })
}

proptest! {
    #[test]
    fn what_is_encoded_is_parsed_again(options in options()) {
        let encoded = options.encode().expect("encoded");
        prop_assert_eq!(Options::parse(encoded.options()), Ok(options));
    }

    #[test]
    fn a_change_never_depends_on_what_went_before_but_for_tables(
        before in options(),
        after in options(),
    ) {
        let mut history = History::default();
        before.encode_after(&mut history).expect("encoded");
        let encoded = after.encode_after(&mut history).expect("encoded");
        let held = Options::parse(encoded.options()).expect("parsed");
        prop_assert!(after.differences(&held).is_empty());
    }

    #[test]
    fn no_bytes_make_the_parser_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = Options::parse(&bytes);
    }
}
