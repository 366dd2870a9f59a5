//! KCP as a sender under test, its layers put together: how messages travel (`channel`), an engine,
//! the driver KCP leaves to its user, and what kcp-go puts around a datagram (`kcptun::Wrapping`).
//! There is no handshake, but that of smux, and no end: both sides know the conversation number
//! from the start.

use std::collections::VecDeque;

use crate::protocol::kcptun::Wrapping;
use crate::protocol::kcptun::fec::ShardCounts;
use crate::protocol::settings::KcpSettings;
use crate::protocol::{
    Datagram, Delivery, Output, Protocol, ProtocolStatistics, Role, Sent, State,
};
use crate::splitmix::mix;
use crate::units::{Instant, PathId};

use super::behaviour::{Behaviour, FlushRule};
use super::channel::Channel;
use super::driver::Driver;
use super::engine::Engine;
use super::input::{News, Origin};
use super::polled::Polled;
use super::segment::Segment;
use super::session::Session;
use super::settings::EngineSettings;

const NANOS_PER_MILLI: u64 = 1_000_000;
/// A longer update interval is taken as this one, KCP's longest flush interval.
const LONGEST_UPDATE_MS: u128 = 5_000;

/// One side of a KCP connection.
///
/// With the C code's behaviours the engine is updated at every multiple of `update_interval` since
/// its first update (in whole milliseconds, at least one) and before every `send` and `receive`;
/// with `flush_at_once` it also flushes after every `send` and `receive`. With kcp-go's the engine
/// is driven as kcp-go's own session does it. Updates and flushes that would do nothing are
/// skipped, which cannot be told from outside.
///
/// Refused are messages of more segments than the behaviour takes (127, and 255 in kcp-go) or than
/// the receive window has, which could never be put together; and every message once
/// [`SEND_QUEUE_LIMIT`] segments wait behind the window.
///
/// [`SEND_QUEUE_LIMIT`]: super::SEND_QUEUE_LIMIT
#[derive(Debug)]
pub struct Kcp {
    path: PathId,
    engine: Engine,
    driver: Box<dyn Driver>,
    channel: Channel,
    wrapping: Wrapping,
    /// The peer chooses the conversation number, and has not been heard yet.
    awaits_conversation: bool,
    delivered: VecDeque<Vec<u8>>,
    discarded: u64,
    /// Of the datagrams that error correction has made again, those with news, …
    recovered: u64,
    /// … and those without.
    known: u64,
}

impl Kcp {
    /// Both sides are made from the same settings and the same seed, which gives the conversation
    /// number.
    pub fn new(settings: &KcpSettings, role: Role, seed: u64) -> Self {
        Self::with_conversation(settings, role, conversation(seed))
    }

    /// With the conversation number of a peer that does not take it from a seed.
    pub fn with_conversation(settings: &KcpSettings, role: Role, conv: u32) -> Self {
        let behaviour = Behaviour::of(settings.behaviour);
        // Each side has nonces of its own.
        let nonces = mix(u64::from(conv) << 1 | u64::from(role == Role::Server));
        Self {
            path: settings.path,
            driver: driver(settings, behaviour),
            channel: Channel::new(settings, role),
            wrapping: Wrapping::new(settings.crypt, settings.fec, nonces),
            awaits_conversation: false,
            delivered: VecDeque::new(),
            discarded: 0,
            recovered: 0,
            known: 0,
            engine: Engine::new(conv, EngineSettings::from(settings), behaviour),
        }
    }

    /// A server that takes the conversation number of whoever speaks first, as kcp-go's does.
    pub fn accepting(settings: &KcpSettings, seed: u64) -> Self {
        let awaits_conversation = true;
        Self { awaits_conversation, ..Self::new(settings, Role::Server, seed) }
    }

