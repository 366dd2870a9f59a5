//! Our QUIC against a stock quinn endpoint, both ways round, over loopback sockets: the wire is
//! QUIC, not merely something that both of our own sides understand. Each mode carries messages
//! there and echoes back, whole.

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::senders::quic_settings;
use impairlab::protocol::quic::{self, ALPN, CERTIFICATE, Quic, SERVER_NAME};
use impairlab::protocol::settings::{QuicCongestion, QuicMode};
use impairlab::protocol::{Datagram, Output, Protocol, Role, Sent, State};
use impairlab::units::{Instant, PathId};
use quinn::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn::rustls;
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};

const KEY: &[u8] = include_bytes!("../../src/protocol/identity/ed25519-key.der");
const LOOPBACK: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 0);
/// Only a hang takes longer.
const LIMIT: Duration = Duration::from_secs(60);

fn messages(mode: QuicMode) -> Vec<Vec<u8>> {
    let sizes: &[usize] = match mode {
        QuicMode::Stream => &[600, 0, 1, 1199, 1200, 5_000, 100_000],
        QuicMode::StreamPerMessage => &[600, 0, 1, 1199, 1200, 5_000, 100_000],
        QuicMode::Datagram => &[600, 1, 1_000],
    };
    let length = |id: usize| sizes[id % sizes.len()] + id;
    (0..42).map(|id| (0..length(id)).map(|at| (id * 31 + at) as u8).collect()).collect()
}

/// Our side on a socket, in a thread of its own: sends `outgoing` once connected, answers every
/// message with itself if it is a server, and hands all it receives over.
struct Ours {
    protocol: Quic,
    socket: UdpSocket,
    peer: Option<SocketAddr>,
    outgoing: Vec<Vec<u8>>,
    echo: bool,
    start: std::time::Instant,
}

#[expect(clippy::disallowed_methods, reason = "a driver over real sockets has a real clock")]
fn clock() -> std::time::Instant {
    std::time::Instant::now()
}

impl Ours {
    fn now(&self) -> Instant {
        Instant::from_nanos(clock().duration_since(self.start).as_nanos() as u64)
    }

    /// Until `count` messages were received and the other side has said that it is done.
    fn run(mut self, count: usize, done: Receiver<()>) -> Vec<Vec<u8>> {
        let mut received = Vec::new();
        while received.len() < count || done.try_recv().is_err() {
            assert!(self.now() < Instant::ZERO + LIMIT, "{} of {count}", received.len());
            self.transmit_what_is_due(&mut received);
            let mut buffer = [0; 2048];
            if let Ok((length, from)) = self.socket.recv_from(&mut buffer) {
                self.peer = Some(from);
                let datagram = Datagram::new(PathId(0), buffer[..length].to_vec());
                self.protocol.receive(self.now(), datagram);
            }
        }
        received
    }

    fn transmit_what_is_due(&mut self, received: &mut Vec<Vec<u8>>) {
        if self.protocol.state() == State::Established {
            for message in std::mem::take(&mut self.outgoing) {
                assert_eq!(self.protocol.send(self.now(), &message), Sent::Accepted);
            }
        }
        loop {
            match self.protocol.poll(self.now()) {
                Output::Transmit(datagram) => {
                    self.socket.send_to(&datagram.payload, self.peer.unwrap()).unwrap();
                }
                Output::Deliver(message) => {
                    if self.echo {
                        assert_eq!(self.protocol.send(self.now(), &message), Sent::Accepted);
                    }
                    received.push(message);
                }
                Output::Wait(wake) => return self.sleep_at_most_until(wake),
            }
        }
    }

    fn sleep_at_most_until(&self, wake: Option<Instant>) {
        let wait = wake.map_or(Duration::from_millis(5), |wake| wake.saturating_since(self.now()));
        let wait = wait.clamp(Duration::from_micros(100), Duration::from_millis(5));
        self.socket.set_read_timeout(Some(wait)).unwrap();
    }
}

fn ours(role: Role, mode: QuicMode, peer: Option<SocketAddr>) -> Ours {
    let settings = quic_settings(QuicCongestion::Cubic, mode);
    Ours {
        protocol: quic::build(&settings, role, 1).unwrap(),
        socket: UdpSocket::bind(LOOPBACK).unwrap(),
        peer,
        outgoing: Vec::new(),
        echo: role == Role::Server,
        start: clock(),
    }
}

fn stock_client() -> quinn::ClientConfig {
    let mut roots = rustls::RootCertStore::empty();
    roots.add(CertificateDer::from(CERTIFICATE)).unwrap();
    let mut tls = rustls::ClientConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&rustls::version::TLS13])
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    tls.alpn_protocols = vec![ALPN.to_vec()];
    quinn::ClientConfig::new(Arc::new(QuicClientConfig::try_from(tls).unwrap()))
}

