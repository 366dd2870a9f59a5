//! The senders the tests compare, each built from its settings.

use impairlab::protocol::settings::{
    Copy, MpquicCongestion, MpquicScheduler, MpquicSettings, MpquicStack, NoqCongestion,
    NoqSettings, ProtocolSettings, QuicCongestion, QuicMode, QuicSettings, QuicTransport,
    ReplicateSettings, TquicSettings,
};
use impairlab::protocol::{Protocol, Role, build, mpquic, quic};
use impairlab::units::PathId;

/// Makes one side of a connection.
pub type Build = Box<dyn Fn(Role) -> Box<dyn Protocol>>;

/// Wide enough that it never limits a control workload.
pub const FIXED: QuicCongestion = QuicCongestion::FixedWindow(1 << 20);

/// The same on noq.
pub const NOQ_FIXED: NoqCongestion = NoqCongestion::FixedWindow(1 << 20);

pub const BOTH: [PathId; 2] = [PathId(0), PathId(1)];

pub fn quic_settings(congestion: QuicCongestion, mode: QuicMode) -> QuicSettings {
    let transport = QuicTransport::new(congestion.usual_initial_window());
    QuicSettings { path: PathId(0), congestion, mode, transport }
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

/// tquic over the paths 0 and 1.
pub fn mpquic_sender(
    scheduler: MpquicScheduler,
    congestion: MpquicCongestion,
    seed: u64,
) -> impl Fn(Role) -> Box<dyn Protocol> {
    tquic_from(TquicSettings { scheduler, congestion, ..TquicSettings::new() }, seed)
}

pub fn tquic_from(settings: TquicSettings, seed: u64) -> impl Fn(Role) -> Box<dyn Protocol> {
    multipath(MpquicStack::Tquic(settings), seed)
}

/// noq over the paths 0 and 1, all messages on one stream.
pub fn noq_sender(congestion: NoqCongestion, seed: u64) -> impl Fn(Role) -> Box<dyn Protocol> {
    noq_from(noq_settings(congestion, QuicMode::Stream), seed)
}

pub fn noq_settings(congestion: NoqCongestion, mode: QuicMode) -> NoqSettings {
    let transport = QuicTransport::new(congestion.usual_initial_window());
    NoqSettings { congestion, mode, transport, ..NoqSettings::new() }
}

pub fn noq_from(settings: NoqSettings, seed: u64) -> impl Fn(Role) -> Box<dyn Protocol> {
    multipath(MpquicStack::Noq(settings), seed)
}

pub fn multipath(stack: MpquicStack, seed: u64) -> impl Fn(Role) -> Box<dyn Protocol> {
    let settings = MpquicSettings { paths: BOTH.to_vec(), stack };
    move |role| mpquic::build(&settings, role, seed).unwrap()
}

/// One connection a path, each message on both, the first copy counts.
pub fn both_ways(settings: QuicSettings, seed: u64) -> impl Fn(Role) -> Box<dyn Protocol> {
    let protocol = Box::new(ProtocolSettings::Quic(settings));
    let replicate = ReplicateSettings { paths: BOTH.to_vec(), copy: Copy::Message, protocol };
    let settings = ProtocolSettings::Replicate(replicate);
    move |role| build(&settings, role, seed).unwrap()
}
