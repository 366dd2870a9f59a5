//! From settings and a seed to quinn's configuration: everything that would make one run differ from the next, or end
//! a connection in a long outage, is pinned down here. Knows nothing of messages or time.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use quinn_proto::congestion::{BbrConfig, ControllerFactory, CubicConfig, NewRenoConfig};
use quinn_proto::{
    AckFrequencyConfig, ClientConfig, ConnectionId, ConnectionIdGenerator, EndpointConfig,
    ServerConfig, TransportConfig, VarInt,
};
use ring::{hkdf, hmac};

use super::congestion::FixedWindow;
use super::{MAX_STREAMS, QuicError, SEND_BUFFER, tls};
use crate::protocol::entropy::SeedStream;
use crate::protocol::settings::{QuicCongestion, QuicMode, QuicSettings};

/// Bytes of UDP payload, the least QUIC allows (RFC 9000, section 14). The path MTU is not probed for: probes are
/// traffic that no message asked for, and messages of a control workload fit.
pub const UDP_PAYLOAD: u16 = 1200;

/// RFC 9000's default, which quinn announces in its transport parameters and offers no setting for.
pub const DEFAULT_MAX_ACK_DELAY: Duration = Duration::from_millis(25);

pub fn endpoint(seeds: &mut SeedStream) -> EndpointConfig {
    let reset_key = hmac::Key::new(hmac::HMAC_SHA256, &seeds.bytes::<64>());
    let mut config = EndpointConfig::new(Arc::new(reset_key));
    config.rng_seed(Some(seeds.bytes()));
    let ids =
        SeededIds { length: ID_LEN, seeds: SeedStream::new(u64::from_le_bytes(seeds.bytes()), 0) };
    config.cid_generator(move || Box::new(ids));
    config
}

pub fn client(settings: &QuicSettings, seeds: &mut SeedStream) -> Result<ClientConfig, QuicError> {
    let mut config = ClientConfig::new(Arc::new(tls::client()?));
    config.transport_config(Arc::new(transport(settings)));
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

pub fn server(settings: &QuicSettings, seeds: &mut SeedStream) -> Result<ServerConfig, QuicError> {
    let token_key = hkdf::Salt::new(hkdf::HKDF_SHA256, &[]).extract(&seeds.bytes::<64>());
    let mut config = ServerConfig::new(Arc::new(tls::server()?), Arc::new(token_key));
    config.transport_config(Arc::new(transport(settings)));
    Ok(config)
}

fn transport(settings: &QuicSettings) -> TransportConfig {
    let mut config = TransportConfig::default();
    config
        .initial_rtt(settings.initial_rtt)
        .congestion_controller_factory(congestion(settings.congestion))
        .ack_frequency_config(ack_frequency(settings.max_ack_delay))
        .initial_mtu(UDP_PAYLOAD)
        .min_mtu(UDP_PAYLOAD)
        .mtu_discovery_config(None)
        .enable_segmentation_offload(false)
        .allow_spin(false);
    // An outage of any length is the link's business: a connection never gives up by itself.
    config.max_idle_timeout(None).keep_alive_interval(None);
    config
        .max_concurrent_bidi_streams(VarInt::from_u32(0))
        .max_concurrent_uni_streams(incoming_streams(settings.mode))
        .send_window(SEND_BUFFER as u64)
        .stream_receive_window(VarInt::from_u32(SEND_BUFFER))
        .datagram_send_buffer_size(SEND_BUFFER as usize)
        .datagram_receive_buffer_size(Some(SEND_BUFFER as usize));
    config
}

fn incoming_streams(mode: QuicMode) -> VarInt {
    VarInt::from_u32(match mode {
        QuicMode::Stream => 1,
        QuicMode::StreamPerMessage => MAX_STREAMS,
        QuicMode::Datagram => 0,
    })
}

/// quinn's own controllers as they come. BBR throws dice for the phase of its pacing gain, unseeded, but quinn paces
/// by window and round-trip time alone: the dice move no packet.
fn congestion(congestion: QuicCongestion) -> Arc<dyn ControllerFactory + Send + Sync> {
    match congestion {
        QuicCongestion::Cubic => Arc::new(CubicConfig::default()),
        QuicCongestion::NewReno => Arc::new(NewRenoConfig::default()),
        QuicCongestion::Bbr => Arc::new(BbrConfig::default()),
        QuicCongestion::FixedWindow(bytes) => Arc::new(FixedWindow { bytes }),
    }
}

/// quinn always announces a `max_ack_delay` of 25 ms. Another one is asked of the peer with the ACK_FREQUENCY frame
/// (draft-ietf-quic-ack-frequency), all else left as RFC 9000 has it: an acknowledgement for every second packet, and
/// at once when packets come out of order. Since both sides are built from the same settings, each then delays its
/// acknowledgements by it. quinn raises it to 1 ms, and lowers it to the round-trip time where that is longer than
/// 25 ms.
fn ack_frequency(max_ack_delay: Duration) -> Option<AckFrequencyConfig> {
    if max_ack_delay == DEFAULT_MAX_ACK_DELAY {
        return None;
    }
    let mut config = AckFrequencyConfig::default();
    config
        .max_ack_delay(Some(max_ack_delay))
        .ack_eliciting_threshold(VarInt::from_u32(1))
        .reordering_threshold(VarInt::from_u32(1));
    Some(config)
}

/// Bytes of a connection id; quinn's own default.
const ID_LEN: usize = 8;
/// Bytes of the id a client makes up for the server's first packet; quinn's own default.
const FIRST_ID_LEN: usize = 20;

/// Connection ids from a seed.
#[derive(Debug, Clone, Copy)]
struct SeededIds {
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
