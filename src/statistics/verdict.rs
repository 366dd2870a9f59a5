//! Whether a measurement agrees with what somebody claimed, judged on its interval and never on the
//! bare figure.

use super::Interval;

/// Claims are published in round numbers: within this share of them counts as the same.
pub const TOLERANCE: f64 = 0.05;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The whole interval lies within the claim ± [`TOLERANCE`].
    Agrees,
    /// The whole interval lies outside of it, on one side.
    Differs,
    /// The interval is too wide for either.
    Inconclusive,
    /// There is a figure, and nothing says how far it can be trusted.
    NoInterval,
    /// There is no such figure: the sender did not run, or sent nothing.
    NotMeasured,
}

/// All in one unit; lost is infinite. With one bound alone a claim can be refuted, but never
/// confirmed.
pub fn judge(claimed: f64, measured: Option<f64>, interval: Interval<f64>) -> Verdict {
    let (least, most) = (claimed * (1.0 - TOLERANCE), claimed * (1.0 + TOLERANCE));
    if measured.is_none() {
        return Verdict::NotMeasured;
    }
    match (interval.low, interval.high) {
        (None, None) => Verdict::NoInterval,
        (Some(low), _) if low > most => Verdict::Differs,
        (_, Some(high)) if high < least => Verdict::Differs,
        (Some(low), Some(high)) if least <= low && high <= most => Verdict::Agrees,
        _ => Verdict::Inconclusive,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(low: f64, high: f64) -> Verdict {
        judge(100.0, Some((low + high) / 2.0), Interval { low: Some(low), high: Some(high) })
    }

    #[test]
    fn only_an_interval_wholly_within_the_tolerance_agrees() {
        assert_eq!(judged(96.0, 104.0), Verdict::Agrees);
        assert_eq!(judged(95.0, 105.0), Verdict::Agrees);
        assert_eq!(judged(94.0, 104.0), Verdict::Inconclusive);
        assert_eq!(judged(96.0, 106.0), Verdict::Inconclusive);
    }

    #[test]
    fn only_an_interval_wholly_outside_of_the_tolerance_differs() {
        assert_eq!(judged(106.0, 160.0), Verdict::Differs);
        assert_eq!(judged(40.0, 94.0), Verdict::Differs);
        assert_eq!(judged(50.0, 200.0), Verdict::Inconclusive);
        assert_eq!(judged(104.0, 300.0), Verdict::Inconclusive);
    }

    #[test]
    fn without_an_upper_bound_it_can_be_refuted_but_not_confirmed() {
        let open = |low| judge(100.0, Some(101.0), Interval { low: Some(low), high: None });
        assert_eq!(open(106.0), Verdict::Differs);
        assert_eq!(open(96.0), Verdict::Inconclusive);
    }

    #[test]
    fn no_interval_is_no_verdict_however_far_the_figure_is() {
        assert_eq!(judge(100.0, Some(4900.0), Interval::UNKNOWN), Verdict::NoInterval);
        assert_eq!(judge(100.0, Some(100.0), Interval::UNKNOWN), Verdict::NoInterval);
        assert_eq!(judge(100.0, None, Interval::UNKNOWN), Verdict::NotMeasured);
    }

    #[test]
    fn lost_is_infinitely_far() {
        assert_eq!(judged(f64::INFINITY, f64::INFINITY), Verdict::Differs);
        assert_eq!(judged(99.0, f64::INFINITY), Verdict::Inconclusive);
    }
}
