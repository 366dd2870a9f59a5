//! Frames that have come out of a packet socket, each in a buffer of its own that the link can keep.
//! A super-packet (GSO) finds room too.

use std::io;

use crate::engine::buffer::{Buffer, LARGE, Pool};
use crate::engine::frame::VNET_HEADER_LEN;
use crate::engine::packet_socket::PacketSocket;

/// Bytes of buffers on all links of a trial at once: 131,072 packets, or a tenth of a second at
/// 20 Gbit/s. What does not fit is dropped and counted.
const HELD: usize = 256 << 20;

pub(super) struct Arrivals {
    pool: Pool,
}

/// What came of a frame.
pub(super) enum Arrival {
    /// `stamp`: when the kernel received it, by CLOCK_REALTIME in ns.
    Frame { buffer: Buffer, stamp: u64 },
    /// Longer than any IP packet.
    TooLong,
    /// Too much is on the links already.
    NoRoom,
    /// It was long, and its socket's queue was full.
    Overflowed,
}

impl Arrivals {
    pub(super) fn new() -> Self {
        Self { pool: Pool::new(HELD) }
    }

    /// For what a super-packet is cut into.
    pub(super) fn pool(&self) -> &Pool {
        &self.pool
    }

    /// The next frame that waits at a socket.
    pub(super) fn take(&self, socket: &mut PacketSocket) -> io::Result<Option<Arrival>> {
        let Some(frame) = socket.receive() else { return Ok(None) };
        let (bytes, stamp) = (frame.bytes(), frame.stamp());
        if bytes.len() == frame.length() {
            let Some(mut buffer) = self.pool.take(bytes.len()) else {
                return Ok(Some(Arrival::NoRoom));
            };
            buffer.copy_from_slice(bytes);
            return Ok(Some(Arrival::Frame { buffer, stamp }));
        }
        let queued = frame.is_queued();
        drop(frame);
        if queued {
            self.take_queued(socket, stamp).map(Some)
        } else {
            Ok(Some(Arrival::Overflowed))
        }
    }

    /// A long frame, which has to be taken from the queue in any case.
    fn take_queued(&self, socket: &PacketSocket, stamp: u64) -> io::Result<Arrival> {
        let Some(mut buffer) = self.pool.take(LARGE) else {
            socket.receive_queued(&mut [0; VNET_HEADER_LEN])?;
            return Ok(Arrival::NoRoom);
        };
        let length = socket.receive_queued(&mut buffer)?;
        if length > LARGE {
            return Ok(Arrival::TooLong);
        }
        buffer.set_len(length);
        Ok(Arrival::Frame { buffer, stamp })
    }
}
