//! The limits of a scenario file, all in one place. They are far above what an experiment needs,
//! and low enough that no file can exhaust the machine; what is past one is a mistake in the file
//! and is reported as such.

use std::time::Duration;

use crate::workload::Keep;

/// Bytes of a scenario, a profile or a table file.
pub const FILE_BYTES: u64 = 1 << 20;
/// Mappings and lists inside one another.
pub const NESTING: usize = 16;
/// Values of a file, aliases counted each time they are used.
pub const NODES: usize = 50_000;
/// `*alias` uses.
pub const ALIASES: usize = 200;
/// Mistakes that are printed; the rest is counted.
pub const PRINTED_MISTAKES: usize = 50;

/// Characters of a name.
pub const NAME_LENGTH: usize = 48;
/// Characters of an `about`, a `source` or a file name.
pub const TEXT_LENGTH: usize = 2000;
pub const SOURCES: usize = 32;

/// No more than the addresses of a peer that Linux' multipath TCP takes.
pub const PATHS: usize = 8;
pub const VEHICLES: u64 = 10_000;
pub const SENDERS: usize = 64;
pub const TIMELINE_ENTRIES: usize = 1000;
pub const CLAIMS: usize = 256;
pub const REPEAT: u64 = 1000;
/// Profiles that are based on one another.
pub const PROFILE_CHAIN: usize = 8;

pub const DELAY: Duration = Duration::from_secs(3600);
pub const DURATION: Duration = Duration::from_secs(24 * 3600);
/// Bits per second.
pub const LINK_RATE: u64 = 100_000_000_000;
/// Packets.
pub const QUEUE: u64 = 1_000_000;
/// Bytes of the longest packet of a path, with its Ethernet header: no bucket may be smaller.
pub const LONGEST_FRAME: u64 = 1_514;
/// Bytes of a burst, and of the queue before a bucket.
pub const BUCKET: u64 = 1 << 30;
/// Bytes added to a packet or to a cell, either way.
pub const OVERHEAD: u64 = 10_000;

/// Messages per second.
pub const MESSAGE_RATE: f64 = 1_000_000.0;
/// Bytes.
pub const MESSAGE_SIZE: std::ops::RangeInclusive<u64> = 16..=65_536;
/// Messages of a trial that keeps every one of them, all vehicles together.
pub const MESSAGES_KEPT: u64 = 2_000_000;
/// The same of all trials of a run together: about a gigabyte while the report is made.
pub const MESSAGES_KEPT_IN_ALL: u64 = 20_000_000;
/// Messages of a trial that keeps a histogram, all vehicles together.
pub const MESSAGES_COUNTED: u64 = 1_000_000_000;

/// The most messages of a trial, all vehicles together.
pub const fn messages(keep: Keep) -> u64 {
    match keep {
        Keep::Messages => MESSAGES_KEPT,
        Keep::Histogram => MESSAGES_COUNTED,
    }
}

/// Whether a trial whose messages are too many to be kept so could be kept as a histogram.
pub fn histogram_may_hold(keep: Keep, count: u64) -> bool {
    keep == Keep::Messages && count <= messages(Keep::Histogram)
}

/// Bytes of a message that `udp` can carry: one packet of 1,500 bytes, less the IPv4 and UDP
/// headers.
pub const UDP_MESSAGE: u32 = 1_472;
/// Bytes of a datagram that fits a packet of 1,500 bytes over IPv6, whose header is longer.
pub const IPV6_DATAGRAM: u32 = 1_452;
/// Bytes of a message that fits a QUIC datagram whatever the path: QUIC promises packets of 1,200
/// bytes (RFC 9000, section 14), of which header, authentication tag and frame header take up to
/// 60.
pub const QUIC_DATAGRAM_MESSAGE: u32 = 1_140;
/// Bytes that `udp-arq` puts before each message: its number, and what the datagram is.
pub const ARQ_HEADER: u32 = 5;
/// Bytes that `copy: datagram` puts before each copy: its number.
pub const COPY_HEADER: u32 = 4;
/// Letters of a name of the kernel's (its TCP_CA_NAME_MAX, less the end).
pub const KERNEL_NAME: usize = 15;
