//! One run of one setup: the lab, the tunnel, the traffic, and what came of it.

use std::error::Error;
use std::net::TcpStream;
use std::time::Duration;

use crate::clock::Clock;
use crate::lab::{Lab, Wire};
use crate::record::{Counts, Phase, Run};
use crate::setup::{GAP, Impairment, OUTAGE, OUTAGE_BEGINS, Setup, Traffic};
use crate::sockperf;
use crate::traffic::{self, Log, Message};
use crate::tunnel::{self, Carrier};

/// What is sent before the first measured message, so that the tunnel knows its round trip.
const WARM_UP: Duration = Duration::from_secs(2);

pub fn run(setup: Setup, seed: u64, seconds: u64, clock: Clock) -> Result<Run, Box<dyn Error>> {
    let mut lab = Lab::new(setup.jitter, seed)?;
    lab.impair(&setup.scenario.impairment(setup.path))?;
    let measured = match setup.traffic {
        Traffic::OpenLoop => open_loop(lab, setup, seconds, clock)?,
        Traffic::PingPong => ping_pong(lab, setup, seconds, clock)?,
        Traffic::Sockperf => sockperf::run(lab, setup, seconds)?,
    };
    let Measured { lab, phases, wire, printed } = measured;
    let all = lab.wire()?;
    let met = [all.up.packets, all.down.packets];
    Ok(Run { setup, seed, seconds, phases, wire, lost: lab.lost()?, met, printed })
}

pub struct Measured {
    pub lab: Lab,
    pub phases: Vec<Phase>,
    pub wire: Option<Wire>,
    pub printed: Vec<(f64, f64)>,
}

fn open_loop(
    lab: Lab,
    setup: Setup,
    seconds: u64,
    clock: Clock,
) -> Result<Measured, Box<dyn Error>> {
    let Echoed { log, carrier, stream } = echoed(&lab, setup, clock)?;
    let warm_up = messages_in(WARM_UP);
    let count = warm_up + messages_in(Duration::from_secs(seconds));
    let mut lab = lab;
    let mut earlier = Wire::default();
    let healthy = setup.scenario.impairment(setup.path);
    traffic::open_loop(&stream, &log, clock, count, |number| {
        if number == warm_up {
            earlier = lab.wire()?;
        }
        let since = number.checked_sub(warm_up).filter(|_| setup.has_outage());
        if since == Some(messages_in(OUTAGE_BEGINS)) {
            lab.impair(&Impairment { loss: 1.0, ..healthy })?;
        } else if since == Some(messages_in(OUTAGE_BEGINS + OUTAGE)) {
            lab.impair(&healthy)?;
        }
        Ok(())
    })?;
    let wire = Some(lab.wire()?.since(&earlier));
    let messages = log.messages();
    let phases = phases(setup, &messages[usize::try_from(warm_up)?..]);
    drop(carrier);
    Ok(Measured { lab, phases, wire, printed: Vec::new() })
}

fn ping_pong(
    lab: Lab,
    setup: Setup,
    seconds: u64,
    clock: Clock,
) -> Result<Measured, Box<dyn Error>> {
    let Echoed { log, carrier, mut stream } = echoed(&lab, setup, clock)?;
    traffic::ping_pong(&mut stream, &log, clock, clock.now() + WARM_UP.as_nanos() as u64)?;
    let (before, earlier) = (log.messages().len(), lab.wire()?);
    let until = clock.now() + Duration::from_secs(seconds).as_nanos() as u64;
    traffic::ping_pong(&mut stream, &log, clock, until)?;
    let wire = Some(lab.wire()?.since(&earlier));
    let phases = phases(setup, &log.messages()[before..]);
    drop((stream, carrier));
    Ok(Measured { lab, phases, wire, printed: Vec::new() })
}

/// A connection through the tunnel to a program that sends everything back.
struct Echoed {
    log: Log,
    carrier: Carrier,
    stream: TcpStream,
}

fn echoed(lab: &Lab, setup: Setup, clock: Clock) -> Result<Echoed, Box<dyn Error>> {
    let log = Log::default();
    traffic::echo(&lab.cloud, tunnel::echo_address(setup.tunnel), log.clone(), clock)?;
    let carrier = tunnel::open(lab, setup.tunnel)?;
    let stream = tunnel::connect(lab, carrier.entrance)?;
    Ok(Echoed { log, carrier, stream })
}

fn messages_in(time: Duration) -> u64 {
    u64::try_from(time.as_nanos() / GAP.as_nanos()).unwrap_or(u64::MAX)
}

fn phases(setup: Setup, messages: &[Message]) -> Vec<Phase> {
    if !setup.has_outage() {
        return vec![phase("all", messages)];
    }
    let at = |time| usize::try_from(messages_in(time)).map_or(messages.len(), |at| at);
    let (begin, end) = (at(OUTAGE_BEGINS), at(OUTAGE_BEGINS + OUTAGE));
    let [begin, end] = [begin, end].map(|at| at.min(messages.len()));
    vec![
        phase("all", messages),
        phase("before", &messages[..begin]),
        phase("during", &messages[begin..end]),
        phase("after", &messages[end..]),
    ]
}

fn phase(name: &str, messages: &[Message]) -> Phase {
    let counts =
        |latency: &dyn Fn(&Message) -> Option<u64>| Counts::of(messages.iter().filter_map(latency));
    Phase {
        name: name.to_owned(),
        messages: messages.len() as u64,
        up: counts(&|message| Some(message.arrived?.saturating_sub(message.due))),
        down: counts(&|message| Some(message.returned?.saturating_sub(message.arrived?))),
        round_trip: counts(&|message| Some(message.returned?.saturating_sub(message.due))),
    }
}
