//! What the kernel tells of a TCP socket: `struct tcp_info` of `linux/tcp.h`, which later kernels
//! have made longer, so what one does not tell is zero or missing.

use std::io;
use std::os::fd::BorrowedFd;

use netns::Namespace;

use crate::engine::snmp;
use crate::engine::syscalls::read_option;
use crate::recording::TcpFigures;

/// Room for whatever later kernels add.
pub const LONGEST: usize = 512;
pub const ESTABLISHED: u8 = 1;

/// The kernel's bytes.
pub struct TcpInfo<'a>(pub &'a [u8]);

pub fn of(socket: BorrowedFd<'_>) -> io::Result<TcpFigures> {
    let mut bytes = [0; LONGEST];
    let length = read_option(socket, libc::IPPROTO_TCP, libc::TCP_INFO, &mut bytes)?;
    Ok(TcpInfo(&bytes[..length]).figures())
}

impl TcpInfo<'_> {
    pub fn is_established(&self) -> bool {
        self.0.first() == Some(&ESTABLISHED)
    }

    pub fn figures(&self) -> TcpFigures {
        TcpFigures {
            path: None,
            segments_sent: self.half(136),
            segments_received: self.half(140),
            data_segments_sent: self.half(156),
            data_segments_received: self.half(152),
            retransmitted: self.half(100),
            bytes_sent: self.word(200),
            bytes_retransmitted: self.word(208),
            bytes_unsent: self.half(144),
            bytes_acknowledged: self.word(120),
            bytes_received: self.word(128),
            spurious: self.half(216),
            timeouts: self.quarter(240),
            rtt_us: self.half(68),
            rtt_variation_us: self.half(72),
            // All ones, as long as none was measured.
            min_rtt_us: Some(self.half(148)).filter(|us| *us != u64::from(u32::MAX)),
            rto_us: self.half(8),
            congestion_window: self.half(80),
            segment_size: self.half(16),
        }
    }

    fn at<const N: usize>(&self, offset: usize) -> Option<[u8; N]> {
        self.0.get(offset..)?.first_chunk().copied()
    }

    fn quarter(&self, offset: usize) -> Option<u64> {
        self.at(offset).map(|bytes| u16::from_ne_bytes(bytes).into())
    }

    fn half(&self, offset: usize) -> u64 {
        self.at(offset).map_or(0, |bytes| u32::from_ne_bytes(bytes).into())
    }

    fn word(&self, offset: usize) -> u64 {
        self.at(offset).map_or(0, u64::from_ne_bytes)
    }
}

/// `TcpRetransSegs`: by all sockets of a namespace since it was made.
pub fn retransmitted_in(namespace: &Namespace) -> u64 {
    // A namespace that cannot be entered any more has nothing to say.
    namespace.run(snmp::read).map_or(0, |table| snmp::sum(&table, "Tcp", &["RetransSegs"]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_old_kernel_does_not_tell_is_missing() {
        let mut bytes = vec![0; 104];
        bytes[0] = ESTABLISHED;
        bytes[68..72].copy_from_slice(&80_123_u32.to_ne_bytes());
        bytes[100..104].copy_from_slice(&5_u32.to_ne_bytes());
        let info = TcpInfo(&bytes);
        let figures = info.figures();
        assert!(info.is_established());
        assert_eq!((figures.rtt_us, figures.retransmitted), (80_123, 5));
        assert_eq!((figures.segments_sent, figures.timeouts), (0, None));
    }
}
