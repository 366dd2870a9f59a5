//! The sending half: cuts messages into segments, lets them out as the window allows and keeps them
//! until they are acknowledged. Decides which segment is due at a flush, but neither the window nor
//! the bytes of a datagram.

use std::collections::VecDeque;

use thiserror::Error;

use super::behaviour::{AcknowledgedRule, Behaviour, EmptyMessageRule, FastAckRule};
use super::receiver::Acknowledgement;
use super::resend::{Attempts, Terms};
use super::serial::distance;

/// Segments that wait behind the window. A message that would go past it is refused: the
/// application is faster than the path for good (at 50 messages a second this is 20 minutes of
/// them).
pub const SEND_QUEUE_LIMIT: usize = 65_536;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum SendError {
    #[error("a message of {fragments} segments; KCP takes fewer than {limit}")]
    TooLong { fragments: usize, limit: usize },
    #[error("{SEND_QUEUE_LIMIT} segments are waiting to be sent already")]
    QueueFull,
    #[error("an empty message, which this behaviour does not send")]
    Empty,
}

#[derive(Debug)]
pub struct Sender {
    queue: VecDeque<Waiting>,
    in_flight: VecDeque<InFlight>,
    /// The lowest number not yet acknowledged.
    unacknowledged: u32,
    /// The number of the next segment that is let out.
    next: u32,
    segment_len: usize,
    stream: bool,
    behaviour: Behaviour,
}

#[derive(Debug)]
struct Waiting {
    fragment: u8,
    payload: Vec<u8>,
}

#[derive(Debug)]
pub struct InFlight {
    pub number: u32,
    pub fragment: u8,
    pub payload: Vec<u8>,
    pub attempts: Attempts,
    /// It has arrived; it only keeps its place.
    acknowledged: bool,
}

impl Sender {
    pub const fn new(segment_len: usize, stream: bool, behaviour: Behaviour) -> Self {
        Self {
            queue: VecDeque::new(),
            in_flight: VecDeque::new(),
            unacknowledged: 0,
            next: 0,
            segment_len,
            stream,
            behaviour,
        }
    }

    pub const fn unacknowledged(&self) -> u32 {
        self.unacknowledged
    }

    /// Numbers let out and not yet acknowledged, gaps included.
    pub const fn span(&self) -> u32 {
        self.next.wrapping_sub(self.unacknowledged)
    }

    /// Segments that wait or are in flight.
    pub fn backlog(&self) -> usize {
        self.queue.len() + self.in_flight.len()
    }

    pub fn in_flight_mut(&mut self) -> impl Iterator<Item = &mut InFlight> {
        self.in_flight.iter_mut().filter(|segment| !segment.acknowledged)
    }

    fn in_flight(&self) -> impl Iterator<Item = &InFlight> {
        self.in_flight.iter().filter(|segment| !segment.acknowledged)
    }

    /// Takes all of the message or nothing. In stream mode it continues the last waiting segment.
    pub fn push(&mut self, message: &[u8]) -> Result<(), SendError> {
        self.check(message)?;
        let (head, tail) = message.split_at(self.room_in_last_segment().min(message.len()));
        if let Some(last) = self.queue.back_mut() {
            last.payload.extend_from_slice(head);
        }
        self.enqueue(tail);
        Ok(())
    }

    /// Whether [`push`](Self::push) would take it.
    pub fn check(&self, message: &[u8]) -> Result<(), SendError> {
        if message.is_empty() && self.behaviour.empty_message == EmptyMessageRule::Refused {
            return Err(SendError::Empty);
        }
        let fragments = self.fragments(message.len().saturating_sub(self.room_in_last_segment()));
        let limit = self.behaviour.fragment_limit as usize;
        if fragments >= limit {
            return Err(SendError::TooLong { fragments, limit });
        }
        if self.queue.len() + fragments > SEND_QUEUE_LIMIT {
            return Err(SendError::QueueFull);
        }
        Ok(())
    }

    fn room_in_last_segment(&self) -> usize {
        match self.queue.back() {
            Some(last) if self.stream => self.segment_len - last.payload.len(),
            _ => 0,
        }
    }

