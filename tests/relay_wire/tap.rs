//! Frames that come in by an interface, as a capture of the kernel's: bytes and time.

use std::io::IoSliceMut;
use std::os::fd::{AsRawFd, OwnedFd};

use netns::Namespace;
use nix::sys::socket::sockopt::{RcvBufForce, ReceiveTimestampns};
use nix::sys::socket::{
    AddressFamily, ControlMessageOwned, LinkAddr, MsgFlags, SockFlag, SockProtocol, SockType,
    recvmsg, setsockopt, socket,
};
use nix::sys::time::TimeValLike;

/// Hears every interface of its namespace; told apart by their index.
pub struct Tap {
    socket: OwnedFd,
    interface: usize,
}

pub struct Seen {
    pub bytes: Vec<u8>,
    /// CLOCK_REALTIME in ns.
    pub at: i64,
}

impl Tap {
    pub fn open(namespace: &Namespace, interface: u32) -> Self {
        let open = || {
            let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
            let protocol = Some(SockProtocol::EthAll);
            socket(AddressFamily::Packet, SockType::Raw, flags, protocol).expect("root may listen")
        };
        let socket = namespace.run(open).expect("the namespace is there");
        setsockopt(&socket, ReceiveTimestampns, &true).expect("the kernel can stamp");
        let _ = setsockopt(&socket, RcvBufForce, &(64 << 20));
        Self { socket, interface: interface as usize }
    }

    /// What came in by the interface since the last call.
    pub fn seen(&self) -> Vec<Seen> {
        let mut seen = Vec::new();
        let mut buffer = vec![0; 1 << 17];
        loop {
            let mut slices = [IoSliceMut::new(&mut buffer)];
            let mut space = nix::cmsg_space!(nix::sys::time::TimeSpec);
            let (fd, flags) = (self.socket.as_raw_fd(), MsgFlags::MSG_DONTWAIT);
            let Ok(message) = recvmsg::<LinkAddr>(fd, &mut slices, Some(&mut space), flags) else {
                return seen;
            };
            let from = message.address.expect("every frame has a place");
            // 4: outgoing.
            let incoming = from.ifindex() == self.interface && from.pkttype() != 4;
            let stamp = message.cmsgs().ok().and_then(|mut all| {
                all.find_map(|control| match control {
                    ControlMessageOwned::ScmTimestampns(at) => Some(at.num_nanoseconds()),
                    _ => None,
                })
            });
            let (length, at) = (message.bytes, stamp.unwrap_or_default());
            if incoming {
                seen.push(Seen { bytes: buffer[..length].to_vec(), at });
            }
        }
    }
}
