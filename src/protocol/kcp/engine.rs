//! One side of a KCP connection without I/O: messages and datagrams in, datagrams and messages out,
//! time as a number. This file holds the state and what an application sees; `input` takes
//! datagrams in and `flush` makes them.

use super::behaviour::Behaviour;
use super::clock::FlushClock;
use super::congestion::Congestion;
use super::flush::Packer;
use super::probe::WindowProbe;
use super::receiver::Receiver;
use super::rto::RoundTrip;
use super::sender::{ResendRule, SendError, Sender};
use super::serial::distance;
use super::settings::EngineSettings;

/// The driver calls [`update`](Engine::update) before everything else, so that the clock is never
/// stale: round trips are measured against the last update.
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
        let smallest = behaviour.smallest_receive_window;
        Self {
            conv,
            behaviour,
            clock: FlushClock::new(settings.interval_ms),
            round_trip: RoundTrip::new(settings.nodelay, settings.interval_ms),
            congestion: Congestion::new(segment_len),
            probe: WindowProbe::new(behaviour.first_probe_ms),
            sender: Sender::new(segment_len, settings.stream, smallest as usize),
            receiver: Receiver::new(settings.receive_window.max(smallest)),
            remote_window: smallest,
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

    /// The next datagram that a flush has made.
    pub fn transmit(&mut self) -> Option<Vec<u8>> {
        self.packer.pop()
    }

    /// The earliest time at which a flush would do anything at all if nothing else happens before:
    /// not before the last update, and `None` if never.
    pub fn work_due_ms(&self) -> Option<u32> {
        let now_ms = self.clock.now_ms();
        let at_once = self.clock.tick_ms().is_none()
            || self.receiver.has_acknowledgements()
            || self.sender.can_let_out(self.window_in_force());
        if at_once {
            return Some(now_ms);
        }
        let probe = self.probe.due_ms(now_ms, self.remote_window);
        let resend = self.sender.due_ms(self.resend_rule());
        let wait_ms = |due_ms: u32| distance(due_ms, now_ms).max(0);
        let shortest = probe.into_iter().chain(resend).map(wait_ms).min()?;
        Some(now_ms.wrapping_add_signed(shortest))
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

    pub(super) const fn resend_rule(&self) -> ResendRule {
        ResendRule {
            now_ms: self.clock.now_ms(),
            rto_ms: self.round_trip.rto_ms(),
            nodelay: self.settings.nodelay,
            fast_resend: self.settings.fast_resend,
        }
    }
}
