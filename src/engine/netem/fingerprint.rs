//! What is remembered of a frame to know it again when it leaves: a digest that is linear, so that
//! a frame with one bit flipped is known by what the flip does to the digest, without keeping the
//! frame. Knows no sockets and no time.
//!
//! What a congestion mark changes (the ECN bits, and the checksum of an IPv4 header) is kept apart
//! and left out of the digest: by its place alone, and whatever the frame holds there, since a
//! flipped bit may make anything of a frame.

use std::sync::LazyLock;

use crate::engine::ETHERNET_HEADER;

/// A CRC of 64 bits: in frames of up to some thousand bytes every flip of one bit changes it in its
/// own way.
type Digest = u64;

/// The polynomial of ECMA-182.
const POLYNOMIAL: u64 = 0x42F0_E1EB_A9EA_3693;
/// No frame in a lab is longer, in bytes.
pub(super) const LONGEST_FRAME: usize = 2048;

const IP: usize = ETHERNET_HEADER as usize;
const CONGESTION_EXPERIENCED: u8 = 0b11;
/// Places and bits that are kept apart: the ECN bits of IPv4 and of IPv6, and IPv4's checksum.
const APART: [(usize, u8); 3] = [(IP + 1, 0b0011_0011), (IP + 10, 0xff), (IP + 11, 0xff)];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fingerprint {
    pub(super) key: Key,
    apart: [u8; 3],
    header: IpHeader,
    /// Whether the checksum of the header is right.
    checks: bool,
}

/// The same for a frame and for its copies, marked or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Key {
    digest: Digest,
    pub(super) length: u32,
}

/// What happened to a frame between two sights of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Harm {
    pub(super) marked: bool,
    pub(super) corrupted: bool,
}

impl Fingerprint {
    pub(super) fn of(frame: &[u8]) -> Self {
        let mut crc = Crc::default();
        let mut apart = [0; 3];
        let mut from = 0;
        let places = APART.iter().filter(|(place, _)| *place < frame.len());
        for ((place, mask), kept) in places.zip(&mut apart) {
            crc.take(&frame[from..*place]);
            crc.take(&[frame[*place] & !mask]);
            *kept = frame[*place] & mask;
            from = place + 1;
        }
        crc.take(&frame[from..]);
        let header = IpHeader::of(frame);
        let key = Key { digest: crc.0, length: frame.len() as u32 };
        Self { key, apart, header, checks: header.checks(frame) }
    }

    /// What happened to a frame that left with this fingerprint, if it entered with `entered` and
    /// both have the same key.
    pub(super) fn harm_since(&self, entered: &Fingerprint) -> Harm {
        let (ecn_was, ecn_is) = (entered.header.ecn(entered.apart), entered.header.ecn(self.apart));
        if self.apart == entered.apart {
            // netem marks a frame where the tap at the entry reads it too, mostly before it does;
            // and no sender of ours sends one that is marked.
            return Harm { marked: ecn_is == CONGESTION_EXPERIENCED, corrupted: false };
        }
        let became_marked =
            ecn_was != 0 && ecn_was != CONGESTION_EXPERIENCED && ecn_is == CONGESTION_EXPERIENCED;
        let checksum_changed = self.apart[1..] != entered.apart[1..];
        match (became_marked, checksum_changed) {
            // The checksum has to follow a mark.
            (true, _) if self.checks => Harm { marked: true, corrupted: false },
            (true, true) => Harm { marked: true, corrupted: true },
            _ => Harm { marked: false, corrupted: true },
        }
    }
}

impl Key {
    /// The keys that a frame with this one may have had before one of its bits was flipped.
    pub(super) fn before_a_flip(self) -> impl Iterator<Item = Key> {
        let bits = (self.length as usize).min(LONGEST_FRAME) * 8;
        let Key { digest, length } = self;
        FLIPS[..bits].iter().map(move |flip| Key { digest: digest ^ flip, length })
    }
}

#[derive(Default)]
struct Crc(u64);

impl Crc {
    fn take(&mut self, bytes: &[u8]) {
        for byte in bytes {
            let index = (self.0 >> 56) as u8 ^ byte;
            self.0 = (self.0 << 8) ^ BYTES[usize::from(index)];
        }
    }
}

/// What one byte does to a CRC of zero.
static BYTES: LazyLock<[u64; 256]> = LazyLock::new(|| {
    std::array::from_fn(|byte| (0..8).fold((byte as u64) << 56, |crc, _| shifted(crc)))
});

/// What a flip does to the digest, by the flipped bit's distance from the end of the frame.
static FLIPS: LazyLock<Vec<u64>> = LazyLock::new(|| {
    let last = BYTES[1];
    std::iter::successors(Some(last), |crc| Some(shifted(*crc))).take(LONGEST_FRAME * 8).collect()
});

fn shifted(crc: u64) -> u64 {
    let carry = if crc >> 63 == 1 { POLYNOMIAL } else { 0 };
    (crc << 1) ^ carry
}

/// What a frame holds behind its Ethernet header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum IpHeader {
    V4 { length: usize },
    V6,
    None,
}

impl IpHeader {
    fn of(frame: &[u8]) -> Self {
        let ethertype = frame.get(IP - 2..IP);
        match (ethertype, frame.get(IP)) {
            (Some([0x08, 0x00]), Some(first)) if first >> 4 == 4 => {
                let length = usize::from(first & 15) * 4;
                let fits = length >= 20 && frame.len() >= IP + length;
                if fits { Self::V4 { length } } else { Self::None }
            }
            (Some([0x86, 0xdd]), Some(first)) if first >> 4 == 6 && frame.len() >= IP + 40 => {
                Self::V6
            }
            _ => Self::None,
        }
    }

    fn ecn(self, apart: [u8; 3]) -> u8 {
        match self {
            Self::V4 { .. } => apart[0] & 0b11,
            Self::V6 => apart[0] >> 4,
            Self::None => 0,
        }
    }

    /// IPv6 has no checksum that could be wrong.
    fn checks(self, frame: &[u8]) -> bool {
        let Self::V4 { length } = self else { return true };
        let (words, _) = frame[IP..IP + length].as_chunks::<2>();
        let sum: u32 = words.iter().map(|word| u32::from(u16::from_be_bytes(*word))).sum();
        let once = (sum & 0xffff) + (sum >> 16);
        (once & 0xffff) + (once >> 16) == 0xffff
    }
}

#[cfg(test)]
mod tests;
