//! The one link that every namespace has from the start, though not up.

use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::link::{LinkFlags, LinkMessage};

use crate::netlink::{Batch, NetlinkError};

/// The kernel's own index for `lo`, in every namespace.
const LOOPBACK_INDEX: u32 = 1;

/// Brings up loopback where the calling thread is. New namespaces do it themselves; this is for a
/// machine that has just been started.
pub fn bring_up_loopback() -> Result<(), NetlinkError> {
    bring_up("of this thread")
}

/// In the namespace that the calling thread is in.
pub(crate) fn bring_up(namespace: &str) -> Result<(), NetlinkError> {
    let mut batch = Batch::default();
    batch.push("bring up lo".to_owned(), 0, up(LOOPBACK_INDEX, LinkFlags::empty()));
    batch.send_from_here(namespace)
}

/// The request that brings up the link with this index, and sets further flags as it does.
pub(crate) fn up(index: u32, flags: LinkFlags) -> RouteNetlinkMessage {
    let mut link = LinkMessage::default();
    link.header.index = index;
    link.header.flags = LinkFlags::Up | flags;
    link.header.change_mask = LinkFlags::Up | flags;
    RouteNetlinkMessage::SetLink(link)
}
