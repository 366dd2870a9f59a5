//! UDP with retransmission by the application, as a reader that polls devices writes it: each message
//! is one datagram, sent again after a fixed timeout until it is acknowledged, a few times at most.
//! No order, no estimate of the round trip, no congestion control. Knows nothing of paths but its
//! own.
//!
//! A datagram begins with the number of its message (u32, little-endian) and a byte that says whether
//! it is the message (0) or its acknowledgement (1). Every copy of a message is acknowledged, at once.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use super::first_copy::FirstCopy;
use super::{Datagram, Delivery, Output, Protocol, ProtocolStatistics, Sent, State};
use crate::protocol::settings::UdpArqSettings;
use crate::units::{Instant, PathId};

/// Bytes in front of each message.
pub const HEADER_LEN: usize = 5;

const MESSAGE: u8 = 0;
const ACKNOWLEDGEMENT: u8 = 1;
/// Messages without an acknowledgement; with so many, another is refused.
const UNACKNOWLEDGED_LIMIT: usize = 1 << 16;
/// Messages that a late copy may lag the latest by; older ones are taken for copies.
const WINDOW: usize = 1 << 17;
/// Datagrams and messages waiting for the driver; it takes each at once, so more than a few means
/// that it stopped.
const QUEUE_LIMIT: usize = 1024;

#[derive(Debug)]
pub struct UdpArq {
    path: PathId,
    timeout: Duration,
    retries: u32,
    next_number: u32,
    unacknowledged: BTreeMap<u32, Waiting>,
    /// When each transmission times out, the earliest first (the timeout is the same for all);
    /// those that were acknowledged meanwhile are passed over.
    timeouts: VecDeque<(Instant, u32)>,
    first_copy: FirstCopy,
    outputs: VecDeque<Output>,
    retransmissions: u64,
    discarded: u64,
}

#[derive(Debug)]
struct Waiting {
    datagram: Vec<u8>,
    retries_left: u32,
}

impl UdpArq {
    pub fn new(settings: &UdpArqSettings) -> Self {
        Self {
            path: settings.path,
            timeout: settings.timeout,
            retries: settings.retries,
            next_number: 0,
            unacknowledged: BTreeMap::new(),
            timeouts: VecDeque::new(),
            first_copy: FirstCopy::new(WINDOW),
            outputs: VecDeque::new(),
            retransmissions: 0,
            discarded: 0,
        }
    }

    fn transmit(&mut self, payload: Vec<u8>) {
        self.outputs.push_back(Output::Transmit(Datagram::new(self.path, payload)));
    }

    /// Sends again what was not acknowledged in time, or gives it up.
    fn time_out(&mut self, now: Instant) {
        while let Some((due, number)) = self.timeouts.front().copied() {
            if due > now {
                return;
            }
            self.timeouts.pop_front();
            self.send_again(now, number);
        }
    }

    fn send_again(&mut self, now: Instant, number: u32) {
        let Some(waiting) = self.unacknowledged.get_mut(&number) else { return };
        if waiting.retries_left == 0 {
            self.unacknowledged.remove(&number);
            return;
        }
        waiting.retries_left -= 1;
        let datagram = waiting.datagram.clone();
        self.timeouts.push_back((now + self.timeout, number));
        self.retransmissions += 1;
        self.transmit(datagram);
    }

    fn receive_message(&mut self, number: u32, message: &[u8]) {
        self.transmit(datagram(number, ACKNOWLEDGEMENT, &[]));
        if self.first_copy.is_first(number.into()) {
            self.outputs.push_back(Output::Deliver(message.to_vec()));
        } else {
            self.discarded += 1;
        }
    }
}

impl Protocol for UdpArq {
    fn send(&mut self, now: Instant, message: &[u8]) -> Sent {
        let full = self.unacknowledged.len() >= UNACKNOWLEDGED_LIMIT;
        if full || self.outputs.len() >= QUEUE_LIMIT {
            return Sent::Refused;
        }
        let number = self.next_number;
        self.next_number = number.wrapping_add(1);
        let datagram = datagram(number, MESSAGE, message);
        let waiting = Waiting { datagram: datagram.clone(), retries_left: self.retries };
        self.unacknowledged.insert(number, waiting);
        self.timeouts.push_back((now + self.timeout, number));
        self.transmit(datagram);
        Sent::Accepted
    }

    fn receive(&mut self, _now: Instant, datagram: Datagram) {
        let header = datagram.payload.split_first_chunk::<HEADER_LEN>();
        let parts = header.filter(|_| self.outputs.len() < QUEUE_LIMIT).map(|(header, message)| {
            let [n0, n1, n2, n3, kind] = *header;
            (u32::from_le_bytes([n0, n1, n2, n3]), kind, message)
        });
        match parts {
            Some((number, MESSAGE, message)) => self.receive_message(number, message),
            Some((number, ACKNOWLEDGEMENT, [])) => {
                // A second acknowledgement answers a second copy, and is nothing wrong.
                self.unacknowledged.remove(&number);
            }
            _ => self.discarded += 1,
        }
    }

    fn poll(&mut self, now: Instant) -> Output {
        self.time_out(now);
        let next = self.outputs.pop_front();
        next.unwrap_or_else(|| Output::Wait(self.timeouts.front().map(|(due, _)| *due)))
    }

    fn state(&self) -> State {
        State::Established
    }

    fn delivery(&self) -> Delivery {
        Delivery { ordered: false, reliable: false }
    }

    fn statistics(&self) -> ProtocolStatistics {
        let retransmissions = Some(self.retransmissions);
        ProtocolStatistics { retransmissions, discarded: self.discarded }
    }
}

fn datagram(number: u32, kind: u8, message: &[u8]) -> Vec<u8> {
    let mut datagram = Vec::with_capacity(HEADER_LEN + message.len());
    datagram.extend_from_slice(&number.to_le_bytes());
    datagram.push(kind);
    datagram.extend_from_slice(message);
    datagram
}

#[cfg(test)]
mod tests;
