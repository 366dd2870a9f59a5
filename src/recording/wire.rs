//! What a sender cost on the wire.

use std::time::Duration;

use super::{Recording, WireCount};

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

/// Of getting connected, the mean over the trials.
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
        let sum = |part: fn(&Recording) -> u64| trials.iter().map(|trial| part(trial)).sum::<u64>();
        let shake_hands = trials.iter().any(|trial| trial.protocol.shakes_hands());
        let duration: Duration = trials.iter().map(|trial| trial.handshake.duration).sum();
        Self {
            duration: shake_hands.then(|| duration / u32::try_from(count).unwrap_or(u32::MAX)),
            up: WireCount {
                packets: sum(|trial| trial.handshake.up.packets) / count,
                bytes: sum(|trial| trial.handshake.up.bytes) / count,
            },
            down: WireCount {
                packets: sum(|trial| trial.handshake.down.packets) / count,
                bytes: sum(|trial| trial.handshake.down.bytes) / count,
            },
        }
    }
}
