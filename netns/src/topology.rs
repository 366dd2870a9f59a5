//! Namespaces wired together: veth pairs and bridges made in place, with their addresses, routes
//! and neighbours. Gathers first and asks the kernel last, with one send for all pairs and one for each
//! namespace.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::sync::atomic::{AtomicU32, Ordering};

use netlink_packet_core::{NLM_F_CREATE, NLM_F_EXCL, NLM_F_REPLACE};
use netlink_packet_route::link::LinkFlags;

use crate::address::{Address, MacAddress};
use crate::loopback::up;
use crate::namespace::{Namespace, NamespaceError};
use crate::netlink::{Batch, Connection, NetlinkError};
pub use bridge::Bridge;
use requests::{add_address, add_neighbour, add_route, create_pair, make_port};

mod bridge;
mod ready;
mod requests;

/// Link indexes are chosen here, so that no message has to wait for the answer to another. They
/// begin well above those the kernel hands out to links that are made inside by other means, and no
/// two ends have the same: the kernel is quicker to notice that a link is up if its peer's differs.
static NEXT_LINK_INDEX: AtomicU32 = AtomicU32::new(100);

fn next_link_index() -> u32 {
    NEXT_LINK_INDEX.fetch_add(1, Ordering::Relaxed)
}

/// Ethernet's own, and the kernel's default for veth.
pub const DEFAULT_MTU: u32 = 1500;

/// One end of a veth pair: a link in a namespace.
#[derive(Debug, Clone)]
pub struct End {
    namespace: Namespace,
    name: String,
    index: u32,
    mac: MacAddress,
    mtu: u32,
    /// The index of the bridge that it is a port of.
    bridge: Option<u32>,
    addresses: Vec<Address>,
    neighbours: Vec<(IpAddr, MacAddress)>,
    routes: Vec<Route>,
}

impl End {
    /// A link named `name` (at most 15 bytes) in `namespace`. Its Ethernet address is fixed here,
    /// so that neighbours can be told it before it exists.
    pub fn new(namespace: &Namespace, name: &str, mac: MacAddress) -> Self {
        Self {
            namespace: namespace.clone(),
            name: name.to_owned(),
            index: next_link_index(),
            mac,
            mtu: DEFAULT_MTU,
            bridge: None,
            addresses: Vec::new(),
            neighbours: Vec::new(),
            routes: Vec::new(),
        }
    }

    /// The largest IP packet in bytes; [`DEFAULT_MTU`] unless set.
    pub fn mtu(mut self, bytes: u32) -> Self {
        self.mtu = bytes;
        self
    }

    /// Makes it a port of this bridge, which has to be in the same namespace. A port is for the
    /// bridge alone: it should have no address.
    pub fn port_of(mut self, bridge: &Bridge) -> Self {
        self.bridge = Some(bridge.index);
        self
    }

    /// Adds an address; its network is then reached over this link.
    pub fn address(mut self, address: Address) -> Self {
        self.addresses.push(address);
        self
    }

    /// Adds a permanent entry to the neighbour table. An end that has any is silent: it knows the
    /// hosts that it was told, gateways included, and no others; it neither asks (ARP, neighbour
    /// discovery, multicast reports) nor answers.
    pub fn neighbour(mut self, ip: IpAddr, mac: MacAddress) -> Self {
        self.neighbours.push((ip, mac));
        self
    }

    /// Adds a route over this link.
    pub fn route(mut self, route: Route) -> Self {
        self.routes.push(route);
        self
    }

    /// The interface index, known before the link exists.
    pub fn index(&self) -> u32 {
        self.index
    }
}

/// A route over a link, to a whole network (the default route: `0.0.0.0/0` or `::/0`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Route {
    to: Address,
    via: Option<IpAddr>,
    source: Option<IpAddr>,
    metric: Option<u32>,
}

impl Route {
    /// A route to a network whose hosts are all neighbours on the link.
    pub fn to(network: Address) -> Self {
        Self { to: network, via: None, source: None, metric: None }
    }

    /// … or are behind this gateway, which is taken to be on the link.
    pub fn via(mut self, gateway: IpAddr) -> Self {
        self.via = Some(gateway);
        self
    }

    /// The source address of packets that take this route, where their socket is bound to none.
    pub fn source(mut self, address: IpAddr) -> Self {
        self.source = Some(address);
        self
    }

    /// Of several routes to a network, that with the lowest metric is taken.
    pub fn metric(mut self, metric: u32) -> Self {
        self.metric = Some(metric);
        self
    }
}

/// Veth pairs and bridges to be made together.
#[derive(Debug, Default)]
pub struct Topology {
    group: u32,
    bridges: Vec<Bridge>,
    pairs: Vec<[End; 2]>,
}

impl Topology {
    /// Nothing to be made yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The group number of every link made (`ip link show group N`), 0 unless set.
    pub fn group(mut self, group: u32) -> Self {
        self.group = group;
        self
    }

    /// Adds a veth pair: what goes in at one end comes out at the other.
    pub fn veth(&mut self, one: End, other: End) -> &mut Self {
        self.pairs.push([one, other]);
        self
    }

    /// Adds a bridge; its ports are the ends that say so.
    pub fn bridge(&mut self, bridge: Bridge) -> &mut Self {
        self.bridges.push(bridge);
        self
    }

