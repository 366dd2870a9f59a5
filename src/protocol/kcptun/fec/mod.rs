//! Forward error correction as in kcp-go: datagrams in groups, each followed by parity from which
//! as many lost ones can be made again. `galois` is the arithmetic, `reed_solomon` the code,
//! `shard` the wire format, `encoder` and `decoder` the two ends, `counts` what they are asked for.

mod counts;
mod decoder;
mod encoder;
mod galois;
mod reed_solomon;
mod shard;
mod sizes;

pub use counts::ShardCounts;
pub use decoder::{Decoder, DecoderError, EXPIRY_MS};
pub use encoder::Encoder;
pub use reed_solomon::Code;
pub use shard::{Kind, OVERHEAD, Shard, ShardError};
pub use sizes::{GroupSizes, GroupSizesError};

#[cfg(test)]
mod tests;
