//! Multipath TCP of the kernel (RFC 8684). The connection begins on the first path; the cloud
//! announces its addresses on the others, and the vehicle opens a subflow to each. Every path is a
//! network of its own, so the kernel's routes lead each subflow over its path.

use std::fs;
use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::os::fd::BorrowedFd;
use std::time::Duration;

use netns::{MptcpLimits, Namespace};

use super::error::KernelSocketError;
use super::socket::{Options, Protocol, congestion};
use super::tcp::admit_congestion;
use super::tcp_info::{self, TcpInfo};
use crate::engine::carrier::{Readiness, Stream, Underlay};
use crate::engine::lab::Lab;
use crate::engine::syscalls::read_option;
use crate::engine::watch::Watch;
use crate::protocol::Role;
use crate::protocol::settings::MptcpSettings;
use crate::recording::{EndSockets, MptcpFigures, TcpFigures};
use crate::units::{Instant, PathId};

/// From the first message through to all subflows, on clean links.
const JOIN_LIMIT: Duration = Duration::from_secs(5);

/// The vehicle's side and the cloud's.
pub fn mptcp(lab: &Lab, settings: &MptcpSettings) -> Result<[Stream; 2], KernelSocketError> {
    let (vehicle, cloud) = (lab.host(Role::Client), lab.host(Role::Server));
    for host in [vehicle, cloud] {
        prepare(host, settings)?;
    }
    for path in &settings.paths[1..] {
        cloud.announce_mptcp_address(lab.address(*path, Role::Server).ip())?;
    }
    let options = options(settings);
    let failed = |source| KernelSocketError::Socket { protocol: Protocol::Mptcp.name(), source };
    let under = |role| {
        let (options, host) = (options.clone(), lab.host(role).clone());
        let addresses = settings.paths.iter().map(|path| (lab.address(*path, role).ip(), *path));
        Box::new(Mptcp { options, host, addresses: addresses.collect(), joining_since: None })
    };
    let at = |role| lab.address(settings.paths[0], role);
    let (from, to) = (at(Role::Client), at(Role::Server));
    // Subflows come in to its other addresses.
    let listener = cloud.run(|| options.listen(any(to)))?.map_err(failed)?;
    let socket = vehicle.run(|| options.connect(Some(from), to))?.map_err(failed)?;
    let vehicle = Stream::connecting(socket, under(Role::Client));
    Ok([vehicle, Stream::listening(listener, under(Role::Server))])
}

/// Every address of a host, at the same port.
fn any(address: SocketAddr) -> SocketAddr {
    let ip = match address {
        SocketAddr::V4(_) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        SocketAddr::V6(_) => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
    };
    SocketAddr::new(ip, address.port())
}

/// What this machine's administrator has set is respected though a namespace has its own, since
/// whoever switches multipath TCP off means the machine.
pub fn admit(scratch: &Namespace, settings: &MptcpSettings) -> Result<(), KernelSocketError> {
    allowed()?;
    switched_on(&scratch.run(|| fs::read_to_string("/proc/sys/net/mptcp/enabled"))?)?;
    prepare(scratch, settings)?;
    let options = options(settings);
    // A multipath socket that has no subflow yet takes any name.
    let of_a_subflow = Options { protocol: Protocol::Tcp, ..options.clone() };
    scratch.run(|| {
        admit_congestion(&of_a_subflow)?;
        admit_congestion(&options)
    })?
}

/// Where the calling thread is.
pub fn allowed() -> Result<(), KernelSocketError> {
    switched_on(&fs::read_to_string("/proc/sys/net/mptcp/enabled"))
}

fn switched_on(setting: &io::Result<String>) -> Result<(), KernelSocketError> {
    match setting.as_ref().map(|value| value.trim()) {
        Ok("1") => Ok(()),
        Ok(value) => Err(KernelSocketError::MptcpOff { value: value.to_owned() }),
        Err(_) => Err(KernelSocketError::NoMptcp),
    }
}

/// Path manager and scheduler of a namespace of ours.
fn prepare(host: &Namespace, settings: &MptcpSettings) -> Result<(), KernelSocketError> {
    set_scheduler(host, &settings.scheduler)?;
    let more = settings.paths.len() as u32 - 1;
    host.set_mptcp_limits(MptcpLimits { subflows: more, accepted_addresses: more })?;
    Ok(())
}

