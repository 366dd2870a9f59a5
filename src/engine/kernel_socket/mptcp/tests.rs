//! What the kernel says that it put on a second subflow, held against the segments on the paths.

use std::collections::HashSet;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, sleep};

use super::*;
use crate::engine::frame::{ETHERNET_HEADER_LEN, VNET_HEADER_LEN};
use crate::engine::lab::Joint;
use crate::engine::namespaces;
use crate::engine::packet_socket::PacketSocket;
use crate::units::IpVersion;

const PATHS: [PathId; 2] = [PathId(0), PathId(1)];
const MESSAGES: usize = 400;
const SIZE: usize = 600;

/// Joins both ends of both paths, and writes down what the vehicle puts on each.
struct Middle {
    paths: Vec<(PacketSocket, PacketSocket)>,
    /// Nothing passes by the first path.
    dark: Arc<AtomicBool>,
    stop: Arc<AtomicBool>,
}

/// The sequence numbers of all payload that was on a path, each once.
type Numbers = HashSet<u32>;

impl Middle {
    fn run(mut self) -> [Numbers; 2] {
        let mut seen = [Numbers::new(), Numbers::new()];
        while !self.stop.load(Ordering::Acquire) {
            for (path, (vehicle, cloud)) in self.paths.iter_mut().enumerate() {
                let dark = path == 0 && self.dark.load(Ordering::Acquire);
                while let Some(frame) = vehicle.receive() {
                    seen[path].extend(numbers(frame.bytes()));
                    pass(cloud, frame.bytes(), dark);
                }
                while let Some(frame) = cloud.receive() {
                    pass(vehicle, frame.bytes(), dark);
                }
            }
            sleep(Duration::from_micros(200));
        }
        seen
    }
}

fn pass(to: &PacketSocket, frame: &[u8], dark: bool) {
    assert!(dark || to.send(&[frame]) == 0, "the kernel takes it");
}

/// Of the payload of a segment in IPv4.
fn numbers(frame: &[u8]) -> impl Iterator<Item = u32> {
    let ip = &frame[VNET_HEADER_LEN + ETHERNET_HEADER_LEN..];
    let header = usize::from(ip[0] & 15) * 4;
    let length = usize::from(u16::from_be_bytes([ip[2], ip[3]]));
    let tcp = &ip[header..length];
    let payload = &tcp[usize::from(tcp[12] >> 4) * 4..];
    let first = u32::from_be_bytes([tcp[4], tcp[5], tcp[6], tcp[7]]);
    (0..payload.len() as u32).map(move |byte| first.wrapping_add(byte))
}

/// Until it is so; long enough for the busiest machine.
fn patiently(what: &str, mut is_so: impl FnMut() -> bool) {
    const ROUNDS: u32 = 60_000;
    let so = (0..ROUNDS).any(|_| {
        let so = is_so();
        if !so {
            sleep(Duration::from_millis(1));
        }
        so
    });
    assert!(so, "{what}");
}

struct Connection {
    vehicle: TcpStream,
    cloud: TcpStream,
    arrived: usize,
    _listener: TcpListener,
}

impl Connection {
    /// Some bytes each way, after which the kernel joins the second path.
    fn over(lab: &Lab, settings: &MptcpSettings) -> Self {
        let (vehicle, cloud) = (lab.host(Role::Client), lab.host(Role::Server));
        for host in [vehicle, cloud] {
            prepare(host, settings).expect("multipath TCP");
        }
        let announced = lab.address(PATHS[1], Role::Server).ip();
        cloud.announce_mptcp_address(announced).expect("announced");
        let [from, to] = [Role::Client, Role::Server].map(|role| lab.address(PATHS[0], role));
        let options = options(settings);
        let listener = cloud.run(|| options.listen(any(to))).expect("there").expect("listens");
        let vehicle = vehicle.run(|| options.connect(Some(from), to)).expect("there");
        let (vehicle, mut accepted) = (vehicle.expect("connects"), None);
        patiently("it is accepted", || {
            accepted = accepted.take().or(listener.accept().ok());
            accepted.is_some()
        });
        let (cloud, _) = accepted.expect("just now");
        cloud.set_nonblocking(true).expect("it can be");
        let mut connection = Self { vehicle, cloud, arrived: 0, _listener: listener };
        connection.write(b"ping");
        patiently("the first bytes arrive", || connection.read() == 4);
        connection.cloud.write_all(b"pong").expect("there is room");
        let joined = |socket: &TcpStream| subflows(socket.as_fd()).len() == PATHS.len();
        patiently("the second path joins", || {
            joined(&connection.vehicle) && joined(&connection.cloud)
        });
        connection
    }

