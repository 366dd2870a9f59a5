//! One connection a path; each message goes to every connection, and the first copy that arrives is
//! delivered. Copies are recognised by the number that every message of a workload starts with.

use crate::protocol::first_copy::FirstCopy;
use crate::protocol::{
    Datagram, Delivery, Output, PathChange, Protocol, ProtocolStatistics, QlogBook, Sent,
    ShardCounts, State,
};
use crate::units::{Instant, PathId};
use crate::workload::message_id;

/// Messages that one connection may lag another by.
const WINDOW: usize = 1 << 17;

pub struct MessageCopies {
    connections: Vec<(PathId, Box<dyn Protocol>)>,
    first_copy: FirstCopy,
    discarded: u64,
}

impl MessageCopies {
    /// At least one connection, each on a path of its own.
    pub fn new(connections: Vec<(PathId, Box<dyn Protocol>)>) -> Self {
        Self { connections, first_copy: FirstCopy::new(WINDOW), discarded: 0 }
    }

    fn connection(&mut self, path: PathId) -> Option<&mut Box<dyn Protocol>> {
        self.connections.iter_mut().find(|(of, _)| *of == path).map(|(_, connection)| connection)
    }

    fn is_first(&mut self, message: &[u8]) -> bool {
        let first = message_id(message).is_some_and(|id| self.first_copy.is_first(id));
        self.discarded += u64::from(!first);
        first
    }

    /// The next thing that any connection wants done, or the earliest wait of all.
    fn poll_connections(&mut self, now: Instant) -> Output {
        let mut wakeup: Option<Instant> = None;
        for (_, connection) in &mut self.connections {
            match connection.poll(now) {
                Output::Wait(at) => wakeup = wakeup.into_iter().chain(at).min(),
                other => return other,
            }
        }
        Output::Wait(wakeup)
    }
}

impl Protocol for MessageCopies {
    /// Accepted if any connection takes it.
    fn send(&mut self, now: Instant, message: &[u8]) -> Sent {
        let mut sent = Sent::Refused;
        for (_, connection) in &mut self.connections {
            if connection.send(now, message) == Sent::Accepted {
                sent = Sent::Accepted;
            }
        }
        sent
    }

    fn receive(&mut self, now: Instant, datagram: Datagram) {
        match self.connection(datagram.path) {
            Some(connection) => connection.receive(now, datagram),
            None => self.discarded += 1,
        }
    }

    fn poll(&mut self, now: Instant) -> Output {
        loop {
            match self.poll_connections(now) {
                Output::Deliver(message) if !self.is_first(&message) => {}
                other => return other,
            }
        }
    }

    /// Connecting until every connection is up; closed only when every one is.
    fn state(&self) -> State {
        let states: Vec<State> = self.connections.iter().map(|(_, c)| c.state()).collect();
        if states.contains(&State::Connecting) {
            return State::Connecting;
        }
        if states.contains(&State::Established) {
            return State::Established;
        }
        states.into_iter().next().unwrap_or(State::Closed("it has no connection".into()))
    }

    /// A union of ordered streams is not ordered: a message may overtake one that waits on the
    /// other path.
    fn delivery(&self) -> Delivery {
        let reliable = self.connections.iter().all(|(_, c)| c.delivery().reliable);
        Delivery { ordered: false, reliable }
    }

    fn statistics(&self) -> ProtocolStatistics {
        let each = self.connections.iter().map(|(_, connection)| connection.statistics());
        let unread = ProtocolStatistics { retransmissions: None, discarded: self.discarded };
        each.fold(unread, |sum, one| ProtocolStatistics {
            retransmissions: one
                .retransmissions
                .map(|count| count + sum.retransmissions.unwrap_or(0))
                .or(sum.retransmissions),
            discarded: sum.discarded + one.discarded,
        })
    }

    fn error_correction(&self) -> Option<ShardCounts> {
        self.connections.iter().map(|(_, connection)| connection.error_correction()).sum()
    }

    fn log_in(&mut self, book: &QlogBook) {
        self.connections.iter_mut().for_each(|(_, connection)| connection.log_in(book));
    }

    fn path_changed(&mut self, now: Instant, path: PathId, change: PathChange) {
        if let Some(connection) = self.connection(path) {
            connection.path_changed(now, path, change);
        }
    }
}
