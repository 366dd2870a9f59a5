//! What is said of the lines that show intervals: the same as what is drawn.

use crate::report::{Report, terminal};
use crate::statistics::{FEWEST_RUNS, Interval, Latency};

/// How many figures of a chart have such a line and how many have none. Collected from one truth a
/// figure.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Intervals {
    drawn: usize,
    unknown: usize,
}

impl FromIterator<bool> for Intervals {
    fn from_iter<T: IntoIterator<Item = bool>>(figures: T) -> Self {
        figures.into_iter().fold(Self::default(), |sum, is_drawn| match is_drawn {
            true => Self { drawn: sum.drawn + 1, ..sum },
            false => Self { unknown: sum.unknown + 1, ..sum },
        })
    }
}

impl Intervals {
    /// With a space after it; empty where there is nothing to say. `lines`: what they are called.
    pub fn sentence(self, report: &Report, lines: &str) -> String {
        let few = terminal::too_few_runs(report);
        let need = format!("need {FEWEST_RUNS} runs (--repeat {FEWEST_RUNS})");
        match (self.drawn, self.unknown) {
            (0, 1..) if few => format!("Intervals {need}. "),
            (0, _) => String::new(),
            (_, 0) => format!("{lines}: 95 % intervals. "),
            _ if few => {
                format!("{lines}: 95 % intervals, where they are known; the others {need}. ")
            }
            _ => format!("{lines}: 95 % intervals, where they are known. "),
        }
    }
}

/// The ends of a line that shows an interval of latencies: it begins at one that was delivered, and
/// may end at lost.
pub fn ends(interval: &Interval<Latency>) -> Option<(f64, Latency)> {
    Some((interval.low?.as_ms()?, interval.high?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::sample;
    use crate::report::summarise;

    fn sentence(drawn: &[bool], runs: u32) -> String {
        let report = summarise(&sample::plan(runs), &sample::recordings(runs));
        drawn.iter().copied().collect::<Intervals>().sentence(&report, "Lines")
    }

    #[test]
    fn it_says_what_is_drawn_and_what_is_not() {
        assert_eq!(sentence(&[false, false], 1), "Intervals need 5 runs (--repeat 5). ");
        assert_eq!(
            sentence(&[true, false], 1),
            "Lines: 95 % intervals, where they are known; the others need 5 runs (--repeat 5). "
        );
        assert_eq!(sentence(&[true, true], 1), "Lines: 95 % intervals. ");
        assert_eq!(sentence(&[true, true], 5), "Lines: 95 % intervals. ");
        assert_eq!(sentence(&[true, false], 5), "Lines: 95 % intervals, where they are known. ");
        assert_eq!(sentence(&[false], 5), "");
        assert_eq!(sentence(&[], 1), "");
    }

    #[test]
    fn what_begins_at_lost_is_no_line() {
        let ms = |ms: u64| Some(Latency::from_nanos(ms * 1_000_000));
        let lost = Some(Latency::LOST);
        assert_eq!(ends(&Interval { low: ms(40), high: lost }), Some((40.0, Latency::LOST)));
        assert_eq!(ends(&Interval { low: lost, high: lost }), None);
        assert_eq!(ends(&Interval { low: ms(40), high: None }), None);
    }
}