/// Kernels before 6.8 have one scheduler, and no setting for it.
fn set_scheduler(host: &Namespace, name: &str) -> Result<(), KernelSocketError> {
    const ONLY: &str = "default";
    let available = host.run(|| fs::read_to_string("/proc/sys/net/mptcp/available_schedulers"))?;
    let available = available.unwrap_or_else(|_| ONLY.to_owned());
    let names: Vec<_> = available.split_whitespace().collect();
    if !names.contains(&name) {
        let (name, available) = (name.to_owned(), names.join(", "));
        return Err(KernelSocketError::NoScheduler { name, available });
    }
    match host.set_sysctl("net/mptcp/scheduler", name) {
        Err(netns::NamespaceError::Sysctl { source, .. })
            if name == ONLY && source.kind() == ErrorKind::NotFound =>
        {
            Ok(())
        }
        set => Ok(set?),
    }
}

fn options(settings: &MptcpSettings) -> Options {
    Options {
        protocol: Protocol::Mptcp,
        congestion: Some(settings.congestion.clone()),
        nodelay: settings.nodelay,
        user_timeout: None,
    }
}

struct Mptcp {
    options: Options,
    host: Namespace,
    /// This side's, one a path.
    addresses: Vec<(IpAddr, PathId)>,
    joining_since: Option<Instant>,
}

impl Underlay for Mptcp {
    fn furnish(&self, socket: &TcpStream) -> io::Result<()> {
        self.options.furnish(socket)
    }

    /// Once every path has its subflow.
    fn readiness(&mut self, socket: BorrowedFd<'_>, watch: &Watch) -> Readiness {
        if fell_back(socket) {
            return Readiness::Never(
                "multipath TCP fell back to plain TCP while it connected".to_owned(),
            );
        }
        let subflows = subflows(socket);
        let up = subflows.iter().filter(|subflow| TcpInfo(subflow).is_established()).count();
        let wanted = self.addresses.len();
        if up >= wanted {
            return Readiness::Ready;
        }
        let since = *self.joining_since.get_or_insert_with(|| watch.now());
        if watch.now().saturating_since(since) < JOIN_LIMIT {
            return Readiness::NotYet;
        }
        let limit_s = JOIN_LIMIT.as_secs();
        Readiness::Never(format!(
            "{up} of {wanted} subflows of multipath TCP were up after {limit_s} s on clean links"
        ))
    }

    fn figures(&self, socket: BorrowedFd<'_>) -> Option<EndSockets> {
        let info = Info::of(socket)?;
        let fallback = info.flags() & FALLBACK != 0;
        let local = local_addresses(socket);
        let path = |index: usize| {
            let ip = local.get(index)?.to_canonical();
            self.addresses.iter().find(|(address, _)| *address == ip).map(|(_, path)| *path)
        };
        let figures = |(index, subflow): (usize, Vec<u8>)| TcpFigures {
            path: path(index),
            ..TcpInfo(&subflow).figures()
        };
        let connections: Vec<_> = match fallback {
            false => subflows(socket).into_iter().enumerate().map(figures).collect(),
            true => tcp_info::of(socket).into_iter().collect(),
        };
        // Where more was given to subflows while they were asked, nothing can be made of it.
        let whole = !fallback
            && connections.len() == self.addresses.len()
            && Info::of(socket)?.bytes_sent() == info.bytes_sent();
        let mptcp = MptcpFigures {
            subflows: connections.len() as u64,
            fallback,
            bytes_sent: info.bytes_sent(),
            bytes_received: info.bytes_received(),
            reinjected_bytes: info
                .bytes_sent()
                .filter(|_| whole)
                .and_then(|sent| given(&connections).checked_sub(sent)),
        };
        Some(EndSockets {
            congestion: congestion(&socket),
            connections,
            mptcp: Some(mptcp),
            retransmitted_in_namespace: tcp_info::retransmitted_in(&self.host),
        })
    }
}

