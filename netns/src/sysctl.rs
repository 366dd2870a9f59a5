//! Kernel settings of the namespace that the calling thread is in, read and written under
//! `/proc/sys`.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::PathBuf;

/// Everything that would put a packet on a link unasked, or that the kernel copies from the host's
/// own settings and that would change how packets travel. `default` is what links made later start
/// with.
const SILENCE: &[(&str, &str)] = &[
    // No address that nobody asked for, hence no duplicate address detection and no router
    // solicitation either.
    ("net/ipv6/conf/default/addr_gen_mode", "1"),
    ("net/ipv6/conf/default/autoconf", "0"),
    ("net/ipv6/conf/default/accept_ra", "0"),
    ("net/ipv6/conf/default/accept_dad", "0"),
    ("net/ipv6/conf/default/dad_transmits", "0"),
    ("net/ipv6/conf/default/router_solicitations", "0"),
    ("net/ipv6/conf/all/forwarding", "0"),
    ("net/ipv4/conf/all/forwarding", "0"),
    ("net/ipv4/conf/default/forwarding", "0"),
    // Several paths between the same hosts: a packet may come in where the answer would not go out.
    ("net/ipv4/conf/all/rp_filter", "0"),
    ("net/ipv4/conf/default/rp_filter", "0"),
    // What a bridge passes on is no business of packet filters (only where br_netfilter is loaded).
    ("net/bridge/bridge-nf-call-arptables", "0"),
    ("net/bridge/bridge-nf-call-iptables", "0"),
    ("net/bridge/bridge-nf-call-ip6tables", "0"),
];

/// Applies [`SILENCE`]. A kernel without IPv6 or packet filters for bridges has nothing to silence
/// there.
pub(crate) fn silence() -> Result<(), (&'static str, io::Error)> {
    for (key, value) in SILENCE {
        match write(key, value) {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            result => result.map_err(|error| (*key, error))?,
        }
    }
    Ok(())
}

pub(crate) fn write(key: &str, value: &str) -> io::Result<()> {
    fs::write(path(key), value)
}

pub(crate) fn read(key: &str) -> io::Result<String> {
    Ok(fs::read_to_string(path(key))?.trim_end().to_owned())
}

fn path(key: &str) -> PathBuf {
    PathBuf::from("/proc/sys").join(key)
}
