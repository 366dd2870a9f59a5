//! The kernel finishes three things some time after it has said yes: a link drops what is sent
//! until it has noticed that its peer is up, a bridge passes nothing on until its port has noticed
//! that, and an IPv6 address receives nothing until its route is in.

use std::net::{IpAddr, Ipv6Addr};
use std::thread::sleep;
use std::time::Duration;

use netlink_packet_route::link::{
    BridgePortState, InfoBridgePort, InfoPortData, LinkAttribute, LinkInfo, LinkMessage, State,
};
use netlink_packet_route::route::{RouteAddress, RouteAttribute, RouteMessage, RouteType};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use nix::errno::Errno;

use super::{End, Place};
use crate::netlink::{Batch, NetlinkError};

/// Ten seconds; it takes a few milliseconds, up to one second on kernels before 6.8.
const ATTEMPTS: u32 = 10_000;
const PAUSE: Duration = Duration::from_millis(1);

impl Place {
    pub(super) fn wait_until_ready(&mut self) -> Result<(), NetlinkError> {
        let question = ask_for_state(&self.ends);
        for _ in 0..ATTEMPTS {
            match self.connection.ask(&question) {
                Ok(answers) if answers.iter().all(is_ready) => return Ok(()),
                Ok(_) | Err(NetlinkError::Refused { errno: Errno::ENETUNREACH, .. }) => {
                    sleep(PAUSE);
                }
                Err(error) => return Err(error),
            }
        }
        Err(NetlinkError::NotUp { namespace: self.connection.namespace().to_owned() })
    }
}

/// To ask for a single link also makes the kernel (6.8 and later) look at its peer at once.
fn ask_for_state(ends: &[End]) -> Batch {
    let mut batch = Batch::default();
    for end in ends {
        let mut link = LinkMessage::default();
        link.header.index = end.index;
        batch.push(format!("look up {}", end.name), 0, RouteNetlinkMessage::GetLink(link));
        for address in &end.addresses {
            if let IpAddr::V6(ip) = address.ip() {
                batch.push(format!("look up the route to {ip}"), 0, route_to(ip));
            }
        }
    }
    batch
}

fn route_to(ip: Ipv6Addr) -> RouteNetlinkMessage {
    let mut route = RouteMessage::default();
    route.header.address_family = AddressFamily::Inet6;
    route.header.destination_prefix_length = 128;
    route.attributes = vec![RouteAttribute::Destination(RouteAddress::Inet6(ip))];
    RouteNetlinkMessage::GetRoute(route)
}

fn is_ready(answer: &RouteNetlinkMessage) -> bool {
    match answer {
        RouteNetlinkMessage::NewLink(link) => {
            link.attributes.contains(&LinkAttribute::OperState(State::Up)) && passes_on(link)
        }
        RouteNetlinkMessage::NewRoute(route) => route.header.kind == RouteType::Local,
        _ => true,
    }
}

/// A port of a bridge does so in one of its states; any other link always does.
fn passes_on(link: &LinkMessage) -> bool {
    let about_link = link.attributes.iter().filter_map(|attribute| match attribute {
        LinkAttribute::LinkInfo(about) => Some(about),
        _ => None,
    });
    let about_port = about_link.flatten().filter_map(|about| match about {
        LinkInfo::PortData(InfoPortData::BridgePort(port)) => Some(port),
        _ => None,
    });
    about_port.flatten().all(|about| match about {
        InfoBridgePort::State(state) => *state == BridgePortState::Forwarding,
        _ => true,
    })
}
