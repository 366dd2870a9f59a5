//! What leaves: acknowledgements, window probes, then every data segment that is due, packed into
//! full datagrams.

use std::collections::VecDeque;

use super::behaviour::TimeoutThreshold;
use super::engine::Engine;
use super::resend::Reason;
use super::segment::{Command, HEADER_LEN, Header};

/// A segment sent this often marks the link as dead.
const DEAD_LINK_TRANSMISSIONS: u32 = 20;

/// What a flush sent again.
#[derive(Debug, Default)]
struct Resent {
    timeouts: u32,
    overtaken: u32,
}

impl Engine {
    /// Sends what is due now instead of waiting for the interval. Does nothing before the first
    /// update.
    pub fn flush(&mut self) {
        if self.awaits_first_update() {
            return;
        }
        let congestion_before = self.congestion.window();
        let stamp = self.flush_acknowledgements(self.stamp());
        self.flush_probes(stamp);
        let window = self.window_in_force();
        let nothing_new = self.sender.let_out(window) == 0;
        let resent = self.flush_data(stamp, nothing_new);
        self.packer.close();
        let window_before = match self.behaviour.timeout_threshold {
            TimeoutThreshold::WindowInForce => window,
            TimeoutThreshold::CongestionWindow => congestion_before,
        };
        self.react(&resent, window_before);
    }

    /// Sends what is to be acknowledged and leaves everything else to the next flush.
    pub(super) fn flush_acknowledgements_alone(&mut self) {
        self.flush_acknowledgements(self.stamp());
        self.packer.close();
    }

    /// What every segment of this flush says of this side.
    fn stamp(&self) -> Header {
        Header {
            conv: self.conv,
            command: Command::Acknowledge,
            fragment: 0,
            window: self.receiver.free_window(),
            timestamp: 0,
            number: 0,
            unacknowledged: self.receiver.next(),
        }
    }

    /// Returns the stamp with the last acknowledgement's number and timestamp still in it: a probe
    /// behind it carries them too. They mean nothing there, but the C code sends them.
    fn flush_acknowledgements(&mut self, mut stamp: Header) -> Header {
        let rule = self.behaviour.acknowledgements;
        for acknowledgement in self.receiver.take_acknowledgements(rule) {
            stamp.number = acknowledgement.number;
            stamp.timestamp = acknowledgement.timestamp;
            self.packer.push(&stamp, &[]);
        }
        stamp
    }

    fn flush_probes(&mut self, stamp: Header) {
        if self.probe.ask(self.clock.now_ms(), self.remote_window) {
            self.packer.push(&Header { command: Command::AskWindow, ..stamp }, &[]);
        }
        if std::mem::take(&mut self.probe.tell) {
            self.packer.push(&Header { command: Command::TellWindow, ..stamp }, &[]);
        }
    }

    fn flush_data(&mut self, stamp: Header, nothing_new: bool) -> Resent {
        let terms = self.terms(nothing_new);
        let mut resent = Resent::default();
        for segment in self.sender.in_flight_mut() {
            match segment.attempts.send_if_due(&terms) {
                None => continue,
                Some(Reason::New) => {}
                Some(Reason::Timeout) => resent.timeouts += 1,
                Some(Reason::Overtaken) => resent.overtaken += 1,
            }
            let header = Header {
                command: Command::Push,
                fragment: segment.fragment,
                timestamp: segment.attempts.sent_ms,
                number: segment.number,
                ..stamp
            };
            self.packer.push(&header, &segment.payload);
            self.dead_link |= segment.attempts.count >= DEAD_LINK_TRANSMISSIONS;
        }
        resent
    }

    fn react(&mut self, resent: &Resent, window_before: u32) {
        self.retransmissions += u64::from(resent.timeouts) + u64::from(resent.overtaken);
        if resent.overtaken > 0 {
            self.congestion.on_fast_resend(self.sender.span(), self.settings.fast_resend);
        }
        if resent.timeouts > 0 {
            self.congestion.on_timeout(window_before);
        }
        self.congestion.keep_open();
    }
}

/// Packs segments into datagrams of at most `mtu` bytes.
#[derive(Debug)]
pub struct Packer {
    mtu: usize,
    open: Vec<u8>,
    closed: VecDeque<Vec<u8>>,
}

impl Packer {
    pub const fn new(mtu: usize) -> Self {
        Self { mtu, open: Vec::new(), closed: VecDeque::new() }
    }

    fn push(&mut self, header: &Header, payload: &[u8]) {
        if self.open.len() + HEADER_LEN + payload.len() > self.mtu {
            self.close();
        }
        header.write(payload, &mut self.open);
    }

    fn close(&mut self) {
        if !self.open.is_empty() {
            self.closed.push_back(std::mem::take(&mut self.open));
        }
    }

    pub fn pop(&mut self) -> Option<Vec<u8>> {
        self.closed.pop_front()
    }
}
