//! Single-path QUIC: quinn's protocol core behind [`Protocol`], with the congestion controller and
//! the way messages travel as settings, since those two decide the tail of its latency. Must not
//! know of sockets, and reads no clock.
//!
//! Both sides are built from the same settings and seed, and every size and instant of a run is
//! decided by them: ids, keys and quinn's own random numbers come from the seed, the certificate is
//! fixed and pinned, and no session tickets, MTU probes, spin bits or batches of packets are sent.
//! A connection never times out by itself, so that an outage of any length is survived, and keeps
//! nothing alive: silence stays silence.
//!
//! Limits: [`SEND_BUFFER`] bytes that are not acknowledged yet, [`MAX_STREAMS`] messages under way
//! on streams of their own; in datagram mode [`SEND_BUFFER`] bytes that wait to be sent, and
//! messages that one packet holds. What is beyond is refused. A stream that has arrived with more
//! than 1,024 gaps ends the connection (quinn's own limit).

mod congestion;
mod messages;
mod tls;
mod transport;
mod wire;

use std::collections::VecDeque;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use proto::{
    ClientConfig, ConnectError, Connection, ConnectionEvent, ConnectionHandle, ConnectionStats,
    DatagramEvent, Endpoint, Event, Incoming, QlogConfig, ServerConfig, TransportConfig, VarInt,
};
use quinn_proto as proto;
use ring::hkdf;
use thiserror::Error;

use super::clock;
use super::entropy::{self, SeedStream};
use super::settings::QuicSettings;
use super::{
    Datagram, Delivery, Output, PathChange, Protocol, ProtocolStatistics, QlogBook, Role, Sent,
    State,
};
use crate::units::{Instant, PathId};
use messages::Messages;
use wire::outgoing;

pub use congestion::FixedWindow;
pub use tls::{ALPN, CERTIFICATE, SERVER_NAME, TlsError};

/// Bytes of UDP payload, the least QUIC allows (RFC 9000, section 14). The path MTU is not probed
/// for: probes are traffic that no message asked for, and messages of a control workload fit.
pub const UDP_PAYLOAD: u16 = 1200;

/// RFC 9000's default, which quinn announces in its transport parameters and offers no setting for.
pub const DEFAULT_MAX_ACK_DELAY: Duration = Duration::from_millis(25);

/// Bytes that may be sent and not acknowledged, or wait to be sent. At 50 messages of 600 bytes a
/// second: more than two minutes of an outage.
pub const SEND_BUFFER: u32 = 4 << 20;

/// Messages that may be under way at once where each has a stream of its own.
pub const MAX_STREAMS: u32 = 10_000;

#[derive(Debug, Error)]
pub enum QuicError {
    #[error("the TLS configuration of quic was not taken: {0}")]
    Tls(#[from] TlsError),
}

/// One side of a QUIC connection.
pub fn build(settings: &QuicSettings, role: Role, seed: u64) -> Result<Quic, QuicError> {
    let mut entropy = SeedStream::new(seed, role as u64);
    let mut endpoint = transport::endpoint(&mut entropy);
    let ids = transport::connection_ids(&mut entropy);
    endpoint.cid_generator(move || Box::new(ids));
    let transport = transport_config(settings);
    let (client, server) = match role {
        Role::Client => (Some(transport::client(transport, &mut entropy)?), None),
        Role::Server => (None, Some(Arc::new(server(transport, &mut entropy)?))),
    };
    Ok(Quic {
        settings: settings.clone(),
        endpoint: Endpoint::new(Arc::new(endpoint), server.clone(), false, None),
        client,
        server,
        connection: None,
        messages: Messages::new(settings.mode),
        responses: VecDeque::new(),
        state: State::Connecting,
        discarded: 0,
        entropy,
    })
}

fn server(transport: TransportConfig, seeds: &mut SeedStream) -> Result<ServerConfig, TlsError> {
    let token_key = hkdf::Salt::new(hkdf::HKDF_SHA256, &[]).extract(&seeds.bytes::<64>());
    let mut config = ServerConfig::new(Arc::new(tls::server()?), Arc::new(token_key));
    config.transport_config(Arc::new(transport));
    Ok(config)
}

fn transport_config(settings: &QuicSettings) -> TransportConfig {
    let congestion = congestion::factory(settings.congestion, settings.transport.initial_window);
    transport::transport(&settings.transport, settings.mode, congestion)
}

pub struct Quic {
    settings: QuicSettings,
    endpoint: Endpoint,
    /// What a client connects with; taken when it does.
    client: Option<ClientConfig>,
    /// What a server accepts with.
    server: Option<Arc<ServerConfig>>,
    connection: Option<(ConnectionHandle, Connection)>,
    messages: Messages,
    /// What the endpoint answers by itself, outside of a connection.
    responses: VecDeque<Datagram>,
    state: State,
    discarded: u64,
    entropy: SeedStream,
}

impl Protocol for Quic {
    fn send(&mut self, _now: Instant, message: &[u8]) -> Sent {
        match &mut self.connection {
            Some((_, connection)) if self.state == State::Established => {
                self.messages.send(connection, message)
            }
            _ => Sent::Refused,
        }
    }

    fn receive(&mut self, now: Instant, datagram: Datagram) {
        self.with_entropy(|quic| quic.handle(now, datagram));
    }

    fn poll(&mut self, now: Instant) -> Output {
        self.with_entropy(|quic| quic.advance(now))
    }

    fn state(&self) -> State {
        self.state.clone()
    }

    fn delivery(&self) -> Delivery {
        self.settings.mode.delivery()
    }

