//! Segmentation and checksum offloads of a link, switched by the ethtool ioctl. With them on, what
//! a link sees is not the packets that a wire would carry, but up to 64 KiB at once, with checksums
//! left for hardware that is not there.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use nix::errno::Errno;
use nix::sys::socket::{AddressFamily, SockFlag, SockType, socket};
use thiserror::Error;

use crate::namespace::{Namespace, NamespaceError};

/// An offload, and the numbers by which it is switched and read (`linux/ethtool.h`).
struct Offload {
    name: &'static str,
    set: u32,
    query: u32,
}

/// In the order in which they can be switched on: each needs those before it. Off is the other way
/// round.
const OFFLOADS: [Offload; 6] = [
    Offload { name: "receive checksum", set: 0x15, query: 0x14 },
    Offload { name: "transmit checksum", set: 0x17, query: 0x16 },
    Offload { name: "scatter-gather", set: 0x19, query: 0x18 },
    Offload { name: "TCP segmentation", set: 0x1f, query: 0x1e },
    Offload { name: "generic segmentation", set: 0x24, query: 0x23 },
    Offload { name: "generic receive", set: 0x2c, query: 0x2b },
];

/// An offload could not be switched or read.
#[derive(Debug, Error)]
pub enum OffloadError {
    /// The kernel refused.
    #[error("cannot switch {offload} offload of {link} in network namespace {namespace}: {source}")]
    Refused {
        /// Which offload.
        offload: &'static str,
        /// Of which link.
        link: String,
        /// Where that link is.
        namespace: String,
        /// What the kernel said.
        source: io::Error,
    },
    /// The namespace could not be entered.
    #[error(transparent)]
    Namespace(#[from] NamespaceError),
}

impl Namespace {
    /// Switches checksum, scatter-gather and segmentation offloads of a link, all together.
    /// Whatever sends into a veth pair is governed by the end that it sends into, so both ends are
    /// to be switched.
    pub fn set_offloads(&self, link: &str, on: bool) -> Result<(), OffloadError> {
        let wanted = u32::from(on);
        let mut in_order: Vec<&Offload> = OFFLOADS.iter().collect();
        if !on {
            in_order.reverse();
        }
        self.run(|| {
            in_order.into_iter().try_for_each(|offload| {
                ethtool(link, offload.set, wanted)
                    .map(|_| ())
                    .map_err(|source| self.offload_error(offload, link, source))
            })
        })?
    }

    /// The names of the offloads that are on.
    pub fn offloads(&self, link: &str) -> Result<Vec<&'static str>, OffloadError> {
        self.run(|| {
            let mut on = Vec::new();
            for offload in &OFFLOADS {
                let value = ethtool(link, offload.query, 0)
                    .map_err(|source| self.offload_error(offload, link, source))?;
                on.extend((value != 0).then_some(offload.name));
            }
            Ok(on)
        })?
    }

    fn offload_error(&self, offload: &Offload, link: &str, source: io::Error) -> OffloadError {
        OffloadError::Refused {
            offload: offload.name,
            link: link.to_owned(),
            namespace: self.name().to_owned(),
            source,
        }
    }
}

/// `struct ethtool_value`.
#[repr(C)]
struct EthtoolValue {
    command: u32,
    data: u32,
}

/// The value after the command was carried out in the namespace of the calling thread.
fn ethtool(link: &str, command: u32, data: u32) -> io::Result<u32> {
    let socket = any_socket()?;
    let mut value = EthtoolValue { command, data };
    let mut request = libc::ifreq {
        ifr_name: link_name(link)?,
        ifr_ifru: libc::__c_anonymous_ifr_ifru { ifru_data: (&raw mut value).cast() },
    };
    // SAFETY: `request` names a link by a terminated string and points to a `struct ethtool_value`,
    // which is what this ioctl reads and writes for the commands of `OFFLOADS`; both live until it
    // returns.
    let result = unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCETHTOOL, &raw mut request) };
    Errno::result(result)?;
    Ok(value.data)
}

fn any_socket() -> io::Result<OwnedFd> {
    Ok(socket(AddressFamily::Inet, SockType::Datagram, SockFlag::SOCK_CLOEXEC, None)?)
}

fn link_name(link: &str) -> io::Result<[libc::c_char; libc::IFNAMSIZ]> {
    if link.len() >= libc::IFNAMSIZ {
        return Err(io::Error::from_raw_os_error(libc::ENODEV));
    }
    let mut name = [0; libc::IFNAMSIZ];
    for (to, from) in name.iter_mut().zip(link.bytes()) {
        *to = from as libc::c_char;
    }
    Ok(name)
}
