//! What kcptun puts around KCP, in its own wire formats and without I/O: forward error correction
//! and an encrypted envelope around each datagram (as in kcp-go), and streams inside (smux).
//! Nothing here knows KCP's segments, nor reads a clock; `kcp::adapter` puts the layers together.
//!
//! Sources: the packages xtaci/kcp-go 5.6.1, xtaci/smux 1.5.16 and xtaci/kcptun 20210922, as they
//! behave; `tests/kcptun` talks to the real programs.

pub mod crypt;
pub mod fec;
pub mod smux;
mod wrapping;

pub use wrapping::{Unwrapped, Wrapping, WrappingError};
