//! A real-time trial seen from outside: both endpoints on threads of their own, one start for all,
//! their reports gathered into the message log, progress told, and the end called. Knows nothing of
//! how packets are impaired.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::bounds::Bounds;
use super::carrier::Prepared;
use super::endpoint::{self, Ended, EndpointPlan, Report};
use super::error::EngineError;
use super::lab::Lab;
use super::real_clock::Clock;
use super::{CONNECT_LIMIT, Event, Progress, Trial, drain_limit};
use crate::protocol::{Delivery, Role};
use crate::recording::{MessageLog, Messages, Status};
use crate::units::Instant;
use crate::workload::Periodic;

/// How often the reports are gathered.
const ROUND: Duration = Duration::from_millis(20);
/// The same once every message has been sent: the trial ends with the last delivery.
const LAST_ROUND: Duration = Duration::from_millis(1);
const PROGRESS_INTERVAL: Duration = Duration::from_millis(250);
/// Reports that wait to be gathered at most; an endpoint that finds no room waits, and so is late.
const REPORTS: usize = 1 << 16;

pub struct Conductor<'a> {
    trial: &'a Trial,
    clock: Clock,
    bounds: Arc<Bounds>,
    endpoints: Endpoints,
    began: Instant,
    gathered: Gathered,
    /// What the sender promises; known once it is connected.
    delivery: Option<Delivery>,
}

/// What the endpoints have reported of the workload.
struct Gathered {
    log: MessageLog,
    closed: Option<String>,
    /// The cloud's own reason: the vehicle may have heard nothing of it, or seen no more than that
    /// the other side was gone.
    closed_at_cloud: Option<String>,
}

/// What was measured, but for what happened on the wire.
pub struct Conducted {
    pub connecting: Duration,
    pub accepted: u64,
    pub messages: Messages,
    pub status: Status,
    pub vehicle: Ended,
    pub cloud: Ended,
}

/// The threads of both endpoints. However a trial ends, they are told to stop and waited for.
struct Endpoints {
    bounds: Arc<Bounds>,
    reports: Receiver<Report>,
    vehicle: Option<JoinHandle<Option<Ended>>>,
    cloud: Option<JoinHandle<Option<Ended>>>,
}

impl<'a> Conductor<'a> {
    /// Starts both endpoints.
    pub fn new(trial: &'a Trial, lab: &Lab, bounds: Arc<Bounds>) -> Result<Self, EngineError> {
        let (sender, reports) = sync_channel(REPORTS);
        let mut endpoints =
            Endpoints { bounds: Arc::clone(&bounds), reports, vehicle: None, cloud: None };
        let plan = |role, prepared| EndpointPlan {
            role,
            prepared,
            workload: trial.plan.workload.clone(),
            host: lab.host(role).clone(),
            bounds: Arc::clone(&bounds),
            reports: sender.clone(),
        };
        let [vehicle, cloud] = Prepared::both(trial, lab)?;
        let (vehicle, cloud) = (plan(Role::Client, vehicle), plan(Role::Server, cloud));
        let clock = bounds.clock();
        let began = clock.now();
        endpoints.cloud = Some(start("cloud", cloud)?);
        endpoints.vehicle = Some(start("vehicle", vehicle)?);
        Ok(Self {
            trial,
            clock,
            bounds,
            endpoints,
            began,
            gathered: Gathered::new(MessageLog::new(&trial.plan.workload)),
            delivery: None,
        })
    }

    /// Conducts the trial from the handshake to the last delivery.
    pub fn conduct(
        mut self,
        events: &mut dyn FnMut(Event) -> ControlFlow<()>,
    ) -> Result<Conducted, EngineError> {
        let connecting = self.connect(events)?;
        let start = self.trial.start_after(self.clock.now());
        self.bounds.set_start(start);
        self.wait_for(start, events)?;
        let answer = events(Event::Started { handshake: connecting });
        let answer = self.watch_to_the_end(start, answer, events)?;
        self.finish(connecting, start, answer.is_break())
    }

