//! What arrives: a datagram's segments acknowledge, carry data, or ask for the window.

use super::behaviour::FastAckRule;
use super::engine::Engine;
use super::receiver::Acknowledgement;
use super::segment::{Command, DatagramError, HEADER_LEN, Header, Segment};
use super::serial::distance;

/// Whether a datagram told anything that was not known before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum News {
    Some,
    /// Everything in it had arrived before, or lay outside the window: a duplicate, a replay, or an
    /// answer overtaken.
    None,
}

impl Engine {
    /// Takes a datagram. After an error the segments before the bad one have been taken, as in the
    /// C code.
    pub fn input(&mut self, datagram: &[u8]) -> Result<News, DatagramError> {
        if datagram.len() < HEADER_LEN {
            return Err(DatagramError::TooShort(datagram.len()));
        }
        let before = self.sender.unacknowledged();
        let mut highest = None;
        let mut news = false;
        let mut rest = datagram;
        while let Some(Segment { header, payload }) = Segment::take(&mut rest, self.conv)? {
            news |= self.take_segment(&header, payload);
            if header.command == Command::Acknowledge {
                highest = Some(self.highest(highest, &header));
            }
        }
        if let Some(acknowledgement) = highest {
            self.sender.count_overtaken(acknowledgement, self.behaviour.fast_ack);
        }
        if distance(self.sender.unacknowledged(), before) > 0 {
            self.congestion.grow(self.remote_window);
        }
        Ok(if news { News::Some } else { News::None })
    }

    fn take_segment(&mut self, header: &Header, payload: &[u8]) -> bool {
        self.remote_window = u32::from(header.window);
        let acknowledged = self.sender.acknowledge_before(header.unacknowledged);
        let news = match header.command {
            Command::Acknowledge => self.take_acknowledgement(header),
            Command::Push => self.receiver.accept(header, payload),
            Command::AskWindow => {
                self.probe.tell = true;
                true
            }
            Command::TellWindow => true,
        };
        acknowledged || news
    }

    /// A timestamp from the future is no sample.
    fn take_acknowledgement(&mut self, header: &Header) -> bool {
        if let Ok(rtt_ms) = u32::try_from(distance(self.clock.now_ms(), header.timestamp)) {
            self.round_trip.sample(rtt_ms);
        }
        self.sender.acknowledge(header.number)
    }

    /// The acknowledgement of this datagram that counts for fast resends.
    fn highest(&self, so_far: Option<Acknowledgement>, header: &Header) -> Acknowledgement {
        let this = Acknowledgement { number: header.number, timestamp: header.timestamp };
        let Some(highest) = so_far else {
            return this;
        };
        let newer = match self.behaviour.fast_ack {
            FastAckRule::Every => true,
            FastAckRule::NotSentSince => distance(this.timestamp, highest.timestamp) > 0,
        };
        if newer && distance(this.number, highest.number) > 0 { this } else { highest }
    }
}
