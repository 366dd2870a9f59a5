//! The best trade-offs of latency and cost: the senders that no other beats in both P99 and
//! amplification (the Pareto front), and whether their intervals leave a doubt of it. Senders with a
//! reservation are no part of it: they neither beat another nor are beaten.

use super::SenderReport;
use crate::recording::Summary;
use crate::statistics::{Interval, Latency, Quantile};

/// Where a sender stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    /// No other sender is at least as good in both figures and better in one. A sender that loses
    /// more than 1 % has no P99, and is never on the front.
    pub on_front: bool,
    /// Whether this holds for all values within the 95 % intervals of all senders; `None`: some of
    /// them are not known (fewer than five runs, or a reservation).
    pub certain: Option<bool>,
}

/// One for each sender; `None` where a figure is missing, since no message was sent, or there is a
/// reservation.
pub fn standings(senders: &[SenderReport]) -> Vec<Option<Standing>> {
    let all_ranked = senders.iter().all(SenderReport::is_ranked);
    let spot = |sender: &SenderReport| match sender.is_ranked() {
        true => Spot::of(&sender.pooled),
        false => None,
    };
    let spots: Vec<Option<Spot>> = senders.iter().map(spot).collect();
    let standing = |(place, spot): (usize, &Option<Spot>)| {
        let others = spots.iter().enumerate().filter(|(other, _)| *other != place);
        let others: Vec<&Spot> = others.filter_map(|(_, spot)| spot.as_ref()).collect();
        spot.as_ref().map(|spot| spot.standing(&others, all_ranked))
    };
    spots.iter().enumerate().map(standing).collect()
}

/// What a sender costs and how late it is.
struct Spot {
    amplification: Range,
    /// Milliseconds, infinite where it is lost.
    p99: Range,
}

struct Range {
    value: f64,
    /// `None`: the interval is unknown.
    ends: Option<(f64, f64)>,
}

impl Spot {
    fn of(sender: &Summary) -> Option<Self> {
        let p99 = sender.figure(Quantile::P99)?;
        let Interval { low, high } = p99.interval;
        let ms = |latency: Latency| latency.as_ms_or_infinity();
        let amplification = Range::of(
            sender.amplification?.total(),
            sender.amplification_interval.low,
            sender.amplification_interval.high,
        );
        let high = high.filter(|_| p99.enough);
        let p99 = Range::of(ms(p99.value?), low.map(ms), high.map(ms));
        Some(Self { amplification, p99 })
    }

    /// `all_ranked`: there is nobody beside the others.
    fn standing(&self, others: &[&Spot], all_ranked: bool) -> Standing {
        let lost = self.p99.value.is_infinite();
        let on_front = !lost && !others.iter().any(|other| other.beats(self));
        let certain = match on_front {
            true => self.is_surely_on(others),
            false => self.is_surely_off(others),
        };
        // One that is not ranked might beat it; who is beaten by the others stays so.
        let hangs = on_front && !all_ranked;
        Standing { on_front, certain: certain.filter(|sure| !(hangs && *sure)) }
    }

    fn beats(&self, other: &Spot) -> bool {
        let (cost, p99) = (&self.amplification, &self.p99);
        cost.value <= other.amplification.value
            && p99.value <= other.p99.value
            && (cost.value < other.amplification.value || p99.value < other.p99.value)
    }

    /// Nobody's interval reaches down to where it would beat this one.
    fn is_surely_on(&self, others: &[&Spot]) -> Option<bool> {
        let (_, cost) = self.amplification.ends?;
        let (_, p99) = self.p99.ends?;
        let mut sure = p99.is_finite();
        for other in others {
            let (other_cost, _) = other.amplification.ends?;
            let (other_p99, _) = other.p99.ends?;
            sure &= other_cost > cost || other_p99 > p99;
        }
        Some(sure)
    }

    /// Somebody beats it with the worst values of its interval against the best of this one's.
    fn is_surely_off(&self, others: &[&Spot]) -> Option<bool> {
        let (cost, _) = self.amplification.ends?;
        let (p99, _) = self.p99.ends?;
        let mut known = true;
        for other in others {
            match (other.amplification.ends, other.p99.ends) {
                (Some((_, other_cost)), Some((_, other_p99))) => {
                    if other_cost < cost && other_p99 < p99 {
                        return Some(true);
                    }
                }
                _ => known = false,
            }
        }
        if p99.is_infinite() { Some(true) } else { known.then_some(false) }
    }
}

