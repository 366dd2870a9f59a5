//! From settings to a running state machine: the one table that knows every protocol.

use thiserror::Error;

use super::kcp::Kcp;
use super::replicate::{DatagramCopies, MessageCopies};
use super::settings::{Copy, ReplicateSettings};
use super::udp::Udp;
use super::udp_arq::UdpArq;
use super::{Protocol, ProtocolSettings, Role, Ticking, mpquic, quic};
use crate::units::PathId;

#[derive(Debug, Error)]
pub enum BuildError {
    #[error("{0} cannot be replicated: it already spans its paths")]
    NotReplicable(&'static str),
    #[error("{0} is no protocol of this program: it takes an engine with a kernel")]
    NeedsKernel(&'static str),
    #[error(transparent)]
    Quic(#[from] quic::QuicError),
    #[error(transparent)]
    Mpquic(#[from] mpquic::MpquicError),
}

/// Both sides of a connection are built from the same settings and the same seed.
pub fn build(
    settings: &ProtocolSettings,
    role: Role,
    seed: u64,
) -> Result<Box<dyn Protocol>, BuildError> {
    Ok(Box::new(Ticking::new(bare(settings, role, seed)?)))
}

fn bare(
    settings: &ProtocolSettings,
    role: Role,
    seed: u64,
) -> Result<Box<dyn Protocol>, BuildError> {
    Ok(match settings {
        ProtocolSettings::Udp(settings) => Box::new(Udp::new(settings)),
        ProtocolSettings::UdpArq(settings) => Box::new(UdpArq::new(settings)),
        ProtocolSettings::Replicate(settings) => replicate(settings, role, seed)?,
        ProtocolSettings::Kcp(settings) => Box::new(Kcp::new(settings, role, seed)),
        ProtocolSettings::Quic(settings) => Box::new(quic::build(settings, role, seed)?),
        ProtocolSettings::Mpquic(settings) => mpquic::build(settings, role, seed)?,
        ProtocolSettings::Tcp(_) | ProtocolSettings::Mptcp(_) | ProtocolSettings::Kcptun(_) => {
            return Err(BuildError::NeedsKernel(settings.keyword()));
        }
    })
}

fn replicate(
    settings: &ReplicateSettings,
    role: Role,
    seed: u64,
) -> Result<Box<dyn Protocol>, BuildError> {
    let inner = &settings.protocol;
    if let ProtocolSettings::Mpquic(_) | ProtocolSettings::Replicate(_) = **inner {
        return Err(BuildError::NotReplicable(inner.keyword()));
    }
    let paths = settings.paths.clone();
    Ok(match settings.copy {
        Copy::Datagram => {
            let connection = bare(&inner.on_path(paths[0]), role, seed)?;
            Box::new(DatagramCopies::new(connection, paths))
        }
        Copy::Message => {
            // Each connection has keys and ids of its own.
            let seed_of = |path: PathId| seed.wrapping_add(u64::from(path.0));
            let connection = |path| Ok((path, bare(&inner.on_path(path), role, seed_of(path))?));
            let connections: Result<_, BuildError> = paths.into_iter().map(connection).collect();
            Box::new(MessageCopies::new(connections?))
        }
    })
}