    /// Waits until both endpoints are connected; how long that took.
    fn connect(
        &mut self,
        events: &mut dyn FnMut(Event) -> ControlFlow<()>,
    ) -> Result<Duration, EngineError> {
        let limit = self.began + CONNECT_LIMIT;
        let (mut vehicle, mut cloud) = (None, None);
        while let Some(left) = self.time_left(limit) {
            match self.endpoints.reports.recv_timeout(left.min(ROUND)) {
                Ok(Report::Established { role: Role::Client, at, delivery }) => {
                    (vehicle, self.delivery) = (Some(at), Some(delivery));
                }
                Ok(Report::Established { role: Role::Server, at, .. }) => cloud = Some(at),
                Ok(Report::Unbuildable(source)) => {
                    return Err(EngineError::Build { sender: self.sender(), source });
                }
                Ok(Report::Closed { reason, .. }) => {
                    return Err(EngineError::ConnectionFailed { sender: self.sender(), reason });
                }
                Ok(_) => {}
                Err(_) => self.endpoints.check(self.trial)?,
            }
            if let Some((vehicle, cloud)) = vehicle.zip(cloud) {
                return Ok(vehicle.max(cloud).saturating_since(self.began));
            }
            self.ask_whether_to_connect(events)?;
        }
        let limit_s = CONNECT_LIMIT.as_secs();
        Err(EngineError::NotConnected { sender: self.sender(), limit_s })
    }

    /// Nothing has been measured yet that an interruption could leave.
    fn ask_whether_to_connect(
        &self,
        events: &mut dyn FnMut(Event) -> ControlFlow<()>,
    ) -> Result<(), EngineError> {
        match events(Event::Connecting) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(EngineError::Interrupted { sender: self.sender() }),
        }
    }

    /// Waits for the start of the workload.
    fn wait_for(
        &self,
        start: Instant,
        events: &mut dyn FnMut(Event) -> ControlFlow<()>,
    ) -> Result<(), EngineError> {
        while let Some(left) = self.time_left(start) {
            self.ask_whether_to_connect(events)?;
            thread::sleep(left.min(ROUND));
        }
        Ok(())
    }

    fn watch_to_the_end(
        &mut self,
        start: Instant,
        mut answer: ControlFlow<()>,
        events: &mut dyn FnMut(Event) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, EngineError> {
        let mut next_progress = PROGRESS_INTERVAL;
        while answer.is_continue() && !self.is_over(self.elapsed(start)) {
            let sending = self.elapsed(start) < self.periodic().duration;
            thread::sleep(if sending { ROUND } else { LAST_ROUND });
            self.gather();
            self.endpoints.check(self.trial)?;
            if self.elapsed(start) >= next_progress {
                next_progress = self.elapsed(start) + PROGRESS_INTERVAL;
                answer = events(Event::Progress(self.progress(self.elapsed(start))));
            }
        }
        Ok(answer)
    }

    /// A limited number of reports: however fast more of them come in, the conductor also has to
    /// look at the time.
    fn gather(&mut self) {
        let Self { endpoints, gathered, .. } = self;
        endpoints.reports.try_iter().take(REPORTS).for_each(|report| gathered.take(report));
    }

    fn is_over(&self, elapsed: Duration) -> bool {
        let duration = self.periodic().duration;
        let Gathered { log, closed, .. } = &self.gathered;
        // A vehicle that was held up may have messages to send even after the end of the workload.
        let all_handed_over = log.scheduled_count() == self.periodic().count();
        let drained = (all_handed_over && log.undelivered() == 0)
            || closed.is_some()
            || self.delivery.is_some_and(|delivery| elapsed >= duration + drain_limit(delivery));
        elapsed >= duration && drained
    }

    fn progress(&mut self, elapsed: Duration) -> Progress {
        let log = &mut self.gathered.log;
        let recent = log.take_recent();
        Progress {
            elapsed,
            sent: log.sent_count(),
            delivered: log.delivered_count(),
            p50: recent.map(|(p50, _)| p50),
            p99: recent.map(|(_, p99)| p99),
            dark: self.trial.plan.timeline.dark_paths(elapsed),
        }
    }

    fn finish(
        mut self,
        connecting: Duration,
        start: Instant,
        interrupted: bool,
    ) -> Result<Conducted, EngineError> {
        let elapsed = self.elapsed(start);
        let (vehicle, cloud) = self.endpoints.end(self.trial, &mut self.gathered)?;
        let closed = self.gathered.why_closed();
        let log = self.gathered.log;
        let open = closed.is_none();
        let status = match closed {
            _ if interrupted => Status::Interrupted { after: elapsed },
            Some(reason) => Status::Closed { reason },
            None => Status::Complete,
        };
        let accepted = log.sent_count();
        let reliable = self.delivery.is_some_and(|delivery| delivery.reliable);
        let messages = match interrupted {
            true => log.finish_interrupted(elapsed, reliable && open),
            false => log.finish(elapsed),
        };
        Ok(Conducted { connecting, accepted, messages, status, vehicle, cloud })
    }

    fn time_left(&self, limit: Instant) -> Option<Duration> {
        let left = limit.saturating_since(self.clock.now());
        (!left.is_zero()).then_some(left)
    }

    fn elapsed(&self, start: Instant) -> Duration {
        self.clock.now().saturating_since(start)
    }

    fn periodic(&self) -> &'a Periodic {
        self.trial.plan.workload.periodic()
    }

    fn sender(&self) -> String {
        self.trial.sender().name.clone()
    }
}

