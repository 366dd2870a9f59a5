//! What the kernel is asked for, as messages of rtnetlink. No I/O.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::fd::{AsFd, AsRawFd};

use netlink_packet_route::address::{
    AddressAttribute, AddressHeaderFlags, AddressMessage, AddressScope,
};
use netlink_packet_route::link::{
    InfoData, InfoKind, InfoVeth, LinkAttribute, LinkInfo, LinkMessage,
};
use netlink_packet_route::neighbour::{
    NeighbourAddress, NeighbourAttribute, NeighbourMessage, NeighbourState,
};
use netlink_packet_route::route::{
    RouteAddress, RouteAttribute, RouteFlags, RouteHeader, RouteMessage, RouteProtocol, RouteScope,
    RouteType,
};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};

use super::{End, Route};
use crate::address::{Address, MacAddress};

pub(super) fn create_pair([one, other]: &[End; 2], group: u32) -> RouteNetlinkMessage {
    let mut link = describe(one, group);
    link.attributes.push(LinkAttribute::LinkInfo(vec![
        LinkInfo::Kind(InfoKind::Veth),
        LinkInfo::Data(InfoData::Veth(InfoVeth::Peer(describe(other, group)))),
    ]));
    RouteNetlinkMessage::NewLink(link)
}

/// The link is born in its own namespace with its own index: the kernel never has to move or rename
/// it. It has one queue each way, not one for each processor, which takes the kernel longer to make
/// and would differ from machine to machine.
fn describe(end: &End, group: u32) -> LinkMessage {
    let mut link = LinkMessage::default();
    link.header.index = end.index;
    link.attributes = vec![
        LinkAttribute::IfName(end.name.clone()),
        LinkAttribute::NetNsFd(end.namespace.as_fd().as_raw_fd()),
        LinkAttribute::Address(end.mac.0.to_vec()),
        LinkAttribute::Mtu(end.mtu),
        LinkAttribute::Group(group),
        LinkAttribute::NumTxQueues(1),
        LinkAttribute::NumRxQueues(1),
    ];
    link
}

pub(super) fn make_port(index: u32, bridge: u32) -> RouteNetlinkMessage {
    let mut link = LinkMessage::default();
    link.header.index = index;
    link.attributes = vec![LinkAttribute::Controller(bridge)];
    RouteNetlinkMessage::SetLink(link)
}

pub(super) fn add_address(index: u32, address: Address) -> RouteNetlinkMessage {
    let mut message = AddressMessage::default();
    message.header.family = family(address.ip());
    message.header.prefix_len = address.prefix();
    message.header.index = index;
    message.header.scope = AddressScope::Universe;
    message.header.flags = AddressHeaderFlags::Nodad;
    message.attributes =
        vec![AddressAttribute::Local(address.ip()), AddressAttribute::Address(address.ip())];
    RouteNetlinkMessage::NewAddress(message)
}

pub(super) fn add_neighbour(index: u32, ip: IpAddr, mac: MacAddress) -> RouteNetlinkMessage {
    let mut message = NeighbourMessage::default();
    message.header.family = family(ip);
    message.header.ifindex = index;
    message.header.state = NeighbourState::Permanent;
    let destination = match ip {
        IpAddr::V4(ip) => NeighbourAddress::Inet(ip),
        IpAddr::V6(ip) => NeighbourAddress::Inet6(ip),
    };
    message.attributes = vec![
        NeighbourAttribute::Destination(destination),
        NeighbourAttribute::LinkLayerAddress(mac.0.to_vec()),
    ];
    RouteNetlinkMessage::NewNeighbour(message)
}

pub(super) fn add_route(index: u32, route: &Route) -> RouteNetlinkMessage {
    let mut message = RouteMessage::default();
    message.header.address_family = family(route.to.ip());
    message.header.destination_prefix_length = route.to.prefix();
    message.header.table = RouteHeader::RT_TABLE_MAIN;
    message.header.protocol = RouteProtocol::Static;
    message.header.scope =
        if route.via.is_some() { RouteScope::Universe } else { RouteScope::Link };
    message.header.kind = RouteType::Unicast;
    let network = network(route.to);
    message.attributes =
        vec![RouteAttribute::Destination(route_address(network)), RouteAttribute::Oif(index)];
    if let Some(gateway) = route.via {
        message.header.flags = RouteFlags::Onlink;
        message.attributes.push(RouteAttribute::Gateway(route_address(gateway)));
    }
    let source = route.source.map(|ip| RouteAttribute::PrefSource(route_address(ip)));
    message.attributes.extend(source);
    message.attributes.extend(route.metric.map(RouteAttribute::Priority));
    RouteNetlinkMessage::NewRoute(message)
}

fn family(ip: IpAddr) -> AddressFamily {
    if ip.is_ipv4() { AddressFamily::Inet } else { AddressFamily::Inet6 }
}

fn route_address(ip: IpAddr) -> RouteAddress {
    match ip {
        IpAddr::V4(ip) => RouteAddress::Inet(ip),
        IpAddr::V6(ip) => RouteAddress::Inet6(ip),
    }
}

/// The address with all bits behind the prefix cleared, as the kernel wants routes.
fn network(address: Address) -> IpAddr {
    let prefix = u32::from(address.prefix());
    match address.ip() {
        IpAddr::V4(ip) => {
            let mask = u32::MAX.checked_shl(32 - prefix).unwrap_or(0);
            Ipv4Addr::from_bits(ip.to_bits() & mask).into()
        }
        IpAddr::V6(ip) => {
            let mask = u128::MAX.checked_shl(128 - prefix).unwrap_or(0);
            Ipv6Addr::from_bits(ip.to_bits() & mask).into()
        }
    }
}
