//! Frames read from a packet socket, a batch at a time, each in a buffer of its own that the link
//! can keep. A super-packet (GSO) finds room too.

use std::io;
use std::mem;

use crate::engine::buffer::{Buffer, LARGE, Pool, SMALL};
use crate::engine::packet_socket::PacketSocket;
use crate::engine::syscalls::{BATCH, Receiver};

/// Bytes of buffers on all links of a trial at once: 131,072 packets, or a tenth of a second at
/// 20 Gbit/s. What does not fit is dropped and counted.
const HELD: usize = 256 << 20;

pub(super) struct Arrivals {
    pool: Pool,
    places: Vec<Place>,
    receiver: Receiver,
}

/// Where the next frame goes: into the small buffer, and if it is too long for that, the rest into
/// the large one, at the place it has there when the beginning is put before it.
struct Place {
    small: Buffer,
    large: Buffer,
}

/// What came of a frame.
pub(super) enum Arrival {
    /// `stamp`: when the kernel received it, by CLOCK_REALTIME in ns.
    Frame { buffer: Buffer, stamp: Option<u64> },
    /// Longer than any IP packet.
    TooLong,
    /// Too much is on the links already.
    NoRoom,
}

impl Arrivals {
    pub(super) fn new() -> Self {
        let pool = Pool::new(HELD);
        let take = |length| pool.take(length).expect("a batch is far below the limit");
        let place = || Place { small: take(SMALL), large: take(LARGE) };
        let places = std::iter::repeat_with(place).take(BATCH).collect();
        Self { places, pool, receiver: Receiver::new() }
    }

    /// For what a super-packet is cut into.
    pub(super) fn pool(&self) -> &Pool {
        &self.pool
    }

    /// Reads at most [`BATCH`] frames and says how many there were.
    pub(super) fn read(&mut self, socket: &PacketSocket) -> io::Result<usize> {
        let places = self.places.iter_mut();
        socket.receive(
            &mut self.receiver,
            places.map(|place| [place.small.whole_mut(), &mut place.large.whole_mut()[SMALL..]]),
        )
    }

    /// The frames of the last batch, in order; each only once.
    pub(super) fn take(&mut self, index: usize) -> Arrival {
        let received = self.receiver.received()[index];
        if received.truncated {
            return Arrival::TooLong;
        }
        let buffer = self.places[index].take(received.length, &self.pool);
        buffer.map_or(Arrival::NoRoom, |buffer| Arrival::Frame { buffer, stamp: received.stamp })
    }
}

impl Place {
    /// Leaves another buffer of the pool in the place of the one that is taken out.
    fn take(&mut self, length: usize, pool: &Pool) -> Option<Buffer> {
        if length <= SMALL {
            let mut buffer = mem::replace(&mut self.small, pool.take(SMALL)?);
            buffer.set_len(length);
            return Some(buffer);
        }
        let mut buffer = mem::replace(&mut self.large, pool.take(LARGE)?);
        buffer.whole_mut()[..SMALL].copy_from_slice(self.small.whole_mut());
        buffer.set_len(length);
        Some(buffer)
    }
}
