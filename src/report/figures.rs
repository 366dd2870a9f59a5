//! How a figure is written wherever a person reads it: one way for the table, the charts and the
//! footnotes.

use std::time::Duration;

use crate::recording::Recovery;
use crate::statistics::{Interval, Latency};

/// What stands where there is no figure.
pub const NONE: &str = "–";

/// Three significant digits, in the unit that keeps them readable: `41.3 ms`, `4.41 s`, `lost`.
pub fn latency(latency: Latency) -> String {
    latency.as_ms().map_or_else(|| "lost".to_owned(), milliseconds)
}

pub fn latency_or_none(value: Option<Latency>) -> String {
    value.map_or_else(|| NONE.to_owned(), latency)
}

pub fn milliseconds(ms: f64) -> String {
    let us = ms * 1e3;
    if ms.is_infinite() {
        "lost".to_owned()
    } else if ms >= 999.5 {
        format!("{} s", significant(ms / 1e3))
    } else if us >= 999.5 || us == 0.0 {
        format!("{} ms", significant(ms))
    } else {
        format!("{} µs", significant(us))
    }
}

pub fn duration(duration: Duration) -> String {
    milliseconds(duration.as_secs_f64() * 1e3)
}

/// As short as it is exact: `20 s`, `20.5 s`.
pub fn seconds(duration: Duration) -> String {
    format!("{} s", duration.as_secs_f64())
}

pub fn recovery(recovery: Option<Recovery>) -> String {
    match recovery {
        Some(Recovery::After(Duration::ZERO)) => "at once".to_owned(),
        Some(Recovery::After(time)) => duration(time),
        Some(Recovery::Never) => "never".to_owned(),
        Some(Recovery::Unknown) => "unknown".to_owned(),
        None => NONE.to_owned(),
    }
}

/// Never rounds something to nothing: a share that is not zero does not read `0 %`.
pub fn share(share: f64) -> String {
    let percent = share * 100.0;
    if percent == 0.0 {
        "0 %".to_owned()
    } else if percent < 0.01 {
        "< 0.01 %".to_owned()
    } else if percent < 0.995 {
        format!("{percent:.2} %")
    } else {
        format!("{percent:.1} %")
    }
}

/// A share with three significant digits.
pub fn percent(share: f64) -> String {
    match share * 100.0 {
        0.0 => "0 %".to_owned(),
        100.0 => "100 %".to_owned(),
        percent => format!("{} %", significant(percent)),
    }
}

pub fn ratio(ratio: f64) -> String {
    format!("{ratio:.2}")
}

pub fn ratio_or_none(value: Option<f64>) -> String {
    value.map_or_else(|| NONE.to_owned(), ratio)
}

/// `3,688`.
pub fn count(count: u64) -> String {
    let digits = count.to_string();
    let groups: Vec<&str> = digits
        .as_bytes()
        .rchunks(3)
        .rev()
        .map(|group| std::str::from_utf8(group).expect("digits are ASCII"))
        .collect();
    groups.join(",")
}

/// `one run`, `5 runs`, `3,688 messages`.
pub fn plural(number: u64, noun: &str) -> String {
    match number {
        1 => format!("one {noun}"),
        _ => format!("{} {noun}s", count(number)),
    }
}

pub fn interval<T: Copy>(interval: &Interval<T>, write: impl Fn(T) -> String) -> String {
    match (interval.low, interval.high) {
        (Some(low), Some(high)) => format!("{} … {}", write(low), write(high)),
        (Some(low), None) => format!("above {}", write(low)),
        (None, _) => NONE.to_owned(),
    }
}

/// Three digits, from 1 to 999.
pub fn significant(value: f64) -> String {
    match value {
        _ if value >= 99.95 => format!("{value:.0}"),
        _ if value >= 9.995 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_keep_three_digits_in_a_readable_unit() {
        let written =
            [0.0, 0.0421, 0.9996, 1.5, 41.327, 99.96, 250.0, 999.4, 999.6, 4412.0, 61_000.0]
                .map(milliseconds);
        let expected = [
            "0.00 ms", "42.1 µs", "1.00 ms", "1.50 ms", "41.3 ms", "100 ms", "250 ms", "999 ms",
            "1.00 s", "4.41 s", "61.0 s",
        ];
        assert_eq!(written, expected);
    }

    #[test]
    fn a_share_that_is_not_zero_does_not_read_zero() {
        let written = [0.0, 0.00001, 0.00034, 0.00996, 0.02, 1.0].map(share);
        assert_eq!(written, ["0 %", "< 0.01 %", "0.03 %", "1.0 %", "2.0 %", "100.0 %"]);
    }

    #[test]
    fn one_thing_is_not_several() {
        let written = [0, 1, 2, 3688].map(|number| plural(number, "message"));
        assert_eq!(written, ["0 messages", "one message", "2 messages", "3,688 messages"]);
    }

    #[test]
    fn thousands_are_grouped() {
        assert_eq!([0, 999, 3688, 1_234_567].map(count), ["0", "999", "3,688", "1,234,567"]);
    }
}
