//! Multipath QUIC by either of two independent implementations, so that each checks the other:
//! tquic, which can send everything on every path, and noq, which follows the IETF's present draft.
//! Each is one connection over one or more paths, established once all of them are.
//!
//! | | tquic 1.6.0 | noq-proto 1.4.0 |
//! |---|---|---|
//! | draft-ietf-quic-multipath | -05 | -21 |
//! | schedulers | redundant, lowest round-trip time, in turns | first path with room in its window, backup |
//! | congestion control | Cubic, BBR, BBR3, COPA | Cubic, NewReno, a fixed window |
//! | messages travel | on one stream | on one stream, on a stream each, in datagrams |
//! | ECN | not used | used |
//! | probes of a dark path | at intervals that double, up to one that is set | that double, and grow by 2 s at most |
//!
//! Neither gives up a path that is dark, and both use it again once a probe has come through. noq 1.4.0 has BBR3 too, but draws random numbers for it
//! that no seed decides, and so it is left out.

mod ends;
mod noq;
mod tquic;

use thiserror::Error;

use super::settings::{MpquicSettings, MpquicStack};
use super::{Protocol, Role};

pub use self::noq::NoqError;
pub use self::tquic::{SEND_BUFFER, TquicError};

#[derive(Debug, Error)]
pub enum MpquicError {
    #[error("mpquic needs at least one path")]
    NoPath,
    #[error(transparent)]
    Tquic(#[from] TquicError),
    #[error(transparent)]
    Noq(#[from] NoqError),
}

/// One side of a multipath QUIC connection. It stays in the thread that built it.
pub fn build(
    settings: &MpquicSettings,
    role: Role,
    seed: u64,
) -> Result<Box<dyn Protocol>, MpquicError> {
    let paths = &settings.paths;
    if paths.is_empty() {
        return Err(MpquicError::NoPath);
    }
    Ok(match &settings.stack {
        MpquicStack::Tquic(settings) => Box::new(tquic::build(paths, settings, role, seed)?),
        MpquicStack::Noq(settings) => Box::new(noq::build(paths, settings, role, seed)?),
    })
}
