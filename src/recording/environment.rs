//! On what a run was measured: enough for a reader to know why their own figures differ.

use serde::{Deserialize, Serialize};

use super::EngineKind;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Environment {
    /// UTC, RFC 3339.
    pub started: String,
    pub engine: EngineKind,
    /// As `uname -srvm` tells it.
    pub kernel: String,
    /// Empty where the kernel does not say.
    pub cpu: String,
    /// Processors this process may use.
    pub processors: usize,
    pub impairlab: String,
    /// The crates of the transports under test.
    pub transports: Vec<TransportVersion>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TransportVersion {
    pub name: String,
    pub version: String,
}
