//! What goes into a link and what comes out of it. The payload is the engine's own: a link looks
//! only at the length and at whether the packet may be marked.

use crate::units::Instant;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packet<T> {
    /// Bytes, the 14 of the Ethernet header included: what netem's rate and slots count.
    pub length: u32,
    /// The sender set an ECN codepoint, so the packet may be marked instead of lost.
    pub ecn_capable: bool,
    /// Congestion Experienced is to be set in the IP header.
    pub marked: bool,
    /// The bit that the engine is to flip.
    pub corrupted: Option<BitFlip>,
    pub payload: T,
}

impl<T> Packet<T> {
    pub fn new(length: u32, payload: T) -> Self {
        Self { length, ecn_capable: false, marked: false, corrupted: None, payload }
    }
}

/// `frame[offset] ^= 1 << bit`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BitFlip {
    /// Bytes from the start of the Ethernet header, less than the packet's length.
    pub offset: u32,
    /// 0 to 7.
    pub bit: u8,
}

/// A packet that has left the link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Departed<T> {
    /// When it left: a real-time engine is late by what its clock says beyond this.
    pub due: Instant,
    pub packet: Packet<T>,
}

/// What became of a packet that was pushed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pushed {
    Queued,
    /// As if lost on the way: the local sender is not told.
    Lost,
    /// The queue was full: the local sender is told.
    Overflowed,
}
