//! Several packets in one: a kernel with segmentation offload sends up to 64 KiB of a TCP or UDP
//! flow as if it were a single packet, and leaves it to the interface to cut it. Here it is cut as
//! the kernel's own software does it (`net/ipv4/tcp_offload.c`, `net/ipv4/udp_offload.c`), but for
//! the checksums, which are left for whoever needs them, as they are in single packets.

use super::checksum::fold;
use super::headers::{
    TCP, UDP, Version, advance_identification, pseudo_header, set_header_checksum, set_length,
    transport,
};
use super::{NEEDS_CHECKSUM, Unfit, VNET_HEADER_LEN};

/// `gso_type` of a virtio-net header.
const TCP_V4: u8 = 1;
const TCP_V6: u8 = 4;
const UDP_SEGMENTS: u8 = 5;
/// Set beside the type if CWR is set, which only the first segment carries.
const WITH_ECN: u8 = 0x80;

const TCP_HEADER_MIN: usize = 20;
const UDP_HEADER: usize = 8;
const FIN_AND_PUSH: u8 = 0b1001;
const CWR: u8 = 0b1000_0000;

/// How a super-packet is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segments {
    version: Version,
    protocol: u8,
    /// Where the transport header begins, the virtio-net header included.
    transport: usize,
    /// Where the payload begins.
    payload: usize,
    payload_length: usize,
    /// Bytes of payload in each segment but the last.
    size: usize,
}

impl Segments {
    /// `None` if it is a single packet.
    pub(super) fn of(bytes: &[u8], version: Version) -> Result<Option<Self>, Unfit> {
        let kind = bytes[1] & !WITH_ECN;
        if kind == 0 {
            return Ok(None);
        }
        let size = usize::from(u16::from_ne_bytes([bytes[4], bytes[5]]));
        let (transport, protocol) = transport(bytes, version)?;
        let payload = payload(bytes, transport, protocol)?;
        let fits = match kind {
            TCP_V4 => version == Version::V4 && protocol == TCP,
            TCP_V6 => version == Version::V6 && protocol == TCP,
            UDP_SEGMENTS => protocol == UDP,
            _ => false,
        };
        let payload_length = bytes.len().checked_sub(payload).ok_or(Unfit::SuperPacket)?;
        if !fits || size == 0 || payload_length == 0 {
            return Err(Unfit::SuperPacket);
        }
        Ok(Some(Self { version, protocol, transport, payload, payload_length, size }))
    }

    /// Packets on the wire.
    pub fn count(&self) -> usize {
        self.payload_length.div_ceil(self.size)
    }

    /// Bytes of a segment's frame, Ethernet header included.
    pub fn length(&self, index: usize) -> usize {
        self.buffer_length(index) - VNET_HEADER_LEN
    }

    /// … and with the virtio-net header.
    pub fn buffer_length(&self, index: usize) -> usize {
        self.payload + self.size.min(self.payload_length - index * self.size)
    }

    /// Writes the segment at `index` of `whole` with its virtio-net header into `segment`, which
    /// has its [`buffer_length`](Self::buffer_length).
    pub fn write(&self, whole: &[u8], index: usize, segment: &mut [u8]) {
        let from = self.payload + index * self.size;
        let until = from + segment.len() - self.payload;
        segment[..self.payload].copy_from_slice(&whole[..self.payload]);
        segment[self.payload..].copy_from_slice(&whole[from..until]);
        set_length(segment, self.version);
        if self.version == Version::V4 {
            advance_identification(segment, index as u16);
            set_header_checksum(segment);
        }
        match self.protocol {
            TCP => self.number_tcp(segment, index),
            _ => self.measure_udp(segment),
        }
        self.leave_checksum(segment);
    }

    fn number_tcp(&self, segment: &mut [u8], index: usize) {
        let tcp = &mut segment[self.transport..];
        let sequence = u32::from_be_bytes([tcp[4], tcp[5], tcp[6], tcp[7]]);
        let sequence = sequence.wrapping_add((index * self.size) as u32);
        tcp[4..8].copy_from_slice(&sequence.to_be_bytes());
        if index + 1 < self.count() {
            tcp[13] &= !FIN_AND_PUSH;
        }
        if index > 0 {
            tcp[13] &= !CWR;
        }
    }

    fn measure_udp(&self, segment: &mut [u8]) {
        let length = (segment.len() - self.transport) as u16;
        segment[self.transport + 4..self.transport + 6].copy_from_slice(&length.to_be_bytes());
    }

    /// The pseudo-header's sum in the checksum's place, and a note that the rest is to be added.
    fn leave_checksum(&self, segment: &mut [u8]) {
        let length = segment.len() - self.transport;
        let partial = fold(pseudo_header(segment, self.version, self.protocol, length));
        let place: u16 = if self.protocol == TCP { 16 } else { 6 };
        let at = self.transport + usize::from(place);
        segment[at..at + 2].copy_from_slice(&partial.to_be_bytes());
        let start = (self.transport - VNET_HEADER_LEN) as u16;
        segment[..VNET_HEADER_LEN].fill(0);
        segment[0] = NEEDS_CHECKSUM;
        segment[6..8].copy_from_slice(&start.to_ne_bytes());
        segment[8..10].copy_from_slice(&place.to_ne_bytes());
    }
}

/// Where the payload begins.
fn payload(bytes: &[u8], transport: usize, protocol: u8) -> Result<usize, Unfit> {
    let header = match protocol {
        TCP => usize::from(bytes.get(transport + 12).ok_or(Unfit::SuperPacket)? >> 4) * 4,
        _ => UDP_HEADER,
    };
    let short = protocol == TCP && header < TCP_HEADER_MIN;
    if short { Err(Unfit::SuperPacket) } else { Ok(transport + header) }
}

#[cfg(test)]
mod tests;