/// Payload that subflows were given, what waits in them included.
fn given(subflows: &[TcpFigures]) -> u64 {
    let sent = |tcp: &TcpFigures| tcp.bytes_sent.saturating_sub(tcp.bytes_retransmitted);
    subflows.iter().map(|tcp| sent(tcp) + tcp.bytes_unsent).sum()
}

/// `linux/mptcp.h`.
const SOL_MPTCP: libc::c_int = 284;
const MPTCP_INFO: libc::c_int = 1;
const MPTCP_TCPINFO: libc::c_int = 2;
const MPTCP_SUBFLOW_ADDRS: libc::c_int = 3;
const FALLBACK: u32 = 1;

/// `struct mptcp_info`, which later kernels have made longer.
struct Info(Vec<u8>);

impl Info {
    /// `None`: the socket is multipath TCP no more.
    fn of(socket: BorrowedFd<'_>) -> Option<Self> {
        let mut bytes = vec![0; 256];
        let length = read_option(socket, SOL_MPTCP, MPTCP_INFO, &mut bytes).ok()?;
        bytes.truncate(length);
        Some(Self(bytes))
    }

    fn flags(&self) -> u32 {
        half(&self.0, 8)
    }

    fn bytes_sent(&self) -> Option<u64> {
        self.word(56)
    }

    fn bytes_received(&self) -> Option<u64> {
        self.word(64)
    }

    /// `None`: this kernel's ends before it.
    fn word(&self, at: usize) -> Option<u64> {
        self.0.get(at..)?.first_chunk().map(|bytes| u64::from_ne_bytes(*bytes))
    }
}

/// A kernel that has fallen back may not answer at all any more.
fn fell_back(socket: BorrowedFd<'_>) -> bool {
    Info::of(socket).is_none_or(|info| info.flags() & FALLBACK != 0)
}

/// `struct tcp_info` of each.
fn subflows(socket: BorrowedFd<'_>) -> Vec<Vec<u8>> {
    each_subflow(socket, MPTCP_TCPINFO, tcp_info::LONGEST)
}

/// Of each subflow, in the same order.
fn local_addresses(socket: BorrowedFd<'_>) -> Vec<IpAddr> {
    /// Two of `struct sockaddr_storage`: the local address and the peer's.
    const ADDRESSES: usize = 256;
    let all = each_subflow(socket, MPTCP_SUBFLOW_ADDRS, ADDRESSES);
    all.iter().map(|bytes| address(bytes)).collect()
}

/// The address in a `struct sockaddr_in` or `sockaddr_in6`.
fn address(bytes: &[u8]) -> IpAddr {
    let family = bytes.first_chunk().map(|family| u16::from_ne_bytes(*family));
    let v4 = || bytes.get(4..)?.first_chunk::<4>().map(|ip| IpAddr::from(*ip));
    let v6 = || bytes.get(8..)?.first_chunk::<16>().map(|ip| IpAddr::from(*ip));
    let found = if family == Some(libc::AF_INET as u16) { v4() } else { v6() };
    found.unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED))
}

/// Options that hold an array begin with `struct mptcp_subflow_data`: its own size, how many
/// entries there are, the kernel's size of one, and ours.
fn each_subflow(socket: BorrowedFd<'_>, option: libc::c_int, size: usize) -> Vec<Vec<u8>> {
    const HEADER: usize = 16;
    const MOST: usize = 16;
    let mut bytes = vec![0; HEADER + MOST * size];
    bytes[..4].copy_from_slice(&(HEADER as u32).to_ne_bytes());
    bytes[12..16].copy_from_slice(&(size as u32).to_ne_bytes());
    let Ok(length) = read_option(socket, SOL_MPTCP, option, &mut bytes) else { return Vec::new() };
    // One behind the other, none longer than the kernel's own.
    let (count, kernels) = (half(&bytes, 4) as usize, half(&bytes, 8) as usize);
    let entry = kernels.min(size).max(1);
    bytes[HEADER..length.max(HEADER)].chunks_exact(entry).take(count).map(<[u8]>::to_vec).collect()
}

fn half(bytes: &[u8], at: usize) -> u32 {
    let found = bytes.get(at..).and_then(|rest| rest.first_chunk());
    found.map_or(0, |bytes| u32::from_ne_bytes(*bytes))
}

#[cfg(test)]
mod tests;
