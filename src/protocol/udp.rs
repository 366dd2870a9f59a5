//! Plain UDP: a message is a datagram, sent once. The yardstick: what the link itself does.

use std::collections::VecDeque;

use super::{Datagram, Delivery, Output, Protocol, ProtocolStatistics, Sent, State};
use crate::protocol::settings::UdpSettings;
use crate::units::{Instant, PathId};

/// Datagrams waiting for the driver; it takes each at once, so more than a few means that it
/// stopped.
const QUEUE_LIMIT: usize = 1024;

#[derive(Debug)]
pub struct Udp {
    path: PathId,
    outputs: VecDeque<Output>,
    discarded: u64,
}

impl Udp {
    pub fn new(settings: &UdpSettings) -> Self {
        Self { path: settings.path, outputs: VecDeque::new(), discarded: 0 }
    }
}

impl Protocol for Udp {
    fn send(&mut self, _now: Instant, message: &[u8]) -> Sent {
        if self.outputs.len() >= QUEUE_LIMIT {
            return Sent::Refused;
        }
        let datagram = Datagram::new(self.path, message.to_vec());
        self.outputs.push_back(Output::Transmit(datagram));
        Sent::Accepted
    }

    fn receive(&mut self, _now: Instant, datagram: Datagram) {
        if self.outputs.len() >= QUEUE_LIMIT {
            self.discarded += 1;
            return;
        }
        self.outputs.push_back(Output::Deliver(datagram.payload));
    }

    fn poll(&mut self, _now: Instant) -> Output {
        self.outputs.pop_front().unwrap_or(Output::Wait(None))
    }

    fn state(&self) -> State {
        State::Established
    }

    fn delivery(&self) -> Delivery {
        Delivery { ordered: false, reliable: false }
    }

    fn statistics(&self) -> ProtocolStatistics {
        ProtocolStatistics { retransmissions: None, discarded: self.discarded }
    }
}
