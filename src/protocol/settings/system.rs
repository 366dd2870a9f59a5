//! Settings of the senders that are no code of ours: TCP and multipath TCP of the kernel, and
//! kcptun, a program.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::protocol::kcptun::fec::GroupSizes;
use crate::units::PathId;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TcpSettings {
    pub path: PathId,
    /// By the kernel's name for it; what there is differs from kernel to kernel.
    pub congestion: String,
    /// `TCP_NODELAY`: no message waits for the acknowledgement of the one before.
    pub nodelay: bool,
    /// `TCP_USER_TIMEOUT` (RFC 5482): how long something may be unacknowledged before the
    /// connection is given up. `None`: as long as the kernel likes (15 retransmissions, about a
    /// quarter of an hour).
    pub user_timeout: Option<Duration>,
}

impl TcpSettings {
    /// Cubic, Linux's own default, and no waiting.
    pub fn new(path: PathId) -> Self {
        Self { path, congestion: "cubic".to_owned(), nodelay: true, user_timeout: None }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MptcpSettings {
    /// The connection begins on the first; a subflow is added on each of the others.
    pub paths: Vec<PathId>,
    /// Of every subflow, by the kernel's name for it.
    pub congestion: String,
    pub nodelay: bool,
    /// Which subflow sends next, by the kernel's name for it (`net.mptcp.available_schedulers`).
    pub scheduler: String,
}

impl MptcpSettings {
    pub fn new(paths: Vec<PathId>) -> Self {
        let (congestion, scheduler) = ("cubic".to_owned(), "default".to_owned());
        Self { paths, congestion, nodelay: true, scheduler }
    }
}

/// As on kcptun's command line; its compression is always off, since the bytes of a message here
/// say nothing about those of a user's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KcptunSettings {
    pub path: PathId,
    pub mode: KcptunMode,
    /// `None`: no forward error correction.
    pub fec: Option<GroupSizes>,
    pub crypt: KcptunCrypt,
    /// Version of the stream multiplexer, 1 or 2.
    pub smux: u8,
    /// Bytes of a UDP payload.
    pub mtu: u32,
    /// Packets; the same on both sides, like the next.
    pub send_window: u32,
    pub receive_window: u32,
}

impl KcptunSettings {
    /// The defaults of kcptun's client.
    pub fn new(path: PathId) -> Self {
        Self {
            path,
            mode: KcptunMode::Fast,
            fec: GroupSizes::new(10, 3).ok(),
            crypt: KcptunCrypt::Aes,
            smux: 1,
            mtu: 1350,
            send_window: 128,
            receive_window: 512,
        }
    }
}

/// KCP's nodelay, interval, resend and nc in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KcptunMode {
    /// 0, 40 ms, 2, 1.
    Normal,
    /// 0, 30 ms, 2, 1.
    Fast,
    /// 1, 20 ms, 2, 1.
    Fast2,
    /// 1, 10 ms, 2, 1.
    Fast3,
}

impl KcptunMode {
    pub fn keyword(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::Fast => "fast",
            Self::Fast2 => "fast2",
            Self::Fast3 => "fast3",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KcptunCrypt {
    Aes,
    #[serde(rename = "aes-128")]
    Aes128,
    #[serde(rename = "aes-192")]
    Aes192,
    Salsa20,
    Xor,
    None,
}

impl KcptunCrypt {
    pub fn keyword(self) -> &'static str {
        match self {
            Self::Aes => "aes",
            Self::Aes128 => "aes-128",
            Self::Aes192 => "aes-192",
            Self::Salsa20 => "salsa20",
            Self::Xor => "xor",
            Self::None => "none",
        }
    }
}
