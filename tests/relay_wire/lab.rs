//! Two namespaces with a wire between them, offloads on, for traffic of the kernel's own.

use std::net::{IpAddr, SocketAddr};

use impairlab::engine::relay::{Wire, WirePlan, WireReport};
use impairlab::link::profile::LinkProfile;
use impairlab::timeline::Change;
use netns::{End, MacAddress, Namespace, Topology};

use crate::namespaces;

pub struct Lab {
    pub vehicle: Namespace,
    pub middle: Namespace,
    pub cloud: Namespace,
    /// Of the vehicle's and of the cloud's side in the middle.
    pub interfaces: [u32; 2],
    /// The cloud's own.
    pub exit: u32,
    wire: Option<Wire>,
}

pub const VEHICLE: [&str; 2] = ["10.8.0.1", "fd08::1"];
pub const CLOUD: [&str; 2] = ["10.8.0.2", "fd08::2"];

impl Lab {
    /// `None`, and a word about it, where there are no namespaces and none are expected.
    pub fn build(up: LinkProfile, down: LinkProfile, changes: Vec<Change>) -> Option<Self> {
        if !namespaces::are_here() {
            return None;
        }
        let [vehicle, middle, cloud] = ["vehicle", "middle", "cloud"]
            .map(|name| Namespace::new(name).expect("there was one just now"));
        let [left, right] = [("left", 3), ("right", 4)]
            .map(|(name, mac)| End::new(&middle, name, MacAddress::local(mac)));
        let interfaces = [left.index(), right.index()];
        let mut topology = Topology::new();
        topology.veth(endpoint(&vehicle, 1, VEHICLE, 2, CLOUD), left);
        let last = endpoint(&cloud, 2, CLOUD, 1, VEHICLE);
        let exit = last.index();
        topology.veth(last, right);
        topology.build().expect("there is nothing there yet");
        let plan = WirePlan { up, down, seed: 1, changes };
        let wire = Some(Wire::start(&middle, interfaces, plan).expect("the interfaces are there"));
        Some(Self { vehicle, middle, cloud, interfaces, exit, wire })
    }

    pub fn end(mut self) -> WireReport {
        self.wire.take().expect("it ends once").end().expect("the relay runs to its end")
    }
}

fn endpoint(space: &Namespace, mac: u32, own: [&str; 2], other: u32, its: [&str; 2]) -> End {
    let end = End::new(space, "wire", MacAddress::local(mac));
    let prefixes = [24, 64];
    let end = own.into_iter().zip(prefixes).fold(end, |end, (address, prefix)| {
        end.address(format!("{address}/{prefix}").parse().expect("an address"))
    });
    let neighbour = |end: End, ip| end.neighbour(address(ip), MacAddress::local(other));
    its.into_iter().fold(end, neighbour)
}

pub fn address(text: &str) -> IpAddr {
    text.parse().expect("an address")
}

pub fn at_port(ip: &str) -> SocketAddr {
    SocketAddr::new(address(ip), 5001)
}
