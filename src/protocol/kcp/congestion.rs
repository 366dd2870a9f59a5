//! KCP's congestion window: slow start, then roughly one segment a window; halved on fast resends,
//! one segment after a timeout. It is kept up to date even where `nc` switches it off, as the C
//! code does.

/// Segments.
const INITIAL_THRESHOLD: u32 = 2;
const SMALLEST_THRESHOLD: u32 = 2;

#[derive(Debug)]
pub struct Congestion {
    /// Segments; 0 until the first flush.
    window: u32,
    /// Segments.
    threshold: u32,
    /// The window in bytes, from which fractions of a segment grow.
    bytes: u64,
    segment_len: u64,
}

impl Congestion {
    pub fn new(segment_len: usize) -> Self {
        let segment_len = segment_len as u64;
        Self { window: 0, threshold: INITIAL_THRESHOLD, bytes: 0, segment_len }
    }

    pub const fn window(&self) -> u32 {
        self.window
    }

    /// A datagram acknowledged something. The window never grows past the remote one.
    pub fn grow(&mut self, remote_window: u32) {
        if self.window >= remote_window {
            return;
        }
        if self.window < self.threshold {
            self.window += 1;
            self.bytes += self.segment_len;
        } else {
            self.avoid_congestion();
        }
        if self.window > remote_window {
            self.set_window(remote_window);
        }
    }

    fn avoid_congestion(&mut self) {
        let full = self.segment_len;
        self.bytes = self.bytes.max(full);
        self.bytes += full * full / self.bytes + full / 16;
        if (u64::from(self.window) + 1) * full <= self.bytes {
            self.window = u32::try_from(self.bytes.div_ceil(full)).unwrap_or(u32::MAX);
        }
    }

    /// `in_flight` segments were on their way when some that were overtaken, as a rule
    /// `fast_resend` times, were sent again. (Where this is switched off, kcp-go counts it as −1.)
    pub fn on_fast_resend(&mut self, in_flight: u32, fast_resend: Option<u32>) {
        self.threshold = (in_flight / 2).max(SMALLEST_THRESHOLD);
        self.set_window(self.threshold.wrapping_add(fast_resend.unwrap_or(u32::MAX)));
    }

    pub fn on_timeout(&mut self, window_before: u32) {
        self.threshold = (window_before / 2).max(SMALLEST_THRESHOLD);
        self.set_window(1);
    }

    /// There is always room for one segment after a flush.
    pub fn keep_open(&mut self) {
        if self.window < 1 {
            self.set_window(1);
        }
    }

    fn set_window(&mut self, segments: u32) {
        self.window = segments;
        self.bytes = u64::from(segments) * self.segment_len;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_starts_slowly_then_avoids_congestion_then_backs_off() {
        let mut congestion = Congestion::new(1000);
        congestion.keep_open();
        congestion.grow(128);
        assert_eq!(congestion.window(), 2);
        congestion.grow(128); // 2000 + 1000²/2000 + 62 bytes: not three segments yet
        assert_eq!(congestion.window(), 2);
        congestion.grow(128); // 2562 + 390 + 62 bytes: three and a bit, rounded up
        assert_eq!(congestion.window(), 4);
        congestion.on_fast_resend(20, Some(2));
        assert_eq!(congestion.window(), 12);
        congestion.on_timeout(12);
        assert_eq!((congestion.window(), congestion.threshold), (1, 6));
    }

    #[test]
    fn it_never_grows_past_the_remote_window() {
        let mut congestion = Congestion::new(1000);
        for _ in 0..50 {
            congestion.grow(3);
        }
        assert_eq!(congestion.window(), 3);
    }
}
