//! Linux network namespaces that leave nothing behind, wired with veth pairs, shaped with netem and
//! tbf.
//!
//! A [`Namespace`] is held by a file descriptor and by nothing else: it has no name on the machine
//! and no process living in it. When its last owner is gone the kernel removes it with every link
//! that ends in it, whether the owner was dropped, panicked, or was killed. There is no clean-up
//! code, so none can be forgotten. The host's own network is never changed: links are made in
//! place, inside the namespaces that they join.
//!
//! ```no_run
//! use netns::{End, MacAddress, Namespace, Topology};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // Not root? Become it, in a user namespace, before any thread is started.
//! // netns::become_root_in_user_namespace()?;
//! let (vehicle, cloud) = (Namespace::new("vehicle")?, Namespace::new("cloud")?);
//! let (mac_v, mac_c) = (MacAddress::local(1), MacAddress::local(2));
//!
//! // Static neighbours: no packet ever crosses the link but those that are sent on purpose.
//! let mut topology = Topology::new();
//! topology.veth(
//!     End::new(&vehicle, "4g", mac_v)
//!         .address("10.0.1.1/24".parse()?)
//!         .neighbour("10.0.1.2".parse()?, mac_c),
//!     End::new(&cloud, "4g", mac_c)
//!         .address("10.0.1.2/24".parse()?)
//!         .neighbour("10.0.1.1".parse()?, mac_v),
//! );
//! topology.build()?;
//!
//! let socket = vehicle.run(|| std::net::UdpSocket::bind("10.0.1.1:0"))??; // used from anywhere
//! let server = cloud.spawn("server", || { /* a thread that lives inside */ })?;
//! let ping = vehicle.command("ping").args(["-c1", "10.0.1.2"]).output()?; // a program inside
//! # Ok(())
//! # }
//! ```
//!
//! In reading order:
//!
//! - [`Namespace`]: made, entered, threads and programs inside ([`Program`]), settings, offloads,
//!   links and queue disciplines read back;
//! - [`Topology`], [`End`], [`Bridge`], [`Route`]: what joins namespaces, sent to the
//!   kernel in one go;
//! - [`netem`] and [`tbf`]: options to the kernel's bytes and back, set by
//!   [`Namespace::set_root_qdisc`], or on time by a [`Shaper`];
//! - [`Namespace::set_mptcp_limits`]: the path manager of multipath TCP;
//! - [`probe`]: what this machine can do, and how to get what is missing;
//! - [`become_root_in_user_namespace`]: all of it without root.
//!
//! Two things outlive a killed owner: programs that its programs started in turn, and whatever was
//! mounted or written to disk. Programs of a [`Namespace`] itself are killed with it.

pub use address::{Address, AddressError, MacAddress};
pub use dump::{Counters, DumpError, Link, Qdisc};
pub use generic_netlink::GenericError;
pub use loopback::bring_up_loopback;
pub use mptcp::{MptcpError, MptcpLimits};
pub use namespace::{Namespace, NamespaceError};
pub use netlink::NetlinkError;
pub use offloads::OffloadError;
pub use probe::{Availability, Capabilities, has_network_rights, probe};
pub use program::{Program, ProgramError, Running};
pub use qdisc::{Encoded, Held, QdiscError, Root, Shaper};
pub use topology::{Bridge, DEFAULT_MTU, End, Route, Topology};
pub use user_namespace::{
    UserNamespaceError, become_root_in_user_namespace, user_namespace_allowed,
};

pub mod netem;
pub mod tbf;

mod address;
mod attributes;
mod dump;
mod generic_netlink;
mod loopback;
mod mptcp;
mod namespace;
mod netlink;
mod offloads;
mod packet_socket;
mod probe;
mod program;
mod qdisc;
mod sysctl;
mod topology;
mod user_namespace;
