//! What this machine can do, found out by trying it in a namespace made for the purpose. Reads the
//! host's state and changes nothing of it, except that the kernel may load a module it is asked
//! for.

use std::fs;
use std::io;
use std::thread;

use nix::errno::Errno;
use nix::sys::utsname::uname;

use crate::address::MacAddress;
use crate::namespace::Namespace;
use crate::qdisc::Encoded;
use crate::topology::{End, Topology};
use crate::user_namespace::user_namespace_allowed;
use crate::{netem, packet_socket, tbf};

/// Whether something can be used here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Availability {
    /// It was tried and works.
    Available,
    /// It was tried and does not.
    Missing {
        /// What went wrong, in the kernel's words.
        reason: String,
        /// How to get it.
        remedy: &'static str,
    },
}

impl Availability {
    /// Whether it works.
    pub fn is_available(&self) -> bool {
        *self == Self::Available
    }

    fn of<T, E: ToString>(result: Result<T, E>, remedy: &'static str) -> Self {
        match result {
            Ok(_) => Self::Available,
            Err(error) => Self::Missing { reason: error.to_string(), remedy },
        }
    }
}

/// What this machine can do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capabilities {
    /// The kernel's release, as of `uname -r`.
    pub kernel: String,
    /// The rights of root over the network: `CAP_NET_ADMIN`, `CAP_NET_RAW` and `CAP_SYS_ADMIN`, be
    /// it in a user namespace.
    pub root: Availability,
    /// Becoming root in a user namespace.
    pub user_namespaces: Availability,
    /// Making a network namespace, as the process is now.
    pub network_namespaces: Availability,
    /// Veth pairs.
    pub veth: Availability,
    /// Sending and receiving whole frames (`AF_PACKET`).
    pub packet_sockets: Availability,
    /// … with their offload information, so that large segments and partial checksums survive
    /// (`PACKET_VNET_HDR`).
    pub packet_vnet_header: Availability,
    /// The real-time scheduling class `SCHED_FIFO`.
    pub real_time_scheduling: Availability,
    /// The queue discipline netem.
    pub netem: Availability,
    /// The queue discipline tbf.
    pub tbf: Availability,
    /// Multipath TCP, in a new namespace.
    pub mptcp: Availability,
}

