//! A protocol of our own on UDP sockets, one a path.

use std::os::fd::AsFd;

use nix::poll::{PollFd, PollFlags};

use super::{Carried, Carrier, Step};
use crate::engine::fidelity::{Damage, Lateness, Stalls};
use crate::engine::receive_batch::ReceiveBatch;
use crate::engine::udp_socket::PathSocket;
use crate::engine::watch::Watch;
use crate::protocol::{Datagram, Delivery, Ecn, Output, Protocol, Sent, State};
use crate::units::PathId;

/// The longest UDP datagram.
const DATAGRAM_BUFFER: usize = 1 << 16;

pub struct Datagrams {
    protocol: Box<dyn Protocol>,
    sockets: Vec<PathSocket>,
    batch: ReceiveBatch,
    reads: Lateness,
    stalls: Stalls,
    unsendable: u64,
}

impl Datagrams {
    /// One socket a path, in the order of the plan.
    pub fn new(protocol: Box<dyn Protocol>, sockets: Vec<PathSocket>) -> Self {
        Self {
            protocol,
            sockets,
            batch: ReceiveBatch::new(DATAGRAM_BUFFER),
            reads: Lateness::default(),
            stalls: Stalls::default(),
            unsendable: 0,
        }
    }

    /// Gives the protocol the datagrams of the last batch.
    fn take(&mut self, path: PathId, watch: &Watch) {
        let offset = watch.realtime_offset();
        let now = watch.now();
        for (payload, received) in self.batch.iter() {
            let stamp = received.stamp.filter(|_| watch.start().is_some());
            if let Some((stamp, offset)) = stamp.zip(offset) {
                let late = now.saturating_since(offset.to_trial(stamp)) + offset.doubt();
                self.reads.record(late);
                self.stalls.note(late);
            }
            let (payload, ecn) = (payload.to_vec(), ecn(received.tos));
            self.protocol.receive(now, Datagram { path, payload, ecn });
        }
    }

    fn transmit(&mut self, datagram: &Datagram) {
        let socket = &mut self.sockets[datagram.path.index()];
        if socket.send(&datagram.payload, datagram.ecn).is_err() {
            self.unsendable += 1;
        }
    }
}

impl Carrier for Datagrams {
    fn sources(&self) -> Vec<PollFd<'_>> {
        let source = |socket| PollFd::new(AsFd::as_fd(socket), PollFlags::POLLIN);
        self.sockets.iter().map(source).collect()
    }

    fn receive(&mut self, source: usize, watch: &Watch) -> bool {
        // An error here is one of the path's (port unreachable, as the other side ends): as good
        // as nothing read.
        let count = self.sockets[source].receive(&mut self.batch).unwrap_or(0);
        if count > 0 {
            self.take(PathId(source as u8), watch);
        }
        count > 0
    }

    fn send(&mut self, message: &[u8], watch: &Watch) -> Sent {
        self.protocol.send(watch.now(), message)
    }

    fn poll(&mut self, watch: &Watch) -> Step {
        match self.protocol.poll(watch.now()) {
            Output::Transmit(datagram) => {
                self.transmit(&datagram);
                Step::Done
            }
            Output::Deliver(message) => Step::Deliver(message),
            Output::Wait(wakeup) => Step::Wait(wakeup),
        }
    }

    fn state(&self) -> State {
        self.protocol.state()
    }

    fn delivery(&self) -> Delivery {
        self.protocol.delivery()
    }

    fn finish(self: Box<Self>) -> Carried {
        Carried {
            delivery: self.protocol.delivery(),
            statistics: self.protocol.statistics(),
            error_correction: self.protocol.error_correction(),
            reads: self.reads,
            stalls: self.stalls,
            damage: Damage { unsendable: self.unsendable, ..Damage::default() },
            sockets: None,
            kept: Box::new(self.sockets),
        }
    }
}

fn ecn(tos: u8) -> Ecn {
    match tos & 0b11 {
        0b01 => Ecn::Capable1,
        0b10 => Ecn::Capable0,
        0b11 => Ecn::CongestionExperienced,
        _ => Ecn::NotCapable,
    }
}
