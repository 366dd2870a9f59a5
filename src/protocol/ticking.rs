//! A protocol whose clock never stands still: each thing that happens to it is later than the one
//! before, also where a driver's time goes on between them only.
//!
//! Some rules part the two. In QUIC a packet that was sent no later than the present recovery began
//! counts as sent before it (RFC 9002, appendix B.5). At one instant, all that goes out as a loss is
//! noticed would count so, and no loss among it be answered: quinn's Cubic on two paths has a P99
//! that is a quarter too low then, and the same whether each thing takes a nanosecond or 20 µs.

use std::time::Duration;

use super::{
    Datagram, Delivery, Output, PathChange, Protocol, ProtocolStatistics, QlogBook, Sent,
    ShardCounts, State,
};
use crate::units::{Instant, PathId};

/// The least from one thing to the next.
const TICK: Duration = Duration::from_nanos(1);

pub struct Ticking {
    inner: Box<dyn Protocol>,
    tick: Duration,
    last: Instant,
}

impl Ticking {
    pub fn new(inner: Box<dyn Protocol>) -> Self {
        Self::by(TICK, inner)
    }

    pub fn by(tick: Duration, inner: Box<dyn Protocol>) -> Self {
        Self { inner, tick, last: Instant::ZERO }
    }

    fn tick(&mut self, now: Instant) -> Instant {
        self.last = now.max(self.last + self.tick);
        self.last
    }
}

impl Protocol for Ticking {
    fn send(&mut self, now: Instant, message: &[u8]) -> Sent {
        let now = self.tick(now);
        self.inner.send(now, message)
    }

    fn receive(&mut self, now: Instant, datagram: Datagram) {
        let now = self.tick(now);
        self.inner.receive(now, datagram);
    }

    fn poll(&mut self, now: Instant) -> Output {
        let now = self.tick(now);
        self.inner.poll(now)
    }

    fn state(&self) -> State {
        self.inner.state()
    }

    fn delivery(&self) -> Delivery {
        self.inner.delivery()
    }

    fn statistics(&self) -> ProtocolStatistics {
        self.inner.statistics()
    }

    fn error_correction(&self) -> Option<ShardCounts> {
        self.inner.error_correction()
    }

    fn log_in(&mut self, book: &QlogBook) {
        self.inner.log_in(book);
    }

    fn path_changed(&mut self, now: Instant, path: PathId, change: PathChange) {
        let now = self.tick(now);
        self.inner.path_changed(now, path, change);
    }
}
