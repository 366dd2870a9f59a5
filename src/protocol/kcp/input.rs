//! What arrives: a datagram's segments acknowledge, carry data, or ask for the window.

use super::behaviour::{FastAckRule, FlushRule, RoundTripRule};
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

/// How a datagram came here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    Arrived,
    /// It was lost, and error correction found it out from others: it is of no certain time, so
    /// that it is no sample of the round trip, and the window it tells of may be long outdated.
    Recovered,
}

/// What the segments of one datagram amount to, once all of them have been taken.
#[derive(Debug, Default)]
struct Sum {
    news: bool,
    /// Everything before some number has arrived that was not known to have.
    slides: bool,
    /// The acknowledgement that counts for fast resends, where only one does.
    highest: Option<Acknowledgement>,
    /// The last acknowledgement.
    last: Option<Acknowledgement>,
}

impl Engine {
    /// Takes a datagram. After an error the segments before the bad one have been taken, as in the
    /// C code and in kcp-go.
    pub fn input(&mut self, datagram: &[u8], origin: Origin) -> Result<News, DatagramError> {
        if datagram.len() < HEADER_LEN {
            return Err(DatagramError::TooShort(datagram.len()));
        }
        let before = self.sender.unacknowledged();
        let mut sum = Sum::default();
        let mut rest = datagram;
        while let Some(Segment { header, payload }) = Segment::take(&mut rest, self.conv)? {
            if origin == Origin::Arrived {
                self.remote_window = u32::from(header.window);
            }
            self.take_segment(&header, payload, origin, &mut sum);
        }
        self.conclude(&sum, origin);
        if distance(self.sender.unacknowledged(), before) > 0 {
            self.congestion.grow(self.remote_window);
        }
        self.flush_on_input(&sum);
        Ok(if sum.news { News::Some } else { News::None })
    }

    fn take_segment(&mut self, header: &Header, payload: &[u8], origin: Origin, sum: &mut Sum) {
        let slides = self.sender.acknowledge_before(header.unacknowledged);
        let news = match header.command {
            Command::Acknowledge => self.take_acknowledgement(header, origin, sum),
            Command::Push => self.receiver.accept(header, payload),
            Command::AskWindow => {
                self.probe.tell = true;
                true
            }
            Command::TellWindow => true,
        };
        sum.slides |= slides;
        sum.news |= slides || news;
    }

    fn take_acknowledgement(&mut self, header: &Header, origin: Origin, sum: &mut Sum) -> bool {
        let this = Acknowledgement { number: header.number, timestamp: header.timestamp };
        if self.behaviour.round_trip == RoundTripRule::Each {
            self.sample_round_trip(this, origin);
        }
        let news = self.sender.acknowledge(this.number);
        if self.behaviour.fast_ack == FastAckRule::EachUnlessSentSince {
            self.sender.count_overtaken(this);
        } else {
            sum.highest = Some(self.higher(sum.highest, this));
        }
        sum.last = Some(this);
        news
    }

    /// The rules that look at the datagram as a whole.
    fn conclude(&mut self, sum: &Sum, origin: Origin) {
        if let Some(highest) = sum.highest {
            self.sender.count_overtaken(highest);
        }
        if let Some(last) = sum.last.filter(|_| self.behaviour.round_trip == RoundTripRule::Last) {
            self.sample_round_trip(last, origin);
        }
    }

    /// A timestamp from the future is no sample.
    fn sample_round_trip(&mut self, acknowledgement: Acknowledgement, origin: Origin) {
        let rtt_ms = distance(self.clock.now_ms(), acknowledgement.timestamp);
        if let (Ok(rtt_ms), Origin::Arrived) = (u32::try_from(rtt_ms), origin) {
            self.round_trip.sample(rtt_ms);
        }
    }

    fn higher(&self, so_far: Option<Acknowledgement>, this: Acknowledgement) -> Acknowledgement {
        let Some(highest) = so_far else {
            return this;
        };
        let newer = self.behaviour.fast_ack == FastAckRule::Highest
            || distance(this.timestamp, highest.timestamp) > 0;
        if newer && distance(this.number, highest.number) > 0 { this } else { highest }
    }

    fn flush_on_input(&mut self, sum: &Sum) {
        if self.behaviour.flush == FlushRule::Clock {
            return;
        }
        if sum.slides {
            self.flush();
        } else if self.settings.ack_nodelay && self.receiver.has_acknowledgements() {
            self.flush_acknowledgements_alone();
        }
    }
}
