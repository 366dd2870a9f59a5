//! noq's congestion controllers by name, and a fixed window as `quic` has it. Each path has a
//! controller of its own. Knows nothing of the connection but the numbers noq passes it.

use std::any::Any;
use std::sync::Arc;
use std::time::Instant;

use noq_proto::congestion::{Controller, ControllerFactory, CubicConfig, NewRenoConfig};

use crate::protocol::settings::NoqCongestion;

/// noq's own controllers as they come, but for the window they begin with.
pub fn factory(
    congestion: NoqCongestion,
    initial_window: u64,
) -> Arc<dyn ControllerFactory + Send + Sync> {
    match congestion {
        NoqCongestion::Cubic => {
            let mut config = CubicConfig::default();
            config.initial_window(initial_window);
            Arc::new(config)
        }
        NoqCongestion::NewReno => {
            let mut config = NewRenoConfig::default();
            config.initial_window(initial_window);
            Arc::new(config)
        }
        NoqCongestion::FixedWindow(bytes) => Arc::new(FixedWindow { bytes }),
    }
}

/// A window of `bytes` whatever is lost.
#[derive(Debug, Clone, Copy)]
struct FixedWindow {
    bytes: u64,
}

impl Controller for FixedWindow {
    fn on_congestion_event(
        &mut self,
        _now: Instant,
        _sent: Instant,
        _is_persistent_congestion: bool,
        _is_ecn: bool,
        _lost_bytes: u64,
        _largest_lost_pn: u64,
    ) {
    }

    fn on_mtu_update(&mut self, _new_mtu: u16) {}

    fn window(&self) -> u64 {
        self.bytes
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(*self)
    }

    fn initial_window(&self) -> u64 {
        self.bytes
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

impl ControllerFactory for FixedWindow {
    fn build(self: Arc<Self>, _now: Instant, _current_mtu: u16) -> Box<dyn Controller> {
        Box::new(*self)
    }
}