    /// Retransmissions are packets declared lost: their reliable frames were sent again.
    fn statistics(&self) -> ProtocolStatistics {
        let lost =
            self.connection.as_ref().map(|(_, connection)| connection.stats().path.lost_packets);
        ProtocolStatistics { retransmissions: Some(lost.unwrap_or(0)), discarded: self.discarded }
    }

    /// quinn logs packets (without their frames), losses and what recovery measures. It calls every
    /// loss one by the reordering threshold, and its round trips are in seconds.
    fn log_in(&mut self, book: &QlogBook) {
        let mut config = QlogConfig::default();
        let role = if self.client.is_some() { Role::Client } else { Role::Server };
        config
            .writer(Box::new(book.open(role, self.settings.path).in_seconds()))
            .title(Some("quic".to_owned()))
            .start_time(clock::to_std(Instant::ZERO));
        let mut transport = transport_config(&self.settings);
        transport.qlog_stream(config.into_stream());
        transport::replace(transport, self.client.as_mut(), self.server.as_mut());
    }

    fn path_changed(&mut self, _now: Instant, _path: PathId, change: PathChange) {
        if let (PathChange::NewLocalAddress, Some((_, connection))) = (change, &mut self.connection)
        {
            connection.local_address_changed();
        }
    }
}

impl Quic {
    /// `ring` draws the handshake's keys from the system: here, from the seed.
    fn with_entropy<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        entropy::seeded(self, |quic| &mut quic.entropy, work)
    }

    fn handle(&mut self, now: Instant, datagram: Datagram) {
        let ecn = wire::codepoint(datagram.ecn);
        let (now, payload) = (clock::to_std(now), BytesMut::from(&datagram.payload[..]));
        let mut response = Vec::new();
        match self.endpoint.handle(now, PEER, None, ecn, payload, &mut response) {
            Some(DatagramEvent::ConnectionEvent(_, event)) => self.handle_event(event),
            Some(DatagramEvent::NewConnection(incoming)) => self.accept(now, incoming),
            Some(DatagramEvent::Response(transmit)) => {
                self.discarded += 1;
                self.responses.push_back(outgoing(self.settings.path, &transmit, response));
            }
            None => self.discarded += 1,
        }
    }

    /// A datagram for the connection: one that no frame was read from was garbage or a duplicate.
    fn handle_event(&mut self, event: ConnectionEvent) {
        let Some((_, connection)) = &mut self.connection else { return };
        let before = frames_received(&connection.stats());
        connection.handle_event(event);
        if frames_received(&connection.stats()) == before {
            self.discarded += 1;
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
                    self.responses.push_back(outgoing(self.settings.path, &transmit, response));
                }
            }
        }
    }

    fn advance(&mut self, now: Instant) -> Output {
        let now = clock::to_std(now);
        self.connect(now);
        if let Some(response) = self.responses.pop_front() {
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
        self.next_output(now)
    }

    fn connect(&mut self, now: std::time::Instant) {
        let Some(client) = self.client.take() else { return };
        match self.endpoint.connect(now, client, PEER, SERVER_NAME) {
            Ok(connection) => self.connection = Some(connection),
            Err(error) => self.state = closed(error),
        }
    }

    fn take_events(&mut self, now: std::time::Instant) {
        let Some((_, connection)) = &mut self.connection else { return };
        while let Some(event) = connection.poll() {
            match event {
                Event::Connected => self.state = State::Established,
                Event::ConnectionLost { reason } => self.state = State::Closed(reason.to_string()),
                Event::Stream(event) => {
                    if let Err(error) = self.messages.on_stream_event(connection, event) {
                        self.state = State::Closed(error.to_string());
                        connection.close(now, UNREADABLE, Bytes::from(error.to_string()));
                    }
                }
                Event::DatagramReceived => self.messages.on_datagrams(connection),
                Event::HandshakeDataReady | Event::DatagramsUnblocked => {}
            }
        }
        self.messages.resume(connection);
    }

    fn next_output(&mut self, now: std::time::Instant) -> Output {
        if let Some(message) = self.messages.next() {
            return Output::Deliver(message);
        }
        let Some((_, connection)) = &mut self.connection else { return Output::Wait(None) };
        let mut payload = Vec::with_capacity(usize::from(UDP_PAYLOAD));
        match connection.poll_transmit(now, 1, &mut payload) {
            Some(transmit) => Output::Transmit(outgoing(self.settings.path, &transmit, payload)),
            None => Output::Wait(connection.poll_timeout().map(clock::from_std)),
        }
    }
}

/// The other side, as quinn sees it: where it really is, is the driver's business.
const PEER: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)), 4433);

/// The application error code of a stream that is not made of messages.
const UNREADABLE: VarInt = VarInt::from_u32(1);

fn closed(error: ConnectError) -> State {
    State::Closed(format!("could not connect: {error}"))
}

/// Every frame but PADDING, and so at least one for every packet that was authentic and new.
fn frames_received(stats: &ConnectionStats) -> u64 {
    let frames = &stats.frame_rx;
    let handshake = frames.crypto + u64::from(frames.handshake_done) + frames.new_token;
    let data = frames.acks + frames.stream + frames.datagram + frames.ping;
    let limits = frames.max_data
        + frames.max_stream_data
        + frames.max_streams_bidi
        + frames.max_streams_uni
        + frames.data_blocked
        + frames.stream_data_blocked
        + frames.streams_blocked_bidi
        + frames.streams_blocked_uni;
    let paths = frames.new_connection_id
        + frames.retire_connection_id
        + frames.path_challenge
        + frames.path_response;
    let ends = frames.connection_close + frames.reset_stream + frames.stop_sending;
    handshake + data + limits + paths + ends + frames.ack_frequency + frames.immediate_ack
}
