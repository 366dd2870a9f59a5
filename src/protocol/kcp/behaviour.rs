//! Where published KCP implementations differ, in one place: everything else in this module is
//! common to them. A new behaviour is a new constant here, and a new rule where it differs in a way
//! not listed yet. Two rules are control flow of their own and have a file each: `resend` (which
//! segments a flush sends again) and the two drivers, `polled` and `session` (when it flushes).

use crate::protocol::settings::KcpBehaviour;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Behaviour {
    pub flush: FlushRule,
    pub acknowledgements: AcknowledgementRule,
    pub acknowledged: AcknowledgedRule,
    pub fast_ack: FastAckRule,
    pub resend: ResendRule,
    pub round_trip: RoundTripRule,
    pub timeout_threshold: TimeoutThreshold,
    /// How long a closed window of the other side is borne before it is asked for the first time;
    /// milliseconds.
    pub first_probe_ms: u32,
    pub receive_window: ReceiveWindowRule,
    /// What the other side is taken to have before it was heard; segments.
    pub assumed_window: u32,
    /// A message has fewer fragments than this.
    pub fragment_limit: u32,
    pub empty_message: EmptyMessageRule,
}

/// Who decides when it flushes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlushRule {
    /// The flush clock and the user, neither of them before the first update.
    Clock,
    /// The session around it, and besides each datagram that makes the window slide (or, if
    /// acknowledgements are not to wait, that has to be acknowledged).
    Session,
}

/// Which of the waiting acknowledgements a flush sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AcknowledgementRule {
    All,
    /// Those that the number up to which everything has arrived does not imply, and the last.
    NotImplied,
}

/// What becomes of a segment that an acknowledgement names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AcknowledgedRule {
    /// It is gone, and the window slides if it was the first.
    Removed,
    /// It keeps its place until everything before it has arrived as well; only that slides the
    /// window.
    Kept,
}

/// Which unacknowledged segments an acknowledgement counts as overtaken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FastAckRule {
    /// Every segment with a lower number than the highest acknowledged in the datagram.
    Highest,
    /// Of those, the ones last sent no later than the acknowledged one, so that what was just sent
    /// again is not counted; and a higher number replaces a lower one only if its timestamp is
    /// newer as well.
    HighestUnlessSentSince,
    /// Every acknowledgement in the datagram counts, for the lower numbers last sent no later than
    /// the acknowledged one.
    EachUnlessSentSince,
}

/// In which order a flush looks for a reason to send a segment again, and what then becomes of its
/// timeout and of the count of how often it was overtaken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResendRule {
    /// The timeout; then overtaken often enough, unless it was sent too often already. Who was
    /// overtaken keeps its timeout; who has timed out keeps its count.
    TimeoutFirst,
    /// Overtaken often enough; overtaken at all while there is nothing new to send; the timeout.
    /// Who was overtaken gets the present timeout, and each starts to count anew.
    OvertakenFirst,
}

/// Which acknowledgements are samples of the round trip.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RoundTripRule {
    /// Each.
    Each,
    /// The last of a datagram. One that is shorter than was to be expected changes the variation by
    /// an eighth of the usual.
    Last,
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

/// The receive window that a configured one becomes; segments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReceiveWindowRule {
    AtLeast(u32),
    /// As configured, but 0 means this.
    OrElse(u32),
}

/// A message of no bytes, where it is not part of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EmptyMessageRule {
    /// Is a segment of its own.
    Sent,
    Refused,
}

impl Behaviour {
    /// The C code of 2017 to 2023.
    pub const IKCP_1_7: Self = Self {
        flush: FlushRule::Clock,
        acknowledgements: AcknowledgementRule::All,
        acknowledged: AcknowledgedRule::Removed,
        fast_ack: FastAckRule::Highest,
        resend: ResendRule::TimeoutFirst,
        round_trip: RoundTripRule::Each,
        timeout_threshold: TimeoutThreshold::WindowInForce,
        first_probe_ms: 7_000,
        receive_window: ReceiveWindowRule::AtLeast(128),
        assumed_window: 128,
        fragment_limit: 128,
        empty_message: EmptyMessageRule::Sent,
    };

    /// The C code since 2024, with its conservative fast acknowledgements switched on.
    pub const IKCP_2_1_1: Self = Self {
        fast_ack: FastAckRule::HighestUnlessSentSince,
        timeout_threshold: TimeoutThreshold::CongestionWindow,
        first_probe_ms: 5_000,
        ..Self::IKCP_1_7
    };

    /// kcp-go 5.6.1 of 2021, in Go: a port of the C code that has gone its own way. What kcptun
    /// runs.
    pub const KCP_GO_5_6: Self = Self {
        flush: FlushRule::Session,
        acknowledgements: AcknowledgementRule::NotImplied,
        acknowledged: AcknowledgedRule::Kept,
        fast_ack: FastAckRule::EachUnlessSentSince,
        resend: ResendRule::OvertakenFirst,
        round_trip: RoundTripRule::Last,
        timeout_threshold: TimeoutThreshold::WindowInForce,
        first_probe_ms: 7_000,
        receive_window: ReceiveWindowRule::OrElse(32),
        assumed_window: 32,
        fragment_limit: 256,
        empty_message: EmptyMessageRule::Refused,
    };

    pub const fn of(name: KcpBehaviour) -> Self {
        match name {
            KcpBehaviour::Ikcp17 => Self::IKCP_1_7,
            KcpBehaviour::Ikcp211 => Self::IKCP_2_1_1,
            KcpBehaviour::KcpGo56 => Self::KCP_GO_5_6,
        }
    }
}

impl ReceiveWindowRule {
    pub const fn window(self, configured: u32) -> u32 {
        match self {
            Self::AtLeast(least) if configured < least => least,
            Self::OrElse(usual) if configured == 0 => usual,
            Self::AtLeast(_) | Self::OrElse(_) => configured,
        }
    }
}
