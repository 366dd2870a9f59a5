//! The receiving half: puts segments back in order, joins fragments into messages, and keeps what
//! is to be acknowledged. Knows nothing of time, nor of the datagrams segments come in.

use std::collections::VecDeque;

use super::behaviour::AcknowledgementRule;
use super::segment::Header;
use super::serial::distance;

/// Acknowledgements that wait for one flush. Beyond it segments stay unacknowledged and are sent
/// again; only a flood comes near it.
const ACKNOWLEDGEMENT_LIMIT: usize = 65_536;

#[derive(Debug)]
pub struct Receiver {
    /// The number of the next segment in order.
    next: u32,
    /// Segments.
    window: u32,
    /// Arrived out of order (or while `ready` is full), sorted by number.
    early: VecDeque<Arrived>,
    /// In order, not yet taken by the application.
    ready: VecDeque<Arrived>,
    acknowledgements: Vec<Acknowledgement>,
}

#[derive(Debug)]
struct Arrived {
    number: u32,
    fragment: u8,
    payload: Vec<u8>,
}

/// An acknowledgement to be sent: the segment's number and its own timestamp.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Acknowledgement {
    pub number: u32,
    pub timestamp: u32,
}

/// A message for the application.
#[derive(Debug, PartialEq, Eq)]
pub struct Taken {
    pub message: Vec<u8>,
    /// The window was closed before the message was taken and is open now: the other side should
    /// hear of it.
    pub reopened: bool,
}

impl Receiver {
    pub const fn new(window: u32) -> Self {
        Self {
            next: 0,
            window,
            early: VecDeque::new(),
            ready: VecDeque::new(),
            acknowledgements: Vec::new(),
        }
    }

    /// Every segment before this number has arrived.
    pub const fn next(&self) -> u32 {
        self.next
    }

    /// Segments that can still be taken in.
    pub fn free_window(&self) -> u16 {
        let free = (self.window as usize).saturating_sub(self.ready.len());
        u16::try_from(free).unwrap_or(u16::MAX)
    }

    /// Takes a data segment; whether it was new. What lies beyond the window is not even
    /// acknowledged; what has arrived before is acknowledged again, since the first acknowledgement
    /// may be lost.
    pub fn accept(&mut self, header: &Header, payload: &[u8]) -> bool {
        let number = header.number;
        if distance(number, self.next.wrapping_add(self.window)) >= 0 {
            return false;
        }
        self.acknowledge(Acknowledgement { number, timestamp: header.timestamp });
        if distance(number, self.next) < 0 {
            return false;
        }
        let fresh =
            self.store(Arrived { number, fragment: header.fragment, payload: payload.to_vec() });
        self.advance();
        fresh
    }

    fn acknowledge(&mut self, acknowledgement: Acknowledgement) {
        if self.acknowledgements.len() < ACKNOWLEDGEMENT_LIMIT {
            self.acknowledgements.push(acknowledgement);
        }
    }

    fn store(&mut self, arrived: Arrived) -> bool {
        let before =
            self.early.iter().rposition(|early| distance(arrived.number, early.number) >= 0);
        match before {
            Some(place) if self.early[place].number == arrived.number => return false,
            Some(place) => self.early.insert(place + 1, arrived),
            None => self.early.push_front(arrived),
        }
        true
    }

    /// Moves what is in order to `ready`, as far as the window allows.
    fn advance(&mut self) {
        while self.ready.len() < self.window as usize
            && self.early.front().is_some_and(|first| first.number == self.next)
            && let Some(arrived) = self.early.pop_front()
        {
            self.ready.push_back(arrived);
            self.next = self.next.wrapping_add(1);
        }
    }

    /// The next message whose fragments have all arrived.
    pub fn take(&mut self) -> Option<Taken> {
        let first = self.ready.front()?;
        if self.ready.len() <= usize::from(first.fragment) {
            return None;
        }
        let was_full = self.ready.len() >= self.window as usize;
        let message = self.join_fragments();
        self.advance();
        let reopened = was_full && self.ready.len() < self.window as usize;
        Some(Taken { message, reopened })
    }

    fn join_fragments(&mut self) -> Vec<u8> {
        let mut message = Vec::new();
        while let Some(arrived) = self.ready.pop_front() {
            message.extend_from_slice(&arrived.payload);
            if arrived.fragment == 0 {
                break;
            }
        }
        message
    }

    pub fn has_acknowledgements(&self) -> bool {
        !self.acknowledgements.is_empty()
    }

    /// What is to be acknowledged, in the order it arrived.
    pub fn take_acknowledgements(&mut self, rule: AcknowledgementRule) -> Vec<Acknowledgement> {
        let mut waiting = std::mem::take(&mut self.acknowledgements);
        if rule == AcknowledgementRule::NotImplied
            && let Some(last) = waiting.pop()
        {
            waiting.retain(|earlier| distance(earlier.number, self.next) >= 0);
            waiting.push(last);
        }
        waiting
    }
}
