//! How long to wait for an acknowledgement: the round-trip estimate (RFC 6298's shape, in whole
//! milliseconds) and what `nodelay` makes of it. Knows nothing of segments.

use super::behaviour::RoundTripRule;

/// Before the first sample; milliseconds.
const INITIAL_RTO_MS: u32 = 200;
const LARGEST_RTO_MS: u32 = 60_000;

/// `nodelay`: the smallest timeout, and how it grows while a segment stays lost. Growth is told as
/// in the C code ([`back_off`](Self::back_off)); kcp-go knows only two kinds
/// ([`add_measured`](Self::add_measured)).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoDelay {
    /// 0: at least 100 ms, an eighth more for the first wait, then at least doubled each time.
    Off,
    /// 1: at least 30 ms, half as much again each time, without end.
    Growing,
    /// 2: at least 30 ms, half the measured timeout more each time.
    Linear,
}

impl NoDelay {
    pub const fn from_number(number: u8) -> Self {
        match number {
            0 => Self::Off,
            1 => Self::Growing,
            _ => Self::Linear,
        }
    }

    const fn smallest_rto_ms(self) -> u32 {
        match self {
            Self::Off => 100,
            Self::Growing | Self::Linear => 30,
        }
    }

    /// The first wait after a segment was sent for the first time.
    pub const fn first_wait_ms(self, rto_ms: u32) -> u32 {
        match self {
            Self::Off => rto_ms + rto_ms / 8,
            Self::Growing | Self::Linear => rto_ms,
        }
    }

    /// The segment's next timeout after this one has passed; `measured_ms` is the connection's.
    pub fn back_off(self, rto_ms: u32, measured_ms: u32) -> u32 {
        let step = match self {
            Self::Off => rto_ms.max(measured_ms),
            Self::Growing => rto_ms / 2,
            Self::Linear => measured_ms / 2,
        };
        rto_ms.saturating_add(step)
    }

    /// The same in kcp-go: the measured timeout more each time, or half of it with either `nodelay`.
    pub const fn add_measured(self, rto_ms: u32, measured_ms: u32) -> u32 {
        let step = match self {
            Self::Off => measured_ms,
            Self::Growing | Self::Linear => measured_ms / 2,
        };
        rto_ms.saturating_add(step)
    }
}

#[derive(Debug)]
pub struct RoundTrip {
    rule: RoundTripRule,
    /// 0 before the first sample (and after one of 0 ms, which therefore does not count).
    smoothed_ms: u32,
    variation_ms: u32,
    rto_ms: u32,
    smallest_rto_ms: u32,
    /// An acknowledgement can wait this long for the other side's flush.
    interval_ms: u32,
}

impl RoundTrip {
    pub const fn new(rule: RoundTripRule, nodelay: NoDelay, interval_ms: u32) -> Self {
        Self {
            rule,
            smoothed_ms: 0,
            variation_ms: 0,
            rto_ms: INITIAL_RTO_MS,
            smallest_rto_ms: nodelay.smallest_rto_ms(),
            interval_ms,
        }
    }

    pub const fn rto_ms(&self) -> u32 {
        self.rto_ms
    }

    /// A sample is below 2³¹ ms, so that sums in 64 bits cannot overflow even if the timestamp was
    /// forged.
    pub fn sample(&mut self, rtt_ms: u32) {
        if self.smoothed_ms == 0 {
            self.smoothed_ms = rtt_ms;
            self.variation_ms = rtt_ms / 2;
        } else {
            let deviation_ms = rtt_ms.abs_diff(self.smoothed_ms);
            self.smoothed_ms = weigh(self.smoothed_ms, 7, rtt_ms).max(self.smallest_mean_ms());
            self.variation_ms =
                weigh(self.variation_ms, self.variation_weight(rtt_ms), deviation_ms);
        }
        let margin = self.variation_ms.saturating_mul(4).max(self.interval_ms);
        let rto = self.smoothed_ms.saturating_add(margin);
        self.rto_ms = rto.max(self.smallest_rto_ms).min(LARGEST_RTO_MS);
    }

    /// A mean of 0 makes the next sample the first again.
    const fn smallest_mean_ms(&self) -> u32 {
        match self.rule {
            RoundTripRule::Each => 1,
            RoundTripRule::Last => 0,
        }
    }

    const fn variation_weight(&self, rtt_ms: u32) -> u64 {
        let expected_ms = self.smoothed_ms.saturating_sub(self.variation_ms);
        match self.rule {
            RoundTripRule::Last if rtt_ms < expected_ms => 31,
            RoundTripRule::Last | RoundTripRule::Each => 3,
        }
    }
}

/// The mean of the new value and `weight` times the old one, rounded down.
fn weigh(old: u32, weight: u64, new: u32) -> u32 {
    ((weight * u64::from(old) + u64::from(new)) / (weight + 1)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_estimate_follows_the_samples() {
        let mut round_trip = RoundTrip::new(RoundTripRule::Each, NoDelay::Growing, 10);
        assert_eq!(round_trip.rto_ms(), 200);
        round_trip.sample(80);
        assert_eq!(round_trip.rto_ms(), 80 + 4 * 40);
        round_trip.sample(100); // variation (3·40 + 20) / 4, smoothed (7·80 + 100) / 8
        assert_eq!(round_trip.rto_ms(), 82 + 4 * 35);
    }

    #[test]
    fn by_the_other_rule_short_round_trips_hardly_widen_it() {
        let mut round_trip = RoundTrip::new(RoundTripRule::Last, NoDelay::Growing, 10);
        round_trip.sample(80);
        round_trip.sample(20); // smoothed 72 - 40 > 20: variation (31·40 + 60) / 32
        assert_eq!(round_trip.rto_ms(), 72 + 4 * 40);
        round_trip.sample(200); // smoothed (7·72 + 200) / 8, variation (3·40 + 128) / 4
        assert_eq!(round_trip.rto_ms(), 88 + 4 * 62);
    }

    #[test]
    fn it_stays_between_its_bounds() {
        let mut normal = RoundTrip::new(RoundTripRule::Each, NoDelay::Off, 10);
        normal.sample(1);
        assert_eq!(normal.rto_ms(), 100);
        normal.sample(i32::MAX as u32);
        assert_eq!(normal.rto_ms(), 60_000);
        let mut fast = RoundTrip::new(RoundTripRule::Each, NoDelay::Linear, 10);
        fast.sample(1);
        assert_eq!(fast.rto_ms(), 30);
    }

    #[test]
    fn each_nodelay_grows_in_its_own_way() {
        assert_eq!(NoDelay::Off.back_off(150, 100), 300);
        assert_eq!(NoDelay::Off.back_off(100, 150), 250);
        assert_eq!(NoDelay::Growing.back_off(150, 100), 225);
        assert_eq!(NoDelay::Linear.back_off(150, 100), 200);
        assert_eq!(NoDelay::Off.first_wait_ms(200), 225);
        assert_eq!(NoDelay::Off.add_measured(150, 100), 250);
        assert_eq!(NoDelay::Growing.add_measured(150, 100), 200);
    }
}
