//! From settings and a seed to what is configured alike in quinn and noq: everything that would
//! make one run differ from the next, or end a connection in a long outage, is pinned down here.
//! Knows the library as `super::proto`, and is compiled for each.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ring::hmac;

use super::proto::congestion::ControllerFactory;
use super::proto::{
    AckFrequencyConfig, ClientConfig, ConnectionId, ConnectionIdGenerator, EndpointConfig,
    ServerConfig, TransportConfig, VarInt,
};
use super::tls::{self, TlsError};
use crate::protocol::entropy::SeedStream;
use crate::protocol::quic::{DEFAULT_MAX_ACK_DELAY, MAX_STREAMS, SEND_BUFFER, UDP_PAYLOAD};
use crate::protocol::settings::{QuicMode, QuicTransport};

/// Before its connection ids are set: quinn and noq take those in different wrappings.
pub fn endpoint(seeds: &mut SeedStream) -> EndpointConfig {
    let reset_key = hmac::Key::new(hmac::HMAC_SHA256, &seeds.bytes::<64>());
    let mut config = EndpointConfig::new(Arc::new(reset_key));
    config.rng_seed(Some(seeds.bytes()));
    config
}

/// The ids a side gives itself.
pub fn connection_ids(seeds: &mut SeedStream) -> SeededIds {
    SeededIds { length: ID_LEN, seeds: SeedStream::new(u64::from_le_bytes(seeds.bytes()), 0) }
}

pub fn client(
    transport: TransportConfig,
    seeds: &mut SeedStream,
) -> Result<ClientConfig, TlsError> {
    let mut config = ClientConfig::new(Arc::new(tls::client()?));
    config.transport_config(Arc::new(transport));
    let ids = SeededIds {
        length: FIRST_ID_LEN,
        seeds: SeedStream::new(u64::from_le_bytes(seeds.bytes()), 0),
    };
    let ids = Mutex::new(ids);
    config.initial_dst_cid_provider(Arc::new(move || {
        ids.lock().unwrap_or_else(PoisonError::into_inner).generate_cid()
    }));
    Ok(config)
}

pub fn transport(
    settings: &QuicTransport,
    mode: QuicMode,
    congestion: Arc<dyn ControllerFactory + Send + Sync>,
) -> TransportConfig {
    let mut config = TransportConfig::default();
    config
        .congestion_controller_factory(congestion)
        .initial_rtt(settings.initial_rtt)
        .packet_threshold(settings.packet_threshold)
        .time_threshold(settings.time_threshold as f32)
        .persistent_congestion_threshold(settings.persistent_congestion_threshold)
        .ack_frequency_config(ack_frequency(settings))
        .initial_mtu(UDP_PAYLOAD)
        .min_mtu(UDP_PAYLOAD)
        .mtu_discovery_config(None)
        .enable_segmentation_offload(false)
        .allow_spin(false);
    // An outage of any length is the link's business: a connection never gives up by itself.
    config.max_idle_timeout(None).keep_alive_interval(None);
    config
        .max_concurrent_bidi_streams(VarInt::from_u32(0))
        .max_concurrent_uni_streams(incoming_streams(mode))
        .send_window(SEND_BUFFER as u64)
        .stream_receive_window(VarInt::from_u32(SEND_BUFFER))
        .datagram_send_buffer_size(SEND_BUFFER as usize)
        .datagram_receive_buffer_size(Some(SEND_BUFFER as usize));
    config
}

/// Of the side that there is, before it connects.
pub fn replace(
    transport: TransportConfig,
    client: Option<&mut ClientConfig>,
    server: Option<&mut Arc<ServerConfig>>,
) {
    let transport = Arc::new(transport);
    if let Some(client) = client {
        client.transport_config(transport);
    } else if let Some(server) = server {
        Arc::make_mut(server).transport_config(transport);
    }
}

fn incoming_streams(mode: QuicMode) -> VarInt {
    VarInt::from_u32(match mode {
        QuicMode::Stream => 1,
        QuicMode::StreamPerMessage => MAX_STREAMS,
        QuicMode::Datagram => 0,
    })
}

/// quinn and noq always announce a `max_ack_delay` of 25 ms, and acknowledge as RFC 9000 has it.
/// Anything else is asked of the peer with the ACK_FREQUENCY frame (draft-ietf-quic-ack-frequency).
/// Since both sides are built from the same settings, each then delays its acknowledgements so.
/// From 1 to 25 ms the delay is kept exactly; no more than the round-trip time is asked for where
/// that is longer, and it is followed in steps of a fifth.
fn ack_frequency(settings: &QuicTransport) -> Option<AckFrequencyConfig> {
    let usual = settings.max_ack_delay == DEFAULT_MAX_ACK_DELAY
        && settings.ack_threshold == 1
        && settings.reordering_threshold == 1;
    if usual {
        return None;
    }
    let mut config = AckFrequencyConfig::default();
    config
        .max_ack_delay(Some(settings.max_ack_delay))
        .ack_eliciting_threshold(VarInt::from_u32(settings.ack_threshold))
        .reordering_threshold(VarInt::from_u32(settings.reordering_threshold));
    Some(config)
}

/// Bytes of a connection id; the libraries' own default.
const ID_LEN: usize = 8;
/// Bytes of the id a client makes up for the server's first packet; the libraries' own default.
const FIRST_ID_LEN: usize = 20;

/// Connection ids from a seed.
#[derive(Debug, Clone, Copy)]
pub struct SeededIds {
    length: usize,
    seeds: SeedStream,
}

impl ConnectionIdGenerator for SeededIds {
    fn generate_cid(&mut self) -> ConnectionId {
        ConnectionId::new(&self.seeds.bytes::<FIRST_ID_LEN>()[..self.length])
    }

    fn cid_len(&self) -> usize {
        self.length
    }

    fn cid_lifetime(&self) -> Option<Duration> {
        None
    }
}
