//! From a value to a place on the canvas, and which values to write beside it.

use crate::report::figures;

/// Where an axis lies: the places of its two ends on the canvas. Upwards, `from` is the larger one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Span {
    pub from: f64,
    pub to: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Axis {
    scale: Scale,
    span: Span,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Scale {
    Linear { low: f64, high: f64 },
    Log { low: f64, high: f64 },
}

/// Beyond this ratio of the largest to the smallest, a linear axis makes the small ones vanish.
const LINEAR_UP_TO: f64 = 12.0;
const COSTS_LINEAR_UP_TO: f64 = 8.0;

impl Axis {
    /// Of latencies in milliseconds: linear from zero where that shows them all, else logarithmic.
    /// `values` may hold infinities, which are left out.
    pub fn of_latencies(values: impl Iterator<Item = f64>, span: Span) -> Self {
        let (low, high) = extremes(values).unwrap_or((1.0, 100.0));
        if high / low > LINEAR_UP_TO {
            Self::log(low, high, span)
        } else {
            Self::linear(high, span)
        }
    }

    pub fn logarithmic(values: impl Iterator<Item = f64>, span: Span) -> Self {
        let (low, high) = extremes(values).unwrap_or((1.0, 100.0));
        Self::log(low, high, span)
    }

    /// From zero to a little more than `high`.
    pub fn linear(high: f64, span: Span) -> Self {
        let high = if high > 0.0 { high * 1.06 } else { 1.0 };
        Self { scale: Scale::Linear { low: 0.0, high }, span }
    }

    /// From zero to `high` itself.
    pub fn exactly(high: f64, span: Span) -> Self {
        let high = if high > 0.0 { high } else { 1.0 };
        Self { scale: Scale::Linear { low: 0.0, high }, span }
    }

    /// Of costs, for points: from a little below the least, linear where that leaves the small ones
    /// apart, else logarithmic.
    pub fn of_costs(values: impl Iterator<Item = f64>, span: Span) -> Self {
        let (low, high) = extremes(values).unwrap_or((1.0, 2.0));
        if high / low > COSTS_LINEAR_UP_TO {
            return Self::log(low, high, span);
        }
        let room = (high - low).max(0.1) * 0.06;
        Self { scale: Scale::Linear { low: (low - room).max(0.0), high: high + room }, span }
    }

    fn log(low: f64, high: f64, span: Span) -> Self {
        // At least a factor of four, so that there are ticks to read it by.
        let (low, high) = (low * 0.8, (high * 1.15).max(low * 4.0));
        Self { scale: Scale::Log { low, high }, span }
    }

    pub fn is_log(&self) -> bool {
        matches!(self.scale, Scale::Log { .. })
    }

    /// Clamped to the ends of the axis.
    pub fn place(&self, value: f64) -> f64 {
        let share = match self.scale {
            Scale::Linear { low, high } => (value - low) / (high - low),
            Scale::Log { low, high } => (value.max(low) / low).ln() / (high / low).ln(),
        };
        self.span.from + share.clamp(0.0, 1.0) * (self.span.to - self.span.from)
    }

    /// Round values with their places, the place between them at least `apart`.
    pub fn ticks(&self, apart: f64) -> Vec<(f64, f64)> {
        let values = match self.scale {
            Scale::Linear { low, high } => {
                linear_ticks(low, high, apart / (self.span.to - self.span.from).abs())
            }
            Scale::Log { low, high } => log_ticks(low, high),
        };
        let mut ticks: Vec<(f64, f64)> = Vec::new();
        // Powers of ten first, so that those are kept where not all fit.
        let (tens, others): (Vec<f64>, Vec<f64>) =
            values.into_iter().partition(|value| !self.is_log() || is_power_of_ten(*value));
        for value in tens.into_iter().chain(others) {
            let place = self.place(value);
            if ticks.iter().all(|(_, other)| (other - place).abs() >= apart) {
                ticks.push((value, place));
            }
        }
        ticks
    }
}

/// A tick of a latency axis: `20 ms`, `1 s`.
pub fn latency_label(ms: f64) -> String {
    match ms {
        0.0 => "0".to_owned(),
        _ if ms >= 1000.0 => format!("{} s", short(ms / 1000.0)),
        _ if ms < 1.0 => format!("{} µs", short(ms * 1000.0)),
        _ => format!("{} ms", short(ms)),
    }
}

pub fn ratio_label(ratio: f64) -> String {
    if ratio == 0.0 { "0".to_owned() } else { figures::ratio(ratio) }
}

fn short(value: f64) -> String {
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn extremes(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    let finite = values.filter(|value| value.is_finite() && *value > 0.0);
    finite.fold(None, |extremes, value| {
        let (low, high) = extremes.unwrap_or((value, value));
        Some((value.min(low), value.max(high)))
    })
}

/// Steps of 1, 2 or 5 times a power of ten.
fn linear_ticks(low: f64, high: f64, share_apart: f64) -> Vec<f64> {
    let finest = (high - low) * share_apart.max(0.01);
    let power = 10f64.powf(finest.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|times| times * power);
    let step = step.into_iter().find(|step| *step >= finest).unwrap_or(10.0 * power);
    ((low / step).ceil() as u32..=(high / step) as u32).map(|tick| f64::from(tick) * step).collect()
}

fn log_ticks(low: f64, high: f64) -> Vec<f64> {
    let decades = low.log10().floor() as i32..=high.log10().ceil() as i32;
    let round = decades.flat_map(|decade| [1.0, 2.0, 5.0].map(|times| times * 10f64.powi(decade)));
    round.filter(|value| (low..=high).contains(value)).collect()
}

fn is_power_of_ten(value: f64) -> bool {
    let log = value.log10();
    (log - log.round()).abs() < 1e-9
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPAN: Span = Span { from: 0.0, to: 300.0 };

    fn labels(axis: Axis) -> Vec<String> {
        let mut ticks = axis.ticks(20.0);
        ticks.sort_by(|a, b| a.1.total_cmp(&b.1));
        ticks.iter().map(|(value, _)| latency_label(*value)).collect()
    }

    #[test]
    fn milliseconds_beside_seconds_are_logarithmic() {
        let axis = Axis::of_latencies([40.0, f64::INFINITY, 5000.0].into_iter(), SPAN);
        assert!(axis.is_log());
        let expected = ["50 ms", "100 ms", "200 ms", "500 ms", "1 s", "2 s", "5 s"];
        assert_eq!(labels(axis), expected);
    }

    #[test]
    fn near_ones_are_linear_from_zero() {
        let axis = Axis::of_latencies([40.0, 120.0].into_iter(), SPAN);
        assert!(!axis.is_log());
        let expected = [
            "0", "10 ms", "20 ms", "30 ms", "40 ms", "50 ms", "60 ms", "70 ms", "80 ms", "90 ms",
            "100 ms", "110 ms", "120 ms",
        ];
        assert_eq!(labels(axis), expected);
        assert_eq!(axis.place(0.0), 0.0);
    }

    #[test]
    fn what_lies_outside_is_put_at_the_end() {
        let axis = Axis::logarithmic([40.0, 5000.0].into_iter(), SPAN);
        assert_eq!(axis.place(f64::INFINITY), 300.0);
        assert_eq!(axis.place(0.0), 0.0);
    }

    #[test]
    fn nothing_to_show_still_has_an_axis() {
        assert!(!labels(Axis::of_latencies(std::iter::empty(), SPAN)).is_empty());
        assert!(!Axis::linear(0.0, SPAN).ticks(20.0).is_empty());
    }
}
