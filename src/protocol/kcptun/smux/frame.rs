//! The wire format of smux: a header of eight bytes, little-endian, and as many bytes as it says.
//!
//! ```text
//! version u8 | command u8 | length u16 | stream u32 | payload
//! ```

use serde::{Deserialize, Serialize};

/// Bytes in front of each frame's payload.
pub const HEADER_LEN: usize = 8;
/// What a window update carries: bytes taken so far, and bytes of room behind them; both u32.
pub const UPDATE_LEN: u16 = 8;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
#[repr(u8)]
pub enum Version {
    One = 1,
    /// With a window for each stream.
    Two = 2,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Command {
    /// Opens a stream.
    Open = 0,
    /// Ends it.
    Finish = 1,
    /// Carries its bytes.
    Push = 2,
    /// Keeps the connection alive.
    Nothing = 3,
    /// Tells the window of a stream; version 2 only.
    Update = 4,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    pub version: Version,
    pub command: Command,
    pub length: u16,
    pub stream: u32,
}

/// What is wrong with a header's first byte, or its second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeaderFault {
    Version(u8),
    Command(u8),
}

impl Header {
    pub const fn to_bytes(self) -> [u8; HEADER_LEN] {
        let [low, high] = self.length.to_le_bytes();
        let [a, b, c, d] = self.stream.to_le_bytes();
        [self.version as u8, self.command as u8, low, high, a, b, c, d]
    }

    pub fn from_bytes(bytes: [u8; HEADER_LEN]) -> Result<Self, HeaderFault> {
        let [version, command, low, high, a, b, c, d] = bytes;
        Ok(Self {
            version: Version::try_from(version).map_err(|_| HeaderFault::Version(version))?,
            command: Command::from_byte(command).ok_or(HeaderFault::Command(command))?,
            length: u16::from_le_bytes([low, high]),
            stream: u32::from_le_bytes([a, b, c, d]),
        })
    }
}

impl Command {
    const fn from_byte(byte: u8) -> Option<Self> {
        match byte {
            0 => Some(Self::Open),
            1 => Some(Self::Finish),
            2 => Some(Self::Push),
            3 => Some(Self::Nothing),
            4 => Some(Self::Update),
            _ => None,
        }
    }
}

impl TryFrom<u8> for Version {
    type Error = UnknownVersion;

    fn try_from(number: u8) -> Result<Self, UnknownVersion> {
        match number {
            1 => Ok(Self::One),
            2 => Ok(Self::Two),
            _ => Err(UnknownVersion(number)),
        }
    }
}

impl From<Version> for u8 {
    fn from(version: Version) -> Self {
        version as Self
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("there is no version {0} of smux, but 1 and 2")]
pub struct UnknownVersion(u8);
