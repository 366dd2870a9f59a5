//! A packet socket, only to find out whether there can be one.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use nix::errno::Errno;
use nix::sys::socket::{AddressFamily, SockFlag, SockType, socket};

/// Bound to no protocol: it receives nothing.
pub(crate) fn open() -> io::Result<OwnedFd> {
    Ok(socket(AddressFamily::Packet, SockType::Raw, SockFlag::SOCK_CLOEXEC, None)?)
}

/// Asks for a header with offload information before each frame.
pub(crate) fn set_vnet_header(socket: &OwnedFd) -> io::Result<()> {
    let on: libc::c_int = 1;
    // SAFETY: the option is an int, and `on` outlives the call.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_PACKET,
            libc::PACKET_VNET_HDR,
            (&raw const on).cast(),
            size_of_val(&on) as libc::socklen_t,
        )
    };
    Ok(Errno::result(result).map(drop)?)
}
