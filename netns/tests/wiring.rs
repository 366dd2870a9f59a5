//! Namespaces and links on the real kernel. Root, or a user namespace, is needed.

use std::fs;
use std::net::{IpAddr, UdpSocket};
use std::process::Command;
use std::thread;
use std::time::Duration;

use netns::{End, MacAddress, Namespace, NetlinkError, Route, Topology};

const VEHICLE: MacAddress = MacAddress::local(1);
const CLOUD: MacAddress = MacAddress::local(2);

fn ip(text: &str) -> IpAddr {
    text.parse().expect("an address")
}

/// Two namespaces joined by one veth pair with an IPv4 and an IPv6 network.
fn two_hosts() -> (Namespace, Namespace) {
    let vehicle = Namespace::new("vehicle").expect("vehicle");
    let cloud = Namespace::new("cloud").expect("cloud");
    let mut topology = Topology::new().group(7);
    topology.veth(
        End::new(&vehicle, "4g", VEHICLE)
            .mtu(1400)
            .address("10.0.1.1/24".parse().expect("address"))
            .address("fd00::1/64".parse().expect("address"))
            .neighbour(ip("10.0.1.2"), CLOUD)
            .neighbour(ip("fd00::2"), CLOUD)
            .route(Route::to("0.0.0.0/0".parse().expect("network")).via(ip("10.0.1.2")).metric(5))
            .route(Route::to("192.0.2.7/24".parse().expect("network")).source(ip("10.0.1.1"))),
        End::new(&cloud, "4g", CLOUD)
            .mtu(1400)
            .address("10.0.1.2/24".parse().expect("address"))
            .address("fd00::2/64".parse().expect("address"))
            .neighbour(ip("10.0.1.1"), VEHICLE)
            .neighbour(ip("fd00::1"), VEHICLE),
    );
    topology.build().expect("built");
    (vehicle, cloud)
}

fn bind(namespace: &Namespace, address: &str) -> UdpSocket {
    let socket = namespace.run(|| UdpSocket::bind((ip(address), 7000))).expect("entered");
    let socket = socket.expect("bound");
    socket.set_read_timeout(Some(Duration::from_secs(20))).expect("timeout");
    socket
}

fn exchange_a_datagram_each(vehicle: &Namespace, cloud: &Namespace) {
    for (here, there) in [("10.0.1.1", "10.0.1.2"), ("fd00::1", "fd00::2")] {
        let (at_vehicle, at_cloud) = (bind(vehicle, here), bind(cloud, there));
        at_vehicle.send_to(b"hello", (ip(there), 7000)).expect("sent");
        let mut buffer = [0; 16];
        let (length, from) = at_cloud.recv_from(&mut buffer).expect("received");
        assert_eq!((&buffer[..length], from.ip()), (&b"hello"[..], ip(here)));
    }
}

/// Not even the first packet is lost, although the kernel brings links and addresses up in its own
/// time. Several at once make it late.
#[test]
fn what_is_built_is_ready() {
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..50 {
                    let (vehicle, cloud) = two_hosts();
                    exchange_a_datagram_each(&vehicle, &cloud);
                }
            });
        }
    });
}

#[test]
fn two_hosts_exchange_datagrams_and_nothing_else() {
    let (vehicle, cloud) = two_hosts();
    exchange_a_datagram_each(&vehicle, &cloud);
    // Router solicitations, duplicate address detection and multicast reports would come within a
    // second or two.
    thread::sleep(Duration::from_secs(4));
    let sent = |namespace: &Namespace| {
        let links = namespace.links().expect("links");
        links.iter().find(|link| link.name == "4g").expect("the link").packets_sent
    };
    assert_eq!((sent(&vehicle), sent(&cloud)), (2, 0));
}

#[test]
fn a_link_without_addresses_carries_nothing() {
    let middle = Namespace::new("middle").expect("middle");
    let mut topology = Topology::new();
    topology.veth(End::new(&middle, "a", VEHICLE), End::new(&middle, "b", CLOUD));
    topology.build().expect("built");
    thread::sleep(Duration::from_secs(4));
    let links = middle.links().expect("links");
    assert_eq!(links.iter().map(|link| link.packets_sent).sum::<u64>(), 0);
}

/// An end that was told no neighbours asks for them, as on any network.
#[test]
fn hosts_that_were_told_nothing_find_one_another() {
    let [one, other] = ["one", "other"].map(|name| Namespace::new(name).expect("namespace"));
    let mut topology = Topology::new();
    topology.veth(
        End::new(&one, "net", VEHICLE).address("10.0.1.1/24".parse().expect("address")),
        End::new(&other, "net", CLOUD).address("10.0.1.2/24".parse().expect("address")),
    );
    topology.build().expect("built");
    let (here, there) = (bind(&one, "10.0.1.1"), bind(&other, "10.0.1.2"));
    here.send_to(b"hello", (ip("10.0.1.2"), 7000)).expect("sent");
    assert_eq!(there.recv_from(&mut [0; 16]).expect("received").0, 5);
}

#[test]
fn links_are_as_they_were_described() {
    let (vehicle, cloud) = two_hosts();
    for (namespace, mac) in [(&vehicle, VEHICLE), (&cloud, CLOUD)] {
        let links = namespace.links().expect("links");
        let [lo, link] = &links[..] else { panic!("not two links: {links:?}") };
        assert!(lo.name == "lo" && lo.up);
        assert_eq!((link.name.as_str(), link.mac, link.mtu), ("4g", Some(mac), 1400));
        assert!(link.up && link.group == 7);
    }
}

