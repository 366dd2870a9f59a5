//! What every KCP implementation can do, ours among them.

use impairlab::protocol::kcp::Engine;

pub trait Peer {
    fn update(&mut self, now_ms: u32);
    fn flush(&mut self);
    /// Whether the message was taken.
    fn send(&mut self, message: &[u8]) -> bool;
    fn receive(&mut self) -> Option<Vec<u8>>;
    /// Whether the datagram was understood.
    fn input(&mut self, datagram: &[u8]) -> bool;
    /// The datagrams made since the last call.
    fn datagrams(&mut self) -> Vec<Vec<u8>>;
    fn is_dead_link(&self) -> bool;
}

impl Peer for Engine {
    fn update(&mut self, now_ms: u32) {
        Engine::update(self, now_ms);
    }

    fn flush(&mut self) {
        Engine::flush(self);
    }

    fn send(&mut self, message: &[u8]) -> bool {
        Engine::send(self, message).is_ok()
    }

    fn receive(&mut self) -> Option<Vec<u8>> {
        Engine::receive(self)
    }

    fn input(&mut self, datagram: &[u8]) -> bool {
        Engine::input(self, datagram).is_ok()
    }

    fn datagrams(&mut self) -> Vec<Vec<u8>> {
        std::iter::from_fn(|| self.transmit()).collect()
    }

    fn is_dead_link(&self) -> bool {
        Engine::is_dead_link(self)
    }
}
