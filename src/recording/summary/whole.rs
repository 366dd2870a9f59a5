//! Figures that every message counts in, so that one message that was lost makes them infinite: what
//! publications give where they give no quantiles.

use crate::statistics::{Distribution, Interval, Latency, over_runs};

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WholeFigure {
    /// Lost if a message was (for a median of runs: in half of them).
    pub value: Latency,
    /// Over runs, so unknown with fewer than [`FEWEST_RUNS`](crate::statistics::FEWEST_RUNS).
    pub interval: Interval<Latency>,
}

impl WholeFigure {
    /// The mean of all messages. `None`: there are none.
    pub fn mean(runs: &[Distribution], seed: u64) -> Option<Self> {
        let sums: Vec<Sum> = runs.iter().map(Sum::of).collect();
        let value = Sum::weighted(&sums, &vec![1; runs.len()]).mean()?;
        let interval = over_runs(runs.len(), seed, |drawn| {
            Sum::weighted(&sums, drawn).mean().unwrap_or(Latency::LOST)
        });
        Some(Self { value, interval })
    }

    /// The median of the worst of each run. `None`: there are no messages.
    pub fn worst(runs: &[Distribution], seed: u64) -> Option<Self> {
        let worst: Vec<Latency> = runs.iter().filter_map(|run| run.ranked(run.count())).collect();
        let median = |times: &[u64]| {
            let counts = worst.iter().copied().zip(times.iter().copied());
            Distribution::from_counts(counts).median()
        };
        let value = median(&vec![1; worst.len()])?;
        let interval = over_runs(worst.len(), seed, |drawn| median(drawn).unwrap_or(Latency::LOST));
        Some(Self { value, interval })
    }
}

/// Latencies of one or more runs.
#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    nanos: u128,
    delivered: u64,
    lost: u64,
}

impl Sum {
    fn of(run: &Distribution) -> Self {
        run.counts().fold(Self::default(), |sum, (latency, count)| match latency.as_duration() {
            None => Self { lost: sum.lost + count, ..sum },
            Some(duration) => Self {
                nanos: sum.nanos + duration.as_nanos() * u128::from(count),
                delivered: sum.delivered + count,
                ..sum
            },
        })
    }

    /// Each run as often as it was drawn.
    fn weighted(runs: &[Self], drawn: &[u64]) -> Self {
        runs.iter().zip(drawn).fold(Self::default(), |sum, (run, times)| Self {
            nanos: sum.nanos + run.nanos * u128::from(*times),
            delivered: sum.delivered + run.delivered * times,
            lost: sum.lost + run.lost * times,
        })
    }

    fn mean(self) -> Option<Latency> {
        if self.lost > 0 {
            return Some(Latency::LOST);
        }
        let mean = self.nanos.checked_div(u128::from(self.delivered))?;
        Some(Latency::from_nanos(u64::try_from(mean).unwrap_or(u64::MAX - 1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(milliseconds: &[u64]) -> Distribution {
        let latency = |ms: &u64| Latency::from_nanos(ms * 1_000_000);
        Distribution::from_samples(milliseconds.iter().map(latency))
    }

    #[test]
    fn the_mean_is_of_all_messages_and_the_worst_of_a_typical_run() {
        let runs = [run(&[1, 2]), run(&[3]), run(&[9, 9, 9])];
        let mean = WholeFigure::mean(&runs, 1).expect("messages");
        assert_eq!(mean.value.as_ms(), Some(5.5));
        let worst = WholeFigure::worst(&runs, 1).expect("messages");
        assert_eq!(worst.value.as_ms(), Some(3.0));
        assert_eq!(worst.interval, Interval::UNKNOWN);
    }

    #[test]
    fn what_was_lost_has_no_mean_and_no_messages_have_neither() {
        let lost = Distribution::from_samples([Latency::LOST]);
        let runs = [run(&[1]), lost.clone(), lost];
        assert!(WholeFigure::mean(&runs, 1).expect("messages").value.is_lost());
        assert!(WholeFigure::worst(&runs, 1).expect("messages").value.is_lost());
        assert_eq!(WholeFigure::mean(&[Distribution::default()], 1), None);
        assert_eq!(WholeFigure::worst(&[Distribution::default()], 1), None);
    }

    /// Five runs whose means are 10 to 50: the interval is about the mean of the runs, and no run
    /// counts more for having been slow.
    #[test]
    fn intervals_are_over_runs() {
        let runs = [10, 20, 30, 40, 50].map(|ms| run(&[ms; 100]));
        let mean = WholeFigure::mean(&runs, 1).expect("messages");
        assert_eq!(mean.value.as_ms(), Some(30.0));
        let [low, high] = [mean.interval.low, mean.interval.high]
            .map(|end| end.and_then(Latency::as_ms).expect("five runs are enough"));
        assert!((10.0..=20.0).contains(&low) && (40.0..=50.0).contains(&high), "{low} to {high}");
    }
}
