//! An endpoint's UDP socket on one path: its ECN bits in both directions, the kernel's time of
//! arrival, and a count of what its buffer had no room for.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use nix::sys::socket::sockopt::{RcvBufForce, ReceiveTimestampns, SndBufForce};
use nix::sys::socket::{setsockopt, sockopt};

use super::packet_socket::enlarge;
use super::receive_batch::ReceiveBatch;
use super::syscalls::set_option;
use crate::protocol::Ecn;

pub struct PathSocket {
    socket: UdpSocket,
    version: Options,
    /// The ECN bits that go out with the next datagram.
    ecn: Ecn,
}

impl PathSocket {
    /// Must be called on a thread inside the endpoint's namespace; works on any thread from then
    /// on.
    pub fn open(local: SocketAddr, remote: SocketAddr) -> io::Result<Self> {
        let socket = UdpSocket::bind(local)?;
        socket.connect(remote)?;
        socket.set_nonblocking(true)?;
        let socket = OwnedFd::from(socket);
        setsockopt(&socket, ReceiveTimestampns, &true)?;
        let version = Options::of(local);
        version.receive_traffic_class(&socket)?;
        // A datagram too long for the path is refused (EMSGSIZE) rather than cut into fragments, of
        // which a link knows nothing.
        version.refuse_fragments(&socket)?;
        enlarge(&socket, RcvBufForce, sockopt::RcvBuf)?;
        enlarge(&socket, SndBufForce, sockopt::SndBuf)?;
        Ok(Self { socket: UdpSocket::from(socket), version, ecn: Ecn::NotCapable })
    }

    pub fn send(&mut self, payload: &[u8], ecn: Ecn) -> io::Result<()> {
        if ecn != self.ecn {
            self.version.set_traffic_class(&self.socket, i32::from(ecn as u8))?;
            self.ecn = ecn;
        }
        self.socket.send(payload).map(drop)
    }

    pub fn receive(&self, batch: &mut ReceiveBatch) -> io::Result<usize> {
        batch.receive(self.socket.as_fd())
    }
}

impl AsFd for PathSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// The same options have other names in IPv6.
#[derive(Debug, Clone, Copy)]
enum Options {
    V4,
    V6,
}

impl Options {
    fn of(address: SocketAddr) -> Self {
        if address.is_ipv6() { Self::V6 } else { Self::V4 }
    }

    fn receive_traffic_class(self, socket: &impl AsFd) -> io::Result<()> {
        self.set(socket, (libc::IP_RECVTOS, 1), (libc::IPV6_RECVTCLASS, 1))
    }

    fn set_traffic_class(self, socket: &impl AsFd, class: i32) -> io::Result<()> {
        self.set(socket, (libc::IP_TOS, class), (libc::IPV6_TCLASS, class))
    }

    fn refuse_fragments(self, socket: &impl AsFd) -> io::Result<()> {
        let v4 = (libc::IP_MTU_DISCOVER, libc::IP_PMTUDISC_DO);
        self.set(socket, v4, (libc::IPV6_MTU_DISCOVER, libc::IPV6_PMTUDISC_DO))
    }

    fn set(self, socket: &impl AsFd, v4: (i32, i32), v6: (i32, i32)) -> io::Result<()> {
        let (level, (name, value)) = match self {
            Self::V4 => (libc::IPPROTO_IP, v4),
            Self::V6 => (libc::IPPROTO_IPV6, v6),
        };
        set_option(socket.as_fd(), level, name, value)
    }
}
