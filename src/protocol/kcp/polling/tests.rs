//! The sender that sleeps as long as it can against one that updates at every poll: in random
//! scenarios with losses, outages, silences and closed windows, both must do the same things at the
//! same times.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use proptest::prelude::*;

use super::super::{Behaviour, Command, Engine, EngineSettings, HEADER_LEN, Header, Kcp, Origin};
use crate::protocol::settings::{KcpBehaviour, KcpSettings};
use crate::protocol::{Datagram, Delivery, Output, Protocol, Role, Sent, State};
use crate::units::{Instant, PathId};

const PATH: PathId = PathId(0);
const LENGTH: Duration = Duration::from_secs(60);

/// Wakes for every update, whether or not it does anything: how KCP is meant to be driven.
struct Polled {
    engine: Engine,
    flush_at_once: bool,
    every_ms: u64,
    next_ms: Option<u64>,
    delivered: VecDeque<Vec<u8>>,
}

impl Polled {
    fn new(settings: &KcpSettings, conv: u32) -> Self {
        let behaviour = Behaviour::of(settings.behaviour);
        Self {
            engine: Engine::new(conv, EngineSettings::from(settings), behaviour),
            flush_at_once: settings.flush_at_once,
            every_ms: settings.update_interval.as_millis() as u64,
            next_ms: None,
            delivered: VecDeque::new(),
        }
    }

    fn update(&mut self, now: Instant) {
        self.engine.update(now.as_millis() as u32);
        self.next_ms.get_or_insert(now.as_millis());
    }

    fn flush_if_at_once(&mut self) {
        if self.flush_at_once {
            self.engine.flush();
        }
    }
}

impl Protocol for Polled {
    fn send(&mut self, now: Instant, message: &[u8]) -> Sent {
        self.update(now);
        let accepted = self.engine.send(message).is_ok();
        self.flush_if_at_once();
        if accepted { Sent::Accepted } else { Sent::Refused }
    }

    fn receive(&mut self, now: Instant, datagram: Datagram) {
        self.update(now);
        let _ = self.engine.input(&datagram.payload, Origin::Arrived);
        self.delivered.extend(std::iter::from_fn(|| self.engine.receive()));
        self.flush_if_at_once();
    }

    fn poll(&mut self, now: Instant) -> Output {
        let now_ms = now.as_millis();
        // Before anything happens, the first update waits for a tick of the flush clock.
        let tick_ms = now_ms.next_multiple_of(self.engine.clock.interval_ms().into());
        if self.next_ms.is_none() && tick_ms > now_ms {
            return Output::Wait(Some(Instant::from_nanos(tick_ms * 1_000_000)));
        }
        let next_ms = self.next_ms.get_or_insert(now_ms);
        if *next_ms <= now_ms {
            assert_eq!(*next_ms, now_ms, "the test's own driver is never late");
            *next_ms += self.every_ms;
            self.engine.update(now_ms as u32);
        }
        if let Some(message) = self.delivered.pop_front() {
            return Output::Deliver(message);
        }
        match self.engine.transmit() {
            Some(payload) => Output::Transmit(Datagram::new(PATH, payload)),
            None => Output::Wait(self.next_ms.map(|ms| Instant::from_nanos(ms * 1_000_000))),
        }
    }

    fn state(&self) -> State {
        State::Established
    }

    fn delivery(&self) -> Delivery {
        Delivery { ordered: true, reliable: true }
    }
}

/// What the sides do is drawn beforehand, and what the network does from the datagrams' order, so
/// that both kinds of sides meet the same as long as they behave the same.
#[derive(Debug, Clone)]
struct Scenario {
    start: Instant,
    settings: KcpSettings,
    loss_percent: u64,
    /// Since the start: the side and the message's size.
    sends: BTreeMap<Duration, (usize, usize)>,
    /// Since the start: claims towards a side that the other's window is this large.
    claims: BTreeMap<Duration, (usize, u16)>,
    outage: (Duration, Duration),
}

