//! Namespaces on the real kernel. Root, or a user namespace, is needed.

use std::net::{IpAddr, Ipv4Addr, UdpSocket};
use std::time::Duration;

use netns::{End, MacAddress, Namespace, Topology};

const VEHICLE: MacAddress = MacAddress::local(1);
const CLOUD: MacAddress = MacAddress::local(2);
const VEHICLE_IP: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 1, 1));
const CLOUD_IP: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 1, 2));

#[test]
fn two_hosts_exchange_a_datagram() {
    let (vehicle, cloud) =
        (Namespace::new("vehicle").expect("vehicle"), Namespace::new("cloud").expect("cloud"));
    let mut topology = Topology::new();
    topology.veth(
        End::new(&vehicle, "4g", VEHICLE)
            .address("10.0.1.1/24".parse().expect("address"))
            .neighbour(CLOUD_IP, CLOUD),
        End::new(&cloud, "4g", CLOUD)
            .address("10.0.1.2/24".parse().expect("address"))
            .neighbour(VEHICLE_IP, VEHICLE),
    );
    topology.build().expect("built");

    let bind = |namespace: &Namespace, ip| {
        namespace.run(|| UdpSocket::bind((ip, 7000))).expect("entered").expect("bound")
    };
    let (at_vehicle, at_cloud) = (bind(&vehicle, VEHICLE_IP), bind(&cloud, CLOUD_IP));
    at_cloud.set_read_timeout(Some(Duration::from_secs(10))).expect("timeout");
    at_vehicle.send_to(b"hello", (CLOUD_IP, 7000)).expect("sent");
    let mut buffer = [0; 16];
    let (length, from) = at_cloud.recv_from(&mut buffer).expect("received");
    assert_eq!((&buffer[..length], from.ip()), (&b"hello"[..], VEHICLE_IP));
}