    fn input(&mut self, now: Instant, datagram: &[u8], origin: Origin) {
        self.driver.advance(&mut self.engine, now.as_millis());
        if std::mem::take(&mut self.awaits_conversation) {
            self.accept(datagram);
        }
        let news = matches!(self.engine.input(datagram, origin), Ok(News::Some));
        match origin {
            Origin::Arrived => self.discarded += u64::from(!news),
            Origin::Recovered if news => self.recovered += 1,
            Origin::Recovered => self.known += 1,
        }
        while let Some(bytes) = self.engine.receive() {
            self.channel.read(bytes, &mut self.delivered);
        }
        self.driver.after_input(&mut self.engine);
        self.channel.write_waiting(&mut *self.driver, &mut self.engine);
    }

    fn accept(&mut self, datagram: &[u8]) {
        match conversation_of(datagram) {
            Some(conv) => self.engine.conv = conv,
            None => self.awaits_conversation = true,
        }
    }

    /// When KCP or what is on it has something to do.
    fn wake(&self, now: Instant) -> Option<Instant> {
        let flush = self.driver.wake_ms(&self.engine, now.as_millis());
        let flush = flush.map(|ms| Instant::from_nanos(ms.saturating_mul(NANOS_PER_MILLI)));
        flush.into_iter().chain(self.channel.wake()).min()
    }

    fn update(&mut self, now: Instant) {
        self.driver.advance(&mut self.engine, now.as_millis());
        self.channel.update(now);
        self.channel.write_waiting(&mut *self.driver, &mut self.engine);
    }
}

impl Protocol for Kcp {
    fn send(&mut self, now: Instant, message: &[u8]) -> Sent {
        self.update(now);
        self.channel.send(&mut *self.driver, &mut self.engine, message)
    }

    fn receive(&mut self, now: Instant, datagram: Datagram) {
        let Ok(unwrapped) = self.wrapping.unwrap(now.as_millis(), datagram.payload) else {
            self.discarded += 1;
            return;
        };
        if let Some(datagram) = unwrapped.datagram {
            self.input(now, &datagram, Origin::Arrived);
        }
        for datagram in unwrapped.recovered {
            self.input(now, &datagram, Origin::Recovered);
        }
    }

    fn poll(&mut self, now: Instant) -> Output {
        if self.wake(now).is_some_and(|wake| wake <= now) {
            self.update(now);
        }
        if let Some(message) = self.delivered.pop_front() {
            return Output::Deliver(message);
        }
        while let Some(datagram) = self.engine.transmit() {
            self.wrapping.wrap(datagram);
        }
        match self.wrapping.transmit() {
            Some(packet) => Output::Transmit(Datagram::new(self.path, packet)),
            None => Output::Wait(self.wake(now)),
        }
    }

    fn state(&self) -> State {
        self.channel.state()
    }

    fn delivery(&self) -> Delivery {
        Delivery { ordered: true, reliable: true }
    }

    fn statistics(&self) -> ProtocolStatistics {
        ProtocolStatistics {
            retransmissions: Some(self.engine.retransmissions()),
            discarded: self.discarded,
        }
    }

    fn error_correction(&self) -> Option<ShardCounts> {
        let (recovered, known) = (self.recovered, self.known);
        self.wrapping.counts().map(|heard| ShardCounts { recovered, known, ..heard })
    }
}

fn driver(settings: &KcpSettings, behaviour: Behaviour) -> Box<dyn Driver> {
    match behaviour.flush {
        FlushRule::Session => Box::new(Session::new(settings.write_delay)),
        FlushRule::Clock => {
            let every_ms = settings.update_interval.as_millis().min(LONGEST_UPDATE_MS) as u64;
            Box::new(Polled::new(every_ms, settings.flush_at_once))
        }
    }
}

/// Spread over all numbers but 0, which some implementations take for "none".
fn conversation(seed: u64) -> u32 {
    ((mix(seed) >> 32) as u32).max(1)
}

/// What the first segment of a datagram says, if it is one.
fn conversation_of(mut datagram: &[u8]) -> Option<u32> {
    let conv = u32::from_le_bytes(*datagram.first_chunk()?);
    let is_segment = matches!(Segment::take(&mut datagram, conv), Ok(Some(_)));
    is_segment.then_some(conv)
}

#[cfg(test)]
mod tests;