fn moments<T: std::fmt::Debug + Clone>(
    what: impl Strategy<Value = T>,
    most: usize,
) -> impl Strategy<Value = BTreeMap<Duration, T>> {
    // Clusters between silences: the cube favours early times.
    let at = (0.0..1.0_f64).prop_map(|share| LENGTH.mul_f64(share.powi(3)));
    prop::collection::btree_map(at, what, 0..most)
}

fn settings() -> impl Strategy<Value = KcpSettings> {
    let behaviour = prop::sample::select(vec![KcpBehaviour::Ikcp17, KcpBehaviour::Ikcp211]);
    let interval_ms = prop::sample::select(vec![10, 17, 40, 100]);
    let update_ms = prop::sample::select(vec![1, 1, 1, 3, 10, 25, 130]);
    let switches = (any::<bool>(), any::<bool>());
    (behaviour, 0..=2_u8, interval_ms, 0..=3_u32, 1..=40_u32, update_ms, switches).prop_map(
        |(behaviour, nodelay, interval_ms, resend, send_window, update_ms, switches)| KcpSettings {
            behaviour,
            nodelay,
            interval: Duration::from_millis(interval_ms),
            resend,
            nc: switches.0,
            send_window,
            receive_window: 128,
            mtu: 576,
            stream: false,
            flush_at_once: switches.1,
            update_interval: Duration::from_millis(update_ms),
            ..KcpSettings::new(PATH)
        },
    )
}

fn scenarios() -> impl Strategy<Value = Scenario> {
    let start_ms = prop::sample::select(vec![0, 7, (1 << 32) - 20_000, (1 << 31) - 20_000]);
    let sends = moments((0..2_usize, 8..2_000_usize), 200);
    let claims = moments((0..2_usize, prop::sample::select(vec![0, 0, 5])), 4);
    let outage = (0..20_000_u64, 0..10_000_u64);
    (start_ms, settings(), 0..30_u64, sends, claims, outage).prop_map(
        |(start_ms, settings, loss_percent, sends, claims, outage)| Scenario {
            start: Instant::from_nanos(start_ms * 1_000_000),
            settings,
            loss_percent,
            sends,
            claims,
            outage: (Duration::from_millis(outage.0), Duration::from_millis(outage.0 + outage.1)),
        },
    )
}

struct Run<'a, P> {
    scenario: &'a Scenario,
    sides: [P; 2],
    wakes: [Instant; 2],
    travelling: BTreeMap<(Instant, usize), (usize, Vec<u8>)>,
    /// Everything a side did but wait.
    transcript: Vec<(Instant, usize, Output)>,
    polls: u64,
}

fn run<P: Protocol>(scenario: &Scenario, side: impl Fn() -> P) -> Run<'_, P> {
    let start = scenario.start;
    let mut run = Run {
        scenario,
        sides: [side(), side()],
        wakes: [start; 2],
        travelling: BTreeMap::new(),
        transcript: Vec::new(),
        polls: 0,
    };
    let sends = scenario.sends.keys();
    let mut planned: Vec<Instant> =
        sends.chain(scenario.claims.keys()).map(|at| start + *at).collect();
    planned.sort_unstable();
    let mut planned = planned.into_iter().peekable();
    loop {
        let arrival = run.travelling.keys().next().map_or(Instant::FAR_FUTURE, |key| key.0);
        let next_plan = planned.peek().copied().unwrap_or(Instant::FAR_FUTURE);
        let now = arrival.min(next_plan).min(run.wakes[0]).min(run.wakes[1]);
        if now > start + LENGTH {
            return run;
        }
        planned.next_if_eq(&now);
        run.act(now);
    }
}

