//! The real kcptun as it comes from Debian, a server on the cloud and a client on the vehicle, with
//! nothing between them and the path. It ends when the handle is dropped.

use std::error::Error;
use std::fs;
use std::io::ErrorKind;
use std::io::Read;
use std::net::{SocketAddr, TcpStream};
use std::process::{Command, Stdio};

use netns::{Namespace, Running};

use crate::clock::wait_until;
use crate::lab::{CLOUD_ADDRESS, Lab};
use crate::setup::Tunnel;

/// Where the echoing program listens: on loopback behind a tunnel, else on the path.
pub const ECHO_PORT: u16 = 7001;
const ENTRANCE: &str = "127.0.0.1:7000";
const SERVER_PORT: u16 = 29_900;

pub struct Carrier {
    /// Where the vehicle's program connects.
    pub entrance: SocketAddr,
    _programs: Vec<Running>,
}

/// Where the cloud's program is to listen.
pub fn echo_address(tunnel: Tunnel) -> SocketAddr {
    let ip = if tunnel == Tunnel::Tcp { CLOUD_ADDRESS } else { "127.0.0.1" };
    SocketAddr::new(ip.parse().expect("an address"), ECHO_PORT)
}

/// What this machine's kcptun says that it is, and the package it came in.
pub fn kcptun_version() -> Result<String, Box<dyn Error>> {
    let output = Command::new("kcptun-client").arg("--version").output().map_err(|error| {
        let remedy = "apt-get install kcptun";
        format!("cannot start kcptun-client: {error}. Install it with: {remedy}")
    })?;
    let package = Command::new("dpkg-query").args(["-W", "kcptun"]).output();
    let package = package.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    let said = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    Ok(format!("{said}; package {}", package.unwrap_or_default().trim().replace('\t', " ")))
}

/// Starts what the setup asks for and waits until both of its ends listen.
pub fn open(lab: &Lab, tunnel: Tunnel) -> Result<Carrier, Box<dyn Error>> {
    let Tunnel::Kcptun { data, parity } = tunnel else {
        return Ok(Carrier { entrance: echo_address(tunnel), _programs: Vec::new() });
    };
    let options =
        format!("--mode fast3 --datashard {data} --parityshard {parity} --nocomp --quiet");
    let listen = format!("{CLOUD_ADDRESS}:{SERVER_PORT}");
    let target = echo_address(tunnel).to_string();
    let server = start(&lab.cloud, "kcptun-server", &["-l", &listen, "-t", &target], &options)?;
    let server = ready(server, "kcptun-server", || listens_to_udp(&lab.cloud))?;
    let client = start(&lab.vehicle, "kcptun-client", &["-l", ENTRANCE, "-r", &listen], &options)?;
    let client = ready(client, "kcptun-client", || accepts(&lab.vehicle))?;
    let entrance = ENTRANCE.parse().expect("an address");
    Ok(Carrier { entrance, _programs: vec![client, server] })
}

fn start(
    namespace: &Namespace,
    program: &str,
    arguments: &[&str],
    options: &str,
) -> Result<Running, Box<dyn Error>> {
    let command = namespace.command(program).args(arguments).args(options.split(' '));
    Ok(command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn()?)
}

fn ready(
    mut program: Running,
    name: &str,
    mut listens: impl FnMut() -> Result<bool, Box<dyn Error>>,
) -> Result<Running, Box<dyn Error>> {
    let mut ended = None;
    let listening = wait_until(|| {
        ended = program.try_wait()?;
        Ok::<_, Box<dyn Error>>(ended.is_some() || listens()?)
    })?;
    if listening && ended.is_none() {
        return Ok(program);
    }
    let said = program.take_stderr();
    drop(program);
    let mut text = String::new();
    said.map(|mut said| said.read_to_string(&mut text)).transpose()?;
    Err(format!("{name} does not listen after 10 s; it said: {}", text.trim()).into())
}

/// Looks, and does not send: a datagram to a closed port would be answered on the path.
fn listens_to_udp(cloud: &Namespace) -> Result<bool, Box<dyn Error>> {
    let port = format!(":{SERVER_PORT:04X} ");
    let in_table = |table: &str| -> Result<bool, Box<dyn Error>> {
        match cloud.run(|| fs::read_to_string(table))? {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            table => Ok(table?.contains(&port)),
        }
    };
    Ok(in_table("/proc/thread-self/net/udp")? || in_table("/proc/thread-self/net/udp6")?)
}

fn accepts(vehicle: &Namespace) -> Result<bool, Box<dyn Error>> {
    let table = vehicle.run(|| fs::read_to_string("/proc/thread-self/net/tcp"))??;
    let port = ENTRANCE.rsplit(':').next().unwrap_or_default().parse::<u16>()?;
    Ok(table.contains(&format!(":{port:04X} ")))
}

/// A connection from the vehicle, with every message sent at once.
pub fn connect(lab: &Lab, entrance: SocketAddr) -> Result<TcpStream, Box<dyn Error>> {
    let stream = lab.vehicle.run(|| TcpStream::connect(entrance))??;
    stream.set_nodelay(true)?;
    Ok(stream)
}
