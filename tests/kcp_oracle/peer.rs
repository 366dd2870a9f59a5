//! What every KCP implementation can do, ours among them, and how another one is held against ours.

use impairlab::protocol::kcp::{Engine, Origin};

pub trait Peer {
    /// For an implementation that is not told the time with each update.
    fn set_clock(&mut self, _now_ms: u32) {}
    fn update(&mut self, now_ms: u32);
    fn flush(&mut self);
    /// Whether the message was taken.
    fn send(&mut self, message: &[u8]) -> bool;
    fn receive(&mut self) -> Option<Vec<u8>>;
    /// Whether the datagram was understood.
    fn input(&mut self, datagram: &[u8], origin: Origin) -> bool;
    /// The datagrams made since the last call.
    fn datagrams(&mut self) -> Vec<Vec<u8>>;
    fn is_dead_link(&self) -> bool;
}

pub enum Call<'a> {
    SetClock(u32),
    Update(u32),
    Flush,
    Send(&'a [u8]),
    Receive,
    Input(&'a [u8], Origin),
    Datagrams,
    IsDeadLink,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    Done,
    Flag(bool),
    Message(Option<Vec<u8>>),
    Datagrams(Vec<Vec<u8>>),
}

impl Call<'_> {
    pub const fn name(&self) -> &'static str {
        match self {
            Call::SetClock(_) => "set the clock",
            Call::Update(_) => "update",
            Call::Flush => "flush",
            Call::Send(_) => "send",
            Call::Receive => "receive",
            Call::Input(..) => "input",
            Call::Datagrams => "datagrams",
            Call::IsDeadLink => "dead link",
        }
    }

    pub fn make(&self, peer: &mut dyn Peer) -> Answer {
        match *self {
            Call::SetClock(now_ms) => peer.set_clock(now_ms),
            Call::Update(now_ms) => peer.update(now_ms),
            Call::Flush => peer.flush(),
            Call::Send(message) => return Answer::Flag(peer.send(message)),
            Call::Receive => return Answer::Message(peer.receive()),
            Call::Input(datagram, origin) => return Answer::Flag(peer.input(datagram, origin)),
            Call::Datagrams => return Answer::Datagrams(peer.datagrams()),
            Call::IsDeadLink => return Answer::Flag(peer.is_dead_link()),
        }
        Answer::Done
    }
}

/// An implementation that ours must not differ from.
pub trait Oracle {
    /// Our answer to this call; it may be held against the oracle's at once or at the end.
    fn hold(&mut self, call: &Call, ours: &Answer) -> Result<(), String>;

    fn end(&mut self) -> Result<(), String> {
        Ok(())
    }
}

impl<P: Peer> Oracle for P {
    fn hold(&mut self, call: &Call, ours: &Answer) -> Result<(), String> {
        let theirs = call.make(self);
        if *ours == theirs { Ok(()) } else { Err(difference(call.name(), ours, &theirs)) }
    }
}

pub fn difference(call: &str, ours: &Answer, theirs: &Answer) -> String {
    format!("{call}:\n  ours   {ours:02x?}\n  oracle {theirs:02x?}")
}

impl Peer for Engine {
    fn set_clock(&mut self, now_ms: u32) {
        Engine::set_clock(self, now_ms);
    }

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

    fn input(&mut self, datagram: &[u8], origin: Origin) -> bool {
        Engine::input(self, datagram, origin).is_ok()
    }

    fn datagrams(&mut self) -> Vec<Vec<u8>> {
        std::iter::from_fn(|| self.transmit()).collect()
    }

    fn is_dead_link(&self) -> bool {
        Engine::is_dead_link(self)
    }
}
