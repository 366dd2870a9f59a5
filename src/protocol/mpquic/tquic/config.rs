//! From settings and a seed to tquic's configuration. Knows nothing of messages or time.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsRawFd;

use nix::sys::memfd::{MFdFlags, memfd_create};
use tquic::{
    Config, CongestionControlAlgorithm, ConnectionId, ConnectionIdGenerator, MultipathAlgorithm,
    RandomConnectionIdGenerator, TlsConfig,
};

use super::{SEND_BUFFER, TquicError};
use crate::protocol::Role;
use crate::protocol::entropy::{SeedStream, SeededEntropy};
use crate::protocol::settings::{MpquicCongestion, MpquicScheduler, TquicSettings};

/// Bytes of UDP payload, as for the other QUIC sender.
const UDP_PAYLOAD: usize = 1200;

/// What is not set here is tquic's default.
pub fn config(
    paths: usize,
    settings: &TquicSettings,
    role: Role,
    seeds: &mut SeedStream,
) -> Result<Config, TquicError> {
    let mut config = Config::new()?;
    config.set_tls_config(tls(role)?);
    config.set_reset_token_key(seeds.bytes());
    config.set_address_token_key(vec![seeds.bytes()])?;
    config.set_congestion_control_algorithm(congestion(settings.congestion));
    config.enable_multipath(paths > 1);
    config.set_multipath_algorithm(scheduler(settings.scheduler));
    config.set_initial_rtt(settings.initial_rtt.as_millis() as u64);
    config.set_pto_linear_factor(settings.pto_linear_factor.into());
    if let Some(longest) = settings.max_pto {
        config.set_max_pto(longest.as_millis() as u64);
    }
    // A connection id for each path and one to spare, both ways.
    config.set_active_connection_id_limit(paths as u64 + 1);
    config.enable_dplpmtud(false);
    config.set_send_udp_payload_size(UDP_PAYLOAD);
    // An outage of any length is the link's business: a connection never gives up by itself.
    config.set_max_idle_timeout(0);
    // One connection an endpoint, and no answer to what does not belong to it.
    config.set_max_concurrent_conns(1);
    config.enable_stateless_reset(false);
    limit_buffers(&mut config);
    Ok(config)
}

fn limit_buffers(config: &mut Config) {
    config.set_max_stream_window(SEND_BUFFER);
    config.set_max_connection_window(2 * SEND_BUFFER);
    config.set_initial_max_stream_data_uni(SEND_BUFFER);
    config.set_initial_max_data(2 * SEND_BUFFER);
    config.set_initial_max_streams_uni(1);
    config.set_initial_max_streams_bidi(0);
}

fn congestion(congestion: MpquicCongestion) -> CongestionControlAlgorithm {
    match congestion {
        MpquicCongestion::Cubic => CongestionControlAlgorithm::Cubic,
        MpquicCongestion::Bbr => CongestionControlAlgorithm::Bbr,
        MpquicCongestion::Bbr3 => CongestionControlAlgorithm::Bbr3,
        MpquicCongestion::Copa => CongestionControlAlgorithm::Copa,
    }
}

fn scheduler(scheduler: MpquicScheduler) -> MultipathAlgorithm {
    match scheduler {
        MpquicScheduler::Redundant => MultipathAlgorithm::Redundant,
        MpquicScheduler::MinRtt => MultipathAlgorithm::MinRtt,
        MpquicScheduler::RoundRobin => MultipathAlgorithm::RoundRobin,
    }
}

const ALPN: &[u8] = b"impairlab";
const CERTIFICATE: &[u8] = include_bytes!("../../identity/rsa-certificate.pem");
const KEY: &[u8] = include_bytes!("../../identity/rsa-key.pem");

/// The client does not verify the certificate: BoringSSL would hold its dates against the calendar,
/// and there is nobody else on a lab's link.
fn tls(role: Role) -> Result<TlsConfig, TquicError> {
    let protocols = vec![ALPN.to_vec()];
    if role == Role::Client {
        let mut tls = TlsConfig::new_client_config(protocols, false)?;
        tls.set_verify(false);
        return Ok(tls);
    }
    let certificate = in_memory(CERTIFICATE).map_err(TquicError::Identity)?;
    let key = in_memory(KEY).map_err(TquicError::Identity)?;
    Ok(TlsConfig::new_server_config(&path(&certificate), &path(&key), protocols, false)?)
}

/// tquic takes certificates from files only: this one lives in memory and is gone when it is
/// dropped.
fn in_memory(content: &[u8]) -> io::Result<File> {
    let mut file = File::from(memfd_create("identity", MFdFlags::MFD_CLOEXEC)?);
    file.write_all(content)?;
    Ok(file)
}

fn path(file: &File) -> String {
    format!("/proc/self/fd/{}", file.as_raw_fd())
}

/// tquic throws its dice (BBR's probing phases, path challenges, connection ids) with `rand`'s
/// generator of the thread, whose state depends on all that the thread did before. It asks the
/// system for a new seed every 64 KiB: so it is run to that point twice, first to have it settled,
/// then to have it begin with the first bytes of `seeds`.
pub fn settle_thread_dice(seeds: SeedStream) {
    for _ in 0..2 {
        let mut stream = seeds;
        let _seeded = SeededEntropy::enter(&mut stream);
        let before = SeededEntropy::draws();
        let mut dice = RandomConnectionIdGenerator::new(WORD);
        for _ in 0..=RESEED_AFTER / WORD {
            let _: ConnectionId = dice.generate();
            if SeededEntropy::draws() != before {
                break;
            }
        }
    }
}

/// Bytes of the smallest piece the generator gives.
const WORD: usize = 4;
/// Bytes (`rand` 0.8, `THREAD_RNG_RESEED_THRESHOLD`).
const RESEED_AFTER: usize = 64 << 10;
