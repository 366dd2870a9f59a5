//! TCP of the kernel, one connection on one path.

use std::fs;
use std::io;
use std::net::TcpStream;
use std::os::fd::BorrowedFd;

use netns::Namespace;
use nix::errno::Errno;

use super::error::KernelSocketError;
use super::socket::{Options, Protocol, congestion};
use super::tcp_info;
use crate::engine::carrier::{Stream, Underlay};
use crate::engine::lab::Lab;
use crate::protocol::Role;
use crate::protocol::settings::TcpSettings;
use crate::recording::{EndSockets, TcpFigures};
use crate::units::PathId;

/// The vehicle's side and the cloud's.
pub fn tcp(lab: &Lab, settings: &TcpSettings) -> Result<[Stream; 2], KernelSocketError> {
    let options = options(settings);
    let failed = |source| KernelSocketError::Socket { protocol: Protocol::Tcp.name(), source };
    let at = |role| lab.address(settings.path, role);
    let (vehicle, cloud) = (at(Role::Client), at(Role::Server));
    let under = |role| {
        let (options, host) = (options.clone(), lab.host(role).clone());
        Box::new(Tcp { options, host, path: settings.path })
    };
    // Before somebody connects to it.
    let listener = lab.host(Role::Server).run(|| options.listen(cloud))?.map_err(failed)?;
    let socket = lab.host(Role::Client).run(|| options.connect(Some(vehicle), cloud))?;
    let vehicle = Stream::connecting(socket.map_err(failed)?, under(Role::Client));
    Ok([vehicle, Stream::listening(listener, under(Role::Server))])
}

pub fn admit(scratch: &Namespace, settings: &TcpSettings) -> Result<(), KernelSocketError> {
    scratch.run(|| admit_congestion(&options(settings)))?
}

/// Sets it on a socket of the calling thread's namespace, which also makes the kernel load it.
pub fn admit_congestion(options: &Options) -> Result<(), KernelSocketError> {
    let anywhere = ([127, 0, 0, 1], 0).into();
    let Err(source) = options.listen(anywhere) else { return Ok(()) };
    let Some(name) = options.congestion.clone() else {
        return Err(KernelSocketError::Socket { protocol: options.protocol.name(), source });
    };
    if source.raw_os_error() == Some(Errno::ENOENT as i32) {
        return Err(KernelSocketError::NoCongestion { name, available: available() });
    }
    Err(KernelSocketError::Congestion { name, source })
}

/// The congestion controls that the kernel has now, in words.
pub fn available() -> String {
    let table = "/proc/sys/net/ipv4/tcp_available_congestion_control";
    let names = fs::read_to_string(table).unwrap_or_default();
    names.split_whitespace().collect::<Vec<_>>().join(", ")
}

fn options(settings: &TcpSettings) -> Options {
    Options {
        protocol: Protocol::Tcp,
        congestion: Some(settings.congestion.clone()),
        nodelay: settings.nodelay,
        user_timeout: settings.user_timeout,
    }
}

struct Tcp {
    options: Options,
    host: Namespace,
    path: PathId,
}

impl Underlay for Tcp {
    fn furnish(&self, socket: &TcpStream) -> io::Result<()> {
        self.options.furnish(socket)
    }

    fn figures(&self, socket: BorrowedFd<'_>) -> Option<EndSockets> {
        let figures = tcp_info::of(socket).ok()?;
        Some(EndSockets {
            congestion: congestion(&socket),
            connections: vec![TcpFigures { path: Some(self.path), ..figures }],
            mptcp: None,
            retransmitted_in_namespace: tcp_info::retransmitted_in(&self.host),
        })
    }
}
