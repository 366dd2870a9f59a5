//! The smallest engine that shows what a protocol does: two endpoints, and for each path and
//! direction a uniformly distributed delay and independent loss, in virtual time. Apart from the
//! engines on purpose, as their witness. The handshake runs on a clean 2 ms link.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use impairlab::protocol::{Datagram, Output, Protocol, Role, Sent, State};
use impairlab::splitmix::SplitMix64;
use impairlab::units::Instant;
use impairlab::workload::{message_id, write_message};

#[derive(Debug, Clone, Copy)]
pub struct Path {
    pub delay_ms: f64,
    pub jitter_ms: f64,
    pub loss: f64,
    /// Milliseconds since the start of the workload: everything is lost from … until.
    pub outage_ms: Option<(u64, u64)>,
}

impl Path {
    pub const fn new(delay_ms: f64, jitter_ms: f64, loss: f64) -> Self {
        Self { delay_ms, jitter_ms, loss, outage_ms: None }
    }

    pub const fn dark(self, from_ms: u64, until_ms: u64) -> Self {
        Self { outage_ms: Some((from_ms, until_ms)), ..self }
    }
}

#[derive(Debug, Clone, Copy)]
pub struct Work {
    pub rate: u64,
    pub size: usize,
    pub duration: Duration,
}

/// 600 bytes at 50/s for ten minutes.
pub const CONTROL: Work = Work { rate: 50, size: 600, duration: Duration::from_secs(600) };

/// What one run did, all of it decided by the seeds.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// Nanoseconds, in the order of the messages; `None`: lost.
    pub latencies: Vec<Option<u64>>,
    pub refused: u64,
    /// IP bytes after the handshake, up and down.
    pub bytes: [u64; 2],
    /// Every datagram: when, from whom (0: client), on which path, how long.
    pub trace: Vec<(u64, u8, u8, u16)>,
    pub handshake: Duration,
    pub payload: u64,
    pub retransmissions: u64,
}

impl Run {
    pub fn quantile_ms(&self, quantile: f64) -> f64 {
        let mut sorted: Vec<u64> = self.latencies.iter().map(|l| l.unwrap_or(u64::MAX)).collect();
        sorted.sort_unstable();
        let rank = (quantile * sorted.len() as f64).ceil() as usize;
        sorted[rank.clamp(1, sorted.len()) - 1] as f64 / 1e6
    }

    pub fn delivered(&self) -> usize {
        self.latencies.iter().flatten().count()
    }

    pub fn amplification_up(&self) -> f64 {
        self.bytes[0] as f64 / self.payload as f64
    }

    pub fn amplification_both(&self) -> f64 {
        (self.bytes[0] + self.bytes[1]) as f64 / self.payload as f64
    }
}

pub struct Lab {
    pub now: Instant,
    pub endpoints: [Box<dyn Protocol>; 2],
    paths: Vec<Path>,
    flying: BinaryHeap<Reverse<(Instant, u64, usize)>>,
    cargo: Vec<Option<Datagram>>,
    free: Vec<usize>,
    sequence: u64,
    wakes: [Instant; 2],
    dice: Dice,
    pub delivered: [Vec<(Instant, Vec<u8>)>; 2],
    start: Option<Instant>,
    bytes: [u64; 2],
    pub trace: Option<Vec<(u64, u8, u8, u16)>>,
    /// Every datagram that is not lost and whom it is for, where a test wants to have them.
    pub captured: Option<Vec<(usize, Datagram)>>,
    /// What becomes of every datagram on the way.
    pub meddle: fn(Datagram) -> Option<Datagram>,
}

impl Lab {
    pub fn new(paths: &[Path], seed: u64, build: impl Fn(Role) -> Box<dyn Protocol>) -> Self {
        Self {
            now: Instant::from_nanos(1_000_000_000),
            endpoints: [build(Role::Client), build(Role::Server)],
            paths: paths.to_vec(),
            flying: BinaryHeap::new(),
            cargo: Vec::new(),
            free: Vec::new(),
            sequence: 0,
            wakes: [Instant::ZERO; 2],
            dice: Dice(SplitMix64::new(seed)),
            delivered: [Vec::new(), Vec::new()],
            start: None,
            bytes: [0; 2],
            trace: None,
            captured: None,
            meddle: Some,
        }
    }

    /// Until both sides can send, or ten seconds have passed.
    pub fn connect(&mut self) -> Duration {
        let begin = self.now;
        self.start_both();
        while !self.endpoints.iter().all(|e| e.state() == State::Established) {
            assert!(
                self.now < begin + Duration::from_secs(10),
                "no connection: {:?}",
                self.states()
            );
            self.step(Instant::FAR_FUTURE);
        }
        self.now.saturating_since(begin)
    }

    pub fn start_both(&mut self) {
        self.turn(0);
        self.turn(1);
    }

    pub fn states(&self) -> [State; 2] {
        [self.endpoints[0].state(), self.endpoints[1].state()]
    }

    /// From now on the paths are what they are.
    pub fn impair(&mut self) {
        self.start = Some(self.now);
        self.bytes = [0; 2];
    }

