//! noq's protocol core behind [`Protocol`], over one or more paths. Must not know of sockets, and
//! reads no clock. noq grew out of quinn: what both have alike (streams, TLS, configuration) is the
//! source of `quic`, compiled against noq here.
//!
//! The client opens the paths after the first once the handshake is done and the server has sent
//! connection ids for them, and a side is established when the other end of each has answered its
//! challenge. A path is never given up: without an idle timeout noq closes none by itself. What was
//! sent on a dark path waits for its return, since noq declares nothing lost before an
//! acknowledgement comes on the same path. Its probes there come at intervals that double, and grow
//! by two seconds at most from one to the next (noq-proto 1.4.0, `pto_time_and_space`).
//!
//! Every size and instant of a run is decided by the settings and the seed, as for `quic`. A new
//! local address goes unused.
//!
//! Limits: those of `quic`.

mod congestion;
mod frames;
#[expect(clippy::duplicate_mod, reason = "quinn and noq are alike here")]
#[path = "../quic/messages.rs"]
mod messages;
#[expect(clippy::duplicate_mod, reason = "quinn and noq are alike here")]
#[path = "../quic/tls.rs"]
mod tls;
#[expect(clippy::duplicate_mod, reason = "quinn and noq are alike here")]
#[path = "../quic/transport.rs"]
mod transport;
#[expect(clippy::duplicate_mod, reason = "quinn and noq are alike here")]
#[path = "../quic/wire.rs"]
mod wire;

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::{Bytes, BytesMut};
use noq_proto as proto;
use proto::{
    ClientConfig, Connection, ConnectionEvent, ConnectionHandle, DatagramEvent, Endpoint, Event,
    FourTuple, Incoming, PathError, PathEvent, PathStatus, QlogConfig, QlogFactory, ServerConfig,
    Transmit, TransportConfig, VarInt,
};
use thiserror::Error;

use super::ends::{ends, path_of};
use crate::protocol::clock;
use crate::protocol::entropy::{self, SeedStream};
use crate::protocol::qlog::QlogWriter;
use crate::protocol::quic::UDP_PAYLOAD;
use crate::protocol::settings::{NoqScheduler, NoqSettings};
use crate::protocol::{
    Datagram, Delivery, Output, Protocol, ProtocolStatistics, QlogBook, Role, Sent, State,
};
use crate::units::{Instant, PathId};
use frames::frames_received;
use messages::Messages;

#[derive(Debug, Error)]
pub enum NoqError {
    #[error("the TLS configuration of noq was not taken: {0}")]
    Tls(#[from] tls::TlsError),
}

/// One side of a connection over at least one path.
pub fn build(
    paths: &[PathId],
    settings: &NoqSettings,
    role: Role,
    seed: u64,
) -> Result<Noq, NoqError> {
    let mut entropy = SeedStream::new(seed, role as u64);
    let mut endpoint = transport::endpoint(&mut entropy);
    let ids = transport::connection_ids(&mut entropy);
    endpoint.cid_generator(Arc::new(move || Box::new(ids)));
    let transport = transport_config(paths.len(), settings);
    let (client, server) = match role {
        Role::Client => (Some(transport::client(transport, &mut entropy)?), None),
        Role::Server => (None, Some(Arc::new(server(transport)?))),
    };
    Ok(Noq {
        role,
        paths: paths.to_vec(),
        settings: settings.clone(),
        endpoint: Endpoint::new(Arc::new(endpoint), server.clone(), false),
        client,
        server,
        connection: None,
        opened: 1,
        validated: 0,
        connected: false,
        messages: Messages::new(settings.mode),
        outgoing: VecDeque::new(),
        state: State::Connecting,
        lost: 0,
        discarded: 0,
        entropy,
    })
}

/// Its address tokens are sealed with a key that no seed decides: none is ever used.
fn server(transport: TransportConfig) -> Result<ServerConfig, tls::TlsError> {
    let mut config = ServerConfig::with_crypto(Arc::new(tls::server()?));
    // A datagram that comes on another path than it was sent on is none of ours.
    config.transport_config(Arc::new(transport)).migration(false);
    Ok(config)
}

fn transport_config(paths: usize, settings: &NoqSettings) -> TransportConfig {
    let congestion = congestion::factory(settings.congestion, settings.transport.initial_window);
    let mut config = transport::transport(&settings.transport, settings.mode, congestion);
    config.max_concurrent_multipath_paths(if paths > 1 { paths as u32 } else { 0 });
    config.default_path_max_idle_timeout(None).default_path_keep_alive_interval(None);
    config
}

pub struct Noq {
    role: Role,
    paths: Vec<PathId>,
    settings: NoqSettings,
    endpoint: Endpoint,
    /// What a client connects with; taken when it does.
    client: Option<ClientConfig>,
    /// What a server accepts with.
    server: Option<Arc<ServerConfig>>,
    connection: Option<(ConnectionHandle, Connection)>,
    /// How many paths noq knows: the first it connects on.
    opened: usize,
    /// How many paths after the first have answered a challenge of this side.
    validated: usize,
    connected: bool,
    messages: Messages,
    /// What the endpoint answers by itself, outside of a connection.
    outgoing: VecDeque<Datagram>,
    state: State,
    lost: u64,
    discarded: u64,
    entropy: SeedStream,
}

impl Protocol for Noq {
    fn send(&mut self, _now: Instant, message: &[u8]) -> Sent {
        match &mut self.connection {
            Some((_, connection)) if self.state == State::Established => {
                self.messages.send(connection, message)
            }
            _ => Sent::Refused,
        }
    }

