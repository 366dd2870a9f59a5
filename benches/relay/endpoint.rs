//! The two programs at the ends of what is measured: `send` and `receive`, each in a namespace of
//! its own. The receiver prints what it measured as JSON.

use std::io::{ErrorKind, IoSlice, IoSliceMut, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::AsRawFd;
use std::thread;
use std::time::Duration;

use nix::sys::socket::sockopt::{RcvBufForce, ReceiveTimestampns};
use nix::sys::socket::{
    ControlMessageOwned, MsgFlags, MultiHeaders, SockaddrIn, recvmsg, sendmmsg, setsockopt,
};
use nix::sys::time::TimeValLike;
use nix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

const PORT: u16 = 5001;
/// A receiver that hears nothing for so long takes it for the end.
const SILENCE: Duration = Duration::from_millis(700);
/// … and one that has heard nothing at all gives up after this.
const PATIENCE: Duration = Duration::from_secs(20);
/// The receiver needs a moment to be there.
const HEAD_START: Duration = Duration::from_millis(500);
const BATCH: usize = 64;
const RECEIVE_BUFFER: usize = 4 << 20;
/// Left out at the beginning: addresses are resolved, threads wake up.
const WARM_UP: Duration = Duration::from_millis(200);
const PACED_SIZE: usize = 600;
/// Time between two looks at a counter.
const GLANCE: Duration = Duration::from_millis(20);
/// More packets than an interface sees without a flood.
const BEGUN: u64 = 1000;

/// What the sender does.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Load {
    /// UDP packets of a size, as fast as it can.
    Flood { size: usize, duration: Duration },
    /// UDP packets at a rate a second.
    Paced { rate: u32, duration: Duration },
    /// One TCP flow.
    Tcp { duration: Duration },
}

#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Measured {
    /// Packets, or for TCP bytes.
    pub per_second: f64,
    /// Of each paced packet.
    pub delays_ns: Vec<i64>,
    pub lost: u64,
}

/// `send LOAD [ADDRESS]`: without an address, to where rattan says.
pub fn send(arguments: &[String]) {
    let load = load(arguments);
    let to = arguments.get(1).cloned().or_else(|| std::env::var("RATTAN_BASE").ok());
    let to: IpAddr = to.and_then(|text| text.parse().ok()).expect("an address to send to");
    thread::sleep(HEAD_START);
    match load {
        Load::Flood { size, duration } => flood((to, PORT).into(), size, duration),
        Load::Paced { rate, duration } => pace((to, PORT).into(), rate, duration),
        Load::Tcp { duration } => stream((to, PORT).into(), duration),
    }
}

/// `receive LOAD`
pub fn receive(arguments: &[String]) {
    let any = SocketAddr::new(Ipv4Addr::UNSPECIFIED.into(), PORT);
    let measured = match load(arguments) {
        Load::Flood { .. } => count_packets(&bound(any)),
        Load::Paced { rate, duration } => measure_delays(&bound(any), rate, duration),
        Load::Tcp { .. } => count_bytes(&TcpListener::bind(any).expect("the port is free")),
    };
    println!("{}", serde_json::to_string(&measured).expect("it is plain data"));
}

fn load(arguments: &[String]) -> Load {
    serde_json::from_str(arguments.first().expect("a load")).expect("a load as JSON")
}

fn flood(to: SocketAddr, size: usize, duration: Duration) {
    let socket = connected(to);
    let payload = vec![7; size];
    let slices = vec![[IoSlice::new(&payload)]; BATCH];
    let nowhere_else: [Option<SockaddrIn>; BATCH] = [None; BATCH];
    let mut headers = MultiHeaders::preallocate(BATCH, None);
    let end = now() + nanos(duration);
    while now() < end {
        let flags = MsgFlags::empty();
        // Not reachable, or no room: tried again.
        let _ = sendmmsg(socket.as_raw_fd(), &mut headers, &slices, nowhere_else, [], flags);
    }
}

fn pace(to: SocketAddr, rate: u32, duration: Duration) {
    let socket = connected(to);
    let mut payload = vec![0; PACED_SIZE];
    let (start, gap) = (now(), 1_000_000_000 / i64::from(rate));
    for number in 0..packets(rate, duration) as i64 {
        let due = start + number * gap;
        let early = Duration::from_nanos((due - now() - 60_000).max(0).unsigned_abs());
        thread::sleep(early);
        while now() < due {}
        payload[..8].copy_from_slice(&now().to_ne_bytes());
        let _ = socket.send(&payload);
    }
}

fn stream(to: SocketAddr, duration: Duration) {
    let mut stream = TcpStream::connect(to).expect("the receiver listens");
    let block = vec![7; 1 << 17];
    let end = now() + nanos(duration);
    while now() < end {
        stream.write_all(&block).expect("the receiver reads");
    }
}

