//! One end of a veth pair as the relay sees it: every frame that comes out of it, and a way to put
//! frames in. Knows nothing of links; the frames keep the virtio-net header the kernel needs to
//! finish checksums.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use nix::sys::socket::sockopt::{RcvBufForce, ReceiveTimestampns, SndBufForce, SocketError};
use nix::sys::socket::{
    AddressFamily, MsgFlags, SetSockOpt, SockFlag, SockProtocol, SockType, getsockopt, recv,
    setsockopt, socket, sockopt,
};

use super::syscalls::{
    BATCH, ReceiveRing, RingFrame, SLOT, bind_to_interface, packet_socket_drops, send_batch,
    set_option,
};

/// Bytes the kernel holds for a socket in each direction: some milliseconds at full speed. What
/// does not fit is dropped and counted.
pub const SOCKET_BUFFER: usize = 4 << 20;
/// Frames that a packet socket holds at most, which is 10 ms at full speed, …
const MOST_SLOTS: usize = 4096;
/// … and bytes of all of them on the sockets of a trial.
const ALL_SLOTS: usize = 128 << 20;

pub struct PacketSocket {
    ring: ReceiveRing,
    socket: OwnedFd,
}

impl PacketSocket {
    /// One of so many `sockets`. Must be called on a thread inside the interface's namespace; works
    /// on any thread from then on.
    pub fn open(interface: u32, sockets: usize) -> io::Result<Self> {
        let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
        // Protocol 0 receives nothing, so that no frame slips in from another interface before it
        // is bound.
        let socket = socket(AddressFamily::Packet, SockType::Raw, flags, None::<SockProtocol>)?;
        set_option(socket.as_fd(), libc::SOL_PACKET, libc::PACKET_VNET_HDR, 1)?;
        set_option(socket.as_fd(), libc::SOL_PACKET, libc::PACKET_IGNORE_OUTGOING, 1)?;
        // Frames in a ring are stamped in any case, but so they are as soon as they come.
        setsockopt(&socket, ReceiveTimestampns, &true)?;
        enlarge(&socket, RcvBufForce, sockopt::RcvBuf)?;
        enlarge(&socket, SndBufForce, sockopt::SndBuf)?;
        let slots = (ALL_SLOTS / SLOT / sockets.max(1)).min(MOST_SLOTS);
        let ring = ReceiveRing::new(socket.as_fd(), slots)?;
        bind_to_interface(socket.as_fd(), interface)?;
        Ok(Self { ring, socket })
    }

    /// How many frames have come out and wait, as far as there are no more than `most`.
    pub fn waiting(&self, most: usize) -> usize {
        self.ring.waiting(most)
    }

    /// The next frame that has come out.
    pub fn receive(&mut self) -> Option<RingFrame<'_>> {
        self.ring.receive()
    }

    /// Takes the next frame of those that were too long for the ring: its length, also if that is
    /// more than there was room for.
    pub fn receive_queued(&self, room: &mut [u8]) -> io::Result<usize> {
        let flags = MsgFlags::MSG_DONTWAIT | MsgFlags::MSG_TRUNC;
        Ok(recv(self.socket.as_raw_fd(), room, flags)?)
    }

    /// Sends all of them in order; how many the kernel refused.
    pub fn send(&self, frames: &[impl AsRef<[u8]>]) -> usize {
        let mut refused = 0;
        let mut rest = frames;
        while !rest.is_empty() {
            let taken = send_batch(self.socket.as_fd(), rest).unwrap_or(0);
            // The first of what is left is at fault, if the kernel stopped early.
            let stuck = usize::from(taken < rest.len().min(BATCH));
            refused += stuck;
            rest = &rest[taken + stuck..];
        }
        refused
    }

    /// Frames dropped since the last call because the ring was full.
    pub fn overflowed(&self) -> u64 {
        packet_socket_drops(self.socket.as_fd()).map_or(0, u64::from)
    }

    /// What became of the interface, if it is not there any more or was switched off.
    pub fn check(&self) -> io::Result<()> {
        match getsockopt(&self.socket, SocketError)? {
            0 => Ok(()),
            error => Err(io::Error::from_raw_os_error(error)),
        }
    }
}

impl AsFd for PacketSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// Past the system's limit where that is allowed (it takes CAP_NET_ADMIN in the first user
/// namespace), else up to it.
pub fn enlarge<F, O>(socket: &OwnedFd, force: F, option: O) -> io::Result<()>
where
    F: SetSockOpt<Val = usize>,
    O: SetSockOpt<Val = usize>,
{
    let forced = setsockopt(socket, force, &SOCKET_BUFFER);
    forced.or_else(|_| setsockopt(socket, option, &SOCKET_BUFFER)).map_err(io::Error::from)
}

#[cfg(test)]
mod tests;
