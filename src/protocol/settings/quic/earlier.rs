//! The settings of `quic` and `mpquic` as recordings and plans hold them: as they are now, or as
//! they were when they had fewer of them, so that earlier results can still be read.

use std::time::Duration;

use serde::Deserialize;

use super::{
    MpquicCongestion, MpquicScheduler, MpquicSettings, MpquicStack, QuicCongestion, QuicMode,
    QuicSettings, QuicTransport, TquicSettings,
};
use crate::units::PathId;

#[derive(Deserialize)]
pub struct Quic {
    path: PathId,
    congestion: QuicCongestion,
    mode: QuicMode,
    transport: Option<QuicTransport>,
    initial_rtt: Option<Duration>,
    max_ack_delay: Option<Duration>,
}

impl From<Quic> for QuicSettings {
    fn from(read: Quic) -> Self {
        let Quic { path, congestion, mode, .. } = read;
        let usual = QuicTransport::new(congestion.usual_initial_window());
        let transport = read.transport.unwrap_or_else(|| QuicTransport {
            initial_rtt: read.initial_rtt.unwrap_or(usual.initial_rtt),
            max_ack_delay: read.max_ack_delay.unwrap_or(usual.max_ack_delay),
            ..usual
        });
        Self { path, congestion, mode, transport }
    }
}

#[derive(Deserialize)]
pub struct Mpquic {
    paths: Vec<PathId>,
    stack: Option<MpquicStack>,
    scheduler: Option<MpquicScheduler>,
    congestion: Option<MpquicCongestion>,
}

impl From<Mpquic> for MpquicSettings {
    fn from(read: Mpquic) -> Self {
        let usual = TquicSettings::new();
        let stack = read.stack.unwrap_or_else(|| {
            MpquicStack::Tquic(TquicSettings {
                scheduler: read.scheduler.unwrap_or(usual.scheduler),
                congestion: read.congestion.unwrap_or(usual.congestion),
                ..usual
            })
        });
        Self { paths: read.paths, stack }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_of_earlier_recordings_are_read() {
        let quic = r#"{ "path": 1, "congestion": "bbr", "mode": "stream",
            "initial_rtt": { "secs": 0, "nanos": 100000000 },
            "max_ack_delay": { "secs": 0, "nanos": 5000000 } }"#;
        let read: QuicSettings = serde_json::from_str(quic).unwrap();
        assert_eq!((read.path, read.congestion), (PathId(1), QuicCongestion::Bbr));
        assert_eq!(read.transport.initial_rtt, Duration::from_millis(100));
        assert_eq!(read.transport.max_ack_delay, Duration::from_millis(5));
        assert_eq!(read.transport.initial_window, 240_000);
        let mpquic = r#"{ "paths": [0, 1], "scheduler": "minrtt", "congestion": "copa" }"#;
        let read: MpquicSettings = serde_json::from_str(mpquic).unwrap();
        let expected = TquicSettings {
            scheduler: MpquicScheduler::MinRtt,
            congestion: MpquicCongestion::Copa,
            ..TquicSettings::new()
        };
        assert_eq!(read.stack, MpquicStack::Tquic(expected));
    }

    #[test]
    fn settings_come_back_as_they_were_written() {
        let mut quic = QuicSettings::new(PathId(0));
        quic.transport.packet_threshold = 9;
        let text = serde_json::to_string(&quic).unwrap();
        assert_eq!(serde_json::from_str::<QuicSettings>(&text).unwrap(), quic);
        let tquic = TquicSettings { max_pto: Some(Duration::from_secs(1)), ..TquicSettings::new() };
        let mpquic = MpquicSettings { paths: vec![PathId(2)], stack: MpquicStack::Tquic(tquic) };
        let text = serde_json::to_string(&mpquic).unwrap();
        assert_eq!(serde_json::from_str::<MpquicSettings>(&text).unwrap(), mpquic);
    }
}
