//! Two KCP senders in virtual time with a lossy path between them: the smallest driver that can run
//! them.

use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

use impairlab::protocol::kcp::Kcp;
use impairlab::protocol::settings::KcpSettings;
use impairlab::protocol::{Datagram, Output, Protocol, Role, Sent};
use impairlab::splitmix::SplitMix64;
use impairlab::units::{Instant, PathId};

/// What an IPv4 and a UDP header add to a datagram; bytes.
const IP_OVERHEAD: u64 = 28;
const MESSAGE_LEN: usize = 600;
/// One way, both directions; drawn evenly from this for each datagram.
const DELAY_NS: Range<u64> = 30_000_000..50_000_000;

#[derive(Debug, Clone)]
pub struct Setup {
    pub settings: KcpSettings,
    pub loss: f64,
    /// No datagram overtakes another: one that would waits for it.
    pub in_order: bool,
    pub messages: u64,
    pub messages_per_second: u64,
    /// The first message is due this long after both sides started.
    pub first_message: Duration,
    /// Nothing gets through in either direction.
    pub outage: Range<Instant>,
}

pub struct Outcome {
    /// Of each message, in the order they were sent, which is that in which they arrive.
    pub messages: Vec<Message>,
    pub retransmissions: u64,
    /// In both directions.
    pub wire_bytes: u64,
}

#[derive(Clone, Copy)]
pub struct Message {
    pub scheduled: Instant,
    pub delivered: Instant,
}

impl Message {
    pub fn latency(&self) -> Duration {
        self.delivered.saturating_since(self.scheduled)
    }
}

impl Outcome {
    pub fn worst(&self) -> Duration {
        self.messages.iter().map(Message::latency).max().unwrap_or_default()
    }

    /// Milliseconds.
    pub fn percentile_ms(&self, share: f64) -> f64 {
        percentile_ms(&self.messages, share)
    }

    pub fn retransmitted_percent(&self) -> f64 {
        100.0 * self.retransmissions as f64 / self.messages.len() as f64
    }

    pub fn amplification(&self) -> f64 {
        self.wire_bytes as f64 / (MESSAGE_LEN * self.messages.len()) as f64
    }
}

/// Of the latencies of these messages, in milliseconds.
pub fn percentile_ms(messages: &[Message], share: f64) -> f64 {
    let mut latencies: Vec<Duration> = messages.iter().map(Message::latency).collect();
    latencies.sort_unstable();
    let rank = (share * latencies.len() as f64).ceil() as usize;
    latencies[rank.max(1) - 1].as_secs_f64() * 1e3
}

/// Seeded, so that a run is the same everywhere.
struct Random(SplitMix64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0.next()
    }

    fn chance(&mut self, probability: f64) -> bool {
        ((self.next() >> 11) as f64) < probability * (1_u64 << 53) as f64
    }

    fn delay(&mut self) -> Duration {
        let spread = DELAY_NS.end - DELAY_NS.start;
        Duration::from_nanos(DELAY_NS.start + self.next() % spread)
    }
}

struct Run<'a> {
    setup: &'a Setup,
    random: Random,
    sides: [Kcp; 2],
    /// When each side wants to be polled.
    wakes: [Instant; 2],
    /// By arrival, then in the order they were sent: the side and the payload.
    travelling: BTreeMap<(Instant, u64), (usize, Vec<u8>)>,
    transmitted: u64,
    /// The last arrival at each side.
    arrivals: [Instant; 2],
    sent: u64,
    outcome: Outcome,
}

pub fn run(setup: &Setup, seed: u64) -> Outcome {
    let mut run = Run {
        setup,
        random: Random(SplitMix64::new(seed)),
        sides: [Role::Client, Role::Server].map(|role| Kcp::new(&setup.settings, role, seed)),
        wakes: [Instant::ZERO; 2],
        travelling: BTreeMap::new(),
        transmitted: 0,
        arrivals: [Instant::ZERO; 2],
        sent: 0,
        outcome: Outcome { messages: Vec::new(), retransmissions: 0, wire_bytes: 0 },
    };
    while (run.outcome.messages.len() as u64) < setup.messages {
        run.step();
    }
    run.outcome.retransmissions = run.sides[0].statistics().retransmissions.expect("KCP counts");
    run.outcome
}

impl Run<'_> {
    fn step(&mut self) {
        let arrival =
            self.travelling.first_key_value().map_or(Instant::FAR_FUTURE, |entry| entry.0.0);
        let due =
            if self.sent < self.setup.messages { self.due(self.sent) } else { Instant::FAR_FUTURE };
        let now = arrival.min(due).min(self.wakes[0]).min(self.wakes[1]);
        if now == arrival {
            self.arrive(now);
        } else if now == due {
            self.send(now);
        }
        self.poll(0, now);
        self.poll(1, now);
    }

    fn due(&self, id: u64) -> Instant {
        let since_first = Duration::from_nanos(id * 1_000_000_000 / self.setup.messages_per_second);
        Instant::ZERO + self.setup.first_message + since_first
    }

    fn arrive(&mut self, now: Instant) {
        let (_, (side, payload)) = self.travelling.pop_first().expect("something arrives now");
        self.sides[side].receive(now, Datagram::new(PathId(0), payload));
    }

    fn send(&mut self, now: Instant) {
        let mut message = [0; MESSAGE_LEN];
        message[..8].copy_from_slice(&self.sent.to_le_bytes());
        assert_eq!(self.sides[0].send(now, &message), Sent::Accepted);
        self.sent += 1;
    }

    fn poll(&mut self, side: usize, now: Instant) {
        loop {
            match self.sides[side].poll(now) {
                Output::Transmit(datagram) => self.transmit(1 - side, now, datagram.payload),
                Output::Deliver(message) => self.deliver(now, &message),
                Output::Wait(wake) => {
                    self.wakes[side] = wake.unwrap_or(Instant::FAR_FUTURE);
                    assert!(self.wakes[side] > now, "asks for what is past");
                    break;
                }
            }
        }
    }

    fn transmit(&mut self, to: usize, now: Instant, payload: Vec<u8>) {
        self.outcome.wire_bytes += payload.len() as u64 + IP_OVERHEAD;
        let mut arrival = now + self.random.delay();
        if !self.random.chance(self.setup.loss) && !self.setup.outage.contains(&now) {
            if self.setup.in_order {
                arrival = arrival.max(self.arrivals[to]);
                self.arrivals[to] = arrival;
            }
            self.travelling.insert((arrival, self.transmitted), (to, payload));
        }
        self.transmitted += 1;
    }

    fn deliver(&mut self, now: Instant, message: &[u8]) {
        let id = self.outcome.messages.len() as u64;
        assert_eq!(message[..8], id.to_le_bytes(), "in order, and none missing");
        self.outcome.messages.push(Message { scheduled: self.due(id), delivered: now });
    }
}
