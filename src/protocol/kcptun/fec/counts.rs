//! What error correction did at one end, in the terms of kcp-go's own counters.

use serde::{Deserialize, Serialize};

use crate::sum::add_fields;

/// Shards, since the connection was made. `recovered` and `known` together are kcp-go's
/// FECRecovered, `parity` and `failed` its FECParityShards and FECErrs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ShardCounts {
    /// Data shards that arrived.
    pub data: u64,
    /// Parity shards that arrived.
    pub parity: u64,
    /// Data shards that were made again, with something in them that had not arrived.
    pub recovered: u64,
    /// Data shards that were made again for nothing: what is in them had arrived, sent again, or in
    /// the shard itself after its group was forgotten.
    pub known: u64,
    /// Groups from which nothing could be made, since a shard of them was damaged or forged.
    pub failed: u64,
}

add_fields!(ShardCounts { data, parity, recovered, known, failed });
