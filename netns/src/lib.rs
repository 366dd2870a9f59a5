//! Linux network namespaces held by file descriptor, wired with veth pairs over netlink.

pub use address::{Address, AddressError, MacAddress};
pub use dump::{Counters, DumpError, Link, Qdisc};
pub use namespace::{Namespace, NamespaceError};
pub use netlink::NetlinkError;
pub use offloads::OffloadError;
pub use program::{Program, ProgramError, Running};
pub use qdisc::{Encoded, QdiscError};
pub use topology::{DEFAULT_MTU, End, Route, Topology};
pub use user_namespace::{
    UserNamespaceError, become_root_in_user_namespace, user_namespace_allowed,
};

pub mod netem;
pub mod tbf;

mod address;
mod attributes;
mod dump;
mod loopback;
mod namespace;
mod netlink;
mod offloads;
mod program;
mod qdisc;
mod sysctl;
mod topology;
mod user_namespace;
