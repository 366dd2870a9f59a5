//! Nothing is on a wire but what is sent on purpose, as a tap sees it that is there before the
//! wire: a sequence of random decisions is only one's own if no other packet takes part.

use std::net::{IpAddr, UdpSocket};
use std::os::fd::{AsRawFd, OwnedFd};
use std::thread::sleep;
use std::time::Duration;

use netns::{Address, End, MacAddress, Namespace, Topology};
use nix::sys::socket::{AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, recv, socket};

const VEHICLE: MacAddress = MacAddress::local(1);
const CLOUD: MacAddress = MacAddress::local(2);
/// Duplicate address detection, router solicitations and multicast reports would all have come.
const A_WHILE: Duration = Duration::from_secs(5);

#[test]
fn an_ipv4_path_carries_the_senders_packets_and_no_others() {
    carries_nothing_else("10.0.1.1/24", "10.0.1.2/24", &[0x08, 0x00], 20);
}

#[test]
fn an_ipv6_path_carries_the_senders_packets_and_no_others() {
    carries_nothing_else("fd00::1/64", "fd00::2/64", &[0x86, 0xdd], 40);
}

/// The middle forwards nothing, so that each packet is seen once.
fn carries_nothing_else(vehicle_address: &str, cloud_address: &str, ether_type: &[u8], ip: usize) {
    let [vehicle, middle, cloud] =
        ["vehicle", "middle", "cloud"].map(|name| Namespace::new(name).expect("namespace"));
    let tap = tap(&middle);
    let mut topology = Topology::new();
    let [here, there]: [Address; 2] =
        [vehicle_address, cloud_address].map(|text| text.parse().expect("address"));
    topology.veth(
        End::new(&vehicle, "path", VEHICLE).address(here).neighbour(there.ip(), CLOUD),
        End::new(&middle, "v", MacAddress::local(3)),
    );
    topology.veth(
        End::new(&cloud, "path", CLOUD).address(there).neighbour(here.ip(), VEHICLE),
        End::new(&middle, "c", MacAddress::local(4)),
    );
    topology.build().expect("built");
    send(&vehicle, here.ip(), there.ip(), b"from the vehicle");
    send(&cloud, there.ip(), here.ip(), b"from the cloud");
    sleep(A_WHILE);

    let frames: Vec<Vec<u8>> = std::iter::from_fn(|| frame(&tap)).collect();
    let [first, second] = &frames[..] else { panic!("not two frames: {frames:02x?}") };
    let expected =
        [(VEHICLE, CLOUD, &b"from the vehicle"[..]), (CLOUD, VEHICLE, b"from the cloud")];
    for (frame, (from, to, payload)) in [first, second].into_iter().zip(expected) {
        assert_eq!((&frame[..6], &frame[6..12]), (&to.0[..], &from.0[..]));
        assert_eq!(&frame[12..14], ether_type);
        // Behind the headers of Ethernet, IP and UDP.
        assert_eq!(&frame[14 + ip + 8..], payload);
    }
}

/// Hears every link of the namespace, those made later as well.
fn tap(namespace: &Namespace) -> OwnedFd {
    let open = || {
        let (family, kind) = (AddressFamily::Packet, SockType::Raw);
        socket(family, kind, SockFlag::SOCK_NONBLOCK, SockProtocol::EthAll)
    };
    namespace.run(open).expect("entered").expect("a packet socket")
}

fn frame(tap: &OwnedFd) -> Option<Vec<u8>> {
    let mut bytes = vec![0; 2048];
    let length = recv(tap.as_raw_fd(), &mut bytes, MsgFlags::empty()).ok()?;
    bytes.truncate(length);
    Some(bytes)
}

fn send(namespace: &Namespace, from: IpAddr, to: IpAddr, payload: &[u8]) {
    let socket = namespace.run(|| UdpSocket::bind((from, 7000))).expect("entered");
    socket.expect("bound").send_to(payload, (to, 7000)).expect("sent");
}
