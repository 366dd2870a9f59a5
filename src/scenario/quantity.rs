//! Quantities as they are written: `40ms`, `1.5 %`, `50/s`, `600B`, `40Mbit/s`. A number without
//! its unit is a mistake, since a bare 40 has been read as seconds and as milliseconds before. The
//! way back, from a value to its text, is exact: what is printed is read as the same value again.

use std::time::Duration;

use thiserror::Error;

use super::nearest::nearest;
use crate::units::{Probability, Rate};

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum QuantityError {
    #[error("`{text}` is not {noun}")]
    NotANumber { text: String, noun: &'static str, example: &'static str },
    #[error("`{text}` has {digits} digits, and {DIGITS} are the most")]
    TooManyDigits { text: String, digits: usize },
    #[error("`{text}` has no unit")]
    NoUnit { text: String, noun: &'static str, example: &'static str, units: String },
    #[error("`{unit}` is not a unit of {noun}")]
    WrongUnit { unit: String, noun: &'static str, units: String, suggestion: Option<String> },
    #[error("`{text}` is negative")]
    Negative { text: String, noun: &'static str },
    #[error("`{text}` is not a whole number of {base}")]
    NotWhole { text: String, base: &'static str },
    #[error("`{text}` is more than {limit}")]
    TooLarge { text: String, limit: String },
    #[error("`{text}` is less than {limit}")]
    TooSmall { text: String, limit: String },
}

impl QuantityError {
    /// What to write instead.
    pub fn help(&self) -> Option<String> {
        match self {
            Self::NotANumber { noun, example, .. } => Some(format!("write {noun} as `{example}`")),
            Self::NoUnit { noun, example, units, .. } => {
                Some(format!("write {noun} as `{example}`; {units}"))
            }
            Self::WrongUnit { suggestion: Some(unit), units, .. } => {
                Some(format!("did you mean `{unit}`? {units}"))
            }
            Self::WrongUnit { units, .. } => Some(units.clone()),
            Self::Negative { noun, .. } => Some(format!("{noun} is zero or more")),
            Self::TooManyDigits { .. }
            | Self::NotWhole { .. }
            | Self::TooLarge { .. }
            | Self::TooSmall { .. } => None,
        }
    }
}

/// The limits a quantity has at the place where it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits<T> {
    pub min: T,
    pub max: T,
}

pub fn duration(text: &str, limits: Limits<Duration>) -> Result<Duration, QuantityError> {
    let written = Written::split(text, &DURATION)?;
    let nanos = written.whole(&DURATION)?;
    let duration = Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX));
    within(text, duration, limits, print_duration)
}

/// Bytes.
pub fn size(text: &str, limits: Limits<u64>) -> Result<u64, QuantityError> {
    let bytes = Written::split(text, &SIZE)?.whole(&SIZE)?;
    within(text, u64::try_from(bytes).unwrap_or(u64::MAX), limits, print_size)
}

pub fn rate(text: &str, limit: u64) -> Result<Rate, QuantityError> {
    let bits = Written::split(text, &RATE)?.whole(&RATE)?;
    let bits = u64::try_from(bits).unwrap_or(u64::MAX);
    let bits = within(text, bits, Limits { min: 1, max: limit }, |bits| format!("{bits}bit/s"))?;
    Ok(Rate::from_bits_per_second(bits).expect("at least 1, by the limits above"))
}

pub fn probability(text: &str) -> Result<Probability, QuantityError> {
    let written = Written::split(text, &PROBABILITY)?;
    Probability::new(written.hundredth())
        .ok_or_else(|| QuantityError::TooLarge { text: text.to_owned(), limit: "100%".to_owned() })
}

/// Messages per second.
pub fn message_rate(text: &str, limits: Limits<f64>) -> Result<f64, QuantityError> {
    let per_second = Written::split(text, &MESSAGE_RATE)?.float();
    within(text, per_second, limits, |rate| format!("{rate}/s"))
}