    pub fn send(&mut self, from: usize, message: &[u8]) -> Sent {
        let sent = self.endpoints[from].send(self.now, message);
        self.turn(from);
        sent
    }

    /// A datagram from nowhere.
    pub fn inject(&mut self, to: usize, datagram: Datagram) {
        self.endpoints[to].receive(self.now, datagram);
        self.turn(to);
    }

    pub fn run_until(&mut self, end: Instant) {
        while self.now < end {
            self.step(end);
        }
    }

    /// To the next event, but no further than `end`.
    pub fn step(&mut self, end: Instant) {
        let arrival = self.flying.peek().map_or(Instant::FAR_FUTURE, |Reverse((at, ..))| *at);
        let next = arrival.min(self.wakes[0]).min(self.wakes[1]).min(end);
        assert!(next < Instant::FAR_FUTURE, "nothing will ever happen: {:?}", self.states());
        self.now = self.now.max(next);
        while let Some(&Reverse((at, _, slot))) = self.flying.peek()
            && at <= self.now
        {
            self.flying.pop();
            let datagram = self.cargo[slot >> 1].take().unwrap();
            self.free.push(slot >> 1);
            let to = slot & 1;
            self.endpoints[to].receive(self.now, datagram);
            self.wakes[to] = Instant::ZERO;
        }
        for side in 0..2 {
            if self.wakes[side] <= self.now {
                self.turn(side);
            }
        }
    }

    fn turn(&mut self, side: usize) {
        for _ in 0..100_000 {
            match self.endpoints[side].poll(self.now) {
                Output::Transmit(datagram) => self.transmit(side, datagram),
                Output::Deliver(message) => self.delivered[side].push((self.now, message)),
                Output::Wait(wake) => {
                    self.wakes[side] = wake.unwrap_or(Instant::FAR_FUTURE);
                    return;
                }
            }
        }
        panic!("endpoint {side} never waits");
    }

    fn transmit(&mut self, from: usize, datagram: Datagram) {
        let path = self.paths[datagram.path.index()];
        self.bytes[from] += datagram.payload.len() as u64 + 28;
        if let Some(trace) = &mut self.trace {
            let size = datagram.payload.len() as u16;
            trace.push((self.now.as_nanos(), from as u8, datagram.path.0, size));
        }
        let Some(delay_ms) = self.fate(path) else { return };
        let Some(datagram) = (self.meddle)(datagram) else { return };
        if let Some(captured) = &mut self.captured {
            captured.push((1 - from, datagram.clone()));
        }
        let at = self.now + Duration::from_nanos((delay_ms * 1e6) as u64);
        let slot = self.free.pop().unwrap_or_else(|| {
            self.cargo.push(None);
            self.cargo.len() - 1
        });
        self.cargo[slot] = Some(datagram);
        self.sequence += 1;
        self.flying.push(Reverse((at, self.sequence, slot << 1 | (1 - from))));
    }

    fn fate(&mut self, path: Path) -> Option<f64> {
        let Some(start) = self.start else { return Some(2.0) };
        let elapsed_ms = self.now.saturating_since(start).as_millis() as u64;
        let dark = path.outage_ms.is_some_and(|(from, until)| (from..until).contains(&elapsed_ms));
        let lost = self.dice.uniform() < path.loss;
        let delay_ms =
            (path.delay_ms + path.jitter_ms * (2.0 * self.dice.uniform() - 1.0)).max(0.0);
        (!dark && !lost).then_some(delay_ms)
    }
}

/// A whole run: connect, send every message when it is due, wait for the rest.
pub fn run(
    paths: &[Path],
    work: Work,
    seed: u64,
    trace: bool,
    build: impl Fn(Role) -> Box<dyn Protocol>,
) -> Run {
    let mut lab = Lab::new(paths, seed, build);
    lab.trace = trace.then(Vec::new);
    let handshake = lab.connect();
    lab.impair();
    let start = lab.now;
    let count = work.rate * work.duration.as_secs();
    let (mut refused, mut message) = (0, vec![0; work.size]);
    for id in 0..count {
        lab.run_until(start + Duration::from_nanos(id * 1_000_000_000 / work.rate));
        write_message(id, &mut message);
        refused += u64::from(lab.send(0, &message) == Sent::Refused);
    }
    lab.run_until(lab.now + Duration::from_secs(15));
    let mut latencies = vec![None; count as usize];
    for (at, message) in &lab.delivered[1] {
        let id = message_id(message).expect("a mangled message");
        let due = start + Duration::from_nanos(id * 1_000_000_000 / work.rate);
        assert!(latencies[id as usize].is_none(), "message {id} came twice");
        latencies[id as usize] = Some(at.saturating_since(due).as_nanos() as u64);
    }
    Run {
        latencies,
        refused,
        bytes: lab.bytes,
        trace: lab.trace.unwrap_or_default(),
        handshake,
        payload: count * work.size as u64,
        retransmissions: lab.endpoints[0].statistics().retransmissions.unwrap_or(0),
    }
}

/// Seeded, so that a run is the same everywhere.
pub struct Dice(pub SplitMix64);

impl Dice {
    pub fn next(&mut self) -> u64 {
        self.0.next()
    }

    pub fn uniform(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}
