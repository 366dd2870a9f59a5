//! What the comparison published, and which tunnel stood behind each of its names.

use crate::setup::{Scenario, Tunnel};

#[derive(Debug, Clone, Copy)]
pub struct Sender {
    /// What the comparison calls it.
    pub name: &'static str,
    /// What it ran.
    pub tunnel: Tunnel,
    /// What else it could have been.
    pub or: &'static [Tunnel],
    pub claims: [Claim; 3],
}

#[derive(Debug, Clone, Copy)]
pub struct Claim {
    pub scenario: Scenario,
    /// P50, P99 and P999 in milliseconds. Only P99 was measured there; the others are its
    /// extrapolations.
    pub latency_ms: [f64; 3],
    pub amplification: f64,
}

const fn claim(scenario: Scenario, latency_ms: [f64; 3], amplification: f64) -> Claim {
    Claim { scenario, latency_ms, amplification }
}

pub const SENDERS: [Sender; 2] = [
    Sender {
        name: "KCP",
        tunnel: Tunnel::Kcptun { data: 3, parity: 2 },
        or: &[
            Tunnel::Kcptun { data: 0, parity: 0 },
            Tunnel::Kcptun { data: 10, parity: 3 },
            Tunnel::Tcp,
        ],
        claims: [
            claim(Scenario::Light, [68.0, 80.0, 130.0], 1.3),
            claim(Scenario::Medium, [72.0, 103.0, 220.0], 1.7),
            claim(Scenario::Heavy, [75.0, 105.0, 240.0], 2.5),
        ],
    },
    Sender {
        name: "MP-QUIC redundant",
        tunnel: Tunnel::Kcptun { data: 1, parity: 1 },
        or: &[],
        claims: [
            claim(Scenario::Light, [45.0, 52.0, 80.0], 2.0),
            claim(Scenario::Medium, [46.0, 52.0, 85.0], 2.0),
            claim(Scenario::Heavy, [50.0, 55.0, 90.0], 2.0),
        ],
    },
];
