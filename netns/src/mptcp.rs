//! The kernel's path manager of multipath TCP (RFC 8684), set over generic netlink: how many
//! subflows a connection may have, and which addresses its peer is told. Each namespace has its
//! own; that of the host is never touched.

use std::net::IpAddr;

use thiserror::Error;

use crate::attributes::{Attributes, NESTED};
use crate::generic_netlink::{Family, GenericError};
use crate::namespace::{Namespace, NamespaceError};

/// `MPTCP_PM_NAME` and the numbers after it are those of `linux/mptcp_pm.h`.
const FAMILY: &str = "mptcp_pm";
const ADD_ADDRESS: u8 = 1;
const SET_LIMITS: u8 = 5;
const ADDRESS: u16 = 1;
const ACCEPTED_ADDRESSES: u16 = 2;
const SUBFLOWS: u16 = 3;
const ADDRESS_FAMILY: u16 = 1;
const ADDRESS_V4: u16 = 3;
const ADDRESS_V6: u16 = 4;
const ADDRESS_FLAGS: u16 = 6;
const SIGNAL: u32 = 1;

/// How many subflows a connection may have beside its first, and how many addresses of its peer it
/// may open them to. Older kernels take at most 8 of either.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MptcpLimits {
    /// Beside the first.
    pub subflows: u32,
    /// That the peer announces.
    pub accepted_addresses: u32,
}

/// The path manager could not be set.
#[derive(Debug, Error)]
pub enum MptcpError {
    /// There is none: the kernel was built without multipath TCP.
    #[error("the kernel has no path manager for multipath TCP (CONFIG_MPTCP)")]
    Missing,
    /// The kernel refused.
    #[error("cannot {purpose} in network namespace {namespace}: {source}")]
    Refused {
        /// What was to be done.
        purpose: String,
        /// Where.
        namespace: String,
        /// What the kernel said.
        source: GenericError,
    },
    /// The namespace could not be entered.
    #[error(transparent)]
    Namespace(#[from] NamespaceError),
}

impl Namespace {
    /// Sets the limits of every connection that is made in the namespace from then on.
    pub fn set_mptcp_limits(&self, limits: MptcpLimits) -> Result<(), MptcpError> {
        let mut attributes = Attributes::default();
        attributes.add(ACCEPTED_ADDRESSES, &limits.accepted_addresses.to_ne_bytes());
        attributes.add(SUBFLOWS, &limits.subflows.to_ne_bytes());
        self.ask_path_manager("set the limits of multipath TCP", SET_LIMITS, attributes)
    }

    /// Has every connection tell its peer of one more address of this namespace (`signal`), for the
    /// peer to open a subflow to.
    pub fn announce_mptcp_address(&self, address: IpAddr) -> Result<(), MptcpError> {
        let (family, kind, bytes) = match address {
            IpAddr::V4(ip) => (libc::AF_INET, ADDRESS_V4, ip.octets().to_vec()),
            IpAddr::V6(ip) => (libc::AF_INET6, ADDRESS_V6, ip.octets().to_vec()),
        };
        let mut inner = Attributes::default();
        inner.add(ADDRESS_FAMILY, &(family as u16).to_ne_bytes());
        inner.add(kind, &bytes);
        inner.add(ADDRESS_FLAGS, &SIGNAL.to_ne_bytes());
        let mut attributes = Attributes::default();
        attributes.add(ADDRESS | NESTED, &inner.into_bytes());
        let purpose = format!("have multipath TCP announce {address}");
        self.ask_path_manager(&purpose, ADD_ADDRESS, attributes)
    }

    fn ask_path_manager(
        &self,
        purpose: &str,
        command: u8,
        attributes: Attributes,
    ) -> Result<(), MptcpError> {
        let asked = self.run(|| Family::find(FAMILY)?.ask(command, attributes))?;
        asked.map_err(|source| match source {
            GenericError::NoSuchFamily => MptcpError::Missing,
            source => {
                let (purpose, namespace) = (purpose.to_owned(), self.name().to_owned());
                MptcpError::Refused { purpose, namespace, source }
            }
        })
    }
}
