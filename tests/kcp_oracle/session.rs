//! Our sender with kcp-go's behaviour against kcp-go's own session: both are given the same messages
//! and datagrams at the same times, and must send the same datagrams in the same millisecond. (Ours
//! sleeps as long as it can; the package's timers all run.)

use std::collections::BTreeMap;

use impairlab::protocol::kcp::{Kcp, Origin};
use impairlab::protocol::settings::KcpSettings;
use impairlab::protocol::{Datagram, Output, Protocol, Role, Sent};
use impairlab::units::{Instant, PathId};

use crate::peer::{Answer, Call, Oracle};
use crate::random::Random;
use crate::scenario::{CONV, Scenario};

const HEADER_LEN: u32 = 24;

/// What happened in all scenarios together.
#[derive(Debug, Default)]
pub struct SessionsSeen {
    pub datagrams: u64,
    pub messages: u64,
    pub retransmissions: u64,
    /// Messages that were sent while a window was full.
    pub waited: u64,
}

struct Side<O> {
    ours: Kcp,
    oracle: O,
    /// Messages of ours that the oracle has not been held against.
    delivered: Vec<Vec<u8>>,
}

struct Trial<'a, O> {
    scenario: &'a Scenario,
    settings: KcpSettings,
    random: Random,
    sides: [Side<O>; 2],
    travelling: BTreeMap<(u32, u64), (usize, Vec<u8>)>,
    sent: u64,
    seen: &'a mut SessionsSeen,
}

pub fn run<O: Oracle>(
    scenario: &Scenario,
    settings: &KcpSettings,
    oracle: impl Fn() -> O,
    seen: &mut SessionsSeen,
) -> Result<(), String> {
    let side = || Side {
        ours: Kcp::with_conversation(settings, Role::Client, CONV),
        oracle: oracle(),
        delivered: Vec::new(),
    };
    let mut trial = Trial {
        scenario,
        settings: settings.clone(),
        random: Random::new(scenario.seed),
        sides: [side(), side()],
        travelling: BTreeMap::new(),
        sent: 0,
        seen,
    };
    for now_ms in 0..scenario.traffic.length_ms {
        trial.step(now_ms)?;
    }
    trial.end()
}

impl<O: Oracle> Trial<'_, O> {
    fn step(&mut self, now_ms: u32) -> Result<(), String> {
        for side in 0..2 {
            self.set_clock(side, now_ms)?;
            self.send(side, now_ms)?;
        }
        while let Some(entry) = self.travelling.first_entry()
            && entry.key().0 <= now_ms
        {
            let (side, datagram) = entry.remove();
            self.arrive(side, now_ms, datagram)?;
        }
        Ok(())
    }

    fn end(&mut self) -> Result<(), String> {
        for Side { ours, oracle, .. } in &mut self.sides {
            self.seen.retransmissions += ours.statistics().retransmissions.unwrap_or_default();
            oracle.end()?;
        }
        Ok(())
    }

    fn set_clock(&mut self, side: usize, now_ms: u32) -> Result<(), String> {
        self.sides[side].oracle.hold(&Call::SetClock(now_ms), &Answer::Done)?;
        self.transmit(side, now_ms)
    }

    fn send(&mut self, side: usize, now_ms: u32) -> Result<(), String> {
        let traffic = &self.scenario.traffic;
        if !now_ms.is_multiple_of(traffic.send_every_ms) || now_ms >= traffic.sends_until_ms {
            return Ok(());
        }
        for _ in 0..=self.random.below(traffic.burst) {
            let message = self.message();
            let Side { ours, oracle, .. } = &mut self.sides[side];
            if ours.send(at(now_ms), &message) == Sent::Refused {
                return Err("ours refuses a message that is within its limits".to_owned());
            }
            let written = if self.settings.stream { with_length(&message) } else { message };
            oracle.hold(&Call::Send(&written), &Answer::Flag(true))?;
            let before = self.sent;
            self.transmit(side, now_ms)?;
            self.seen.waited += u64::from(self.sent == before);
        }
        Ok(())
    }

    /// A session cuts what is written into segments of their own, where ours has fragments: in
    /// message mode one that is longer is no message on the other side.
    fn message(&mut self) -> Vec<u8> {
        let segment_len = self.settings.mtu - HEADER_LEN;
        let longest = if self.settings.stream { 3 * segment_len } else { segment_len };
        let length = 1 + self.random.below(longest);
        self.random.bytes(length)
    }

    fn arrive(&mut self, side: usize, now_ms: u32, datagram: Vec<u8>) -> Result<(), String> {
        let Side { ours, oracle, .. } = &mut self.sides[side];
        oracle.hold(&Call::Input(&datagram, Origin::Arrived), &Answer::Flag(true))?;
        ours.receive(at(now_ms), Datagram::new(PathId(0), datagram));
        self.transmit(side, now_ms)?;
        self.hold_messages(side)
    }

    /// A stream comes in other pieces.
    fn hold_messages(&mut self, side: usize) -> Result<(), String> {
        let Side { oracle, delivered, .. } = &mut self.sides[side];
        self.seen.messages += delivered.len() as u64;
        let delivered = std::mem::take(delivered);
        if self.settings.stream {
            return Ok(());
        }
        let answers = delivered.into_iter().map(Some).chain([None]).map(Answer::Message);
        answers.into_iter().try_for_each(|ours| oracle.hold(&Call::Receive, &ours))
    }

    fn transmit(&mut self, side: usize, now_ms: u32) -> Result<(), String> {
        let datagrams = self.drain(side, now_ms);
        let answer = Answer::Datagrams(datagrams);
        self.sides[side].oracle.hold(&Call::Datagrams, &answer)?;
        let Answer::Datagrams(datagrams) = answer else { return Ok(()) };
        for datagram in datagrams {
            self.seen.datagrams += 1;
            self.post(1 - side, now_ms, datagram);
        }
        Ok(())
    }

    fn drain(&mut self, side: usize, now_ms: u32) -> Vec<Vec<u8>> {
        let Side { ours, delivered, .. } = &mut self.sides[side];
        let mut datagrams = Vec::new();
        loop {
            match ours.poll(at(now_ms)) {
                Output::Transmit(datagram) => datagrams.push(datagram.payload),
                Output::Deliver(message) => delivered.push(message),
                Output::Wait(_) => return datagrams,
            }
        }
    }

    fn post(&mut self, to: usize, now_ms: u32, datagram: Vec<u8>) {
        let network = &self.scenario.network;
        self.sent += 1;
        let lost = self.random.chance(network.loss_percent);
        if !lost && !network.outage.contains(&now_ms) {
            let arrival_ms = now_ms + network.delay_ms + self.random.below(network.jitter_ms);
            self.travelling.insert((arrival_ms, self.sent), (to, datagram));
        }
    }
}

fn at(now_ms: u32) -> Instant {
    Instant::from_nanos(u64::from(now_ms) * 1_000_000)
}

fn with_length(message: &[u8]) -> Vec<u8> {
    [&(message.len() as u32).to_le_bytes(), message].concat()
}
