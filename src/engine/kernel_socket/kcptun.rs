//! The real kcptun, a client beside the vehicle's endpoint and a server beside the cloud's: each
//! endpoint talks TCP to its own over loopback, and only kcptun's datagrams are on the path. Keys
//! and nonces are its own and random, so no two runs are alike.

use std::fs;
use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream};
use std::path::PathBuf;
use std::thread::sleep;
use std::time::Duration;

use netns::Namespace;

use super::error::KernelSocketError;
use super::program::{FOLDERS, Program, find, find_in};
use super::socket::Options;
use crate::engine::carrier::{Stream, Underlay};
use crate::engine::lab::Lab;
use crate::engine::real_clock::Clock;
use crate::protocol::Role;
use crate::protocol::settings::KcptunSettings;
use crate::units::Instant;

const CLIENT: &str = "kcptun-client";
const SERVER: &str = "kcptun-server";
/// Where the client takes connections, beside the vehicle's endpoint.
const ENTRANCE: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 7000);
/// Where the server leads them: to the cloud's endpoint.
const TARGET: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 7001);
/// How long a program may take until it listens.
const LISTEN_LIMIT: Duration = Duration::from_secs(10);
/// How often is looked whether it does, at first, and then ever more rarely: a table of all sockets
/// takes milliseconds to read.
const LOOK: Duration = Duration::from_millis(2);
const WAITED_PER_LOOK: u32 = 16;
/// How long a program whose connection has ended may take to be gone, on a busy machine.
const HINDSIGHT: Duration = Duration::from_secs(1);

/// Where kcptun is on this machine.
pub struct Programs {
    pub client: PathBuf,
    pub server: PathBuf,
}

impl Programs {
    pub fn find() -> Result<Self, KernelSocketError> {
        Ok(Self { client: find(CLIENT)?, server: find(SERVER)? })
    }

    /// A guest sees this machine's files, but not the user's PATH.
    pub fn find_for_a_guest() -> Result<Self, KernelSocketError> {
        let find = |program| find_in(program, FOLDERS.into());
        Ok(Self { client: find(CLIENT)?, server: find(SERVER)? })
    }
}

/// The vehicle's side and the cloud's, both programs running.
pub fn kcptun(lab: &Lab, settings: &KcptunSettings) -> Result<[Stream; 2], KernelSocketError> {
    let programs = Programs::find()?;
    let (vehicle, cloud) = (lab.host(Role::Client), lab.host(Role::Server));
    let failed = |source| KernelSocketError::Socket { protocol: "loopback", source };
    let listener = cloud.run(|| Options::loopback().listen(TARGET))?.map_err(failed)?;
    let remote = lab.address(settings.path, Role::Server);
    let arguments = |ends: [(&str, SocketAddr); 2]| {
        let ends = ends.into_iter().flat_map(|(name, at)| [name.to_owned(), at.to_string()]);
        ends.chain(options(settings)).collect::<Vec<_>>()
    };
    let from_to = arguments([("--listen", remote), ("--target", TARGET)]);
    let server = Program::start(cloud, SERVER, &programs.server, &from_to)?;
    let server = listening(server, || is_open(cloud, ["udp", "udp6"], remote.port()))?;
    let from_to = arguments([("--localaddr", ENTRANCE), ("--remoteaddr", remote)]);
    let client = Program::start(vehicle, CLIENT, &programs.client, &from_to)?;
    let client = listening(client, || is_open(vehicle, ["tcp", "tcp6"], ENTRANCE.port()))?;
    let socket = vehicle.run(|| Options::loopback().connect(None, ENTRANCE))?.map_err(failed)?;
    let under = |program| Box::new(Kcptun { program });
    Ok([Stream::connecting(socket, under(client)), Stream::listening(listener, under(server))])
}

fn options(settings: &KcptunSettings) -> Vec<String> {
    let (data, parity) = settings.fec.map_or((0, 0), |fec| (fec.data(), fec.parity()));
    let values = [
        ("--mode", settings.mode.keyword().to_owned()),
        ("--crypt", settings.crypt.keyword().to_owned()),
        ("--datashard", data.to_string()),
        ("--parityshard", parity.to_string()),
        ("--smuxver", settings.smux.to_string()),
        ("--mtu", settings.mtu.to_string()),
        ("--sndwnd", settings.send_window.to_string()),
        ("--rcvwnd", settings.receive_window.to_string()),
    ];
    let switches = ["--nocomp", "--quiet"].map(str::to_owned);
    values.into_iter().flat_map(|(name, value)| [name.to_owned(), value]).chain(switches).collect()
}

/// Looks, and does not send: a datagram to a closed port would be answered on the path.
fn listening(
    mut program: Program,
    mut is_open: impl FnMut() -> Result<bool, KernelSocketError>,
) -> Result<Program, KernelSocketError> {
    let since = Clock::start();
    let waited = || since.now().saturating_since(Instant::ZERO);
    while waited() < LISTEN_LIMIT {
        if let Some(said) = program.ended() {
            return Err(KernelSocketError::Ended { program: program.name(), said });
        }
        if is_open()? {
            return Ok(program);
        }
        sleep(LOOK.max(waited() / WAITED_PER_LOOK));
    }
    let (said, limit_s) = (program.said(), LISTEN_LIMIT.as_secs());
    Err(KernelSocketError::NotListening { program: program.name(), limit_s, said })
}

/// Whether any socket of a namespace has this port: the tables have it as `:1F90` and a space.
fn is_open(host: &Namespace, tables: [&str; 2], port: u16) -> Result<bool, KernelSocketError> {
    let port = format!(":{port:04X} ");
    let has_it = |table: &str| -> io::Result<bool> {
        match fs::read_to_string(format!("/proc/thread-self/net/{table}")) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            text => Ok(text?.contains(&port)),
        }
    };
    let found = host.run(|| Ok::<_, io::Error>(has_it(tables[0])? || has_it(tables[1])?))?;
    found.map_err(KernelSocketError::Ports)
}

struct Kcptun {
    program: Program,
}

impl Underlay for Kcptun {
    fn furnish(&self, socket: &TcpStream) -> io::Result<()> {
        socket.set_nodelay(true)
    }

    fn fault(&mut self) -> Option<String> {
        let name = self.program.name();
        self.program.ended().map(|how| format!("{name} ended: {how}"))
    }

    /// One that has lost its peer would send for ever, and what is on the path never come to an end.
    fn hush(&mut self) {
        self.program.freeze();
    }

    fn hindsight(&self) -> Duration {
        HINDSIGHT
    }

    fn cpu_time(&self) -> Duration {
        self.program.cpu_time()
    }
}
