use proptest::prelude::*;

use super::*;

const ANY_DURATION: Limits<Duration> =
    Limits { min: Duration::ZERO, max: Duration::from_secs(24 * 3600) };
const ANY_SIZE: Limits<u64> = Limits { min: 0, max: 1 << 40 };
const ANY_MESSAGE_RATE: Limits<f64> = Limits { min: 0.001, max: 1e6 };

#[test]
fn quantities_are_read_exactly() {
    let nanos = |text| duration(text, ANY_DURATION).map(|duration| duration.as_nanos());
    assert_eq!(nanos("40ms"), Ok(40_000_000));
    assert_eq!(nanos("1.5 s"), Ok(1_500_000_000));
    assert_eq!(nanos("0.1us"), Ok(100));
    assert_eq!(nanos("12µs"), Ok(12_000));
    assert_eq!(nanos("2min"), Ok(120_000_000_000));
    assert_eq!(size("64KiB", ANY_SIZE), Ok(65_536));
    assert_eq!(size("1.5kB", ANY_SIZE), Ok(1_500));
    assert_eq!(rate("1.5Mbit/s", 1 << 40).map(Rate::bits_per_second), Ok(1_500_000));
    assert_eq!(probability("1.5 %").map(Probability::as_f64), Ok(0.015));
    assert_eq!(probability("100%"), Ok(Probability::ALWAYS));
    assert_eq!(message_rate("33.3/s", ANY_MESSAGE_RATE), Ok(33.3));
}

#[test]
fn a_mistake_says_what_to_write_instead() {
    let explain = |error: QuantityError| match error.help() {
        Some(help) => format!("{error}: {help}"),
        None => error.to_string(),
    };
    let wrong = |text| explain(duration(text, ANY_DURATION).expect_err("a mistake"));
    let table = [
        wrong("soon"),
        wrong(""),
        wrong("40"),
        wrong("40msec"),
        wrong("40 parsecs"),
        wrong("-40ms"),
        wrong("0.5ns"),
        wrong("25h"),
        wrong("1.2.3s"),
        wrong("1e3ms"),
        wrong("1234567890123456789ms"),
        explain(size("600", ANY_SIZE).expect_err("a mistake")),
        explain(size("0.5B", ANY_SIZE).expect_err("a mistake")),
        explain(rate("40mbit/s", 1 << 40).expect_err("a mistake")),
        explain(rate("40Mbps", 1 << 40).expect_err("a mistake")),
        explain(rate("0bit/s", 1 << 40).expect_err("a mistake")),
        explain(probability("0.02").expect_err("a mistake")),
        explain(probability("120%").expect_err("a mistake")),
        explain(probability("-1%").expect_err("a mistake")),
        explain(message_rate("50Hz", ANY_MESSAGE_RATE).expect_err("a mistake")),
        explain(message_rate("0/s", ANY_MESSAGE_RATE).expect_err("a mistake")),
    ];
    insta::assert_snapshot!(table.join("\n"));
}

proptest! {
    #[test]
    fn what_is_printed_is_read_as_the_same_value(
        nanos in 0u64..86_400_000_000_000,
        bits in 1u64..100_000_000_000,
        hundred_millionths in 0u32..=1_000_000_000,
    ) {
        let time = Duration::from_nanos(nanos);
        prop_assert_eq!(duration(&print_duration(time), ANY_DURATION), Ok(time));
        let speed = Rate::from_bits_per_second(bits).expect("not zero");
        prop_assert_eq!(rate(&print_rate(speed), 100_000_000_000), Ok(speed));
        let percent = f64::from(hundred_millionths) / 1e7;
        let chance = probability(&format!("{percent}%")).expect("between 0 and 100 %");
        prop_assert_eq!(probability(&print_probability(chance)), Ok(chance));
    }

    #[test]
    fn no_text_makes_it_panic(text in "[-+]?[0-9.]{0,40} ?[a-zA-Zµ%/]{0,8}", any in ".{0,40}") {
        for text in [text, any] {
            let _ = duration(&text, ANY_DURATION);
            let _ = size(&text, ANY_SIZE);
            let _ = rate(&text, 1 << 40);
            let _ = probability(&text);
            let _ = message_rate(&text, ANY_MESSAGE_RATE);
        }
    }
}