fn stock_server() -> quinn::ServerConfig {
    let key = PrivatePkcs8KeyDer::from(KEY).into();
    let mut tls = rustls::ServerConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&rustls::version::TLS13])
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![CertificateDer::from(CERTIFICATE)], key)
        .unwrap();
    tls.alpn_protocols = vec![ALPN.to_vec()];
    quinn::ServerConfig::with_crypto(Arc::new(QuicServerConfig::try_from(tls).unwrap()))
}

fn provider() -> Arc<rustls::crypto::CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

async fn stock_sends(connection: &quinn::Connection, mode: QuicMode, messages: &[Vec<u8>]) {
    match mode {
        QuicMode::Stream => {
            let mut stream = connection.open_uni().await.unwrap();
            for message in messages {
                stream.write_all(&(message.len() as u32).to_be_bytes()).await.unwrap();
                stream.write_all(message).await.unwrap();
            }
            // The stream stays open: dropping it would end it.
            std::mem::forget(stream);
        }
        QuicMode::StreamPerMessage => {
            for message in messages {
                let mut stream = connection.open_uni().await.unwrap();
                stream.write_all(message).await.unwrap();
                stream.finish().unwrap();
            }
        }
        QuicMode::Datagram => {
            for message in messages {
                connection.send_datagram(message.clone().into()).unwrap();
            }
        }
    }
}

async fn stock_receives(
    connection: &quinn::Connection,
    mode: QuicMode,
    count: usize,
) -> Vec<Vec<u8>> {
    let mut received = Vec::new();
    let mut stream = None;
    if mode == QuicMode::Stream {
        stream = Some(connection.accept_uni().await.unwrap());
    }
    while received.len() < count {
        received.push(match (mode, &mut stream) {
            (QuicMode::Stream, Some(stream)) => {
                let mut prefix = [0; 4];
                stream.read_exact(&mut prefix).await.unwrap();
                let mut message = vec![0; u32::from_be_bytes(prefix) as usize];
                stream.read_exact(&mut message).await.unwrap();
                message
            }
            (QuicMode::Datagram, _) => connection.read_datagram().await.unwrap().to_vec(),
            _ => {
                let mut stream = connection.accept_uni().await.unwrap();
                stream.read_to_end(1 << 20).await.unwrap()
            }
        });
    }
    received
}

/// All of them, in their order where the mode keeps it.
fn assert_same(mode: QuicMode, received: Vec<Vec<u8>>, sent: &[Vec<u8>]) {
    if mode == QuicMode::Stream {
        assert!(received == sent, "{mode:?}: not what was sent");
    } else {
        let (received, sent): (BTreeSet<_>, BTreeSet<_>) =
            (received.into_iter().collect(), sent.iter().cloned().collect());
        assert!(received == sent, "{mode:?}: not what was sent");
    }
}

fn stock_client_against_our_server(mode: QuicMode) {
    let sent = messages(mode);
    let server = ours(Role::Server, mode, None);
    let address = server.socket.local_addr().unwrap();
    let (done, is_done) = channel();
    let count = sent.len();
    let server: JoinHandle<_> = std::thread::spawn(move || server.run(count, is_done));
    let echoed = runtime().block_on(async {
        let mut endpoint = quinn::Endpoint::client(LOOPBACK).unwrap();
        endpoint.set_default_client_config(stock_client());
        let connection = endpoint.connect(address, SERVER_NAME).unwrap().await.unwrap();
        let (_, echoed) = tokio::join!(
            stock_sends(&connection, mode, &sent),
            stock_receives(&connection, mode, count)
        );
        echoed
    });
    done.send(()).unwrap();
    assert_same(mode, server.join().unwrap(), &sent);
    assert_same(mode, echoed, &sent);
}

fn our_client_against_a_stock_server(mode: QuicMode) {
    let sent = messages(mode);
    let count = sent.len();
    let (done, is_done) = channel();
    let (received, echoed) = runtime().block_on(async {
        let endpoint = quinn::Endpoint::server(stock_server(), LOOPBACK).unwrap();
        let mut client = ours(Role::Client, mode, Some(endpoint.local_addr().unwrap()));
        client.outgoing = sent.clone();
        let client: JoinHandle<_> = std::thread::spawn(move || client.run(count, is_done));
        let connection = endpoint.accept().await.unwrap().await.unwrap();
        let received = stock_receives(&connection, mode, count).await;
        stock_sends(&connection, mode, &received).await;
        done.send(()).unwrap();
        let echoed = tokio::task::spawn_blocking(move || client.join().unwrap()).await.unwrap();
        (received, echoed)
    });
    assert_same(mode, received, &sent);
    assert_same(mode, echoed, &sent);
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

const MODES: [QuicMode; 3] = [QuicMode::Stream, QuicMode::StreamPerMessage, QuicMode::Datagram];

#[test]
fn a_stock_client_talks_to_our_server() {
    MODES.into_iter().for_each(stock_client_against_our_server);
}

#[test]
fn our_client_talks_to_a_stock_server() {
    MODES.into_iter().for_each(our_client_against_a_stock_server);
}
