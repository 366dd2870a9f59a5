//! A look at the frames that pass one end of a veth pair in one direction: each a copy, with the
//! kernel's time. Never sends, and takes nothing away.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use nix::sys::socket::sockopt::{RcvBufForce, ReceiveTimestampns};
use nix::sys::socket::{
    AddressFamily, SockFlag, SockProtocol, SockType, setsockopt, socket, sockopt,
};

use super::packet_socket::enlarge;
use super::receive_batch::ReceiveBatch;
use super::syscalls::{bind_to_interface, packet_socket_drops, set_option, take_only_outgoing};

pub struct Tap {
    socket: OwnedFd,
}

impl Tap {
    /// What comes in by the interface. Must be called on a thread inside its namespace; works on
    /// any thread from then on.
    pub fn incoming(interface: u32) -> io::Result<Self> {
        let tap = Self::open()?;
        set_option(tap.as_fd(), libc::SOL_PACKET, libc::PACKET_IGNORE_OUTGOING, 1)?;
        bind_to_interface(tap.as_fd(), interface)?;
        Ok(tap)
    }

    /// What leaves by the interface, past its queue discipline.
    pub fn outgoing(interface: u32) -> io::Result<Self> {
        let tap = Self::open()?;
        take_only_outgoing(tap.as_fd())?;
        bind_to_interface(tap.as_fd(), interface)?;
        Ok(tap)
    }

    /// Protocol 0 receives nothing, so that no frame slips in before the tap is bound.
    fn open() -> io::Result<Self> {
        let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
        let socket = socket(AddressFamily::Packet, SockType::Raw, flags, None::<SockProtocol>)?;
        setsockopt(&socket, ReceiveTimestampns, &true)?;
        enlarge(&socket, RcvBufForce, sockopt::RcvBuf)?;
        Ok(Self { socket })
    }

    pub fn receive(&self, batch: &mut ReceiveBatch) -> io::Result<usize> {
        batch.receive(self.socket.as_fd())
    }

    /// Frames missed since the last call because the buffer was full.
    pub fn overflowed(&self) -> u64 {
        packet_socket_drops(self.socket.as_fd()).map_or(0, u64::from)
    }
}

impl AsFd for Tap {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