    fn receive(&mut self, now: Instant, datagram: Datagram) {
        self.with_entropy(|noq| noq.handle(now, datagram));
    }

    fn poll(&mut self, now: Instant) -> Output {
        self.with_entropy(|noq| noq.advance(now))
    }

    fn state(&self) -> State {
        self.state.clone()
    }

    fn delivery(&self) -> Delivery {
        self.settings.mode.delivery()
    }

    /// Retransmissions are packets declared lost on any path: their reliable frames were sent
    /// again.
    fn statistics(&self) -> ProtocolStatistics {
        ProtocolStatistics { retransmissions: Some(self.lost), discarded: self.discarded }
    }

    fn log_in(&mut self, book: &QlogBook) {
        let log = Log(Mutex::new(Some(book.open(self.role, self.paths[0]))));
        let mut transport = transport_config(self.paths.len(), &self.settings);
        transport.qlog_factory(Arc::new(log));
        transport::replace(transport, self.client.as_mut(), self.server.as_mut());
    }
}

impl Noq {
    /// `ring` draws the handshake's keys from the system: here, from the seed.
    fn with_entropy<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        entropy::seeded(self, |noq| &mut noq.entropy, work)
    }

    fn handle(&mut self, now: Instant, datagram: Datagram) {
        let network_path = self.network_path(datagram.path);
        let ecn = wire::codepoint(datagram.ecn);
        let (now, payload) = (clock::to_std(now), BytesMut::from(&datagram.payload[..]));
        let mut response = Vec::new();
        match self.endpoint.handle(now, network_path, ecn, payload, &mut response) {
            Some(DatagramEvent::ConnectionEvent(_, event)) => self.handle_event(event),
            Some(DatagramEvent::NewConnection(incoming)) => self.accept(now, incoming),
            Some(DatagramEvent::Response(transmit)) => {
                self.discarded += 1;
                self.respond(&transmit, response);
            }
            None => self.discarded += 1,
        }
    }

    /// The addresses that stand for a path.
    fn network_path(&self, path: PathId) -> FourTuple {
        let (local, remote) = ends(self.role, path);
        FourTuple::new(remote, Some(local.ip()))
    }

    /// A datagram for the connection: one that no frame was read from was garbage or a duplicate.
    fn handle_event(&mut self, event: ConnectionEvent) {
        let Some((_, connection)) = &mut self.connection else { return };
        let before = frames_received(&connection.stats().frame_rx);
        connection.handle_event(event);
        let stats = connection.stats();
        self.lost = stats.lost_packets;
        if frames_received(&stats.frame_rx) == before {
            self.discarded += 1;
        }
    }

    fn respond(&mut self, transmit: &Transmit, payload: Vec<u8>) {
        if let Some(path) = path_of(transmit.destination) {
            self.outgoing.push_back(wire::outgoing(path, transmit, payload));
        }
    }

    /// There is one connection; whatever else asks for one is a replay.
    fn accept(&mut self, now: std::time::Instant, incoming: Incoming) {
        if self.connection.is_some() {
            self.discarded += 1;
            self.endpoint.ignore(incoming);
            return;
        }
        let mut response = Vec::new();
        match self.endpoint.accept(incoming, now, &mut response, self.server.clone()) {
            Ok(connection) => self.connection = Some(connection),
            Err(error) => {
                self.discarded += 1;
                if let Some(transmit) = error.response {
                    self.respond(&transmit, response);
                }
            }
        }
    }

