//! The longest message that KCP carries, and what bounds it. Knows nothing of how it travels.

use crate::protocol::settings::{KcpBehaviour, KcpSettings};

use super::behaviour::Behaviour;
use super::framing::PREFIX_LEN;
use super::settings::EngineSettings;

/// Of a connection without smux.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LongestMessage {
    pub segments: u32,
    /// Bytes of a full one.
    pub segment_len: usize,
    /// Bytes that go before a message in a stream.
    pub prefix_len: usize,
    pub bound: Bound,
}

/// What allows no more segments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    /// The code itself.
    Code(KcpBehaviour),
    /// A message is put together in it, but in a stream, which has none.
    ReceiveWindow,
}

impl LongestMessage {
    /// Both sides have the same settings.
    pub fn of(settings: &KcpSettings) -> Self {
        let (behaviour, engine) =
            (Behaviour::of(settings.behaviour), EngineSettings::from(settings));
        let window = behaviour.receive_window.window(engine.receive_window);
        let code = behaviour.fragment_limit - 1;
        let (segments, bound) = match window {
            window if window < code && !engine.stream => (window, Bound::ReceiveWindow),
            _ => (code, Bound::Code(settings.behaviour)),
        };
        let prefix_len = if engine.stream { PREFIX_LEN } else { 0 };
        Self { segments, segment_len: engine.segment_len(), prefix_len, bound }
    }

    pub const fn bytes(&self) -> usize {
        self.segments as usize * self.segment_len - self.prefix_len
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::PathId;

    fn longest(behaviour: KcpBehaviour, receive_window: u32, stream: bool) -> (u32, Bound) {
        let usual = KcpSettings::new(PathId(0));
        let settings = KcpSettings { behaviour, receive_window, stream, ..usual };
        let longest = LongestMessage::of(&settings);
        (longest.segments, longest.bound)
    }

    /// `ikcp_send` refuses `IKCP_WND_RCV` (128) fragments, kcp-go's `Send` more than 255; a message
    /// that does not fit the receive window is never complete.
    #[test]
    fn the_code_or_the_receive_window_bounds_a_message() {
        for ikcp in [KcpBehaviour::Ikcp17, KcpBehaviour::Ikcp211] {
            assert_eq!(longest(ikcp, 128, false), (127, Bound::Code(ikcp)));
            assert_eq!(longest(ikcp, 1024, true), (127, Bound::Code(ikcp)));
        }
        let kcp_go = KcpBehaviour::KcpGo56;
        assert_eq!(longest(kcp_go, 128, false), (128, Bound::ReceiveWindow));
        assert_eq!(longest(kcp_go, 254, false), (254, Bound::ReceiveWindow));
        assert_eq!(longest(kcp_go, 255, false), (255, Bound::Code(kcp_go)));
        assert_eq!(longest(kcp_go, 128, true), (255, Bound::Code(kcp_go)));
    }
}
