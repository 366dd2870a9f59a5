//! Two namespaces with a wire between them that delays, reorders, repeats and loses packets both
//! ways.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use impairlab::engine::relay::{Wire, WirePlan};
use impairlab::link::profile::{Correlated, LinkProfile, Loss};
use impairlab::units::Probability;
use netns::{End, MacAddress, Namespace, Topology};

use crate::namespaces;

const VEHICLE: &str = "10.9.0.1";
const CLOUD: &str = "10.9.0.2";

pub struct Lab {
    pub vehicle: Namespace,
    pub cloud: Namespace,
    wire: Wire,
}

impl Lab {
    /// What kcptun-server forwards to, in the cloud.
    pub const ECHO: u16 = 7_000;

    /// `None`, and a word about it, where there are no namespaces and none are expected.
    pub fn build(loss_percent: f64) -> Option<Self> {
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
        topology.veth(endpoint(&cloud, 2, CLOUD, 1, VEHICLE), right);
        topology.build().expect("there is nothing there yet");
        let profile = profile(loss_percent);
        let plan = WirePlan { up: profile.clone(), down: profile, seed: 1, changes: Vec::new() };
        let wire = Wire::start(&middle, interfaces, plan).expect("the interfaces are there");
        Some(Self { vehicle, cloud, wire })
    }

    /// Both directions did lose packets.
    pub fn end(self) {
        let report = self.wire.end().expect("the relay runs to its end");
        println!("up {:?}\ndown {:?}", report.up, report.down);
        assert!(report.up.lost > 0 && report.down.lost > 0, "{report:?}");
    }
}

fn profile(loss_percent: f64) -> LinkProfile {
    let chance = |percent: f64| {
        let probability = Probability::new(percent / 100.0).expect("between 0 and 100");
        Correlated { probability, ..Correlated::default() }
    };
    LinkProfile {
        delay: Duration::from_millis(5),
        jitter: Duration::from_millis(3),
        loss: Loss::Random(chance(loss_percent)),
        duplicate: chance(1.0),
        limit: 100_000,
        ..LinkProfile::default()
    }
}

fn endpoint(space: &Namespace, mac: u32, own: &str, other: u32, its: &str) -> End {
    End::new(space, "wire", MacAddress::local(mac))
        .address(format!("{own}/24").parse().expect("an address"))
        .neighbour(address(its), MacAddress::local(other))
}

fn address(text: &str) -> IpAddr {
    text.parse().expect("an address")
}

/// Where the server of a case hears KCP.
pub fn server_of(number: u16) -> SocketAddr {
    SocketAddr::new(address(CLOUD), 4_000 + number)
}

/// Where kcptun-client takes TCP connections, in the vehicle.
pub fn entrance_of(number: u16) -> SocketAddr {
    SocketAddr::new(address("127.0.0.1"), 5_000 + number)
}

pub fn echo_address() -> SocketAddr {
    SocketAddr::new(address("127.0.0.1"), Lab::ECHO)
}