    fn advance(&mut self, now: Instant) -> Output {
        let now = clock::to_std(now);
        self.connect(now);
        if let Some(response) = self.outgoing.pop_front() {
            return Output::Transmit(response);
        }
        let Some((handle, connection)) = &mut self.connection else { return Output::Wait(None) };
        if connection.poll_timeout().is_some_and(|timeout| timeout <= now) {
            connection.handle_timeout(now);
        }
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(event) = self.endpoint.handle_event(*handle, event) {
                connection.handle_event(event);
            }
        }
        self.take_events(now);
        self.open_paths(now);
        self.note_established();
        self.next_output(now)
    }

    fn connect(&mut self, now: std::time::Instant) {
        let Some(client) = self.client.take() else { return };
        let (_, remote) = ends(self.role, self.paths[0]);
        match self.endpoint.connect(now, client, remote, tls::SERVER_NAME) {
            Ok(connection) => self.connection = Some(connection),
            Err(error) => self.state = State::Closed(format!("could not connect: {error}")),
        }
    }

    fn take_events(&mut self, now: std::time::Instant) {
        let Some((_, connection)) = &mut self.connection else { return };
        while let Some(event) = connection.poll() {
            match event {
                Event::Connected => self.connected = true,
                Event::ConnectionLost { reason } => self.state = State::Closed(reason.to_string()),
                Event::Stream(event) => {
                    if let Err(error) = self.messages.on_stream_event(connection, event) {
                        self.state = State::Closed(error.to_string());
                        connection.close(now, UNREADABLE, Bytes::from(error.to_string()));
                    }
                }
                Event::DatagramReceived => self.messages.on_datagrams(connection),
                Event::Path(PathEvent::Established { .. }) => self.validated += 1,
                _ => {}
            }
        }
        self.messages.resume(connection);
    }

    /// A path needs a connection id of its own, which the server sends after the handshake.
    fn open_paths(&mut self, now: std::time::Instant) {
        if self.role == Role::Server || !self.connected {
            return;
        }
        while let Some(path) = self.paths.get(self.opened) {
            let network_path = self.network_path(*path);
            let Some((_, connection)) = &mut self.connection else { return };
            match connection.open_path(network_path, status(self.settings.scheduler), now) {
                Ok(_) => self.opened += 1,
                Err(PathError::MultipathNotNegotiated) => {
                    self.state = State::Closed("the other side does not speak multipath".into());
                    return;
                }
                // Asked for again when something has come.
                Err(_) => return,
            }
        }
    }

    fn note_established(&mut self) {
        let every_path = self.validated + 1 >= self.paths.len();
        if self.state == State::Connecting && self.connected && every_path {
            self.state = State::Established;
        }
    }

    fn next_output(&mut self, now: std::time::Instant) -> Output {
        if let Some(message) = self.messages.next() {
            return Output::Deliver(message);
        }
        let Some((_, connection)) = &mut self.connection else { return Output::Wait(None) };
        let mut payload = Vec::with_capacity(usize::from(UDP_PAYLOAD));
        while let Some(transmit) = connection.poll_transmit(now, NonZeroUsize::MIN, &mut payload) {
            if let Some(path) = path_of(transmit.destination) {
                return Output::Transmit(wire::outgoing(path, &transmit, payload));
            }
            payload.clear();
        }
        Output::Wait(connection.poll_timeout().map(clock::from_std))
    }
}

/// The log of the one connection there is.
struct Log(Mutex<Option<QlogWriter>>);

impl QlogFactory for Log {
    fn for_connection(
        &self,
        _side: proto::Side,
        _remote: SocketAddr,
        _initial_id: proto::ConnectionId,
        _now: std::time::Instant,
    ) -> Option<QlogConfig> {
        let writer = self.0.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        let mut config = QlogConfig::new(Box::new(writer));
        config.title(Some("mpquic, noq".to_owned())).start_time(clock::to_std(Instant::ZERO));
        Some(config)
    }
}

/// What a path after the first is announced as.
fn status(scheduler: NoqScheduler) -> PathStatus {
    match scheduler {
        NoqScheduler::FirstUnblocked => PathStatus::Available,
        NoqScheduler::Backup => PathStatus::Backup,
    }
}

/// The application error code of a stream that is not made of messages.
const UNREADABLE: VarInt = VarInt::from_u32(1);
