//! The sending half: cuts messages into segments, lets them out as the window allows and keeps them
//! until they are acknowledged. Decides which segment is due at a flush, but neither the window nor
//! the bytes of a datagram.

use std::collections::VecDeque;

use thiserror::Error;

use super::behaviour::FastAckRule;
use super::receiver::Acknowledgement;
use super::rto::NoDelay;
use super::serial::distance;

/// Segments that wait behind the window. A message that would go past it is refused: the
/// application is faster than the path for good (at 50 messages a second this is 20 minutes of
/// them).
pub const SEND_QUEUE_LIMIT: usize = 65_536;

/// Fast resends stop after this many transmissions of a segment; its timeout goes on.
const FAST_RESEND_LIMIT: u32 = 5;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum SendError {
    #[error("a message of {fragments} segments; KCP takes fewer than {limit}")]
    TooLong { fragments: usize, limit: usize },
    #[error("{SEND_QUEUE_LIMIT} segments are waiting to be sent already")]
    QueueFull,
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
    /// A message has fewer fragments than this.
    fragment_limit: usize,
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
    pub sent_ms: u32,
    pub transmissions: u32,
    resend_ms: u32,
    rto_ms: u32,
    /// How often it was overtaken since it was last sent.
    overtaken: u32,
}

/// Why a segment is sent with this flush.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    New,
    Timeout,
    Overtaken,
}

/// What decides when a segment is sent (again).
#[derive(Debug, Clone, Copy)]
pub struct ResendRule {
    pub now_ms: u32,
    pub rto_ms: u32,
    pub nodelay: NoDelay,
    pub fast_resend: Option<u32>,
}

impl Sender {
    pub const fn new(segment_len: usize, stream: bool, fragment_limit: usize) -> Self {
        Self {
            queue: VecDeque::new(),
            in_flight: VecDeque::new(),
            unacknowledged: 0,
            next: 0,
            segment_len,
            stream,
            fragment_limit,
        }
    }

    pub const fn unacknowledged(&self) -> u32 {
        self.unacknowledged
    }

    /// Numbers let out and not yet acknowledged, gaps included.
    pub const fn span(&self) -> u32 {
        self.next.wrapping_sub(self.unacknowledged)
    }

    pub fn in_flight_mut(&mut self) -> impl Iterator<Item = &mut InFlight> {
        self.in_flight.iter_mut()
    }

    /// Takes all of the message or nothing. In stream mode it continues the last waiting segment.
    pub fn push(&mut self, message: &[u8]) -> Result<(), SendError> {
        let (head, tail) = message.split_at(self.room_in_last_segment().min(message.len()));
        let fragments = self.fragments(tail);
        if fragments >= self.fragment_limit {
            return Err(SendError::TooLong { fragments, limit: self.fragment_limit });
        }
        if self.queue.len() + fragments > SEND_QUEUE_LIMIT {
            return Err(SendError::QueueFull);
        }
        if let Some(last) = self.queue.back_mut() {
            last.payload.extend_from_slice(head);
        }
        self.enqueue(tail, fragments);
        Ok(())
    }

    fn room_in_last_segment(&self) -> usize {
        match self.queue.back() {
            Some(last) if self.stream => self.segment_len - last.payload.len(),
            _ => 0,
        }
    }

    /// An empty message is a segment of its own; to a stream it adds nothing.
    fn fragments(&self, bytes: &[u8]) -> usize {
        let least = if self.stream { 0 } else { 1 };
        bytes.len().div_ceil(self.segment_len).max(least)
    }

    fn enqueue(&mut self, bytes: &[u8], fragments: usize) {
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
        let place = self.in_flight.iter().position(|segment| segment.number == number);
        let arrived = place.and_then(|place| self.in_flight.remove(place)).is_some();
        self.settle();
        arrived
    }

    fn settle(&mut self) {
        self.unacknowledged = self.in_flight.front().map_or(self.next, |first| first.number);
    }

    /// Counts the segments that this acknowledgement has overtaken.
    pub fn count_overtaken(&mut self, by: Acknowledgement, rule: FastAckRule) {
        let behind = distance(by.number, self.unacknowledged) < 0;
        if behind || distance(by.number, self.next) >= 0 {
            return;
        }
        let overtaken = self
            .in_flight
            .iter_mut()
            .take_while(|segment| distance(by.number, segment.number) > 0)
            .filter(|segment| {
                rule == FastAckRule::Every || distance(by.timestamp, segment.sent_ms) >= 0
            });
        for segment in overtaken {
            segment.overtaken = segment.overtaken.saturating_add(1);
        }
    }

    /// Whether a segment is waiting that this window lets out.
    pub fn can_let_out(&self, window: u32) -> bool {
        let end = self.unacknowledged.wrapping_add(window);
        !self.queue.is_empty() && distance(self.next, end) < 0
    }

    pub fn let_out(&mut self, window: u32) {
        while self.can_let_out(window)
            && let Some(Waiting { fragment, payload }) = self.queue.pop_front()
        {
            self.in_flight.push_back(InFlight::new(self.next, fragment, payload));
            self.next = self.next.wrapping_add(1);
        }
    }

    /// When the first segment in flight is due under this rule.
    pub fn due_ms(&self, rule: ResendRule) -> Option<u32> {
        let wait = |segment: &InFlight| match segment.reason(rule) {
            Some(_) => 0,
            None => distance(segment.resend_ms, rule.now_ms),
        };
        let shortest = self.in_flight.iter().map(wait).min()?;
        Some(rule.now_ms.wrapping_add_signed(shortest))
    }
}

impl InFlight {
    const fn new(number: u32, fragment: u8, payload: Vec<u8>) -> Self {
        let (sent_ms, transmissions, resend_ms, rto_ms, overtaken) = (0, 0, 0, 0, 0);
        Self { number, fragment, payload, sent_ms, transmissions, resend_ms, rto_ms, overtaken }
    }

    /// Why it is due under this rule, if it is.
    fn reason(&self, rule: ResendRule) -> Option<Reason> {
        if self.transmissions == 0 {
            return Some(Reason::New);
        }
        if distance(rule.now_ms, self.resend_ms) >= 0 {
            return Some(Reason::Timeout);
        }
        let threshold = rule.fast_resend?;
        let again = self.overtaken >= threshold && self.transmissions <= FAST_RESEND_LIMIT;
        again.then_some(Reason::Overtaken)
    }

    /// Marks it as sent, if it is due under this rule.
    pub fn send_if_due(&mut self, rule: ResendRule) -> Option<Reason> {
        let reason = self.reason(rule)?;
        let wait_ms = match reason {
            Reason::New => {
                self.rto_ms = rule.rto_ms;
                rule.nodelay.first_wait_ms(rule.rto_ms)
            }
            Reason::Timeout => {
                self.rto_ms = rule.nodelay.back_off(self.rto_ms, rule.rto_ms);
                self.rto_ms
            }
            Reason::Overtaken => {
                self.overtaken = 0;
                self.rto_ms
            }
        };
        self.resend_ms = rule.now_ms.wrapping_add(wait_ms);
        self.sent_ms = rule.now_ms;
        self.transmissions = self.transmissions.saturating_add(1);
        Some(reason)
    }
}
