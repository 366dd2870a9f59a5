//! KCP as a sender under test: an engine, the driver KCP leaves to its user, and the framing of
//! stream mode. There is no handshake and no end: both sides know the conversation number from the
//! start.

use std::collections::VecDeque;

use crate::protocol::settings::KcpSettings;
use crate::protocol::{Datagram, Delivery, Output, Protocol, ProtocolStatistics, Sent, State};
use crate::splitmix::mix;
use crate::units::{Instant, PathId};

use super::behaviour::Behaviour;
use super::engine::Engine;
use super::framing::{MessageCutter, with_prefix};
use super::input::News;
use super::polling::Polling;
use super::serial::distance;
use super::settings::EngineSettings;

const NANOS_PER_MILLI: u64 = 1_000_000;
/// A longer update interval is taken as this one, KCP's longest flush interval.
const LONGEST_UPDATE_MS: u128 = 5_000;

/// One side of a KCP connection.
///
/// The engine is updated at every multiple of `update_interval` since its first update (in whole
/// milliseconds, at least one) and before every `send` and `receive`; updates that would do nothing
/// are skipped, which cannot be told from outside. With `flush_at_once` it also flushes after every
/// `send` and `receive`.
///
/// Messages longer than 127 segments are refused, and so is every message once [`SEND_QUEUE_LIMIT`]
/// segments wait behind the window.
///
/// [`SEND_QUEUE_LIMIT`]: super::SEND_QUEUE_LIMIT
#[derive(Debug)]
pub struct Kcp {
    path: PathId,
    engine: Engine,
    flush_at_once: bool,
    update_every_ms: u64,
    /// `None` before the first call.
    polling: Option<Polling>,
    updated_ms: u64,
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
        let longest_message =
            engine_settings.segment_len() * behaviour.smallest_receive_window as usize;
        Self {
            path: settings.path,
            flush_at_once: settings.flush_at_once,
            update_every_ms: settings.update_interval.as_millis().min(LONGEST_UPDATE_MS) as u64,
            polling: None,
            updated_ms: 0,
            cutter: settings.stream.then(|| MessageCutter::new(longest_message)),
            delivered: VecDeque::new(),
            discarded: 0,
            engine: Engine::new(conv, engine_settings, behaviour),
        }
    }

    /// Updates the engine as of now, after the polls that were skipped.
    fn update(&mut self, now: Instant) {
        let now_ms = now.as_millis();
        let work_ms = self.work_ms();
        let every_ms = self.update_every_ms;
        let polling = self.polling.get_or_insert_with(|| Polling::new(every_ms, now_ms));
        polling.catch_up(now_ms, work_ms, &mut self.engine.clock);
        self.engine.update(now_ms as u32);
        self.updated_ms = now_ms;
    }

    /// When there is something to flush, on the 64-bit clock.
    fn work_ms(&self) -> Option<u64> {
        let due_ms = self.engine.work_due_ms()?;
        let wait_ms = distance(due_ms, self.updated_ms as u32);
        Some(self.updated_ms.saturating_add_signed(i64::from(wait_ms)))
    }

    /// The next poll that does anything.
    fn wake(&self) -> Option<Instant> {
        let polling = self.polling.as_ref()?;
        let wake_ms = polling.wake_ms(self.work_ms()?, &self.engine.clock);
        Some(Instant::from_nanos(wake_ms.saturating_mul(NANOS_PER_MILLI)))
    }

    fn is_due(&self, now: Instant) -> bool {
        match self.polling {
            None => self.first_update(now) <= now,
            Some(_) => self.wake().is_some_and(|wake| wake <= now),
        }
    }

    /// The flush clock ticks at the multiples of its interval on the trial's clock, unless
    /// something happens before: so how it stands to the workload's schedule is the same in every
    /// engine, and is not left to chance.
    fn first_update(&self, now: Instant) -> Instant {
        let interval_ms = u64::from(self.engine.clock.interval_ms());
        let tick_ms = now.as_millis().next_multiple_of(interval_ms);
        Instant::from_nanos(tick_ms.saturating_mul(NANOS_PER_MILLI)).max(now)
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

    fn flush_if_at_once(&mut self) {
        if self.flush_at_once {
            self.engine.flush();
        }
    }
}

impl Protocol for Kcp {
    fn send(&mut self, now: Instant, message: &[u8]) -> Sent {
        self.update(now);
        let queued = match self.cutter {
            None => self.engine.send(message),
            Some(_) => self.engine.send(&with_prefix(message)),
        };
        self.flush_if_at_once();
        match queued {
            Ok(()) => Sent::Accepted,
            Err(_) => Sent::Refused,
        }
    }

    fn receive(&mut self, now: Instant, datagram: Datagram) {
        self.update(now);
        if !matches!(self.engine.input(&datagram.payload), Ok(News::Some)) {
            self.discarded += 1;
        }
        self.take_messages();
        self.flush_if_at_once();
    }

    fn poll(&mut self, now: Instant) -> Output {
        if self.is_due(now) {
            self.update(now);
        }
        if let Some(message) = self.delivered.pop_front() {
            return Output::Deliver(message);
        }
        if let Some(payload) = self.engine.transmit() {
            return Output::Transmit(Datagram::new(self.path, payload));
        }
        Output::Wait(match self.polling {
            None => Some(self.first_update(now)),
            Some(_) => self.wake(),
        })
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

/// Spread over all numbers but 0, which some implementations take for "none".
fn conversation(seed: u64) -> u32 {
    ((mix(seed) >> 32) as u32).max(1)
}

#[cfg(test)]
mod tests;
