//! One connection; each of its datagrams goes to every path, behind a number by which the other
//! side drops the copies that come later. The protocol inside sees one path: at any moment the best
//! of all.

use std::collections::VecDeque;

use crate::protocol::first_copy::FirstCopy;
use crate::protocol::{
    Datagram, Delivery, Output, PathChange, Protocol, ProtocolStatistics, QlogBook, Sent,
    ShardCounts, State,
};
use crate::units::{Instant, PathId};

/// Bytes in front of each datagram: its number, little-endian.
pub const HEADER_LEN: usize = 4;

/// Datagrams that one path may lag another by.
const WINDOW: usize = 1 << 16;

pub struct DatagramCopies {
    inner: Box<dyn Protocol>,
    paths: Vec<PathId>,
    next_number: u32,
    first_copy: FirstCopy,
    copies: VecDeque<Datagram>,
    discarded: u64,
}

impl DatagramCopies {
    /// `inner` must run on the first of `paths`.
    pub fn new(inner: Box<dyn Protocol>, paths: Vec<PathId>) -> Self {
        let first_copy = FirstCopy::new(WINDOW);
        Self { inner, paths, next_number: 0, first_copy, copies: VecDeque::new(), discarded: 0 }
    }

    fn copy_to_every_path(&mut self, datagram: &Datagram) {
        let mut payload = self.next_number.to_le_bytes().to_vec();
        payload.extend_from_slice(&datagram.payload);
        self.next_number = self.next_number.wrapping_add(1);
        let copy =
            |path: &PathId| Datagram { path: *path, payload: payload.clone(), ecn: datagram.ecn };
        self.copies.extend(self.paths.iter().map(copy));
    }
}

impl Protocol for DatagramCopies {
    fn send(&mut self, now: Instant, message: &[u8]) -> Sent {
        self.inner.send(now, message)
    }

    fn receive(&mut self, now: Instant, datagram: Datagram) {
        let Some((number, payload)) = datagram.payload.split_first_chunk::<HEADER_LEN>() else {
            self.discarded += 1;
            return;
        };
        if !self.first_copy.is_first(u64::from(u32::from_le_bytes(*number))) {
            self.discarded += 1;
            return;
        }
        let path = self.paths[0];
        self.inner.receive(now, Datagram { path, payload: payload.to_vec(), ecn: datagram.ecn });
    }

    fn poll(&mut self, now: Instant) -> Output {
        if let Some(copy) = self.copies.pop_front() {
            return Output::Transmit(copy);
        }
        match self.inner.poll(now) {
            Output::Transmit(datagram) => {
                self.copy_to_every_path(&datagram);
                self.poll(now)
            }
            other => other,
        }
    }

    fn state(&self) -> State {
        self.inner.state()
    }

    fn delivery(&self) -> Delivery {
        self.inner.delivery()
    }

    fn statistics(&self) -> ProtocolStatistics {
        let inner = self.inner.statistics();
        ProtocolStatistics { discarded: inner.discarded + self.discarded, ..inner }
    }

    fn error_correction(&self) -> Option<ShardCounts> {
        self.inner.error_correction()
    }

    fn log_in(&mut self, book: &QlogBook) {
        self.inner.log_in(book);
    }

    /// The connection lives on the other paths, so it is not told.
    fn path_changed(&mut self, _now: Instant, _path: PathId, _change: PathChange) {}
}
