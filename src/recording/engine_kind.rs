//! On which engine a trial ran: a fact of its recording.

use std::fmt;

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EngineKind {
    Sim,
    Relay,
    Netem,
    Uml,
}

impl EngineKind {
    /// Whether its clock is its own, so that nothing is ever late.
    pub fn is_virtual_time(self) -> bool {
        match self {
            EngineKind::Sim | EngineKind::Uml => true,
            EngineKind::Relay | EngineKind::Netem => false,
        }
    }
}

impl fmt::Display for EngineKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            EngineKind::Sim => "sim",
            EngineKind::Relay => "relay",
            EngineKind::Netem => "netem",
            EngineKind::Uml => "uml",
        })
    }
}