    /// An empty message is a segment of its own; to a stream it adds nothing.
    fn fragments(&self, length: usize) -> usize {
        let least = if self.stream { 0 } else { 1 };
        length.div_ceil(self.segment_len).max(least)
    }

    fn enqueue(&mut self, bytes: &[u8]) {
        let fragments = self.fragments(bytes.len());
        for index in 0..fragments {
            let start = (index * self.segment_len).min(bytes.len());
            let end = (start + self.segment_len).min(bytes.len());
            let following = if self.stream { 0 } else { fragments - index - 1 };
            let payload = bytes[start..end].to_vec();
            self.queue.push_back(Waiting { fragment: following as u8, payload });
        }
    }

    /// Everything before `number` has arrived; whether that is news.
    pub fn acknowledge_before(&mut self, number: u32) -> bool {
        let arrived = self
            .in_flight
            .iter()
            .take_while(|segment| distance(number, segment.number) > 0)
            .count();
        self.in_flight.drain(..arrived);
        self.settle();
        arrived > 0
    }

    /// This one segment has arrived; whether that is news.
    pub fn acknowledge(&mut self, number: u32) -> bool {
        let Some(place) = self.in_flight.iter().position(|segment| segment.number == number) else {
            return false;
        };
        let news = !self.in_flight[place].acknowledged;
        match self.behaviour.acknowledged {
            AcknowledgedRule::Removed => {
                self.in_flight.remove(place);
            }
            AcknowledgedRule::Kept => self.in_flight[place].keep_place_only(),
        }
        self.settle();
        news
    }

    fn settle(&mut self) {
        self.unacknowledged = self.in_flight.front().map_or(self.next, |first| first.number);
    }

    /// Counts the segments that this acknowledgement has overtaken.
    pub fn count_overtaken(&mut self, by: Acknowledgement) {
        let behind = distance(by.number, self.unacknowledged) < 0;
        if behind || distance(by.number, self.next) >= 0 {
            return;
        }
        let any = self.behaviour.fast_ack == FastAckRule::Highest;
        self.in_flight
            .iter_mut()
            .take_while(|segment| distance(by.number, segment.number) > 0)
            .map(|segment| &mut segment.attempts)
            .filter(|attempts| any || distance(by.timestamp, attempts.sent_ms) >= 0)
            .for_each(Attempts::count_overtaken);
    }

    /// Whether a segment is waiting that this window lets out.
    pub fn can_let_out(&self, window: u32) -> bool {
        let end = self.unacknowledged.wrapping_add(window);
        !self.queue.is_empty() && distance(self.next, end) < 0
    }

    /// How many segments it let out.
    pub fn let_out(&mut self, window: u32) -> usize {
        let before = self.in_flight.len();
        while self.can_let_out(window)
            && let Some(Waiting { fragment, payload }) = self.queue.pop_front()
        {
            self.in_flight.push_back(InFlight::new(self.next, fragment, payload));
            self.next = self.next.wrapping_add(1);
        }
        self.in_flight.len() - before
    }

    /// Until the first segment in flight is due: 0 if it is, `None` if there is none.
    pub fn resend_wait_ms(&self, terms: &Terms) -> Option<u32> {
        let wait_ms = |segment: &InFlight| match segment.attempts.reason(terms) {
            Some(_) => 0,
            None => segment.attempts.timeout_wait_ms(terms.now_ms),
        };
        self.in_flight().map(wait_ms).min()
    }

    /// Until the first of them times out.
    pub fn timeout_wait_ms(&self, now_ms: u32) -> Option<u32> {
        self.in_flight().map(|segment| segment.attempts.timeout_wait_ms(now_ms)).min()
    }
}

impl InFlight {
    fn new(number: u32, fragment: u8, payload: Vec<u8>) -> Self {
        Self { number, fragment, payload, attempts: Attempts::default(), acknowledged: false }
    }

    fn keep_place_only(&mut self) {
        self.acknowledged = true;
        self.payload = Vec::new();
    }
}
