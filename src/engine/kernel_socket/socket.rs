//! Stream sockets that never block: opened in the namespace that the calling thread is in, used
//! from anywhere.

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::time::Duration;

use nix::errno::Errno;
use nix::sys::socket::sockopt::{ReuseAddr, TcpCongestion, TcpNoDelay, TcpUserTimeout};
use nix::sys::socket::{Backlog, SockaddrStorage, bind, connect, getsockopt, listen, setsockopt};

use crate::engine::syscalls::stream_socket;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    Tcp,
    Mptcp,
}

/// What is set on both ends.
#[derive(Debug, Clone)]
pub struct Options {
    pub protocol: Protocol,
    /// `None`: the kernel's own choice, where it does not matter.
    pub congestion: Option<String>,
    pub nodelay: bool,
    pub user_timeout: Option<Duration>,
}

impl Protocol {
    pub fn name(self) -> &'static str {
        match self {
            Self::Tcp => "TCP",
            Self::Mptcp => "multipath TCP",
        }
    }

    fn open(self, address: SocketAddr) -> io::Result<OwnedFd> {
        let family = if address.is_ipv4() { libc::AF_INET } else { libc::AF_INET6 };
        let protocol = match self {
            Self::Tcp => libc::IPPROTO_TCP,
            Self::Mptcp => libc::IPPROTO_MPTCP,
        };
        stream_socket(family, protocol)
    }
}

impl Options {
    /// To a program on the same host.
    pub fn loopback() -> Self {
        Self { protocol: Protocol::Tcp, congestion: None, nodelay: true, user_timeout: None }
    }

    /// Begins to connect; the socket can be written to when it has.
    pub fn connect(&self, local: Option<SocketAddr>, remote: SocketAddr) -> io::Result<TcpStream> {
        let socket = self.protocol.open(remote)?;
        self.furnish(&socket)?;
        if let Some(local) = local {
            bind(socket.as_raw_fd(), &SockaddrStorage::from(local))?;
        }
        match connect(socket.as_raw_fd(), &SockaddrStorage::from(remote)) {
            Ok(()) | Err(Errno::EINPROGRESS) => Ok(TcpStream::from(socket)),
            Err(error) => Err(error.into()),
        }
    }

    pub fn listen(&self, local: SocketAddr) -> io::Result<TcpListener> {
        let socket = self.protocol.open(local)?;
        self.furnish(&socket)?;
        setsockopt(&socket, ReuseAddr, &true)?;
        bind(socket.as_raw_fd(), &SockaddrStorage::from(local))?;
        listen(&socket, Backlog::new(8)?)?;
        Ok(TcpListener::from(socket))
    }

    /// On a listener and what it accepts, too: not every kernel passes all of it on.
    pub fn furnish(&self, socket: &impl AsFd) -> io::Result<()> {
        if let Some(name) = &self.congestion {
            setsockopt(socket, TcpCongestion, &name.into())?;
        }
        setsockopt(socket, TcpNoDelay, &self.nodelay)?;
        if let Some(timeout) = self.user_timeout {
            let ms = u32::try_from(timeout.as_millis()).unwrap_or(u32::MAX);
            setsockopt(socket, TcpUserTimeout, &ms)?;
        }
        Ok(())
    }
}

/// The congestion control that the kernel says a socket uses.
pub fn congestion(socket: &impl AsFd) -> String {
    let name = getsockopt(socket, TcpCongestion).unwrap_or_default();
    name.to_string_lossy().trim_end_matches('\0').to_owned()
}