    /// Makes every bridge and pair, brings up and furnishes its ends, and waits until packets get
    /// through. After an error, what was made goes with its namespaces.
    pub fn build(self) -> Result<(), NetlinkError> {
        let Some(first) = self.first_namespace() else { return Ok(()) };
        first.run(|| self.build_from_here()).map_err(namespace_error)?
    }

    fn first_namespace(&self) -> Option<Namespace> {
        let end = self.pairs.first().map(|[end, _]| &end.namespace);
        end.or(self.bridges.first().map(|bridge| &bridge.namespace)).cloned()
    }

    /// On a thread that may go from one namespace to the next.
    fn build_from_here(self) -> Result<(), NetlinkError> {
        let mut pairs = Batch::default();
        for pair in &self.pairs {
            let purpose = format!("create veth pair {} - {}", pair[0].place(), pair[1].place());
            pairs.push(purpose, NLM_F_CREATE | NLM_F_EXCL, create_pair(pair, self.group));
        }
        let mut places = self.into_places()?;
        if let Some(first) = places.first_mut() {
            first.connection.ask(&pairs)?;
        }
        places.iter_mut().try_for_each(Place::furnish)?;
        // Only now, for a link is up when both of its ends are.
        places.iter_mut().try_for_each(Place::wait_until_ready)
    }

    /// The namespace of the first end is the first.
    fn into_places(self) -> Result<Vec<Place>, NetlinkError> {
        let mut places = Places::default();
        for end in self.pairs.into_iter().flatten() {
            places.of(&end.namespace)?.ends.push(end);
        }
        for bridge in self.bridges {
            places.of(&bridge.namespace)?.bridges.push(bridge);
        }
        Ok(places.all)
    }
}

#[derive(Default)]
struct Places {
    all: Vec<Place>,
    /// Where in `all` a namespace is, by its descriptor: two may well bear the same name.
    known: BTreeMap<RawFd, usize>,
}

impl Places {
    fn of(&mut self, namespace: &Namespace) -> Result<&mut Place, NetlinkError> {
        let descriptor = namespace.as_fd().as_raw_fd();
        let index = match self.known.get(&descriptor) {
            Some(index) => *index,
            None => {
                self.all.push(Place::enter(namespace)?);
                self.known.insert(descriptor, self.all.len() - 1);
                self.all.len() - 1
            }
        };
        Ok(&mut self.all[index])
    }
}

/// What is to be in one namespace, and how to talk to the kernel about it.
struct Place {
    connection: Connection,
    bridges: Vec<Bridge>,
    ends: Vec<End>,
}

impl Place {
    /// Moves the calling thread there.
    fn enter(namespace: &Namespace) -> Result<Self, NetlinkError> {
        namespace.enter().map_err(namespace_error)?;
        let connection = Connection::from_here(namespace.name())?;
        Ok(Self { connection, bridges: Vec::new(), ends: Vec::new() })
    }

    fn furnish(&mut self) -> Result<(), NetlinkError> {
        let mut batch = Batch::default();
        self.bridges.iter().for_each(|bridge| batch.append_bridge(bridge));
        self.ends.iter().for_each(|end| batch.append_end(end));
        self.connection.ask(&batch).map(drop)
    }
}

fn namespace_error(error: NamespaceError) -> NetlinkError {
    NetlinkError::Namespace(Box::new(error))
}

impl Batch {
    fn append_bridge(&mut self, bridge: &Bridge) {
        let name = &bridge.name;
        let flags = NLM_F_CREATE | NLM_F_EXCL;
        self.push(format!("create bridge {name}"), flags, bridge.create());
        self.push(format!("bring up {name}"), 0, up(bridge.index, LinkFlags::empty()));
    }

    /// In the order that the kernel wants: no route over a link that is down, or to a source that
    /// is not there.
    fn append_end(&mut self, end: &End) {
        let name = &end.name;
        if let Some(bridge) = end.bridge {
            let purpose = format!("make {name} a port of the bridge with index {bridge}");
            self.push(purpose, 0, make_port(end.index, bridge));
        }
        self.push(format!("bring up {name}"), 0, up(end.index, end.flags()));
        for address in &end.addresses {
            let purpose = format!("add address {address} to {name}");
            self.push(purpose, NLM_F_CREATE | NLM_F_EXCL, add_address(end.index, *address));
        }
        for (ip, mac) in &end.neighbours {
            let purpose = format!("add neighbour {ip} at {mac} to {name}");
            self.push(purpose, NLM_F_CREATE | NLM_F_REPLACE, add_neighbour(end.index, *ip, *mac));
        }
        for route in &end.routes {
            let purpose = format!("add route to {} over {name}", route.to);
            self.push(purpose, NLM_F_CREATE | NLM_F_EXCL, add_route(end.index, route));
        }
    }
}

impl End {
    /// Set before the first address, which would otherwise join a multicast group and report that.
    fn flags(&self) -> LinkFlags {
        if self.neighbours.is_empty() { LinkFlags::empty() } else { LinkFlags::Noarp }
    }

    fn place(&self) -> String {
        format!("{} (in {})", self.name, self.namespace.name())
    }
}
