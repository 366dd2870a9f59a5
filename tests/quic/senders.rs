//! The senders the tests compare, each built from its settings.

use std::time::Duration;

use impairlab::protocol::quic::DEFAULT_MAX_ACK_DELAY;
use impairlab::protocol::settings::{
    MpquicCongestion, MpquicScheduler, MpquicSettings, QuicCongestion, QuicMode, QuicSettings,
};
use impairlab::protocol::{Protocol, Role, mpquic, quic};
use impairlab::units::PathId;

/// Makes one side of a connection.
pub type Build = Box<dyn Fn(Role) -> Box<dyn Protocol>>;

/// Wide enough that it never limits a control workload.
pub const FIXED: QuicCongestion = QuicCongestion::FixedWindow(1 << 20);

pub fn quic_settings(congestion: QuicCongestion, mode: QuicMode) -> QuicSettings {
    QuicSettings {
        path: PathId(0),
        congestion,
        mode,
        initial_rtt: Duration::from_millis(333),
        max_ack_delay: DEFAULT_MAX_ACK_DELAY,
    }
}

pub fn quic_from(settings: QuicSettings, seed: u64) -> impl Fn(Role) -> Box<dyn Protocol> {
    move |role| Box::new(quic::build(&settings, role, seed).unwrap())
}

pub fn quic_sender(
    congestion: QuicCongestion,
    mode: QuicMode,
    seed: u64,
) -> impl Fn(Role) -> Box<dyn Protocol> {
    quic_from(quic_settings(congestion, mode), seed)
}

/// Over the paths 0 and 1.
pub fn mpquic_sender(
    scheduler: MpquicScheduler,
    congestion: MpquicCongestion,
    seed: u64,
) -> impl Fn(Role) -> Box<dyn Protocol> {
    let settings = MpquicSettings { paths: vec![PathId(0), PathId(1)], scheduler, congestion };
    move |role| Box::new(mpquic::build(&settings, role, seed).unwrap())
}
