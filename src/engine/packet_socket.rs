//! One end of a veth pair as the relay sees it: every frame that comes out of it, and a way to put
//! frames in. Knows nothing of links; the frames keep the virtio-net header the kernel needs to
//! finish checksums.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use nix::sys::socket::sockopt::{RcvBufForce, ReceiveTimestampns, SndBufForce};
use nix::sys::socket::{
    AddressFamily, SetSockOpt, SockFlag, SockProtocol, SockType, setsockopt, socket, sockopt,
};

use super::syscalls::{
    BATCH, Receiver, bind_to_interface, packet_socket_drops, send_batch, set_option,
};

/// Bytes the kernel holds for the relay in each direction: some milliseconds at full speed. What
/// does not fit is dropped and counted.
pub const SOCKET_BUFFER: usize = 4 << 20;

pub struct PacketSocket {
    socket: OwnedFd,
}

impl PacketSocket {
    /// Must be called on a thread inside the interface's namespace; works on any thread from then
    /// on.
    pub fn open(interface: u32) -> io::Result<Self> {
        let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
        // Protocol 0 receives nothing, so that no frame slips in from another interface before it
        // is bound.
        let socket = socket(AddressFamily::Packet, SockType::Raw, flags, None::<SockProtocol>)?;
        set_option(socket.as_fd(), libc::SOL_PACKET, libc::PACKET_VNET_HDR, 1)?;
        set_option(socket.as_fd(), libc::SOL_PACKET, libc::PACKET_IGNORE_OUTGOING, 1)?;
        setsockopt(&socket, ReceiveTimestampns, &true)?;
        enlarge(&socket, RcvBufForce, sockopt::RcvBuf)?;
        enlarge(&socket, SndBufForce, sockopt::SndBuf)?;
        bind_to_interface(socket.as_fd(), interface)?;
        Ok(Self { socket })
    }

    /// Takes frames that have come out, as many as `receiver` can; says how many.
    pub fn receive<'a>(
        &self,
        receiver: &mut Receiver,
        places: impl Iterator<Item = [&'a mut [u8]; 2]>,
    ) -> io::Result<usize> {
        receiver.receive(self.socket.as_fd(), places)
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

    /// Frames dropped since the last call because the buffer was full.
    pub fn overflowed(&self) -> u64 {
        packet_socket_drops(self.socket.as_fd()).map_or(0, u64::from)
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
