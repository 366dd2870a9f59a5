//! An Ethernet frame with an IP packet inside, as a packet socket hands it over behind a virtio-net
//! header: what the relay reads from it, and the two things a link may do to it. Knows no sockets
//! and no time.

mod checksum;
mod headers;
mod segments;

pub use segments::Segments;

use self::checksum::{fold, sum};
use self::headers::{Version, version};
use crate::link::BitFlip;

/// `struct virtio_net_hdr`, which PACKET_VNET_HDR puts in front of every frame.
pub const VNET_HEADER_LEN: usize = 10;
pub const ETHERNET_HEADER_LEN: usize = 14;

const NEEDS_CHECKSUM: u8 = 1;
const IP: usize = VNET_HEADER_LEN + ETHERNET_HEADER_LEN;
const CONGESTION_EXPERIENCED: u8 = 0b11;

/// A frame behind its virtio-net header. Whatever it holds (ICMP, a fragment, extension headers),
/// it is one packet, unless [`Frame::segments`] says otherwise.
pub struct Frame<'a> {
    bytes: &'a mut [u8],
    version: Version,
}

/// Why a frame cannot go through a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unfit {
    /// Not IP, or cut short: nothing that an endpoint sends.
    Foreign,
    /// Several packets in one (GSO) of a kind that the relay cannot cut.
    SuperPacket,
}

impl<'a> Frame<'a> {
    pub fn new(bytes: &'a mut [u8]) -> Result<Self, Unfit> {
        let version = version(bytes).ok_or(Unfit::Foreign)?;
        Ok(Self { bytes, version })
    }

    /// Bytes of the frame, Ethernet header included: what a queueing discipline counts.
    pub fn length(&self) -> usize {
        self.bytes.len() - VNET_HEADER_LEN
    }

    /// The packets on the wire that this stands for, if it is several in one (GSO).
    pub fn segments(&self) -> Result<Option<Segments>, Unfit> {
        Segments::of(self.bytes, self.version)
    }

    pub fn is_ecn_capable(&self) -> bool {
        let codepoint = match self.version {
            Version::V4 => self.bytes[IP + 1],
            Version::V6 => self.bytes[IP + 1] >> 4,
        };
        codepoint & CONGESTION_EXPERIENCED != 0
    }

    /// Sets Congestion Experienced, and IPv4's header checksum to match (RFC 3168, section 5).
    pub fn mark(&mut self) {
        match self.version {
            Version::V6 => self.bytes[IP + 1] |= CONGESTION_EXPERIENCED << 4,
            Version::V4 => {
                self.bytes[IP + 1] |= CONGESTION_EXPERIENCED;
                headers::set_header_checksum(self.bytes);
            }
        }
    }

    /// Flips one bit. The checksums stay as they were, so that the receiver finds out.
    pub fn corrupt(&mut self, flip: BitFlip) {
        self.complete_checksum();
        if let Some(byte) = self.bytes.get_mut(VNET_HEADER_LEN + flip.offset as usize) {
            *byte ^= 1 << flip.bit;
        }
    }

    /// A sender that leaves the checksum to its interface (NEEDS_CSUM) has put only the
    /// pseudo-header's sum in its place. The kernel would finish it behind the relay, and so bless
    /// whatever the relay did to the payload.
    fn complete_checksum(&mut self) {
        let bytes = &mut *self.bytes;
        if bytes[0] & NEEDS_CHECKSUM == 0 {
            return;
        }
        let start = VNET_HEADER_LEN + usize::from(u16::from_ne_bytes([bytes[6], bytes[7]]));
        let place = start + usize::from(u16::from_ne_bytes([bytes[8], bytes[9]]));
        bytes[..VNET_HEADER_LEN].fill(0);
        if place + 2 > bytes.len() {
            return;
        }
        let checksum = match !fold(sum(&bytes[start..])) {
            // UDP's zero means "none" (RFC 768); to TCP and ICMP it is the same number.
            0 => 0xffff,
            checksum => checksum,
        };
        bytes[place..place + 2].copy_from_slice(&checksum.to_be_bytes());
    }
}

#[cfg(test)]
mod tests;