impl<P: Protocol> Run<'_, P> {
    fn act(&mut self, now: Instant) {
        let elapsed = now.saturating_since(self.scenario.start);
        if let Some((side, size)) = self.scenario.sends.get(&elapsed) {
            self.sides[*side].send(now, &vec![7; *size]);
        }
        if let Some((side, window)) = self.scenario.claims.get(&elapsed) {
            self.sides[*side].receive(now, Datagram::new(PATH, claim(*window)));
        }
        while let Some(entry) = self.travelling.first_entry()
            && entry.key().0 <= now
        {
            let (side, payload) = entry.remove();
            self.sides[side].receive(now, Datagram::new(PATH, payload));
        }
        for side in 0..2 {
            self.poll(side, now);
        }
    }

    fn poll(&mut self, side: usize, now: Instant) {
        self.polls += 1;
        loop {
            let output = self.sides[side].poll(now);
            if let Output::Wait(wake) = output {
                self.wakes[side] = wake.unwrap_or(Instant::FAR_FUTURE);
                assert!(self.wakes[side] > now);
                return;
            }
            if let Output::Transmit(datagram) = &output {
                self.transmit(1 - side, now, datagram.payload.clone());
            }
            self.transcript.push((now, side, output));
        }
    }

    fn transmit(&mut self, to: usize, now: Instant, payload: Vec<u8>) {
        let order = self.transcript.len();
        let drawn = (order as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
        let elapsed = now.saturating_since(self.scenario.start);
        let dark = (self.scenario.outage.0..self.scenario.outage.1).contains(&elapsed);
        if !dark && drawn % 100 >= self.scenario.loss_percent {
            let delay = Duration::from_micros(30_000 + drawn % 20_000);
            self.travelling.insert((now + delay, order), (to, payload));
        }
    }
}

const CONV: u32 = 0x5eed;

fn brief((at, side, output): &(Instant, usize, Output)) -> String {
    let (what, bytes) = match output {
        Output::Deliver(message) => ("delivers", message),
        Output::Transmit(datagram) => ("sends", &datagram.payload),
        Output::Wait(_) => return "waits".to_owned(),
    };
    let head = &bytes[..bytes.len().min(HEADER_LEN)];
    format!("{at:?}: side {side} {what} {} bytes {head:02x?}", bytes.len())
}

fn claim(window: u16) -> Vec<u8> {
    let mut datagram = Vec::with_capacity(HEADER_LEN);
    let header = Header {
        conv: CONV,
        command: Command::TellWindow,
        fragment: 0,
        window,
        timestamp: 0,
        number: 0,
        unacknowledged: 0,
    };
    header.write(&[], &mut datagram);
    datagram
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..Default::default() })]

    #[test]
    fn skipping_idle_updates_cannot_be_told_from_polling(scenario in scenarios()) {
        let sleeping = run(&scenario, || Kcp::with_conversation(&scenario.settings, Role::Client, CONV));
        let polled = run(&scenario, || Polled::new(&scenario.settings, CONV));
        let acts = sleeping.transcript.iter().zip(&polled.transcript);
        for (number, (ours, theirs)) in acts.enumerate() {
            prop_assert!(ours == theirs, "act {number}: {} or {}", brief(ours), brief(theirs));
        }
        prop_assert_eq!(sleeping.transcript.len(), polled.transcript.len());
        prop_assert!(sleeping.polls <= polled.polls);
    }
}

#[test]
fn a_second_of_control_messages_takes_a_tenth_of_the_wakes_and_silence_none() {
    let settings = KcpSettings::new(PATH);
    let second = (0..50).map(|id| (Duration::from_millis(4 + 20 * id), (0, 600))).collect();
    let scenario = Scenario {
        start: Instant::ZERO,
        settings,
        loss_percent: 0,
        sends: second,
        claims: BTreeMap::new(),
        outage: (Duration::ZERO, Duration::ZERO),
    };
    let mut sleeping =
        run(&scenario, || Kcp::with_conversation(&scenario.settings, Role::Client, CONV));
    assert!(sleeping.polls < 600, "{}", sleeping.polls);
    let end = Instant::ZERO + LENGTH;
    assert_eq!(
        sleeping.sides.each_mut().map(|side| side.poll(end)),
        [const { Output::Wait(None) }; 2]
    );
    let polled = run(&scenario, || Polled::new(&scenario.settings, CONV));
    assert!(polled.polls > 100_000, "{}", polled.polls);
}
