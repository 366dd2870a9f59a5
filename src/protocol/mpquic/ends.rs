//! The addresses by which a multipath library knows a path: what they really are is the driver's
//! business.

use std::net::{Ipv4Addr, SocketAddr};

use crate::protocol::Role;
use crate::units::PathId;

/// This side's address of a path, and the other side's.
pub fn ends(role: Role, path: PathId) -> (SocketAddr, SocketAddr) {
    let (client, server) = (address(Role::Client, path), address(Role::Server, path));
    match role {
        Role::Client => (client, server),
        Role::Server => (server, client),
    }
}

/// The path that an address of either side stands for.
pub fn path_of(address: SocketAddr) -> Option<PathId> {
    match address {
        SocketAddr::V4(v4) => Some(PathId(v4.ip().octets()[3])),
        SocketAddr::V6(_) => None,
    }
}

fn address(role: Role, path: PathId) -> SocketAddr {
    let [a, b, c] = match role {
        Role::Client => [198, 51, 100],
        Role::Server => [203, 0, 113],
    };
    SocketAddr::from((Ipv4Addr::new(a, b, c, path.0), PORT))
}

const PORT: u16 = 4433;
