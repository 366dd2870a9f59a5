//! An endpoint's UDP socket on one path: its ECN bits in both directions, the kernel's time of
//! arrival, and a count of what its buffer had no room for.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use nix::sys::socket::sockopt::{
    IpRecvTos, Ipv4Tos, RcvBufForce, ReceiveTimestampns, RxqOvfl, SndBufForce,
};
use nix::sys::socket::{setsockopt, sockopt};

use super::packet_socket::enlarge;
use super::receive_batch::ReceiveBatch;
use super::syscalls::set_option;
use crate::protocol::Ecn;

pub struct PathSocket {
    socket: UdpSocket,
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
        setsockopt(&socket, IpRecvTos, &true)?;
        setsockopt(&socket, ReceiveTimestampns, &true)?;
        setsockopt(&socket, RxqOvfl, &1)?;
        // A datagram too long for the path is refused rather than cut into fragments, of which a
        // link knows nothing.
        set_option(socket.as_fd(), libc::IPPROTO_IP, libc::IP_MTU_DISCOVER, libc::IP_PMTUDISC_DO)?;
        enlarge(&socket, RcvBufForce, sockopt::RcvBuf)?;
        enlarge(&socket, SndBufForce, sockopt::SndBuf)?;
        Ok(Self { socket: UdpSocket::from(socket), ecn: Ecn::NotCapable })
    }

    pub fn send(&mut self, payload: &[u8], ecn: Ecn) -> io::Result<()> {
        if ecn != self.ecn {
            setsockopt(&self.socket, Ipv4Tos, &i32::from(ecn as u8))?;
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