    fn write(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        patiently("there is room", || {
            let written = self.vehicle.write(rest).unwrap_or(0);
            rest = &rest[written..];
            rest.is_empty()
        });
    }

    /// All that is there; how much has come by now.
    fn read(&mut self) -> usize {
        let mut buffer = [0; 1 << 16];
        while let Ok(length @ 1..) = self.cloud.read(&mut buffer) {
            self.arrived += length;
        }
        self.arrived
    }

    /// What the vehicle's subflows have sent has arrived, by whichever path.
    fn is_acknowledged(&self) -> bool {
        subflows(self.vehicle.as_fd()).iter().all(|subflow| {
            let tcp = TcpInfo(subflow).figures();
            tcp.bytes_unsent == 0
                && tcp.bytes_acknowledged >= tcp.bytes_sent - tcp.bytes_retransmitted
        })
    }
}

fn figures(lab: &Lab, role: Role, socket: &TcpStream, settings: &MptcpSettings) -> MptcpFigures {
    let addresses = PATHS.map(|path| (lab.address(path, role).ip(), path)).to_vec();
    let (options, host) = (options(settings), lab.host(role).clone());
    let end = Mptcp { options, host, addresses, joining_since: None };
    end.figures(socket.as_fd()).and_then(|end| end.mptcp).expect("multipath TCP")
}

#[test]
fn what_was_put_on_a_second_subflow_is_what_was_on_both_paths() {
    if !namespaces::are_here() {
        return;
    }
    let lab = Lab::build(&[IpVersion::V4; 2], Joint::Relay).expect("a lab");
    if let Err(error) = allowed() {
        eprintln!("skipped: {error}");
        return;
    }
    let settings = MptcpSettings::new(PATHS.to_vec());
    let [dark, stop] = [(); 2].map(|()| Arc::new(AtomicBool::new(false)));
    let paths = lab.relay_sockets().expect("sockets");
    let middle = Middle { paths, dark: Arc::clone(&dark), stop: Arc::clone(&stop) };
    let middle = thread::spawn(|| middle.run());
    let mut connection = Connection::over(&lab, &settings);
    for message in 0..MESSAGES {
        dark.store((100..300).contains(&message), Ordering::Release);
        connection.write(&[7; SIZE]);
        connection.read();
        sleep(Duration::from_millis(2));
    }
    let payload = MESSAGES * SIZE + 4;
    patiently("all arrives", || connection.read() == payload);
    patiently("all is acknowledged", || connection.is_acknowledged());
    stop.store(true, Ordering::Release);
    let on_paths: usize = middle.join().expect("it passed all").iter().map(Numbers::len).sum();
    let vehicle = figures(&lab, Role::Client, &connection.vehicle, &settings);
    let cloud = figures(&lab, Role::Server, &connection.cloud, &settings);
    if vehicle.bytes_sent.is_none() {
        eprintln!("skipped: this kernel tells nothing of it");
        return;
    }
    let twice = (on_paths - payload) as u64;
    assert_eq!(vehicle.bytes_sent, Some(payload as u64));
    assert_eq!(cloud.bytes_received, Some(payload as u64));
    assert_eq!(vehicle.reinjected_bytes, Some(twice));
    assert_eq!(cloud.reinjected_bytes, Some(0));
    assert!(twice > 0, "of what was on its way when the path went dark");
}
