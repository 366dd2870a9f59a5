//! Every latency of a trial, or of several, sorted once: what quantiles, intervals and curves are
//! read from. Holds single samples and the buckets of a histogram alike.

use super::{Latency, Quantile};

/// Ascending, without two steps of the same latency.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Distribution {
    steps: Vec<Step>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Step {
    latency: Latency,
    /// Samples up to here, this latency's own included.
    up_to: u64,
}

impl Distribution {
    pub fn from_samples(samples: impl IntoIterator<Item = Latency>) -> Self {
        Self::from_counts(samples.into_iter().map(|latency| (latency, 1)))
    }

    /// Each latency with the number of samples that had it, in any order.
    pub fn from_counts(counts: impl IntoIterator<Item = (Latency, u64)>) -> Self {
        let mut counts: Vec<_> = counts.into_iter().filter(|(_, count)| *count > 0).collect();
        counts.sort_unstable();
        let mut steps: Vec<Step> = Vec::with_capacity(counts.len());
        for (latency, count) in counts {
            let up_to = steps.last().map_or(0, |step| step.up_to) + count;
            match steps.last_mut().filter(|step| step.latency == latency) {
                Some(step) => step.up_to = up_to,
                None => steps.push(Step { latency, up_to }),
            }
        }
        Self { steps }
    }

    pub fn pooled<'a>(parts: impl IntoIterator<Item = &'a Distribution>) -> Self {
        Self::from_counts(parts.into_iter().flat_map(|part| part.counts()))
    }

    /// Each latency with its own number of samples, ascending.
    pub fn counts(&self) -> impl Iterator<Item = (Latency, u64)> + '_ {
        let before = std::iter::once(0).chain(self.steps.iter().map(|step| step.up_to));
        self.steps.iter().zip(before).map(|(step, before)| (step.latency, step.up_to - before))
    }

    /// Samples in all, lost ones included.
    pub fn count(&self) -> u64 {
        self.steps.last().map_or(0, |step| step.up_to)
    }

    /// `None` only if there are no samples.
    pub fn quantile(&self, quantile: Quantile) -> Option<Latency> {
        self.ranked(quantile.rank(self.count()))
    }

    /// Of an even number of samples the mean of the two in the middle: for a few runs, where the lower
    /// of both, which is [`Quantile::P50`], would be too good. Infinite if one of them is.
    pub fn median(&self) -> Option<Latency> {
        let count = self.count();
        let (low, high) = (self.ranked(count.div_ceil(2))?, self.ranked(count / 2 + 1)?);
        Some(low.midpoint(high))
    }

    /// The sample of this rank, from 1.
    pub fn ranked(&self, rank: u64) -> Option<Latency> {
        if rank == 0 {
            return None;
        }
        let place = self.steps.partition_point(|step| step.up_to < rank);
        self.steps.get(place).map(|step| step.latency)
    }

    /// The lowest latency that occurs and for which a condition holds, which must stay true once it
    /// is; lost if none.
    pub fn first_where(&self, holds: impl Fn(Latency) -> bool) -> Latency {
        let place = self.steps.partition_point(|step| !holds(step.latency));
        self.steps.get(place).map_or(Latency::LOST, |step| step.latency)
    }

    /// Samples that are not above `latency`.
    pub fn at_most(&self, latency: Latency) -> u64 {
        let place = self.steps.partition_point(|step| step.latency <= latency);
        place.checked_sub(1).map_or(0, |last| self.steps[last].up_to)
    }

    /// Without what was lost.
    pub fn delivered(mut self) -> Self {
        self.steps.retain(|step| !step.latency.is_lost());
        self
    }

    /// The worst latency that was delivered.
    pub fn worst_delivered(&self) -> Option<Latency> {
        self.steps.iter().rev().map(|step| step.latency).find(|latency| !latency.is_lost())
    }

    /// The mean of what was delivered.
    pub fn mean_delivered(&self) -> Option<Latency> {
        let (sum, count) = self
            .counts()
            .filter_map(|(latency, count)| Some((latency.as_duration()?.as_nanos(), count)))
            .fold((0u128, 0u64), |(sum, all), (nanos, count)| {
                (sum + nanos * u128::from(count), all + count)
            });
        let mean = sum.checked_div(u128::from(count))?;
        Some(Latency::from_nanos(u64::try_from(mean).unwrap_or(u64::MAX - 1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(nanos: &[u64]) -> Distribution {
        Distribution::from_samples(nanos.iter().map(|nanos| Latency::from_nanos(*nanos)))
    }

    #[test]
    fn the_median_is_half_way_between_the_two_in_the_middle() {
        let median = |nanos: &[u64]| of(nanos).median();
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[9, 1, 2]), Some(Latency::from_nanos(2)));
        assert_eq!(median(&[9, 1]), Some(Latency::from_nanos(5)));
        assert_eq!(median(&[9, 1, 2, 4]), Some(Latency::from_nanos(3)));
        let half_lost =
            Distribution::from_counts([(Latency::from_nanos(1), 2), (Latency::LOST, 2)]);
        assert_eq!(half_lost.median(), Some(Latency::LOST));
    }

    #[test]
    fn lost_messages_sit_at_the_top() {
        let distribution = Distribution::from_counts([
            (Latency::LOST, 2),
            (Latency::from_nanos(30), 97),
            (Latency::from_nanos(40), 1),
        ]);
        assert_eq!(distribution.quantile(Quantile::P50), Some(Latency::from_nanos(30)));
        assert_eq!(distribution.quantile(Quantile::P99), Some(Latency::LOST));
        assert_eq!(distribution.worst_delivered(), Some(Latency::from_nanos(40)));
        assert_eq!(distribution.count(), 100);
    }

    #[test]
    fn pooling_is_the_distribution_of_all_samples_together() {
        let pooled = Distribution::pooled([&of(&[5, 1, 3]), &of(&[3, 2])]);
        assert_eq!(pooled, of(&[1, 2, 3, 3, 5]));
        assert_eq!(pooled.at_most(Latency::from_nanos(3)), 4);
        assert_eq!(pooled.at_most(Latency::from_nanos(0)), 0);
    }

    #[test]
    fn nothing_has_no_quantile_and_no_mean() {
        assert_eq!(Distribution::default().quantile(Quantile::P50), None);
        assert_eq!(Distribution::default().mean_delivered(), None);
        assert_eq!(Distribution::from_counts([(Latency::LOST, 3)]).mean_delivered(), None);
    }
}
