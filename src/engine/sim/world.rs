//! Two endpoints and the paths between them, at one instant of virtual time.

use std::rc::Rc;
use std::time::Duration;

use super::meter::{Meter, Side};
use super::path::OneWay;
use crate::engine::{EngineError, Trial};
use crate::protocol::{
    Delivery, Output, Protocol, ProtocolStatistics, Role, Sent, ShardCounts, State, build,
};
use crate::recording::receipt::PathReceipts;
use crate::recording::{PathWire, Volume, WireCount};
use crate::scenario::plan::PathPlan;
use crate::timeline::Change;
use crate::units::{Direction, Instant, PathId};
use crate::workload::{Workload, message_id};

/// Things that may happen before time has gone on by [`STANDSTILL`]; more means that a protocol asks
/// to be woken at once for ever.
const EVENTS_AT_ONCE: u32 = 1_000_000;
/// More than the clock of a protocol gains on this one by ticking.
const STANDSTILL: Duration = Duration::from_millis(10);

pub(super) struct World {
    now: Instant,
    /// What has happened since …
    events: u32,
    counting_since: Instant,
    sender: String,
    vehicle: Endpoint,
    cloud: Endpoint,
    paths: Vec<Path>,
    /// For the cloud's answers.
    workload: Workload,
    /// Of the processor time, where that is measured.
    meter: Option<Rc<Meter>>,
}

pub(super) struct Endpoint {
    protocol: Box<dyn Protocol>,
    wakeup: Option<Instant>,
    /// `poll` has to be called before time goes on.
    unsettled: bool,
}

struct Path {
    up: OneWay,
    down: OneWay,
}

/// Called for each message that completes: its number and when.
type Delivered<'a> = &'a mut dyn FnMut(u64, Instant);

impl World {
    pub(super) fn new(trial: &Trial) -> Result<Self, EngineError> {
        let sender = trial.sender();
        let endpoint = |role| {
            let mut protocol = build(&sender.protocol, role, trial.protocol_seed())
                .map_err(|source| EngineError::Build { sender: sender.name.clone(), source })?;
            trial.qlog.iter().for_each(|book| protocol.log_in(book));
            Ok::<_, EngineError>(Endpoint::new(protocol))
        };
        let path = |plan: &PathPlan| Path { up: OneWay::new(plan.ip), down: OneWay::new(plan.ip) };
        Ok(Self {
            now: Instant::ZERO,
            events: 0,
            counting_since: Instant::ZERO,
            sender: sender.name.clone(),
            vehicle: endpoint(Role::Client)?,
            cloud: endpoint(Role::Server)?,
            paths: trial.plan.paths.iter().map(path).collect(),
            workload: trial.plan.workload.clone(),
            meter: None,
        })
    }

    /// With the protocols of both ends wrapped.
    #[cfg(test)]
    pub(super) fn wrapped(
        mut self,
        wrapping: impl Fn(Box<dyn Protocol>) -> Box<dyn Protocol>,
    ) -> Self {
        self.vehicle.protocol = wrapping(self.vehicle.protocol);
        self.cloud.protocol = wrapping(self.cloud.protocol);
        self
    }

    /// From now on the processor time of each side is counted.
    pub(super) fn measure(&mut self, meter: Rc<Meter>) {
        self.meter = Some(meter);
    }

    /// The vehicle's end of the connection and the cloud's, without the links between them.
    pub(super) fn into_ends(self) -> (Endpoint, Endpoint) {
        (self.vehicle, self.cloud)
    }

    pub(super) fn now(&self) -> Instant {
        self.now
    }

    /// From now on the links of the plan carry what is sent.
    pub(super) fn go_live(&mut self, trial: &Trial) {
        for (path, id) in self.paths.iter_mut().zip(0..) {
            path.up.go_live(self.now, trial, PathId(id), Direction::Up);
            path.down.go_live(self.now, trial, PathId(id), Direction::Down);
        }
    }

    pub(super) fn change(&mut self, trial: &Trial, change: &Change) {
        let path = &mut self.paths[change.path.index()];
        path.towards(change.direction).change(self.now, trial, change);
    }

    /// Whether the vehicle's protocol took the message.
    pub(super) fn send(&mut self, message: &[u8]) -> bool {
        self.vehicle.unsettled = true;
        let (protocol, now) = (&mut self.vehicle.protocol, self.now);
        measured(&self.meter, Side::Vehicle, || protocol.send(now, message)) == Sent::Accepted
    }

    /// When something happens next by itself: now, if something is still to be done at this
    /// instant.
    pub(super) fn next_event(&self) -> Option<Instant> {
        if self.vehicle.unsettled || self.cloud.unsettled {
            return Some(self.now);
        }
        let endpoints = [self.vehicle.wakeup, self.cloud.wakeup].into_iter().flatten();
        let links = self.paths.iter().flat_map(|path| [&path.up, &path.down]);
        endpoints.chain(links.filter_map(OneWay::next_wakeup)).min().map(|at| at.max(self.now))
    }

    /// Nothing may be due before that.
    pub(super) fn go_to(&mut self, instant: Instant) {
        self.now = self.now.max(instant);
    }

    /// Lets everything happen up to `until`, that instant included.
    pub(super) fn run_until(
        &mut self,
        until: Instant,
        delivered: Delivered<'_>,
    ) -> Result<(), EngineError> {
        while let Some(next) = self.next_event().filter(|next| *next <= until) {
            self.count_event(next)?;
            self.now = next;
            self.deliver_datagrams();
            self.settle(Direction::Up, delivered);
            self.settle(Direction::Down, delivered);
        }
        self.now = self.now.max(until);
        Ok(())
    }