impl Gathered {
    fn new(log: MessageLog) -> Self {
        Self { log, closed: None, closed_at_cloud: None }
    }

    fn why_closed(&mut self) -> Option<String> {
        match (self.closed.take(), self.closed_at_cloud.take()) {
            (Some(vehicle), Some(cloud)) => Some(format!("{vehicle}; {cloud}")),
            (vehicle, cloud) => vehicle.or(cloud),
        }
    }

    fn take(&mut self, report: Report) {
        match report {
            Report::Sent { id, at } => self.log.sent(id, at),
            Report::Refused { id } => self.log.refused(id),
            Report::Delivered { id, at } => drop(self.log.delivered(id, at)),
            Report::Closed { role: Role::Client, reason } => self.closed = Some(reason),
            Report::Closed { role: Role::Server, reason } => {
                self.closed_at_cloud = Some(format!("on the cloud's side, {reason}"));
            }
            Report::Established { .. } | Report::Unbuildable(_) => {}
        }
    }
}

impl Endpoints {
    /// An endpoint that ends before it is told to has panicked.
    fn check(&self, trial: &Trial) -> Result<(), EngineError> {
        let ended =
            |thread: &Option<JoinHandle<_>>| thread.as_ref().is_some_and(JoinHandle::is_finished);
        if ended(&self.vehicle) || ended(&self.cloud) {
            return Err(EngineError::Crashed { sender: trial.sender().name.clone() });
        }
        Ok(())
    }

    fn end(
        &mut self,
        trial: &Trial,
        gathered: &mut Gathered,
    ) -> Result<(Ended, Ended), EngineError> {
        self.bounds.end();
        // Until both threads have let go of the channel: one that waits for room in it has to find
        // some.
        self.reports.iter().for_each(|report| gathered.take(report));
        let ended = |thread: &mut Option<JoinHandle<Option<Ended>>>| {
            thread.take().and_then(|thread| thread.join().ok().flatten())
        };
        let both = ended(&mut self.vehicle).zip(ended(&mut self.cloud));
        both.ok_or_else(|| EngineError::Crashed { sender: trial.sender().name.clone() })
    }
}

impl Drop for Endpoints {
    fn drop(&mut self) {
        self.bounds.end();
        // A thread that waits for room for its report is let go once nobody can read it any more.
        let (_, nobody) = sync_channel(0);
        self.reports = nobody;
        for thread in [self.vehicle.take(), self.cloud.take()].into_iter().flatten() {
            // Why it ended does not matter any more.
            let _ = thread.join();
        }
    }
}

fn start(name: &str, plan: EndpointPlan) -> Result<JoinHandle<Option<Ended>>, EngineError> {
    let thread = thread::Builder::new().name(name.to_owned());
    thread.spawn(|| endpoint::run(plan)).map_err(EngineError::Thread)
}
