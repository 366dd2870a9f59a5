//! Runs one scenario: two sides, each our engine and the oracle in step, and a network between
//! them.

use std::collections::BTreeMap;

use impairlab::protocol::kcp::{
    Behaviour, Command, Engine, EngineSettings, FlushRule, Header, Origin, Segment,
};

use crate::peer::{Answer, Call, Oracle};
use crate::random::Random;
use crate::scenario::{CONV, Scenario};

/// What happened in all scenarios together, so that a test cannot pass by exercising nothing.
#[derive(Debug, Default)]
pub struct Seen {
    datagrams: u64,
    messages: u64,
    retransmissions: u64,
    fragments: u64,
    window_questions: u64,
    window_answers: u64,
    closed_windows: u64,
    pub dead_links: u64,
    rejected: u64,
    refused: u64,
}

impl Seen {
    pub fn assert_complete(&self) {
        assert!(self.datagrams > 100_000 && self.messages > 100_000, "{self:?}");
        assert!(self.retransmissions > 10_000 && self.fragments > 10_000, "{self:?}");
        assert!(self.window_questions > 30 && self.window_answers > 1_000, "{self:?}");
        assert!(self.closed_windows > 1_000 && self.rejected > 1_000, "{self:?}");
        assert!(self.refused > 100, "{self:?}");
    }

    fn count(&mut self, datagram: &[u8]) {
        self.datagrams += 1;
        let mut rest = datagram;
        while let Ok(Some(Segment { header, .. })) = Segment::take(&mut rest, CONV) {
            self.fragments += u64::from(header.fragment > 0);
            self.window_questions += u64::from(header.command == Command::AskWindow);
            self.window_answers += u64::from(header.command == Command::TellWindow);
            self.closed_windows += u64::from(header.window == 0);
        }
    }
}

/// Our engine and the oracle, which must never differ.
struct Pair<O> {
    ours: Engine,
    oracle: O,
}

impl<O: Oracle> Pair<O> {
    fn both(&mut self, call: &Call) -> Result<Answer, String> {
        let ours = call.make(&mut self.ours);
        self.oracle.hold(call, &ours)?;
        Ok(ours)
    }

    fn flag(&mut self, call: &Call) -> Result<bool, String> {
        self.both(call).map(|answer| answer == Answer::Flag(true))
    }
}

struct Trial<'a, O> {
    scenario: &'a Scenario,
    behaviour: Behaviour,
    random: Random,
    sides: [Pair<O>; 2],
    /// By arrival, then in the order they were sent: the side and the datagram.
    travelling: BTreeMap<(u32, u64), (usize, Vec<u8>)>,
    sent: u64,
    seen: &'a mut Seen,
}

pub fn run<O: Oracle>(
    scenario: &Scenario,
    oracle: impl Fn(&Scenario) -> (O, Behaviour),
    seen: &mut Seen,
) -> Result<(), String> {
    let settings = EngineSettings::from(&scenario.settings);
    let pair = || {
        let (oracle, behaviour) = oracle(scenario);
        Pair { ours: Engine::new(CONV, settings.clone(), behaviour), oracle }
    };
    let behaviour = oracle(scenario).1;
    let sides = [pair(), pair()];
    let random = Random::new(scenario.seed);
    let travelling = BTreeMap::new();
    let mut trial = Trial { scenario, behaviour, random, sides, travelling, sent: 0, seen };
    for elapsed_ms in 0..scenario.traffic.length_ms {
        trial.step(elapsed_ms).map_err(|difference| format!("at {elapsed_ms} ms: {difference}"))?;
    }
    trial.end()
}

