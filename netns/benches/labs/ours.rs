//! Labs as the engines of impairlab build them: one after the other.

use std::net::{IpAddr, Ipv4Addr};

use netns::{Address, End, MacAddress, Namespace, Topology};

use crate::room;
use crate::table::{Times, Took};

const PATHS: u8 = 2;

pub fn build_and_remove(labs: usize) -> Times {
    let (built, build) = Took::to(|| (0..labs).map(|_| self::build()).collect::<Vec<_>>());
    let ((), gone) = Took::to(|| {
        drop(built);
        room::wait_until_all_are_gone();
    });
    Times { build, gone }
}

fn build() -> [Namespace; 3] {
    let namespaces =
        ["vehicle", "middle", "cloud"].map(|name| Namespace::new(name).expect("namespace"));
    let [vehicle, middle, cloud] = &namespaces;
    let mut topology = Topology::new();
    for path in 0..PATHS {
        let in_middle =
            |side, number| End::new(middle, &format!("{side}{path}"), mac(path, number));
        topology.veth(endpoint(vehicle, path, [1, 2]), in_middle("v", 3));
        topology.veth(endpoint(cloud, path, [2, 1]), in_middle("c", 4));
    }
    topology.build().expect("built");
    namespaces
}

fn endpoint(namespace: &Namespace, path: u8, [own, other]: [u8; 2]) -> End {
    End::new(namespace, &format!("p{path}"), mac(path, own))
        .address(Address::new(ip(path, own), 24).expect("24 bits fit"))
        .neighbour(ip(path, other), mac(path, other))
}

fn ip(path: u8, host: u8) -> IpAddr {
    IpAddr::V4(Ipv4Addr::new(10, 77, path, host))
}

fn mac(path: u8, number: u8) -> MacAddress {
    MacAddress::local(u32::from(path) * 16 + u32::from(number))
}
