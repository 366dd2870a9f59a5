//! The QUIC senders, whole: alone on a small virtual network, against stock quinn, and against
//! published figures.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod agreement;
mod determinism;
mod figures;
mod interop;
mod multipath;
mod qlog;
mod recovery;
mod returning;
mod robustness;
mod senders;
mod settings;
mod virtual_lab;