impl<O: Oracle> Trial<'_, O> {
    fn step(&mut self, elapsed_ms: u32) -> Result<(), String> {
        for side in 0..2 {
            self.set_clock(side, elapsed_ms)?;
            if elapsed_ms.is_multiple_of(self.update_every_ms()) {
                self.update(side, elapsed_ms)?;
            }
            self.forge(side, elapsed_ms);
            self.send(side, elapsed_ms)?;
            self.take_messages(side, elapsed_ms)?;
            self.transmit(side, elapsed_ms)?;
        }
        while let Some(entry) = self.travelling.first_entry()
            && entry.key().0 <= elapsed_ms
        {
            let (side, datagram) = entry.remove();
            self.arrive(side, elapsed_ms, &datagram)?;
        }
        Ok(())
    }

    fn update_every_ms(&self) -> u32 {
        self.scenario.settings.update_interval.as_millis() as u32
    }

    fn update(&mut self, side: usize, elapsed_ms: u32) -> Result<(), String> {
        let now_ms = self.now_ms(elapsed_ms);
        self.sides[side].both(&Call::Update(now_ms)).map(drop)
    }

    fn now_ms(&self, elapsed_ms: u32) -> u32 {
        self.scenario.start_ms.wrapping_add(elapsed_ms)
    }

    /// Where the implementation reads a clock of its own, that is never stale.
    fn set_clock(&mut self, side: usize, elapsed_ms: u32) -> Result<(), String> {
        if self.behaviour.flush == FlushRule::Session {
            let now_ms = self.now_ms(elapsed_ms);
            self.sides[side].both(&Call::SetClock(now_ms))?;
        }
        Ok(())
    }

    fn flush_if_at_once(&mut self, side: usize) -> Result<(), String> {
        if self.scenario.settings.flush_at_once {
            self.sides[side].both(&Call::Flush)?;
        }
        Ok(())
    }

    fn send(&mut self, side: usize, elapsed_ms: u32) -> Result<(), String> {
        let traffic = &self.scenario.traffic;
        let due = elapsed_ms.is_multiple_of(traffic.send_every_ms);
        if !due || elapsed_ms >= traffic.sends_until_ms {
            return Ok(());
        }
        let longest = traffic.largest_segments * (self.scenario.settings.mtu - 24) + 1;
        for _ in 0..=self.random.below(traffic.burst) {
            let length = self.random.below(longest + 1);
            let message = self.random.bytes(length);
            let taken = self.sides[side].flag(&Call::Send(&message))?;
            self.seen.refused += u64::from(!taken);
        }
        self.flush_if_at_once(side)
    }

    fn take_messages(&mut self, side: usize, elapsed_ms: u32) -> Result<(), String> {
        if self.scenario.traffic.pause.contains(&elapsed_ms) {
            return Ok(());
        }
        while self.sides[side].both(&Call::Receive)? != Answer::Message(None) {
            self.seen.messages += 1;
        }
        Ok(())
    }

    fn arrive(&mut self, side: usize, elapsed_ms: u32, datagram: &[u8]) -> Result<(), String> {
        if self.scenario.update_before_input {
            self.update(side, elapsed_ms)?;
        }
        let origin = self.origin();
        let understood = self.sides[side].flag(&Call::Input(datagram, origin))?;
        self.seen.rejected += u64::from(!understood);
        self.take_messages(side, elapsed_ms)?;
        self.flush_if_at_once(side)?;
        self.transmit(side, elapsed_ms)
    }

    /// Only kcp-go knows recovered datagrams.
    fn origin(&mut self) -> Origin {
        let recovered = self.scenario.recovered_percent;
        if self.behaviour.flush == FlushRule::Session && self.random.chance(recovered) {
            Origin::Recovered
        } else {
            Origin::Arrived
        }
    }

    /// Compares what a side has to send and gives it to the network.
    fn transmit(&mut self, side: usize, elapsed_ms: u32) -> Result<(), String> {
        let Answer::Datagrams(datagrams) = self.sides[side].both(&Call::Datagrams)? else {
            unreachable!("it answers with datagrams");
        };
        for datagram in datagrams {
            self.seen.count(&datagram);
            let network = &self.scenario.network;
            let lost = self.random.chance(network.loss_percent);
            if lost || network.outage.contains(&elapsed_ms) {
                continue;
            }
            let copies = 1 + usize::from(self.random.chance(network.duplicate_percent));
            for _ in 0..copies {
                self.post(1 - side, elapsed_ms, datagram.clone());
            }
        }
        Ok(())
    }

    fn post(&mut self, to: usize, elapsed_ms: u32, datagram: Vec<u8>) {
        let network = &self.scenario.network;
        let arrival_ms = elapsed_ms + network.delay_ms + self.random.below(network.jitter_ms);
        self.travelling.insert((arrival_ms, self.sent), (to, datagram));
        self.sent += 1;
    }

    /// A datagram that neither side sent: one or two segments that might be real, or nearly so.
    fn forge(&mut self, to: usize, elapsed_ms: u32) {
        if self.random.below(1_000) >= self.scenario.network.forged_per_mille {
            return;
        }
        let mut datagram = Vec::new();
        for _ in 0..=self.random.below(2) {
            let header = self.forged_header(elapsed_ms);
            let length = self.random.below(30);
            let payload = self.random.bytes(length);
            header.write(&payload, &mut datagram);
        }
        match self.random.below(8) {
            0 => datagram.truncate(datagram.len() - 1),
            1 => datagram[4] = 85,
            2 => datagram[20] = datagram[20].wrapping_add(1),
            _ => {}
        }
        self.post(to, elapsed_ms, datagram);
    }

    fn forged_header(&mut self, elapsed_ms: u32) -> Header {
        let random = &mut self.random;
        let commands =
            [Command::Push, Command::Acknowledge, Command::AskWindow, Command::TellWindow];
        let now_ms = self.scenario.start_ms.wrapping_add(elapsed_ms);
        Header {
            conv: if random.chance(5) { CONV ^ 1 } else { CONV },
            command: commands[random.below(4) as usize],
            fragment: if random.chance(20) { random.below(5) as u8 } else { 0 },
            window: if random.chance(20) { 0 } else { random.below(300) as u16 },
            timestamp: now_ms.wrapping_add(1_000).wrapping_sub(random.below(60_000)),
            number: random.below(2_000).wrapping_sub(10),
            unacknowledged: random.below(400).wrapping_sub(10),
        }
    }

    fn end(&mut self) -> Result<(), String> {
        for side in &mut self.sides {
            self.seen.retransmissions += side.ours.retransmissions();
            self.seen.dead_links += u64::from(side.flag(&Call::IsDeadLink)?);
            side.oracle.end()?;
        }
        Ok(())
    }
}