impl Range {
    fn of(value: f64, low: Option<f64>, high: Option<f64>) -> Self {
        Self { value, ends: low.zip(high) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Each figure with its distance to both ends of its interval.
    fn spot(amplification: f64, p99: f64, half: Option<(f64, f64)>) -> Spot {
        let range = |value: f64, half: Option<f64>| Range {
            value,
            ends: half.map(|half| (value - half, value + half)),
        };
        Spot {
            amplification: range(amplification, half.map(|(cost, _)| cost)),
            p99: range(p99, half.map(|(_, p99)| p99)),
        }
    }

    fn standing(spots: &[Spot]) -> Vec<(bool, Option<bool>)> {
        let others = |place: usize| {
            let others = spots.iter().enumerate().filter(move |(other, _)| *other != place);
            others.map(|(_, spot)| spot).collect::<Vec<_>>()
        };
        let of = |(place, spot): (usize, &Spot)| {
            let Standing { on_front, certain } = spot.standing(&others(place), true);
            (on_front, certain)
        };
        spots.iter().enumerate().map(of).collect()
    }

    #[test]
    fn cheaper_or_faster_is_on_the_front_and_worse_in_both_is_not() {
        let half = Some((0.01, 1.0));
        let spots = [spot(1.1, 200.0, half), spot(2.2, 50.0, half), spot(2.4, 60.0, half)];
        let yes = (true, Some(true));
        assert_eq!(standing(&spots), [yes, yes, (false, Some(true))]);
    }

    #[test]
    fn overlapping_intervals_leave_a_doubt_on_both_sides() {
        let half = Some((0.01, 8.0));
        let spots = [spot(1.1, 200.0, half), spot(2.2, 50.0, half), spot(2.3, 60.0, half)];
        let expected = [(true, Some(true)), (true, Some(true)), (false, Some(false))];
        assert_eq!(standing(&spots), expected);
        let near = [spot(2.2, 50.0, half), spot(2.205, 50.5, half)];
        assert_eq!(standing(&near), [(true, Some(false)), (false, Some(false))]);
    }

    #[test]
    fn without_intervals_nothing_is_certain() {
        let spots = [spot(1.1, 200.0, None), spot(2.2, 50.0, None), spot(2.3, 60.0, None)];
        assert_eq!(standing(&spots), [(true, None), (true, None), (false, None)]);
    }

    #[test]
    fn a_lost_p99_is_never_on_the_front_however_cheap() {
        let half = Some((0.01, 1.0));
        let lost = spot(1.05, f64::INFINITY, Some((0.01, 0.0)));
        let expected = [(false, Some(true)), (true, Some(true))];
        assert_eq!(standing(&[lost, spot(2.2, 50.0, half)]), expected);
    }

    #[test]
    fn equal_senders_share_the_front() {
        let both = standing(&[spot(1.5, 80.0, None), spot(1.5, 80.0, None)]);
        assert_eq!(both, [(true, None), (true, None)]);
    }

    proptest! {
        /// By the definition: on the front exactly if nobody is at least as good in both and better
        /// in one; and what is certain stays so for whatever values the intervals hold.
        #[test]
        fn what_is_certain_holds_for_every_value_of_the_intervals(
            figures in proptest::collection::vec((10_u32..40, 1_u32..40, 0_u32..4, 0_u32..6), 1..8),
            shifts in proptest::collection::vec((-1.0_f64..=1.0, -1.0_f64..=1.0), 8),
        ) {
            let half = |it: &(u32, u32, u32, u32)| (f64::from(it.2), f64::from(it.3));
            let spots: Vec<Spot> = figures
                .iter()
                .map(|it| spot(f64::from(it.0), f64::from(it.1), Some(half(it))))
                .collect();
            let moved: Vec<Spot> = figures
                .iter()
                .zip(&shifts)
                .map(|(it, shift)| {
                    let (cost, p99) = half(it);
                    spot(f64::from(it.0) + shift.0 * cost, f64::from(it.1) + shift.1 * p99, None)
                })
                .collect();
            for (was, is) in standing(&spots).into_iter().zip(standing(&moved)) {
                prop_assert!(was.1 != Some(true) || was.0 == is.0);
            }
        }
    }
}
