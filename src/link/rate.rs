//! Rate: how long a packet occupies the link. netem serializes after the delay, so that the first
//! packet of an idle link arrives `delay + length / rate` after it was sent.

use super::profile::RateLimit;

#[derive(Debug, Clone, Copy)]
pub(super) struct Rate {
    bytes_per_second: u64,
    packet_overhead: i64,
    /// 0: no cells.
    cell_size: i64,
    cell_overhead: i64,
}

impl Rate {
    /// No packet takes any time; but none leaves before those that entered earlier, as with every
    /// rate.
    pub const NO_TIME: Self =
        Self { bytes_per_second: u64::MAX, packet_overhead: 0, cell_size: 0, cell_overhead: 0 };

    pub fn new(limit: RateLimit) -> Self {
        Self {
            bytes_per_second: limit.rate.bytes_per_second(),
            packet_overhead: limit.packet_overhead.into(),
            cell_size: limit.cell_size.into(),
            cell_overhead: limit.cell_overhead.into(),
        }
    }

    /// In ns, rounded down.
    #[inline]
    pub fn occupancy(&self, length: u32) -> i64 {
        const NS_PER_SECOND: u64 = 1_000_000_000;
        let bytes = self.bytes_on_the_wire(length).unsigned_abs();
        let ns = bytes.saturating_mul(NS_PER_SECOND) / self.bytes_per_second;
        i64::try_from(ns).unwrap_or(i64::MAX)
    }

    /// With the overhead of the packet, then in whole cells with theirs. An overhead below zero can
    /// cost a packet all of its bytes, but not more (the kernel's sum would wrap).
    fn bytes_on_the_wire(&self, length: u32) -> i64 {
        let bytes = (i64::from(length) + self.packet_overhead).max(0);
        if self.cell_size == 0 {
            return bytes;
        }
        let cells = (bytes + self.cell_size - 1) / self.cell_size;
        cells.saturating_mul((self.cell_size + self.cell_overhead).max(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units;

    fn rate(bits_per_second: u64) -> RateLimit {
        let rate = units::Rate::from_bits_per_second(bits_per_second).expect("not zero");
        RateLimit { rate, packet_overhead: 0, cell_size: 0, cell_overhead: 0 }
    }

    #[test]
    fn a_packet_takes_length_over_rate() {
        assert_eq!(Rate::new(rate(8_000_000)).occupancy(1514), 1_514_000);
        assert_eq!(Rate::new(rate(40_000_000)).occupancy(642), 128_400);
        // 100 bytes at 3 bytes a second: 33.3 s, rounded down.
        assert_eq!(Rate::new(rate(24)).occupancy(100), 33_333_333_333);
    }

    /// AAL5 over ATM: 48 bytes of payload in cells of 53.
    #[test]
    fn cells_are_filled_up_and_have_their_own_overhead() {
        let atm = RateLimit { cell_size: 48, cell_overhead: 5, ..rate(8_000_000_000) };
        for (length, cells) in [(1, 1), (48, 1), (49, 2), (1440, 30), (1514, 32)] {
            assert_eq!(Rate::new(atm).occupancy(length), cells * 53);
        }
    }

    #[test]
    fn overhead_comes_before_cells_and_may_be_negative() {
        let framed = RateLimit { packet_overhead: 20, ..rate(8_000_000_000) };
        assert_eq!(Rate::new(framed).occupancy(100), 120);
        let without_ethernet = RateLimit { packet_overhead: -14, ..rate(8_000_000_000) };
        assert_eq!(Rate::new(without_ethernet).occupancy(62), 48);
        assert_eq!(Rate::new(without_ethernet).occupancy(10), 0);
        let cells = RateLimit { cell_size: 48, cell_overhead: 5, ..without_ethernet };
        assert_eq!(Rate::new(cells).occupancy(62), 53);
    }

    #[test]
    fn the_largest_packet_on_the_slowest_link_does_not_overflow() {
        let slowest = RateLimit {
            packet_overhead: i32::MAX,
            cell_size: 1,
            cell_overhead: i32::MAX,
            ..rate(1)
        };
        assert!(Rate::new(slowest).occupancy(u32::MAX) > 0);
    }
}
