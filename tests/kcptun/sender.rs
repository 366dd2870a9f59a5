//! Our sender on a real socket: a client that sends numbered messages and wants each back, and a
//! server that gives back what it gets.

use std::io::ErrorKind;
use std::net::{SocketAddr, UdpSocket};
use std::thread::JoinHandle;
use std::time::Duration;

use impairlab::protocol::kcp::Kcp;
use impairlab::protocol::{Datagram, Output, Protocol, Role, Sent, State};
use impairlab::units::{Instant, PathId};

use super::lab::{Lab, server_of};
use super::{Case, PATIENCE};

/// Messages of the client that may be under way at the same time.
const UNDER_WAY: usize = 64;
/// Even if nothing is due.
const LONGEST_WAIT: Duration = Duration::from_millis(20);
const SHORTEST_WAIT: Duration = Duration::from_micros(100);

/// What our side of a connection has seen.
#[derive(Debug)]
pub struct Seen {
    pub case: Case,
    pub delivered: usize,
    /// By error correction.
    pub recovered: u64,
}

/// Sends all messages of the case and ends when the last has come back.
pub fn client(lab: &Lab, case: Case) -> JoinHandle<Seen> {
    let socket = lab.vehicle.run(|| UdpSocket::bind("0.0.0.0:0")).expect("it is there");
    let socket = socket.expect("there are free ports");
    let kcp = Kcp::new(&case.settings(), Role::Client, 1_000 + u64::from(case.number));
    let mut endpoint = Endpoint::new(kcp, socket, Some(server_of(case.number)));
    let talk = move || {
        let messages = case.messages();
        let (mut sent, mut back) = (0, 0);
        while back < messages.len() {
            while sent < messages.len().min(back + UNDER_WAY) {
                endpoint.send(&messages[sent]);
                sent += 1;
            }
            for message in endpoint.step() {
                assert!(message == messages[back], "{case:?}: message {back} is not what was sent");
                back += 1;
            }
            assert!(endpoint.is_open(), "{case:?}: {:?}", endpoint.kcp.state());
            assert!(endpoint.now() < Instant::ZERO + PATIENCE, "{case:?}: {back} of {sent} back");
        }
        endpoint.seen(case, back)
    };
    std::thread::spawn(talk)
}

/// Gives back each message until the client's user hangs up.
pub fn server(lab: &Lab, case: Case) -> JoinHandle<Seen> {
    let socket = lab.cloud.run(|| UdpSocket::bind(server_of(case.number))).expect("it is there");
    let kcp = Kcp::accepting(&case.settings(), u64::from(case.number));
    let mut endpoint = Endpoint::new(kcp, socket.expect("the port is free"), None);
    let serve = move || {
        let mut delivered = 0;
        while endpoint.is_open() {
            for message in endpoint.step() {
                endpoint.send(&message);
                delivered += 1;
            }
            assert!(endpoint.now() < Instant::ZERO + PATIENCE, "{case:?}: after {delivered}");
        }
        assert_eq!(endpoint.kcp.state(), State::Closed("the peer ended the smux stream".into()));
        endpoint.seen(case, delivered)
    };
    std::thread::spawn(serve)
}

struct Endpoint {
    kcp: Kcp,
    socket: UdpSocket,
    /// Of a server: whoever spoke last.
    peer: Option<SocketAddr>,
    start: std::time::Instant,
}

impl Endpoint {
    #[expect(clippy::disallowed_methods, reason = "a driver over real sockets has a real clock")]
    fn new(kcp: Kcp, socket: UdpSocket, peer: Option<SocketAddr>) -> Self {
        Self { kcp, socket, peer, start: std::time::Instant::now() }
    }

    fn now(&self) -> Instant {
        Instant::ZERO + self.start.elapsed()
    }

    fn is_open(&self) -> bool {
        !matches!(self.kcp.state(), State::Closed(_))
    }

    fn send(&mut self, message: &[u8]) {
        assert_eq!(self.kcp.send(self.now(), message), Sent::Accepted);
    }

    /// Does what is due, waits a little for what comes, and returns what was delivered.
    fn step(&mut self) -> Vec<Vec<u8>> {
        let mut delivered = Vec::new();
        let wake = loop {
            match self.kcp.poll(self.now()) {
                Output::Transmit(datagram) => self.transmit(&datagram.payload),
                Output::Deliver(message) => delivered.push(message),
                Output::Wait(wake) => break wake.unwrap_or(Instant::FAR_FUTURE),
            }
        };
        if delivered.is_empty() {
            let wait = wake.saturating_since(self.now()).clamp(SHORTEST_WAIT, LONGEST_WAIT);
            self.socket.set_read_timeout(Some(wait)).expect("not zero");
            self.receive();
        }
        delivered
    }

    fn transmit(&self, payload: &[u8]) {
        let Some(peer) = self.peer else { return };
        // A peer that does not listen yet, or a full buffer: lost, as packets may be.
        let _ = self.socket.send_to(payload, peer);
    }

    fn receive(&mut self) {
        let mut buffer = [0; 2_048];
        match self.socket.recv_from(&mut buffer) {
            Ok((len, from)) => {
                self.peer = Some(from);
                let datagram = Datagram::new(PathId(0), buffer[..len].to_vec());
                self.kcp.receive(self.now(), datagram);
            }
            Err(error) => assert!(
                matches!(
                    error.kind(),
                    ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::ConnectionRefused
                ),
                "{error}"
            ),
        }
    }

    fn seen(&self, case: Case, delivered: usize) -> Seen {
        Seen {
            case,
            delivered,
            recovered: self.kcp.error_correction().map_or(0, |counts| counts.recovered),
        }
    }
}