    fn count_event(&mut self, at: Instant) -> Result<(), EngineError> {
        if at > self.counting_since + STANDSTILL {
            (self.events, self.counting_since) = (0, at);
        }
        self.events += 1;
        if self.events > EVENTS_AT_ONCE {
            return Err(EngineError::Stuck { sender: self.sender.clone(), at_ns: at.as_nanos() });
        }
        Ok(())
    }

    fn deliver_datagrams(&mut self) {
        for path in &mut self.paths {
            while let Some(datagram) = path.up.pop(self.now) {
                self.cloud.unsettled = true;
                let (protocol, now) = (&mut self.cloud.protocol, self.now);
                measured(&self.meter, Side::Gateway, || protocol.receive(now, datagram));
            }
            while let Some(datagram) = path.down.pop(self.now) {
                self.vehicle.unsettled = true;
                let (protocol, now) = (&mut self.vehicle.protocol, self.now);
                measured(&self.meter, Side::Vehicle, || protocol.receive(now, datagram));
            }
        }
    }

    /// Polls the endpoint that sends in this direction until it waits.
    fn settle(&mut self, direction: Direction, delivered: Delivered<'_>) {
        let now = self.now;
        if !self.endpoint(direction).is_due(now) {
            return;
        }
        loop {
            match self.poll(direction, now) {
                Output::Transmit(datagram) => {
                    let path = &mut self.paths[datagram.path.index()];
                    path.towards(direction).push(now, datagram);
                }
                Output::Deliver(message) => self.application(direction, &message, delivered),
                Output::Wait(wakeup) => {
                    let endpoint = self.endpoint(direction);
                    (endpoint.wakeup, endpoint.unsettled) = (wakeup, false);
                    return;
                }
            }
        }
    }

    fn poll(&mut self, direction: Direction, now: Instant) -> Output {
        let (endpoint, side) = match direction {
            Direction::Up => (&mut self.vehicle, Side::Vehicle),
            Direction::Down => (&mut self.cloud, Side::Gateway),
        };
        measured(&self.meter, side, || endpoint.protocol.poll(now))
    }

    /// What the application at this end does with a message: answer it, or count it as arrived.
    fn application(&mut self, end: Direction, message: &[u8], delivered: Delivered<'_>) {
        let Some(id) = message_id(message) else { return };
        let at_cloud = end == Direction::Down;
        match at_cloud.then(|| self.workload.answer(id)).flatten() {
            Some(answer) => {
                // A refused answer is a message that never completes.
                let (protocol, now) = (&mut self.cloud.protocol, self.now);
                let _ = measured(&self.meter, Side::Gateway, || protocol.send(now, &answer));
            }
            None => delivered(id, self.now),
        }
    }

    /// The endpoint that sends in this direction.
    fn endpoint(&mut self, direction: Direction) -> &mut Endpoint {
        match direction {
            Direction::Up => &mut self.vehicle,
            Direction::Down => &mut self.cloud,
        }
    }

    pub(super) fn is_connected(&self) -> bool {
        let ends = [&self.vehicle, &self.cloud];
        ends.iter().all(|end| end.protocol.state() == State::Established)
    }

    /// The vehicle's view of the connection.
    pub(super) fn state(&self) -> State {
        self.vehicle.protocol.state()
    }

    pub(super) fn delivery(&self) -> Delivery {
        self.vehicle.protocol.delivery()
    }

    /// Of the vehicle, which sends the workload.
    pub(super) fn statistics(&self) -> ProtocolStatistics {
        self.vehicle.protocol.statistics()
    }

    /// Of the vehicle and the cloud.
    pub(super) fn error_correction(&self) -> Option<[ShardCounts; 2]> {
        let [vehicle, cloud] =
            [&self.vehicle, &self.cloud].map(|end| end.protocol.error_correction());
        Some([vehicle?, cloud?])
    }

    /// What went out while the connection was set up, in each direction.
    pub(super) fn offered(&self) -> (WireCount, WireCount) {
        let up = self.paths.iter().map(|path| path.up.handshake());
        let down = self.paths.iter().map(|path| path.down.handshake());
        (up.sum(), down.sum())
    }

    pub(super) fn wire(&self) -> Vec<PathWire> {
        let count = |(path, id): (&Path, u8)| PathWire {
            path: PathId(id),
            up: path.up.count(),
            down: path.down.count(),
            kernel: None,
        };
        self.paths.iter().zip(0..).map(count).collect()
    }

    /// To be asked once, at the end.
    pub(super) fn take_volumes(&mut self) -> Vec<Volume> {
        let ways = self.paths.iter_mut().flat_map(|path| [&mut path.up, &mut path.down]);
        ways.filter_map(OneWay::take_volume).collect()
    }

    /// To be asked once, at the end.
    pub(super) fn take_receipts(&mut self) -> Vec<PathReceipts> {
        let receipts = |(path, id): (&mut Path, u8)| PathReceipts {
            path: PathId(id),
            up: path.up.take_receipts(),
            down: path.down.take_receipts(),
        };
        self.paths.iter_mut().zip(0..).map(receipts).collect()
    }
}

fn measured<T>(meter: &Option<Rc<Meter>>, side: Side, work: impl FnOnce() -> T) -> T {
    match meter {
        Some(meter) => meter.measure(side, work),
        None => work(),
    }
}

impl Endpoint {
    fn new(protocol: Box<dyn Protocol>) -> Self {
        Self { protocol, wakeup: None, unsettled: true }
    }

    fn is_due(&self, now: Instant) -> bool {
        self.unsettled || self.wakeup.is_some_and(|at| at <= now)
    }
}

impl Path {
    fn towards(&mut self, direction: Direction) -> &mut OneWay {
        match direction {
            Direction::Up => &mut self.up,
            Direction::Down => &mut self.down,
        }
    }
}