/// By the counter of the interface that packets arrive at: how fast this program could read them is
/// not the question, and so it does not.
fn count_packets(_bound: &UdpSocket) -> Measured {
    let mut waited = Duration::ZERO;
    while arrived() < BEGUN && waited < PATIENCE {
        thread::sleep(GLANCE);
        waited += GLANCE;
    }
    thread::sleep(WARM_UP);
    let (begin, first) = (now(), arrived());
    let (mut end, mut last, mut silence) = (begin, first, Duration::ZERO);
    while silence < SILENCE {
        thread::sleep(GLANCE);
        silence += GLANCE;
        let count = arrived();
        if count > last {
            (end, last, silence) = (now(), count, Duration::ZERO);
        }
    }
    let span = (end - begin) as f64 / 1e9;
    Measured { per_second: (last - first) as f64 / span.max(1e-9), ..Measured::default() }
}

/// Packets that came in so far, by all interfaces but loopback.
fn arrived() -> u64 {
    let table = std::fs::read_to_string("/proc/thread-self/net/dev").expect("/proc is there");
    let lines = table.lines().filter_map(|line| line.split_once(':'));
    let others = lines.filter(|(name, _)| name.trim() != "lo");
    let packets =
        |(_, counters): (_, &str)| counters.split_whitespace().nth(1)?.parse::<u64>().ok();
    others.filter_map(packets).sum()
}

fn measure_delays(socket: &UdpSocket, rate: u32, duration: Duration) -> Measured {
    setsockopt(socket, ReceiveTimestampns, &true).expect("the kernel stamps what it receives");
    let mut delays_ns = Vec::new();
    let mut waited = SILENCE;
    while delays_ns.len() < packets(rate, duration) as usize {
        match receive_stamped(socket) {
            Some((sent, received)) => delays_ns.push(received - sent),
            None if !delays_ns.is_empty() || waited > PATIENCE => break,
            None => waited += SILENCE,
        }
    }
    let lost = packets(rate, duration) - delays_ns.len() as u64;
    Measured { delays_ns, lost, ..Measured::default() }
}

fn receive_stamped(socket: &UdpSocket) -> Option<(i64, i64)> {
    let mut buffer = [0; PACED_SIZE];
    let mut slices = [IoSliceMut::new(&mut buffer)];
    let mut space = nix::cmsg_space!(nix::sys::time::TimeSpec);
    let flags = MsgFlags::empty();
    let message =
        recvmsg::<SockaddrIn>(socket.as_raw_fd(), &mut slices, Some(&mut space), flags).ok()?;
    let mut controls = message.cmsgs().ok()?;
    let received = controls.find_map(|control| match control {
        ControlMessageOwned::ScmTimestampns(stamp) => Some(stamp.num_nanoseconds()),
        _ => None,
    })?;
    let (sent, _) = buffer.split_first_chunk().expect("it is longer than a number");
    Some((i64::from_ne_bytes(*sent), received))
}

fn count_bytes(listener: &TcpListener) -> Measured {
    let (mut stream, _) = listener.accept().expect("the sender connects");
    let mut block = vec![0; 1 << 18];
    let (mut begin, mut end, mut bytes) = (None, 0, 0);
    loop {
        match stream.read(&mut block) {
            Ok(0) => break,
            Ok(count) => {
                end = now();
                let begin = *begin.get_or_insert(end + nanos(WARM_UP));
                bytes += if end > begin { count } else { 0 };
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    let span = (end - begin.unwrap_or(end)) as f64 / 1e9;
    Measured { per_second: bytes as f64 / span.max(1e-9), ..Measured::default() }
}

fn bound(address: SocketAddr) -> UdpSocket {
    let socket = UdpSocket::bind(address).expect("the port is free");
    socket.set_read_timeout(Some(SILENCE)).expect("a time limit can be set");
    let _ = setsockopt(&socket, RcvBufForce, &RECEIVE_BUFFER);
    socket
}

fn connected(to: SocketAddr) -> UdpSocket {
    let socket = UdpSocket::bind("0.0.0.0:0").expect("there is a free port");
    socket.connect(to).expect("there is a route");
    socket
}

fn packets(rate: u32, duration: Duration) -> u64 {
    (f64::from(rate) * duration.as_secs_f64()) as u64
}

/// The clock of the kernel's timestamps.
fn now() -> i64 {
    clock_gettime(ClockId::CLOCK_REALTIME).expect("every system has it").num_nanoseconds()
}

fn nanos(duration: Duration) -> i64 {
    duration.as_nanos() as i64
}
