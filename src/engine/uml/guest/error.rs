//! What can go wrong inside, told to the outside as text.

use std::io;

use thiserror::Error;

#[derive(Debug, Error)]
pub enum GuestError {
    #[error("cannot {what}: {source}")]
    Step { what: String, source: io::Error },
    #[error("its job cannot be understood: {0}")]
    Job(#[from] serde_json::Error),
    #[error(transparent)]
    Loopback(#[from] netns::NetlinkError),
    #[error("the folder {folder} cannot be shared: its name is not UTF-8")]
    NotUtf8 { folder: String },
    #[error("a thread that carries output crashed")]
    CarrierCrashed,
}

/// Says what was being done if it failed.
pub fn step<T, E: Into<io::Error>>(
    what: impl FnOnce() -> String,
    result: Result<T, E>,
) -> Result<T, GuestError> {
    result.map_err(|source| GuestError::Step { what: what(), source: source.into() })
}
