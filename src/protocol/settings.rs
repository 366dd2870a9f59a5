//! What can be set on each protocol, with every default already filled in: the part of a plan that
//! `build` reads.

mod quic;
mod system;

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::kcp::SMALLEST_MTU;
use super::kcptun::Wrapping;
use super::kcptun::crypt::Crypt;
use super::kcptun::fec::GroupSizes;
use super::kcptun::smux::Version;
use crate::units::PathId;

pub use quic::{
    MpquicCongestion, MpquicScheduler, MpquicSettings, MpquicStack, NoqCongestion, NoqScheduler,
    NoqSettings, QuicCongestion, QuicMode, QuicSettings, QuicTransport, TquicSettings,
};
pub use system::{KcptunCrypt, KcptunMode, KcptunSettings, MptcpSettings, TcpSettings};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProtocolSettings {
    Udp(UdpSettings),
    UdpArq(UdpArqSettings),
    Kcp(KcpSettings),
    Quic(QuicSettings),
    Mpquic(MpquicSettings),
    Tcp(TcpSettings),
    Mptcp(MptcpSettings),
    Kcptun(KcptunSettings),
    Replicate(ReplicateSettings),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UdpSettings {
    pub path: PathId,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UdpArqSettings {
    pub path: PathId,
    /// From a transmission of a message to the next, if no acknowledgement comes.
    pub timeout: Duration,
    /// Transmissions after the first.
    pub retries: u32,
}

impl UdpArqSettings {
    /// As a reader that polls devices has it: 100 ms, twice.
    pub fn new(path: PathId) -> Self {
        Self { path, timeout: Duration::from_millis(100), retries: 2 }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KcpSettings {
    pub path: PathId,
    pub behaviour: KcpBehaviour,
    /// 0, 1 or 2: minimum RTO 100 or 30 ms, and how the RTO grows.
    pub nodelay: u8,
    /// The flush clock; ikcp keeps it between 10 ms and 5 s.
    pub interval: Duration,
    /// Fast-retransmit threshold; 0 switches it off.
    pub resend: u32,
    /// `nc`: no congestion control.
    pub nc: bool,
    /// Segments.
    pub send_window: u32,
    /// Segments.
    pub receive_window: u32,
    /// Bytes of UDP payload.
    pub mtu: u32,
    /// Messages are merged into full segments (stream mode); message boundaries are then kept by a
    /// length prefix.
    pub stream: bool,
    /// ikcp only: flush on send and on input instead of waiting for the clock.
    pub flush_at_once: bool,
    /// ikcp only: how often `update` runs when nothing else happens (kcp's clock is in whole
    /// milliseconds).
    pub update_interval: Duration,
    /// kcp-go only: acknowledgements leave at once (kcptun's `acknodelay`).
    #[serde(default)]
    pub ack_nodelay: bool,
    /// kcp-go only: what is written waits for the next flush, unless it fills a window.
    #[serde(default)]
    pub write_delay: bool,
    /// kcp-go only: forward error correction.
    #[serde(default)]
    pub fec: Option<GroupSizes>,
    /// kcp-go only: the envelope around each datagram, even of [`Crypt::None`].
    #[serde(default)]
    pub crypt: Option<Crypt>,
    /// kcp-go only: messages travel on a stream of smux, as inside of kcptun. Implies `stream`.
    #[serde(default)]
    pub smux: Option<Version>,
}

impl KcpSettings {
    /// The well-known fast settings, on the current ikcp: what a scenario gets that says nothing
    /// else.
    pub fn new(path: PathId) -> Self {
        Self {
            path,
            behaviour: KcpBehaviour::Ikcp211,
            nodelay: 1,
            interval: Duration::from_millis(10),
            resend: 2,
            nc: true,
            send_window: 128,
            receive_window: 128,
            mtu: 1400,
            stream: false,
            flush_at_once: false,
            update_interval: Duration::from_millis(1),
            ack_nodelay: false,
            write_delay: false,
            fec: None,
            crypt: None,
            smux: None,
        }
    }

    /// What error correction and envelope take of the mtu; bytes.
    pub const fn wrapping_overhead(&self) -> usize {
        Wrapping::overhead(self.crypt, self.fec)
    }

    /// With that.
    pub const fn least_mtu(&self) -> u32 {
        SMALLEST_MTU + self.wrapping_overhead() as u32
    }
}

impl KcpSettings {
    /// The same with the four numbers of a preset.
    pub fn preset(mut self, preset: KcpPreset) -> Self {
        self.fill(preset);
        self
    }

    pub fn fill(&mut self, preset: KcpPreset) {
        (self.nodelay, self.interval, self.resend, self.nc) = preset.numbers();
    }

    /// The preset that has these four numbers.
    pub fn present_preset(&self) -> Option<KcpPreset> {
        let numbers = (self.nodelay, self.interval, self.resend, self.nc);
        KcpPreset::ALL.into_iter().find(|preset| preset.numbers() == numbers)
    }
}

/// Names for `nodelay`, `interval`, `resend` and `nc`: those of kcptun's option `mode` (its
/// client/main.go), and `default` for what the C code and kcp-go have when they are told nothing
/// (`ikcp_create` in ikcp.c, `NewKCP` in kcp.go). kcptun's other defaults (an MTU of 1,350 bytes,
/// windows of 128 and 512 segments at the client and of 1,024 at the server, stream mode) are no
/// part of a preset: senders that differ in the preset alone differ in nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KcpPreset {
    Default,
    Normal,
    Fast,
    Fast2,
    Fast3,
}

impl KcpPreset {
    pub const ALL: [Self; 5] = [Self::Default, Self::Normal, Self::Fast, Self::Fast2, Self::Fast3];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Normal => "normal",
            Self::Fast => "fast",
            Self::Fast2 => "fast2",
            Self::Fast3 => "fast3",
        }
    }

    /// `nodelay`, `interval`, `resend` and `nc`.
    const fn numbers(self) -> (u8, Duration, u32, bool) {
        match self {
            Self::Default => (0, Duration::from_millis(100), 0, false),
            Self::Normal => (0, Duration::from_millis(40), 2, true),
            Self::Fast => (0, Duration::from_millis(30), 2, true),
            Self::Fast2 => (1, Duration::from_millis(20), 2, true),
            Self::Fast3 => (1, Duration::from_millis(10), 2, true),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum KcpBehaviour {
    #[serde(rename = "ikcp-1.7")]
    Ikcp17,
    #[serde(rename = "ikcp-2.1.1")]
    Ikcp211,
    /// What kcptun runs.
    #[serde(rename = "kcp-go-5.6")]
    KcpGo56,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReplicateSettings {
    pub paths: Vec<PathId>,
    pub copy: Copy,
    /// The protocol that is replicated; the path in its own settings does not count.
    pub protocol: Box<ProtocolSettings>,
}

#[derive(Debug, Clone, std::marker::Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Copy {
    /// One connection; each of its datagrams goes to every path.
    Datagram,
    /// One connection a path; each message goes to every connection.
    Message,
}

impl ProtocolSettings {
    /// The word for it in a scenario file.
    pub fn keyword(&self) -> &'static str {
        match self {
            Self::Udp(_) => "udp",
            Self::UdpArq(_) => "udp-arq",
            Self::Kcp(_) => "kcp",
            Self::Quic(_) => "quic",
            Self::Mpquic(_) => "mpquic",
            Self::Tcp(_) => "tcp",
            Self::Mptcp(_) => "mptcp",
            Self::Kcptun(_) => "kcptun",
            Self::Replicate(_) => "replicate",
        }
    }

    /// Whether it lives in the kernel or is a program, so that no engine without a kernel can run
    /// it.
    pub fn needs_a_kernel(&self) -> bool {
        match self {
            Self::Tcp(_) | Self::Mptcp(_) | Self::Kcptun(_) => true,
            Self::Udp(_) | Self::UdpArq(_) | Self::Kcp(_) | Self::Quic(_) | Self::Mpquic(_) => {
                false
            }
            Self::Replicate(replicate) => replicate.protocol.needs_a_kernel(),
        }
    }

    /// Whether each message goes its own way: put on the path when it is given, whatever became of
    /// those before it. QUIC's datagrams do not, since they wait for the congestion window.
    pub fn sends_each_message_alone(&self) -> bool {
        match self {
            Self::Udp(_) | Self::UdpArq(_) => true,
            Self::Kcp(_) | Self::Quic(_) | Self::Mpquic(_) => false,
            Self::Tcp(_) | Self::Mptcp(_) | Self::Kcptun(_) => false,
            Self::Replicate(replicate) => replicate.protocol.sends_each_message_alone(),
        }
    }

    /// Whether the two ends say anything to one another before the first message: plain UDP and
    /// KCP do not.
    pub fn shakes_hands(&self) -> bool {
        match self {
            Self::Udp(_) | Self::UdpArq(_) => false,
            Self::Kcp(kcp) => kcp.smux.is_some(),
            Self::Quic(_) | Self::Mpquic(_) => true,
            Self::Tcp(_) | Self::Mptcp(_) | Self::Kcptun(_) => true,
            Self::Replicate(replicate) => replicate.protocol.shakes_hands(),
        }
    }

    /// The paths a sender uses, in order.
    pub fn paths(&self) -> Vec<PathId> {
        match self {
            Self::Udp(udp) => vec![udp.path],
            Self::UdpArq(arq) => vec![arq.path],
            Self::Kcp(kcp) => vec![kcp.path],
            Self::Quic(quic) => vec![quic.path],
            Self::Mpquic(mpquic) => mpquic.paths.clone(),
            Self::Tcp(tcp) => vec![tcp.path],
            Self::Mptcp(mptcp) => mptcp.paths.clone(),
            Self::Kcptun(kcptun) => vec![kcptun.path],
            Self::Replicate(replicate) => replicate.paths.clone(),
        }
    }

    /// The same protocol on another single path: what `replicate` builds its copies from.
    pub fn on_path(&self, path: PathId) -> Self {
        let mut settings = self.clone();
        match &mut settings {
            Self::Udp(udp) => udp.path = path,
            Self::UdpArq(arq) => arq.path = path,
            Self::Kcp(kcp) => kcp.path = path,
            Self::Quic(quic) => quic.path = path,
            Self::Mpquic(mpquic) => mpquic.paths = vec![path],
            Self::Tcp(tcp) => tcp.path = path,
            Self::Mptcp(mptcp) => mptcp.paths = vec![path],
            Self::Kcptun(kcptun) => kcptun.path = path,
            Self::Replicate(replicate) => replicate.paths = vec![path],
        }
        settings
    }
}
