//! Bridges on the real kernel. Root, or a user namespace, is needed.

use std::net::{IpAddr, UdpSocket};
use std::thread;
use std::time::Duration;

use netns::{Bridge, End, MacAddress, Namespace, Topology};

fn ip(text: &str) -> IpAddr {
    text.parse().expect("an address")
}

/// A vehicle and a cloud with a bridge between them.
fn joined() -> [Namespace; 3] {
    let [vehicle, middle, cloud] =
        ["vehicle", "middle", "cloud"].map(|name| Namespace::new(name).expect(name));
    let mac = MacAddress::local;
    let end = |namespace, own: &str, others: &str, number: u32| {
        End::new(namespace, "p0", mac(number))
            .address(format!("{own}/24").parse().expect("address"))
            .neighbour(ip(others), mac(3 - number))
    };
    let bridge = Bridge::new(&middle, "b0", mac(5));
    let port = |name, number| End::new(&middle, name, mac(number)).port_of(&bridge);
    let mut topology = Topology::new();
    topology.veth(end(&vehicle, "10.0.1.1", "10.0.1.2", 1), port("v0", 3));
    topology.veth(end(&cloud, "10.0.1.2", "10.0.1.1", 2), port("c0", 4));
    topology.bridge(bridge);
    topology.build().expect("built");
    [vehicle, middle, cloud]
}

fn exchange(vehicle: &Namespace, cloud: &Namespace) {
    let bind = |namespace: &Namespace, address| {
        let socket = namespace.run(|| UdpSocket::bind((ip(address), 7000))).expect("entered");
        let socket = socket.expect("bound");
        socket.set_read_timeout(Some(Duration::from_secs(20))).expect("timeout");
        socket
    };
    let (here, there) = (bind(vehicle, "10.0.1.1"), bind(cloud, "10.0.1.2"));
    let mut buffer = [0; 16];
    here.send_to(b"hello", (ip("10.0.1.2"), 7000)).expect("sent");
    assert_eq!(there.recv_from(&mut buffer).expect("received").0, 5);
    there.send_to(b"hi", (ip("10.0.1.1"), 7000)).expect("sent");
    assert_eq!(here.recv_from(&mut buffer).expect("received").0, 2);
}

/// Not even the first packet is lost, although a bridge notices in its own time that its ports are
/// up.
#[test]
fn a_bridge_passes_on_from_the_first_packet() {
    for _ in 0..50 {
        let [vehicle, _middle, cloud] = joined();
        exchange(&vehicle, &cloud);
    }
}

#[test]
fn a_bridge_sends_nothing_of_its_own() {
    let [vehicle, middle, cloud] = joined();
    exchange(&vehicle, &cloud);
    // Queries of a multicast router and messages of a spanning tree would come within seconds.
    thread::sleep(Duration::from_secs(5));
    let links = middle.links().expect("links");
    let through = |name: &str| {
        let link = links.iter().find(|link| link.name == name).expect("the link");
        (link.packets_received, link.packets_sent)
    };
    assert_eq!((through("v0"), through("c0")), ((1, 1), (1, 1)));
    assert_eq!(through("b0").1, 0);
    for namespace in [&vehicle, &cloud] {
        let links = namespace.links().expect("links");
        let end = links.iter().find(|link| link.name == "p0").expect("the link");
        assert_eq!((end.packets_received, end.packets_sent), (1, 1));
    }
}
