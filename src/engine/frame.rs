//! An Ethernet frame with an IPv4 datagram inside, as a packet socket hands it over behind a
//! virtio-net header: what the relay reads from it, and the two things a link may do to it. Knows
//! no sockets and no time.

use crate::link::BitFlip;

/// `struct virtio_net_hdr`, which PACKET_VNET_HDR puts in front of every frame.
pub const VNET_HEADER_LEN: usize = 10;
pub const ETHERNET_HEADER_LEN: usize = 14;

const NEEDS_CHECKSUM: u8 = 1;
const IP: usize = VNET_HEADER_LEN + ETHERNET_HEADER_LEN;
const IP_HEADER_MIN: usize = 20;
const CONGESTION_EXPERIENCED: u8 = 0b11;

/// A frame behind its virtio-net header.
pub struct Frame<'a>(&'a mut [u8]);

/// Why a frame cannot go through a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unfit {
    /// Not IPv4, or cut short: nothing that an endpoint sends.
    Foreign,
    /// Several packets in one (GSO): a link would decide on all of them at once.
    SuperPacket,
}

impl<'a> Frame<'a> {
    pub fn new(bytes: &'a mut [u8]) -> Result<Self, Unfit> {
        let ip = bytes.get(IP..).ok_or(Unfit::Foreign)?;
        let is_ipv4 = bytes[IP - 2..IP] == [0x08, 0x00] && ip.first().is_some_and(|b| b >> 4 == 4);
        let header_fits = ip.first().is_some_and(|b| ip.len() >= usize::from(b & 15) * 4);
        if !is_ipv4 || !header_fits || ip.len() < IP_HEADER_MIN {
            return Err(Unfit::Foreign);
        }
        // gso_type, behind the flags.
        if bytes[1] != 0 { Err(Unfit::SuperPacket) } else { Ok(Self(bytes)) }
    }

    /// Bytes of the frame, Ethernet header included: what a queueing discipline counts.
    pub fn length(&self) -> usize {
        self.0.len() - VNET_HEADER_LEN
    }

    pub fn is_ecn_capable(&self) -> bool {
        self.0[IP + 1] & CONGESTION_EXPERIENCED != 0
    }

    /// Sets Congestion Experienced, and the IP header's checksum to match (RFC 3168, section 5).
    pub fn mark(&mut self) {
        self.0[IP + 1] |= CONGESTION_EXPERIENCED;
        self.0[IP + 10..IP + 12].fill(0);
        let checksum = !fold(sum(&self.0[IP..self.transport()]));
        self.0[IP + 10..IP + 12].copy_from_slice(&checksum.to_be_bytes());
    }

    /// Flips one bit. The checksums stay as they were, so that the receiver finds out.
    pub fn corrupt(&mut self, flip: BitFlip) {
        self.complete_checksum();
        if let Some(byte) = self.0.get_mut(VNET_HEADER_LEN + flip.offset as usize) {
            *byte ^= 1 << flip.bit;
        }
    }

    /// A sender that leaves the checksum to its interface (NEEDS_CSUM) has put only the
    /// pseudo-header's sum in its place. The kernel would finish it behind the relay, and so bless
    /// whatever the relay did to the payload.
    fn complete_checksum(&mut self) {
        if self.0[0] & NEEDS_CHECKSUM == 0 {
            return;
        }
        let start = VNET_HEADER_LEN + usize::from(u16::from_ne_bytes([self.0[6], self.0[7]]));
        let place = start + usize::from(u16::from_ne_bytes([self.0[8], self.0[9]]));
        self.0[..VNET_HEADER_LEN].fill(0);
        if place + 2 > self.0.len() {
            return;
        }
        let checksum = match !fold(sum(&self.0[start..])) {
            // UDP's zero means "none" (RFC 768).
            0 => 0xffff,
            checksum => checksum,
        };
        self.0[place..place + 2].copy_from_slice(&checksum.to_be_bytes());
    }

    fn transport(&self) -> usize {
        IP + usize::from(self.0[IP] & 15) * 4
    }
}

/// The Internet checksum's sum of 16-bit words (RFC 1071), not yet folded.
fn sum(bytes: &[u8]) -> u32 {
    let (words, odd) = bytes.as_chunks::<2>();
    let sum: u32 = words.iter().map(|word| u32::from(u16::from_be_bytes(*word))).sum();
    sum + odd.first().map_or(0, |byte| u32::from(*byte) << 8)
}

fn fold(sum: u32) -> u16 {
    let once = (sum & 0xffff) + (sum >> 16);
    ((once & 0xffff) + (once >> 16)) as u16
}

#[cfg(test)]
mod tests;