/// A number without a unit.
pub fn factor(text: &str, limits: Limits<u32>) -> Result<f64, QuantityError> {
    let factor = text.parse().ok().filter(|factor: &f64| factor.is_finite());
    let factor = factor.ok_or_else(|| QuantityError::NotANumber {
        text: text.to_owned(),
        noun: "a factor",
        example: "1.125",
    })?;
    let limits = Limits { min: limits.min.into(), max: limits.max.into() };
    within(text, factor, limits, |limit: f64| limit.to_string())
}

fn within<T: PartialOrd + Copy>(
    text: &str,
    value: T,
    limits: Limits<T>,
    print: impl Fn(T) -> String,
) -> Result<T, QuantityError> {
    let text = text.to_owned();
    if value > limits.max {
        return Err(QuantityError::TooLarge { text, limit: print(limits.max) });
    }
    if value < limits.min {
        return Err(QuantityError::TooSmall { text, limit: print(limits.min) });
    }
    Ok(value)
}

/// A kind of quantity: its units, each with how many of the smallest it is.
pub struct Kind {
    noun: &'static str,
    example: &'static str,
    base: &'static str,
    units: &'static [(&'static str, u128)],
}

pub const DURATION: Kind = Kind {
    noun: "a duration",
    example: "40ms",
    base: "nanoseconds",
    units: &[
        ("ns", 1),
        ("us", 1_000),
        ("ms", 1_000_000),
        ("s", 1_000_000_000),
        ("min", 60_000_000_000),
        ("h", 3_600_000_000_000),
    ],
};

pub const SIZE: Kind = Kind {
    noun: "a size",
    example: "600B",
    base: "bytes",
    units: &[("B", 1), ("kB", 1_000), ("KiB", 1 << 10), ("MB", 1_000_000), ("MiB", 1 << 20)],
};

pub const RATE: Kind = Kind {
    noun: "a data rate",
    example: "40Mbit/s",
    base: "bits per second",
    units: &[("bit/s", 1), ("kbit/s", 1_000), ("Mbit/s", 1_000_000), ("Gbit/s", 1_000_000_000)],
};

pub const PROBABILITY: Kind =
    Kind { noun: "a probability", example: "1.5%", base: "percent", units: &[("%", 1)] };

pub const MESSAGE_RATE: Kind = Kind {
    noun: "a message rate",
    example: "50/s",
    base: "messages per second",
    units: &[("/s", 1)],
};

/// A number and its unit. At most 18 digits, so that all arithmetic on it fits.
struct Written<'a> {
    text: &'a str,
    whole: &'a str,
    fraction: &'a str,
    unit: u128,
}

/// More digits than this say nothing in any unit here.
const DIGITS: usize = 18;

impl<'a> Written<'a> {
    fn split(text: &'a str, kind: &Kind) -> Result<Self, QuantityError> {
        let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
        let end = unsigned.find(|c: char| !c.is_ascii_digit() && c != '.');
        let (number, unit) = unsigned.split_at(end.unwrap_or(unsigned.len()));
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let digits = whole.len() + fraction.len();
        if whole.is_empty() || fraction.contains('.') || number.ends_with('.') {
            let (noun, example) = (kind.noun, kind.example);
            return Err(QuantityError::NotANumber { text: text.to_owned(), noun, example });
        }
        if digits > DIGITS {
            return Err(QuantityError::TooManyDigits { text: text.to_owned(), digits });
        }
        let unit = kind.unit(text, unit.trim())?;
        if text.starts_with('-') {
            return Err(QuantityError::Negative { text: text.to_owned(), noun: kind.noun });
        }
        Ok(Self { text, whole, fraction, unit })
    }

