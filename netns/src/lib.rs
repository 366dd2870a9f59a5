//! Linux network namespaces held by file descriptor, wired with veth pairs over netlink.

pub use address::{Address, AddressError, MacAddress};
pub use namespace::{Namespace, NamespaceError};
pub use netlink::NetlinkError;
pub use topology::{DEFAULT_MTU, End, Route, Topology};

mod address;
mod loopback;
mod namespace;
mod netlink;
mod sysctl;
mod topology;
