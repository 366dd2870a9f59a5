//! KCP as a sender under test: an engine, the driver KCP leaves to its user, and the framing of
//! stream mode. There is no handshake and no end: both sides know the conversation number from the
//! start.

use std::collections::VecDeque;

use crate::protocol::settings::KcpSettings;
use crate::protocol::{Datagram, Delivery, Output, Protocol, ProtocolStatistics, Sent, State};
use crate::splitmix::mix;
use crate::units::{Instant, PathId};

use super::behaviour::{Behaviour, FlushRule};
use super::driver::Driver;
use super::engine::Engine;
use super::framing::{MessageCutter, with_prefix};
use super::input::{News, Origin};
use super::polled::Polled;
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
    /// Bytes.
    longest_message: usize,
    /// In stream mode.
    cutter: Option<MessageCutter>,
    delivered: VecDeque<Vec<u8>>,
    discarded: u64,
}

impl Kcp {
    /// Both sides are made from the same settings and the same seed, which gives the conversation
    /// number.
    pub fn new(settings: &KcpSettings, seed: u64) -> Self {
        Self::with_conversation(settings, conversation(seed))
    }

    /// With the conversation number of a peer that does not take it from a seed.
    pub fn with_conversation(settings: &KcpSettings, conv: u32) -> Self {
        let behaviour = Behaviour::of(settings.behaviour);
        let engine_settings = EngineSettings::from(settings);
        let longest_message = longest_message(&engine_settings, behaviour);
        Self {
            path: settings.path,
            driver: driver(settings, behaviour),
            longest_message,
            cutter: settings.stream.then(|| MessageCutter::new(longest_message)),
            delivered: VecDeque::new(),
            discarded: 0,
            engine: Engine::new(conv, engine_settings, behaviour),
        }
    }

    /// Takes KCP segments that arrived, or that error correction has recovered.
    pub fn input(&mut self, now: Instant, datagram: &[u8], origin: Origin) {
        self.driver.advance(&mut self.engine, now.as_millis());
        if !matches!(self.engine.input(datagram, origin), Ok(News::Some)) {
            self.discarded += 1;
        }
        self.take_messages();
        self.driver.after_input(&mut self.engine);
    }

    fn wake(&self, now: Instant) -> Option<Instant> {
        let wake_ms = self.driver.wake_ms(&self.engine, now.as_millis())?;
        Some(Instant::from_nanos(wake_ms.saturating_mul(NANOS_PER_MILLI)))
    }

    fn take_messages(&mut self) {
        while let Some(bytes) = self.engine.receive() {
            match &mut self.cutter {
                None => self.delivered.push_back(bytes),
                Some(cutter) => {
                    cutter.push(&bytes);
                    self.delivered.extend(std::iter::from_fn(|| cutter.pop()));
                }
            }
        }
    }
}

impl Protocol for Kcp {
    fn send(&mut self, now: Instant, message: &[u8]) -> Sent {
        self.driver.advance(&mut self.engine, now.as_millis());
        if message.len() > self.longest_message {
            return Sent::Refused;
        }
        let written = match self.cutter {
            None => self.driver.write(&mut self.engine, message),
            Some(_) => self.driver.write(&mut self.engine, &with_prefix(message)),
        };
        match written {
            Ok(()) => Sent::Accepted,
            Err(_) => Sent::Refused,
        }
    }

    fn receive(&mut self, now: Instant, datagram: Datagram) {
        self.input(now, &datagram.payload, Origin::Arrived);
    }

    fn poll(&mut self, now: Instant) -> Output {
        if self.wake(now).is_some_and(|wake| wake <= now) {
            self.driver.advance(&mut self.engine, now.as_millis());
        }
        if let Some(message) = self.delivered.pop_front() {
            return Output::Deliver(message);
        }
        if let Some(payload) = self.engine.transmit() {
            return Output::Transmit(Datagram::new(self.path, payload));
        }
        Output::Wait(self.wake(now))
    }

    fn state(&self) -> State {
        match &self.cutter {
            Some(cutter) if cutter.is_broken() => {
                State::Closed("a forged message length broke the KCP stream".to_owned())
            }
            _ => State::Established,
        }
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

/// Bytes. The other side has the same receive window.
fn longest_message(settings: &EngineSettings, behaviour: Behaviour) -> usize {
    let window = behaviour.receive_window.window(settings.receive_window);
    let most = if settings.stream { u32::MAX } else { window };
    settings.segment_len() * most.min(behaviour.fragment_limit - 1) as usize
}

/// Spread over all numbers but 0, which some implementations take for "none".
fn conversation(seed: u64) -> u32 {
    ((mix(seed) >> 32) as u32).max(1)
}

#[cfg(test)]
mod tests;
