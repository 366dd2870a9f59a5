//! quinn's congestion controllers by name, and one that controls nothing: a fixed window, to tell
//! what of a latency is due to congestion control. Knows nothing of the connection but the numbers
//! quinn passes it.

use std::any::Any;
use std::sync::Arc;
use std::time::Instant;

use quinn_proto::congestion::{
    BbrConfig, Controller, ControllerFactory, CubicConfig, NewRenoConfig,
};

use crate::protocol::settings::QuicCongestion;

/// quinn's own controllers as they come, but for the window they begin with. BBR throws dice for
/// the phase of its pacing gain, unseeded, but quinn paces by window and round-trip time alone: the
/// dice move no packet.
pub fn factory(
    congestion: QuicCongestion,
    initial_window: u64,
) -> Arc<dyn ControllerFactory + Send + Sync> {
    match congestion {
        QuicCongestion::Cubic => {
            let mut config = CubicConfig::default();
            config.initial_window(initial_window);
            Arc::new(config)
        }
        QuicCongestion::NewReno => {
            let mut config = NewRenoConfig::default();
            config.initial_window(initial_window);
            Arc::new(config)
        }
        QuicCongestion::Bbr => {
            let mut config = BbrConfig::default();
            config.initial_window(initial_window);
            Arc::new(config)
        }
        QuicCongestion::FixedWindow(bytes) => Arc::new(FixedWindow { bytes }),
    }
}

/// A window of `bytes` whatever is lost.
#[derive(Debug, Clone, Copy)]
pub struct FixedWindow {
    pub bytes: u64,
}

impl Controller for FixedWindow {
    fn on_congestion_event(
        &mut self,
        _now: Instant,
        _sent: Instant,
        _is_persistent_congestion: bool,
        _lost_bytes: u64,
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
