//! A bridge that only passes on: what comes in at one of its ports goes out at the others, as it
//! is. It has no address, speaks no protocol of its own, and sends nothing.

use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::link::{
    BridgeStpState, InfoBridge, InfoData, InfoKind, LinkAttribute, LinkInfo, LinkMessage,
};

use super::next_link_index;
use crate::address::MacAddress;
use crate::namespace::Namespace;

/// A link that joins others in one namespace ([`super::End::port_of`]).
#[derive(Debug, Clone)]
pub struct Bridge {
    pub(super) namespace: Namespace,
    pub(super) name: String,
    pub(super) index: u32,
    mac: MacAddress,
}

impl Bridge {
    /// A bridge named `name` (at most 15 bytes) in `namespace`, without ports. Frames to its own
    /// Ethernet address would not be passed on, so that has to be nobody else's.
    pub fn new(namespace: &Namespace, name: &str, mac: MacAddress) -> Self {
        let index = next_link_index();
        Self { namespace: namespace.clone(), name: name.to_owned(), index, mac }
    }

    /// In place, and silent from the first moment on: no spanning tree, and no listening to who
    /// wants which multicast, which would send queries.
    pub(super) fn create(&self) -> RouteNetlinkMessage {
        let mut link = LinkMessage::default();
        link.header.index = self.index;
        link.attributes = vec![
            LinkAttribute::IfName(self.name.clone()),
            LinkAttribute::Address(self.mac.0.to_vec()),
            LinkAttribute::LinkInfo(vec![
                LinkInfo::Kind(InfoKind::Bridge),
                LinkInfo::Data(InfoData::Bridge(vec![
                    InfoBridge::StpState(BridgeStpState::Disabled),
                    InfoBridge::MulticastSnooping(false),
                ])),
            ]),
        ];
        RouteNetlinkMessage::NewLink(link)
    }
}
