//! The path manager of multipath TCP on the real kernel.

use netns::{MptcpError, MptcpLimits, Namespace};

/// Of the kernels that are known: the most addresses, and the most subflows.
const MOST: u32 = 8;

#[test]
fn limits_and_addresses_are_taken_once_and_within_bounds() {
    let namespace = Namespace::new("host").expect("made");
    let limits = |subflows, accepted_addresses| MptcpLimits { subflows, accepted_addresses };
    match namespace.set_mptcp_limits(limits(1, MOST)) {
        Err(MptcpError::Missing) => return eprintln!("skipped: no multipath TCP in this kernel"),
        set => set.expect("within bounds"),
    }
    let beyond = namespace.set_mptcp_limits(limits(10_000, 1)).expect_err("beyond all bounds");
    assert!(beyond.to_string().contains("set the limits of multipath TCP"), "{beyond}");
    for address in ["10.0.1.2", "fd00::2"] {
        let address = address.parse().expect("an address");
        namespace.announce_mptcp_address(address).expect("announced");
        let twice = namespace.announce_mptcp_address(address).expect_err("known already");
        assert!(twice.to_string().contains(&format!("announce {address}")), "{twice}");
    }
}
