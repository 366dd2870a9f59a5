//! Where published KCP implementations differ, in one place: everything else in this module is
//! common to them. A new behaviour is a new constant here, and a new field where it differs in a
//! way not listed yet.

use crate::protocol::settings::KcpBehaviour;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Behaviour {
    pub fast_ack: FastAckRule,
    pub timeout_threshold: TimeoutThreshold,
    /// How long a closed window of the other side is borne before it is asked for the first time;
    /// milliseconds.
    pub first_probe_ms: u32,
    /// Segments; a smaller receive window is raised to this. It is also what the other side is
    /// taken to have before it was heard, and a message has fewer fragments than this.
    pub smallest_receive_window: u32,
}

/// Which unacknowledged segments an acknowledgement counts as overtaken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FastAckRule {
    /// Every segment with a lower number than the highest acknowledged in the datagram.
    Every,
    /// Of those, the ones last sent no later than the acknowledged one, so that what was just sent
    /// again is not counted; and a higher number replaces a lower one only if its timestamp is
    /// newer as well.
    NotSentSince,
}

/// What the slow-start threshold is half of after a timeout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeoutThreshold {
    /// The window in force: the smallest of the send, the remote and (unless switched off) the
    /// congestion window.
    WindowInForce,
    /// The congestion window alone, as it was before the flush.
    CongestionWindow,
}

impl Behaviour {
    /// The C code of 2017 to 2023.
    pub const IKCP_1_7: Self = Self {
        fast_ack: FastAckRule::Every,
        timeout_threshold: TimeoutThreshold::WindowInForce,
        first_probe_ms: 7_000,
        smallest_receive_window: 128,
    };

    /// The C code since 2024, with its conservative fast acknowledgements switched on.
    pub const IKCP_2_1_1: Self = Self {
        fast_ack: FastAckRule::NotSentSince,
        timeout_threshold: TimeoutThreshold::CongestionWindow,
        first_probe_ms: 5_000,
        smallest_receive_window: 128,
    };

    pub const fn of(name: KcpBehaviour) -> Self {
        match name {
            KcpBehaviour::Ikcp17 => Self::IKCP_1_7,
            KcpBehaviour::Ikcp211 => Self::IKCP_2_1_1,
        }
    }
}