    /// The quantity in the smallest unit of its kind.
    fn whole(&self, kind: &Kind) -> Result<u128, QuantityError> {
        let digits: u128 = format!("{}{}", self.whole, self.fraction)
            .parse()
            .expect("1 to 18 decimal digits, by `split`");
        let scale = 10u128.pow(self.fraction.len() as u32);
        // 18 digits times an hour of nanoseconds is below 10³¹, far from the end of u128.
        let value = digits * self.unit;
        if !value.is_multiple_of(scale) {
            return Err(QuantityError::NotWhole { text: self.text.to_owned(), base: kind.base });
        }
        Ok(value / scale)
    }

    fn float(&self) -> f64 {
        self.scaled(0)
    }

    /// Not the float divided: that would round twice.
    fn hundredth(&self) -> f64 {
        self.scaled(-2)
    }

    fn scaled(&self, exponent: i32) -> f64 {
        let fraction = if self.fraction.is_empty() { "0" } else { self.fraction };
        let text = format!("{}.{fraction}e{exponent}", self.whole);
        text.parse().expect("decimal digits, by `split`")
    }
}

impl Kind {
    fn unit(&self, text: &str, unit: &str) -> Result<u128, QuantityError> {
        if unit.is_empty() {
            let (text, units) = (text.trim().to_owned(), self.listed());
            let (noun, example) = (self.noun, self.example);
            return Err(QuantityError::NoUnit { text, noun, example, units });
        }
        let known = self.units.iter().find(|(name, _)| spellings(name).any(|known| known == unit));
        known.map(|(_, factor)| *factor).ok_or_else(|| QuantityError::WrongUnit {
            unit: unit.to_owned(),
            noun: self.noun,
            units: self.listed(),
            suggestion: self.suggestion(unit),
        })
    }

    /// Every way to write each of its units.
    pub fn spellings(&self) -> impl Iterator<Item = &'static str> {
        self.units.iter().flat_map(|(name, _)| spellings(name))
    }

    /// The nearest unit, or the one that was written out: `msec` starts with `ms`.
    fn suggestion(&self, written: &str) -> Option<String> {
        let names = self.units.iter().map(|(name, _)| *name);
        let begun =
            names.clone().filter(|name| written.starts_with(name)).max_by_key(|name| name.len());
        nearest(written, names).or_else(|| begun.map(str::to_owned))
    }

    fn listed(&self) -> String {
        match self.units {
            [(only, _)] => format!("the unit is {only}"),
            units => {
                let names: Vec<&str> = units.iter().map(|(name, _)| *name).collect();
                format!("the units are {}", names.join(", "))
            }
        }
    }

    /// The largest unit that `value` is a whole number of.
    fn print(&self, value: u128) -> String {
        let fits = |(_, factor): &&(&str, u128)| value >= *factor && value.is_multiple_of(*factor);
        let (name, factor) = self.units.iter().rev().find(fits).unwrap_or(&self.units[0]);
        format!("{}{name}", value / factor)
    }
}

/// The ways to write a unit.
fn spellings(unit: &'static str) -> impl Iterator<Item = &'static str> {
    [unit].into_iter().chain((unit == "us").then_some("µs"))
}

pub fn print_duration(duration: Duration) -> String {
    match duration.as_nanos() {
        0 => "0ms".to_owned(),
        // Minutes and hours are harder to compare than seconds.
        nanos if nanos.is_multiple_of(1_000_000_000) => format!("{}s", nanos / 1_000_000_000),
        nanos => DURATION.print(nanos),
    }
}

pub fn print_size(bytes: u64) -> String {
    format!("{bytes}B")
}

pub fn print_rate(rate: Rate) -> String {
    RATE.print(u128::from(rate.bits_per_second()))
}

/// The fewest digits that are this probability and no other, the point moved by two.
pub fn print_probability(probability: Probability) -> String {
    let text = probability.as_f64().to_string();
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let (tenths, rest) = fraction.split_at(fraction.len().min(2));
    let percent = format!("{whole}{tenths:0<2}");
    let percent = match percent.trim_start_matches('0') {
        "" => "0",
        percent => percent,
    };
    if rest.is_empty() { format!("{percent}%") } else { format!("{percent}.{rest}%") }
}

#[cfg(test)]
mod tests;