/// `ip` of iproute2 as a second opinion.
#[test]
fn routes_and_neighbours_are_as_ip_prints_them() {
    let (vehicle, _cloud) = two_hosts();
    let ip = |arguments: &str| {
        let output = vehicle.command("ip").args(arguments.split(' ')).output().expect("ip runs");
        let text = String::from_utf8(output.stdout).expect("text");
        text.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(
        ip("-4 route"),
        [
            "default via 10.0.1.2 dev 4g proto static metric 5 onlink",
            "10.0.1.0/24 dev 4g proto kernel scope link src 10.0.1.1",
            "192.0.2.0/24 dev 4g proto static scope link src 10.0.1.1",
        ]
    );
    assert_eq!(
        ip("neighbour"),
        [
            "10.0.1.2 dev 4g lladdr 02:00:00:00:00:02 PERMANENT",
            "fd00::2 dev 4g lladdr 02:00:00:00:00:02 PERMANENT",
        ]
    );
}

#[test]
fn what_the_kernel_refuses_is_named() {
    let namespace = Namespace::new("lonely").expect("namespace");
    let end = |name, mac| End::new(&namespace, name, MacAddress::local(mac));
    let mut topology = Topology::new();
    topology.veth(
        end("a", 1),
        end("b", 2)
            .route(Route::to("10.9.0.0/16".parse().expect("network")).source(ip("10.1.1.1"))),
    );
    let error = topology.build().expect_err("no such source address");
    assert_eq!(
        error.to_string(),
        "cannot add route to 10.9.0.0/16 over b in network namespace lonely: EINVAL: Invalid \
         argument (Invalid prefsrc address)"
    );

    let mut topology = Topology::new();
    topology.veth(end("a-name-that-is-far-too-long", 3), end("c", 4));
    let error = topology.build().expect_err("too long");
    assert!(
        matches!(error, NetlinkError::Refused { errno: nix::errno::Errno::ERANGE, .. }),
        "{error}"
    );
}

#[test]
fn hundreds_of_links_take_several_sends() {
    let [one, other] = ["one", "other"].map(|name| Namespace::new(name).expect("namespace"));
    let mut topology = Topology::new();
    for number in 0..250_u8 {
        let end = |namespace, host| {
            End::new(namespace, &format!("link{number}"), MacAddress::local(u32::from(number)))
                .address(format!("10.0.{number}.{host}/24").parse().expect("address"))
        };
        topology.veth(end(&one, 1), end(&other, 2));
    }
    topology.build().expect("built");
    assert_eq!(one.links().expect("links").len(), 251);
    assert!(other.links().expect("links").iter().all(|link| link.up));
}

#[test]
fn threads_and_panics_stay_where_they_belong() {
    let (vehicle, _cloud) = two_hosts();
    let place = || fs::read_link("/proc/thread-self/ns/net").expect("a link");
    let outside = place();
    let thread =
        vehicle.spawn("inside", move || (thread::current().name().map(str::to_owned), place()));
    let (name, inside) = thread.expect("spawned").join().expect("joined");
    assert_eq!(name.as_deref(), Some("inside"));
    assert_eq!(vehicle.run(place).expect("entered"), inside);
    assert_ne!(inside, outside);
    assert_eq!(place(), outside, "the caller has not moved");

    let panic = std::panic::catch_unwind(|| vehicle.run(|| panic!("in there")));
    let message = panic.expect_err("it goes on in the caller");
    assert_eq!(message.downcast_ref::<&str>(), Some(&"in there"));
}

#[test]
fn settings_are_the_namespaces_own() {
    let namespace = Namespace::new("settings").expect("namespace");
    namespace.set_sysctl("net/ipv4/ip_default_ttl", "33").expect("set");
    assert_eq!(namespace.sysctl("net/ipv4/ip_default_ttl").expect("read"), "33");
    let other = Namespace::new("other").expect("namespace");
    assert_ne!(other.sysctl("net/ipv4/ip_default_ttl").expect("read"), "33");
    let error = namespace.set_sysctl("net/ipv4/no_such", "1").expect_err("unknown");
    let said = "cannot set net/ipv4/no_such in network namespace settings: ";
    assert!(error.to_string().starts_with(said), "{error}");
}

#[test]
fn offloads_are_switched_all_together() {
    let (vehicle, _cloud) = two_hosts();
    vehicle.set_offloads("4g", false).expect("off");
    assert!(vehicle.offloads("4g").expect("read").is_empty());
    vehicle.set_offloads("4g", true).expect("on");
    assert_eq!(vehicle.offloads("4g").expect("read").len(), 6);
    let error = vehicle.set_offloads("5g", false).expect_err("no such link");
    let said = "cannot switch generic receive offload of 5g in network namespace vehicle: ";
    assert!(error.to_string().starts_with(said), "{error}");
}

#[test]
fn the_host_is_left_as_it_was() {
    let before = host();
    let lab = two_hosts();
    assert_eq!(host(), before, "while a lab is there");
    drop(lab);
    assert_eq!(host(), before, "after it has gone");
}

/// Links, addresses and routes of the host, without the lifetimes that count down by themselves.
fn host() -> Vec<String> {
    const SHOWN: [&str; 5] = [
        "-brief link",
        "-brief address",
        "-4 route show table all",
        "-6 route show table all",
        "rule",
    ];
    let lines = SHOWN.iter().flat_map(|what| {
        let output = Command::new("ip").args(what.split(' ')).output().expect("ip runs");
        assert!(output.status.success(), "ip {what}");
        String::from_utf8(output.stdout)
            .expect("text")
            .lines()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    });
    lines.map(|line| line.split(" expires ").next().expect("a first part").to_owned()).collect()
}
