//! The settings of one engine, brought into the ranges KCP itself keeps them in. Knows nothing of
//! paths or drivers.

use crate::protocol::settings::KcpSettings;

use super::rto::NoDelay;
use super::segment::HEADER_LEN;

/// The smallest datagram KCP can be told to use, without what is put around it; bytes.
pub const SMALLEST_MTU: u32 = 50;
/// The payload of the largest UDP datagram over IPv4.
const LARGEST_MTU: u32 = 65_507;
/// A window of 0 means this many segments.
const DEFAULT_SEND_WINDOW: u32 = 32;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EngineSettings {
    pub nodelay: NoDelay,
    pub interval_ms: u32,
    /// Overtaken this often, a segment is sent again at once; `None`: never.
    pub fast_resend: Option<u32>,
    pub congestion_control: bool,
    /// Segments.
    pub send_window: u32,
    /// Segments, at most what the header's 16 bits can say.
    pub receive_window: u32,
    /// Bytes of a datagram before anything is put around it.
    pub mtu: usize,
    pub stream: bool,
    /// With behaviours that flush on input: acknowledgements do not wait for the next flush.
    pub ack_nodelay: bool,
}

impl EngineSettings {
    /// Payload of a full segment in bytes.
    pub const fn segment_len(&self) -> usize {
        self.mtu - HEADER_LEN
    }
}

impl From<&KcpSettings> for EngineSettings {
    fn from(settings: &KcpSettings) -> Self {
        let interval = settings.interval.as_millis().clamp(10, 5_000);
        let send_window =
            if settings.send_window == 0 { DEFAULT_SEND_WINDOW } else { settings.send_window };
        let overhead = settings.wrapping_overhead() as u32;
        let mtu = settings.mtu.clamp(settings.least_mtu(), LARGEST_MTU) - overhead;
        Self {
            nodelay: NoDelay::from_number(settings.nodelay),
            interval_ms: interval as u32,
            fast_resend: (settings.resend > 0).then_some(settings.resend),
            congestion_control: !settings.nc,
            send_window,
            receive_window: settings.receive_window.min(u32::from(u16::MAX)),
            mtu: mtu as usize,
            stream: settings.stream || settings.smux.is_some(),
            ack_nodelay: settings.ack_nodelay,
        }
    }
}
