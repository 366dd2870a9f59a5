//! From settings to a running state machine: the one table that knows every protocol.

use thiserror::Error;

use super::{Protocol, ProtocolSettings, Role};

#[derive(Debug, Error)]
pub enum BuildError {
    #[error("{0} cannot be replicated: it already spans its paths")]
    NotReplicable(&'static str),
}

/// Both sides are built from the same settings and seed.
pub fn build(
    settings: &ProtocolSettings,
    _role: Role,
    _seed: u64,
) -> Result<Box<dyn Protocol>, BuildError> {
    match settings {
        other => Err(BuildError::NotReplicable(other.keyword())),
    }
}
