//! One side of a KCP connection without I/O: messages and datagrams in, datagrams and messages out,
//! time as a number. This file holds the state and what an application sees; `input` takes
//! datagrams in and `flush` makes them.

use super::behaviour::{Behaviour, FlushRule};
use super::clock::FlushClock;
use super::congestion::Congestion;
use super::flush::Packer;
use super::probe::WindowProbe;
use super::receiver::Receiver;
use super::resend::Terms;
use super::rto::RoundTrip;
use super::sender::{SendError, Sender};
use super::serial::distance;
use super::settings::EngineSettings;

/// The driver calls [`update`](Engine::update) or [`set_clock`](Engine::set_clock) before everything
/// else, so that the clock is never stale: round trips are measured against it.
#[derive(Debug)]
pub struct Engine {
    pub(super) conv: u32,
    pub(super) settings: EngineSettings,
    pub(super) behaviour: Behaviour,
    pub(super) clock: FlushClock,
    pub(super) round_trip: RoundTrip,
    pub(super) congestion: Congestion,
    pub(super) probe: WindowProbe,
    pub(super) sender: Sender,
    pub(super) receiver: Receiver,
    /// Segments, as the other side last said.
    pub(super) remote_window: u32,
    pub(super) packer: Packer,
    pub(super) retransmissions: u64,
    pub(super) dead_link: bool,
}

impl Engine {
    /// Both sides of a connection have the same `conv`.
    pub fn new(conv: u32, settings: EngineSettings, behaviour: Behaviour) -> Self {
        let segment_len = settings.segment_len();
        Self {
            conv,
            behaviour,
            clock: FlushClock::new(settings.interval_ms),
            round_trip: RoundTrip::new(
                behaviour.round_trip,
                settings.nodelay,
                settings.interval_ms,
            ),
            congestion: Congestion::new(segment_len),
            probe: WindowProbe::new(behaviour.first_probe_ms),
            sender: Sender::new(segment_len, settings.stream, behaviour),
            receiver: Receiver::new(behaviour.receive_window.window(settings.receive_window)),
            remote_window: behaviour.assumed_window,
            packer: Packer::new(settings.mtu),
            retransmissions: 0,
            dead_link: false,
            settings,
        }
    }

    /// Queues a message (in stream mode: bytes) for the next flush.
    pub fn send(&mut self, message: &[u8]) -> Result<(), SendError> {
        self.sender.push(message)
    }

    /// Whether [`send`](Engine::send) would take it.
    pub fn check(&self, message: &[u8]) -> Result<(), SendError> {
        self.sender.check(message)
    }

    /// The next message (in stream mode: one segment's bytes) that has arrived completely and in
    /// order.
    pub fn receive(&mut self) -> Option<Vec<u8>> {
        let taken = self.receiver.take()?;
        self.probe.tell |= taken.reopened;
        Some(taken.message)
    }

    /// Sets the clock, and flushes when the interval has passed.
    pub fn update(&mut self, now_ms: u32) {
        if self.clock.update(now_ms) {
            self.flush();
        }
    }

    /// Sets the clock alone, for a driver that flushes itself.
    pub const fn set_clock(&mut self, now_ms: u32) {
        self.clock.set(now_ms);
    }

    /// The next datagram that a flush has made.
    pub fn transmit(&mut self) -> Option<Vec<u8>> {
        self.packer.pop()
    }

    /// The earliest time at which a flush would do anything at all if nothing else happens before:
    /// not before the last update, and `None` if never.
    pub fn work_due_ms(&self) -> Option<u32> {
        let now_ms = self.clock.now_ms();
        let at_once = self.awaits_first_update()
            || self.receiver.has_acknowledgements()
            || self.sender.can_let_out(self.window_in_force());
        if at_once {
            return Some(now_ms);
        }
        let probe = self.probe.due_ms(now_ms, self.remote_window);
        let resend_wait_ms = self.sender.resend_wait_ms(&self.terms(true));
        let probe_wait_ms = probe.map(|due_ms| distance(due_ms, now_ms).max(0).unsigned_abs());
        let wait_ms = probe_wait_ms.into_iter().chain(resend_wait_ms).min()?;
        Some(now_ms.wrapping_add(wait_ms))
    }

    /// How long until a segment in flight times out: `None` if there is none.
    pub fn timeout_wait_ms(&self) -> Option<u32> {
        self.sender.timeout_wait_ms(self.clock.now_ms())
    }

    /// Whether another message would find room in both windows. KCP takes it all the same; it is
    /// for drivers that let the application wait.
    pub fn has_room(&self) -> bool {
        self.sender.backlog() < self.settings.send_window.min(self.remote_window) as usize
    }

    /// Segments that were sent again, for whatever reason.
    pub const fn retransmissions(&self) -> u64 {
        self.retransmissions
    }

    /// Some segment was sent twenty times. KCP leaves it to the application to give up.
    pub const fn is_dead_link(&self) -> bool {
        self.dead_link
    }

    /// How many numbers may be let out at once.
    pub(super) fn window_in_force(&self) -> u32 {
        let window = self.settings.send_window.min(self.remote_window);
        if self.settings.congestion_control { window.min(self.congestion.window()) } else { window }
    }

    /// A flush does nothing before it.
    pub(super) fn awaits_first_update(&self) -> bool {
        self.behaviour.flush == FlushRule::Clock && self.clock.tick_ms().is_none()
    }

    pub(super) const fn terms(&self, nothing_new: bool) -> Terms {
        Terms {
            rule: self.behaviour.resend,
            now_ms: self.clock.now_ms(),
            rto_ms: self.round_trip.rto_ms(),
            nodelay: self.settings.nodelay,
            fast_resend: self.settings.fast_resend,
            nothing_new,
        }
    }
}