impl Capabilities {
    /// Everything but the kernel's release, each with its name.
    pub fn all(&self) -> [(&'static str, &Availability); 10] {
        [
            ("root", &self.root),
            ("user namespaces", &self.user_namespaces),
            ("network namespaces", &self.network_namespaces),
            ("veth pairs", &self.veth),
            ("packet sockets", &self.packet_sockets),
            ("packet sockets with offload headers", &self.packet_vnet_header),
            ("real-time scheduling", &self.real_time_scheduling),
            ("netem", &self.netem),
            ("tbf", &self.tbf),
            ("multipath TCP", &self.mptcp),
        ]
    }
}

const GET_ROOT: &str = "run it as root, or allow user namespaces";
const NEEDS_NAMESPACE: &str = "it needs a network namespace";
const GET_USER_NAMESPACES: &str = "as root: sysctl -w user.max_user_namespaces=10000; on Debian \
    before 11 also kernel.unprivileged_userns_clone=1, on Ubuntu 24.04 and later \
    kernel.apparmor_restrict_unprivileged_userns=0";
const GET_VETH: &str = "as root: modprobe veth; or a kernel built with CONFIG_VETH";
const GET_PACKET: &str = "as root: modprobe af_packet; or a kernel built with CONFIG_PACKET";
const GET_FIFO: &str = "run as root, or let the user have it: a line `@group - rtprio 10` in \
    /etc/security/limits.conf";
const GET_QDISC: &str = "as root: modprobe sch_netem sch_tbf; on Debian's cloud kernels install \
    the package linux-image-amd64 and reboot";
const GET_MPTCP: &str = "as root: sysctl -w net.mptcp.enabled=1; or a kernel of 5.6 or later \
    built with CONFIG_MPTCP";

/// Tries everything. Takes some milliseconds.
pub fn probe() -> Capabilities {
    let scratch = Namespace::new("probe").map_err(|error| error.to_string());
    let scratch = scratch.as_ref();
    let inside = |test: &dyn Fn(&Namespace) -> Result<(), String>| {
        scratch.map_err(|_| NEEDS_NAMESPACE.to_owned()).and_then(test)
    };
    // Where there is no namespace to try it in, that is what has to be got first.
    let or_namespace = |remedy| if scratch.is_ok() { remedy } else { GET_ROOT };
    let veth = inside(&make_pair);
    let on_link = |qdisc: Result<Encoded, String>| {
        veth.clone()?;
        inside(&|namespace| set_qdisc(namespace, qdisc.as_ref()))
    };
    let netem = netem::Options::default().encode().map_err(|error| error.to_string());
    let tbf = tbf::Options { rate: 1_000_000, burst: 2000, limit: 2000, peak: None }.encode();
    Capabilities {
        kernel: kernel_release(),
        root: Availability::of(check_rights(), GET_ROOT),
        user_namespaces: Availability::of(user_namespace_allowed(), GET_USER_NAMESPACES),
        network_namespaces: Availability::of(scratch, GET_ROOT),
        packet_sockets: Availability::of(inside(&open_packet_socket), or_namespace(GET_PACKET)),
        packet_vnet_header: Availability::of(
            inside(&open_with_vnet_header),
            or_namespace(GET_PACKET),
        ),
        real_time_scheduling: Availability::of(try_fifo(), GET_FIFO),
        netem: Availability::of(on_link(netem), or_namespace(GET_QDISC)),
        tbf: Availability::of(on_link(Ok(tbf)), or_namespace(GET_QDISC)),
        mptcp: Availability::of(inside(&check_mptcp), or_namespace(GET_MPTCP)),
        veth: Availability::of(veth, or_namespace(GET_VETH)),
    }
}

const PROBE_LINK: &str = "probe0";

fn make_pair(namespace: &Namespace) -> Result<(), String> {
    let mut topology = Topology::new();
    topology.veth(
        End::new(namespace, PROBE_LINK, MacAddress::local(1)),
        End::new(namespace, "probe1", MacAddress::local(2)),
    );
    topology.build().map_err(|error| error.to_string())
}

fn set_qdisc(namespace: &Namespace, qdisc: Result<&Encoded, &String>) -> Result<(), String> {
    namespace.set_root_qdisc(PROBE_LINK, qdisc?).map_err(|error| error.to_string())
}

fn open_packet_socket(namespace: &Namespace) -> Result<(), String> {
    let opened = namespace.run(packet_socket::open).map_err(|error| error.to_string())?;
    opened.map(drop).map_err(|error| format!("cannot open a packet socket: {error}"))
}

fn open_with_vnet_header(namespace: &Namespace) -> Result<(), String> {
    let opened = namespace.run(|| packet_socket::set_vnet_header(&packet_socket::open()?));
    let set = opened.map_err(|error| error.to_string())?;
    set.map_err(|error| format!("cannot set PACKET_VNET_HDR: {error}"))
}

fn check_mptcp(namespace: &Namespace) -> Result<(), String> {
    match namespace.sysctl("net/mptcp/enabled").map_err(|error| error.to_string())?.as_str() {
        "1" => Ok(()),
        other => Err(format!("the setting net.mptcp.enabled is {other}")),
    }
}

/// Bits of `CapEff` in `/proc/self/status` (`linux/capability.h`).
const RIGHTS: [(&str, u64); 3] =
    [("CAP_NET_ADMIN", 1 << 12), ("CAP_NET_RAW", 1 << 13), ("CAP_SYS_ADMIN", 1 << 21)];

/// Whether this process may build namespaces and links as it is: it has the rights of root over the
/// network, be it in a user namespace. A root user in a container may well not.
pub fn has_network_rights() -> bool {
    check_rights().is_ok()
}

fn check_rights() -> Result<(), String> {
    let status = fs::read_to_string("/proc/thread-self/status");
    let status =
        status.map_err(|error| format!("cannot read /proc/thread-self/status: {error}"))?;
    let effective = effective_rights(&status)
        .ok_or_else(|| "no CapEff in /proc/thread-self/status".to_owned())?;
    let missing: Vec<&str> =
        RIGHTS.iter().filter(|(_, bit)| effective & bit == 0).map(|(name, _)| *name).collect();
    if missing.is_empty() { Ok(()) } else { Err(format!("without {}", missing.join(", "))) }
}

fn effective_rights(status: &str) -> Option<u64> {
    let value = status.lines().find_map(|line| line.strip_prefix("CapEff:"))?;
    u64::from_str_radix(value.trim(), 16).ok()
}

fn kernel_release() -> String {
    let release = uname().map(|name| name.release().to_string_lossy().into_owned());
    release.unwrap_or_else(|errno| format!("unknown ({errno})"))
}

/// On a thread of its own, which takes its scheduling class with it when it ends.
fn try_fifo() -> io::Result<()> {
    thread::scope(|scope| {
        let thread = thread::Builder::new().spawn_scoped(scope, become_fifo)?;
        thread.join().unwrap_or(Err(io::Error::from(Errno::ECANCELED)))
    })
}

fn become_fifo() -> io::Result<()> {
    let parameters = libc::sched_param { sched_priority: 1 };
    // SAFETY: 0 names the calling thread, and `parameters` outlives the call.
    let result = unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const parameters) };
    Ok(Errno::result(result).map(drop)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rights_are_read_from_the_status_file() {
        let status = "Name:\tx\nCapPrm:\t0000000000000000\nCapEff:\t0000000000203000\n";
        assert_eq!(effective_rights(status), Some(1 << 12 | 1 << 13 | 1 << 21));
        assert_eq!(effective_rights("Name:\tx\n"), None);
    }
}
