//! Where the headers of a frame begin and end, and the fields that change from segment to segment.

use super::checksum::{fold, sum};
use super::{IP, Unfit};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Version {
    V4,
    V6,
}

const IPV4_HEADER_MIN: usize = 20;
const IPV6_HEADER: usize = 40;

pub(super) const TCP: u8 = 6;
pub(super) const UDP: u8 = 17;

/// The version of the IP packet of which the frame holds at least the header.
pub(super) fn version(bytes: &[u8]) -> Option<Version> {
    let ip = bytes.get(IP..)?;
    let first = *ip.first()?;
    match (&bytes[IP - 2..IP], first >> 4) {
        ([0x08, 0x00], 4) => {
            let header = usize::from(first & 15) * 4;
            (header >= IPV4_HEADER_MIN && ip.len() >= header).then_some(Version::V4)
        }
        ([0x86, 0xdd], 6) => (ip.len() >= IPV6_HEADER).then_some(Version::V6),
        _ => None,
    }
}

/// Where the transport header of a packet begins, and which protocol it is.
pub(super) fn transport(bytes: &[u8], version: Version) -> Result<(usize, u8), Unfit> {
    match version {
        Version::V4 => Ok((IP + usize::from(bytes[IP] & 15) * 4, bytes[IP + 9])),
        Version::V6 => behind_extension_headers(bytes).ok_or(Unfit::SuperPacket),
    }
}

/// Over those that may stand in front of a segment (RFC 8200, section 4): hop-by-hop options,
/// routing and destination options. Each at least 8 bytes long, so this ends.
fn behind_extension_headers(bytes: &[u8]) -> Option<(usize, u8)> {
    const EXTENSIONS: [u8; 3] = [0, 43, 60];
    let (mut at, mut kind) = (IP + IPV6_HEADER, bytes[IP + 6]);
    while EXTENSIONS.contains(&kind) {
        kind = *bytes.get(at)?;
        at += (usize::from(*bytes.get(at + 1)?) + 1) * 8;
    }
    (at <= bytes.len()).then_some((at, kind))
}

/// The sum of the pseudo-header (RFC 9293, section 3.1; RFC 8200, section 8.1).
pub(super) fn pseudo_header(bytes: &[u8], version: Version, protocol: u8, length: usize) -> u64 {
    let addresses = match version {
        Version::V4 => &bytes[IP + 12..IP + 20],
        Version::V6 => &bytes[IP + 8..IP + 40],
    };
    sum(addresses) + u64::from(protocol) + length as u64
}

/// Makes the IP header say how long the packet is; the checksum has to be set after that.
pub(super) fn set_length(bytes: &mut [u8], version: Version) {
    match version {
        Version::V4 => {
            let length = (bytes.len() - IP) as u16;
            bytes[IP + 2..IP + 4].copy_from_slice(&length.to_be_bytes());
        }
        Version::V6 => {
            let length = (bytes.len() - IP - IPV6_HEADER) as u16;
            bytes[IP + 4..IP + 6].copy_from_slice(&length.to_be_bytes());
        }
    }
}

/// Adds to IPv4's identification, as the kernel does from segment to segment.
pub(super) fn advance_identification(bytes: &mut [u8], by: u16) {
    let identification = u16::from_be_bytes([bytes[IP + 4], bytes[IP + 5]]).wrapping_add(by);
    bytes[IP + 4..IP + 6].copy_from_slice(&identification.to_be_bytes());
}

pub(super) fn set_header_checksum(bytes: &mut [u8]) {
    bytes[IP + 10..IP + 12].fill(0);
    let end = IP + usize::from(bytes[IP] & 15) * 4;
    let checksum = !fold(sum(&bytes[IP..end]));
    bytes[IP + 10..IP + 12].copy_from_slice(&checksum.to_be_bytes());
}
