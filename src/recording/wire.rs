//! What a sender cost on the wire.

use std::time::Duration;

use super::{Handshake, Recording, WireCount};

/// Bytes of IP packets ÷ payload bytes of distinct messages, all three over the same payload, so
/// that up + down = total. The payload is that of every message the sender accepted, delivered or
/// not; in an echo it is request and response together. The handshake is not in it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Amplification {
    pub up: f64,
    pub down: f64,
}

impl Amplification {
    pub fn total(self) -> f64 {
        self.up + self.down
    }
}

/// Bytes of one trial, from which amplifications are made and can be added up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Traffic {
    pub up: u64,
    pub down: u64,
    pub payload: u64,
}

impl Traffic {
    pub fn of(recording: &Recording) -> Self {
        let (request, response) = recording.workload.payload_per_message();
        Self {
            up: recording.wire.iter().map(|path| path.up.offered.bytes).sum(),
            down: recording.wire.iter().map(|path| path.down.offered.bytes).sum(),
            payload: recording.accepted * (u64::from(request) + u64::from(response)),
        }
    }

    /// Each trial as often as its weight says.
    pub fn weighted(trials: &[Traffic], weights: &[u64]) -> Self {
        trials.iter().zip(weights).fold(Self::default(), |sum, (trial, weight)| Self {
            up: sum.up + trial.up * weight,
            down: sum.down + trial.down * weight,
            payload: sum.payload + trial.payload * weight,
        })
    }

    /// `None`: no message was accepted.
    pub fn amplification(self) -> Option<Amplification> {
        let ratio = |bytes: u64| bytes as f64 / self.payload as f64;
        (self.payload > 0).then(|| Amplification { up: ratio(self.up), down: ratio(self.down) })
    }
}

/// Of getting connected, the mean over the trials, rounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HandshakeCost {
    /// `None`: this protocol has none.
    pub duration: Option<Duration>,
    pub up: WireCount,
    pub down: WireCount,
}

impl HandshakeCost {
    pub fn mean(trials: &[&Recording]) -> Self {
        let count = trials.len().max(1) as u64;
        let shake_hands = trials.iter().any(|trial| trial.protocol.shakes_hands());
        let duration: Duration = trials.iter().map(|trial| trial.handshake.duration).sum();
        let mean = |part: fn(&Handshake) -> u64| {
            let sum: u64 = trials.iter().map(|trial| part(&trial.handshake)).sum();
            (sum + count / 2) / count
        };
        Self {
            duration: shake_hands.then(|| duration / u32::try_from(count).unwrap_or(u32::MAX)),
            up: WireCount { packets: mean(|it| it.up.packets), bytes: mean(|it| it.up.bytes) },
            down: WireCount {
                packets: mean(|it| it.down.packets),
                bytes: mean(|it| it.down.bytes),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::sample;

    #[test]
    fn the_mean_of_handshakes_is_rounded() {
        let run = |packets, bytes| {
            let mut trial = sample::recording("quic", 0);
            trial.handshake.duration = Duration::from_millis(packets);
            trial.handshake.up = WireCount { packets, bytes };
            trial.handshake.down = WireCount { packets: packets - 1, bytes: bytes + 1 };
            trial
        };
        let mean = |runs: &[Recording]| HandshakeCost::mean(&runs.iter().collect::<Vec<_>>());
        let cost = mean(&[run(4, 3000), run(5, 3001)]);
        assert_eq!(cost.up, WireCount { packets: 5, bytes: 3001 });
        assert_eq!(cost.down, WireCount { packets: 4, bytes: 3002 });
        let cost = mean(&[run(4, 3000), run(4, 3000), run(5, 3001)]);
        assert_eq!(cost.up, WireCount { packets: 4, bytes: 3000 });
        assert_eq!(cost.down, WireCount { packets: 3, bytes: 3001 });
        assert_eq!(mean(&[]).up, WireCount::default());
    }
}
