//! The three namespaces of one trial and the wires between them: vehicle, middle and cloud, and for
//! each path one veth pair on either side of the middle. There either the relay joins the two, or a
//! bridge. Nothing but the endpoints' datagrams is ever on a wire: neighbours are static, and a
//! bridge has nothing to say. The kernel takes all of it down when the last descriptor is closed,
//! however the process ends.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use netns::{
    Address, Bridge, DumpError, End, MacAddress, Namespace, NamespaceError, NetlinkError,
    OffloadError, Qdisc, QdiscError, Shaper, Topology,
};
use thiserror::Error;

use super::packet_socket::PacketSocket;
use super::tap::Tap;
use super::udp_socket::PathSocket;
use crate::protocol::Role;
use crate::scenario::plan::PathPlan;
use crate::units::{Direction, IpVersion, PathId};

#[derive(Debug, Error)]
pub enum LabError {
    #[error(transparent)]
    Namespace(#[from] NamespaceError),
    #[error("cannot lay the links of the trial: {0}")]
    Links(#[from] NetlinkError),
    #[error(transparent)]
    Offloads(#[from] OffloadError),
    #[error(transparent)]
    Shaper(#[from] QdiscError),
    #[error(transparent)]
    Qdiscs(#[from] DumpError),
    #[error("cannot open the {socket} socket of path {path}: {source}")]
    Socket { socket: &'static str, path: usize, source: io::Error },
}

/// The port of both endpoints on every path.
const PORT: u16 = 4433;

pub struct Lab {
    vehicle: Namespace,
    middle: Namespace,
    cloud: Namespace,
    wires: Vec<Wire>,
}

/// What joins the two ends of each path in the middle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Joint {
    /// Nothing of the kernel's: the relay takes frames out of one end and puts them into the other.
    Relay,
    /// A bridge, which passes every frame on as it is and at once.
    Bridge,
}

/// The two ends of a path in the middle, by interface index.
#[derive(Debug, Clone, Copy)]
struct Wire {
    ip: IpVersion,
    to_vehicle: u32,
    to_cloud: u32,
}

/// Where frames go into a direction of a path, and where they come out, as the middle sees them.
pub struct Taps {
    pub entry: Tap,
    pub exit: Tap,
}

impl Lab {
    /// The network for the paths of a plan.
    pub fn of(paths: &[PathPlan], joint: Joint) -> Result<Self, LabError> {
        Self::build(&paths.iter().map(|path| path.ip).collect::<Vec<_>>(), joint)
    }

    /// One entry a path; at most 255, as a `PathId` is.
    pub fn build(paths: &[IpVersion], joint: Joint) -> Result<Self, LabError> {
        let [vehicle, middle, cloud] =
            [Namespace::new("vehicle")?, Namespace::new("middle")?, Namespace::new("cloud")?];
        let mut lab = Self { vehicle, middle, cloud, wires: Vec::new() };
        let mut topology = Topology::new();
        for (path, ip) in (0..).zip(paths) {
            let wire = lab.lay(path, *ip, joint, &mut topology);
            lab.wires.push(wire);
        }
        topology.build()?;
        (0..paths.len() as u8).try_for_each(|path| lab.switch_offloads_off(path))?;
        Ok(lab)
    }

    /// So that what passes the middle is whole packets with whole checksums.
    fn switch_offloads_off(&self, path: u8) -> Result<(), OffloadError> {
        let ends = [
            (&self.vehicle, format!("p{path}")),
            (&self.middle, format!("v{path}")),
            (&self.middle, format!("c{path}")),
            (&self.cloud, format!("p{path}")),
        ];
        ends.iter().try_for_each(|(namespace, link)| namespace.set_offloads(link, false))
    }

    fn lay(&self, path: u8, ip: IpVersion, joint: Joint, topology: &mut Topology) -> Wire {
        let bridge = match joint {
            Joint::Relay => None,
            Joint::Bridge => Some(Bridge::new(&self.middle, &format!("b{path}"), bridge_mac(path))),
        };
        let in_middle = |side: &str, number: u32| {
            let end = End::new(&self.middle, &format!("{side}{path}"), mac(path, number));
            match &bridge {
                None => end,
                Some(bridge) => end.port_of(bridge),
            }
        };
        let (to_vehicle, to_cloud) = (in_middle("v", 2), in_middle("c", 3));
        let wire = Wire { ip, to_vehicle: to_vehicle.index(), to_cloud: to_cloud.index() };
        topology.veth(endpoint(&self.vehicle, path, ip, Role::Client), to_vehicle);
        topology.veth(endpoint(&self.cloud, path, ip, Role::Server), to_cloud);
        if let Some(bridge) = bridge {
            topology.bridge(bridge);
        }
        wire
    }

    /// The end in the middle by which a direction leaves it, and so the one whose queue discipline
    /// every packet of that direction meets: its interface index and name.
    pub fn exit(&self, path: PathId, direction: Direction) -> (u32, String) {
        let wire = self.wires[path.index()];
        match direction {
            Direction::Up => (wire.to_cloud, format!("c{}", path.0)),
            Direction::Down => (wire.to_vehicle, format!("v{}", path.0)),
        }
    }

    /// To change the queue disciplines in the middle.
    pub fn shaper(&self) -> Result<Shaper, LabError> {
        Ok(self.middle.shaper()?)
    }

    /// The queue disciplines in the middle.
    pub fn qdiscs(&self) -> Result<Vec<Qdisc>, LabError> {
        Ok(self.middle.qdiscs()?)
    }

    /// For each path, the taps of both directions, up first.
    pub fn taps(&self) -> Result<Vec<[Taps; 2]>, LabError> {
        let open = |(path, wire): (usize, &Wire)| {
            let failed = |source| LabError::Socket { socket: "tap", path, source };
            let taps = |from, to| {
                Ok::<_, io::Error>(Taps { entry: Tap::incoming(from)?, exit: Tap::outgoing(to)? })
            };
            let Wire { to_vehicle, to_cloud, .. } = *wire;
            Ok([
                taps(to_vehicle, to_cloud).map_err(failed)?,
                taps(to_cloud, to_vehicle).map_err(failed)?,
            ])
        };
        self.middle.run(|| self.wires.iter().enumerate().map(open).collect())?
    }

    /// For each path, the relay's sockets towards the vehicle and towards the cloud.
    pub fn relay_sockets(&self) -> Result<Vec<(PacketSocket, PacketSocket)>, LabError> {
        let sockets = 2 * self.wires.len();
        let open = |(path, wire): (usize, &Wire)| {
            let socket = |index| {
                let failed = |source| LabError::Socket { socket: "relay's packet", path, source };
                PacketSocket::open(index, sockets).map_err(failed)
            };
            Ok((socket(wire.to_vehicle)?, socket(wire.to_cloud)?))
        };
        self.middle.run(|| self.wires.iter().enumerate().map(open).collect())?
    }

    /// Where an endpoint lives.
    pub fn host(&self, role: Role) -> &Namespace {
        match role {
            Role::Client => &self.vehicle,
            Role::Server => &self.cloud,
        }
    }

    /// An endpoint's address on a path, and its port there.
    pub fn address(&self, path: PathId, role: Role) -> SocketAddr {
        SocketAddr::new(address(path.0, self.wires[path.index()].ip, role), PORT)
    }

    /// An endpoint's UDP sockets, one a path.
    pub fn endpoint_sockets(&self, role: Role) -> Result<Vec<PathSocket>, LabError> {
        let open = |(path, wire): (usize, &Wire)| {
            let failed = |source| LabError::Socket { socket: "endpoint's UDP", path, source };
            let of = |role| SocketAddr::new(address(path as u8, wire.ip, role), PORT);
            PathSocket::open(of(role), of(other(role))).map_err(failed)
        };
        self.host(role).run(|| self.wires.iter().enumerate().map(open).collect())?
    }
}

/// An endpoint's end of a path: it knows its peer's hardware address, since frames pass the middle
/// unchanged.
fn endpoint(namespace: &Namespace, path: u8, ip: IpVersion, role: Role) -> End {
    let prefix = match ip {
        IpVersion::V4 => 24,
        IpVersion::V6 => 64,
    };
    let own = Address::new(address(path, ip, role), prefix).expect("the prefix fits the address");
    End::new(namespace, &format!("p{path}"), mac(path, number(role)))
        .address(own)
        .neighbour(address(path, ip, other(role)), mac(path, number(other(role))))
}

/// A subnet a path; the vehicle is 1 in it and the cloud 2.
fn address(path: u8, ip: IpVersion, role: Role) -> IpAddr {
    let host = 1 + number(role) as u8;
    match ip {
        IpVersion::V4 => IpAddr::V4(Ipv4Addr::new(10, 77, path, host)),
        IpVersion::V6 => IpAddr::V6(Ipv6Addr::new(0xfd77, 0, 0, path.into(), 0, 0, 0, host.into())),
    }
}

fn mac(path: u8, number: u32) -> MacAddress {
    MacAddress::local(u32::from(path) * 4 + number)
}

/// No frame is ever sent to it.
fn bridge_mac(path: u8) -> MacAddress {
    MacAddress::local(u32::from(u8::MAX) * 4 + 4 + u32::from(path))
}

fn number(role: Role) -> u32 {
    match role {
        Role::Client => 0,
        Role::Server => 1,
    }
}

fn other(role: Role) -> Role {
    match role {
        Role::Client => Role::Server,
        Role::Server => Role::Client,
    }
}

#[cfg(test)]
mod tests;
