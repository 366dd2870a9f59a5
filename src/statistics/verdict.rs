//! Whether a measurement agrees with what somebody claimed, judged on its interval and never on the
//! bare figure.

use super::Interval;

/// Claims are published in round numbers: within this share of them counts as the same.
pub const TOLERANCE: f64 = 0.05;

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Verdict {
    /// The interval meets the claim ± [`TOLERANCE`].
    Agrees,
    /// The whole interval lies on one side of it; measured ÷ claimed − 1 (infinite if messages were
    /// lost).
    Differs(f64),
    /// Nothing contradicts the claim, and nothing bounds the figure.
    TooFewSamples,
    /// There is no such figure: the sender did not run, or sent nothing.
    NotMeasured,
}

/// All in one unit; lost is infinite. Without an upper bound a claim can be refuted from below, but
/// never confirmed.
pub fn judge(claimed: f64, measured: Option<f64>, interval: Interval<f64>) -> Verdict {
    let Some(measured) = measured else { return Verdict::NotMeasured };
    let above = interval.low.is_some_and(|low| low > claimed * (1.0 + TOLERANCE));
    let below = interval.high.is_some_and(|high| high < claimed * (1.0 - TOLERANCE));
    if above || below {
        Verdict::Differs(measured / claimed - 1.0)
    } else if interval.is_bounded() {
        Verdict::Agrees
    } else {
        Verdict::TooFewSamples
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn between(low: f64, high: f64) -> Interval<f64> {
        Interval { low: Some(low), high: Some(high) }
    }

    #[test]
    fn a_claim_is_judged_on_the_interval() {
        assert_eq!(judge(100.0, Some(120.0), between(90.0, 150.0)), Verdict::Agrees);
        assert_eq!(judge(100.0, Some(104.0), between(103.0, 104.5)), Verdict::Agrees);
        assert_eq!(judge(100.0, Some(150.0), between(140.0, 160.0)), Verdict::Differs(0.5));
        assert_eq!(judge(100.0, Some(50.0), between(40.0, 60.0)), Verdict::Differs(-0.5));
    }

    #[test]
    fn without_an_upper_bound_it_can_be_refuted_but_not_confirmed() {
        let open = |low| Interval { low: Some(low), high: None };
        assert_eq!(judge(100.0, Some(4900.0), open(4800.0)), Verdict::Differs(48.0));
        assert_eq!(judge(100.0, Some(101.0), open(95.0)), Verdict::TooFewSamples);
        assert_eq!(judge(100.0, Some(101.0), Interval::UNKNOWN), Verdict::TooFewSamples);
    }

    #[test]
    fn lost_is_infinitely_far_and_nothing_is_not_measured() {
        let lost = f64::INFINITY;
        assert_eq!(judge(100.0, Some(lost), between(lost, lost)), Verdict::Differs(lost));
        assert_eq!(judge(100.0, None, Interval::UNKNOWN), Verdict::NotMeasured);
    }
}
