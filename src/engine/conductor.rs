//! A real-time trial seen from outside: both endpoints on threads of their own, one start for all, their reports
//! gathered into the message log, progress told, and the end called. Knows nothing of how packets are impaired.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::agreement::Agreement;
use super::endpoint::{self, Ended, EndpointPlan, Report};
use super::error::EngineError;
use super::lab::{Lab, LabError};
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
    agreement: Arc<Agreement>,
    reports: Receiver<Report>,
    endpoints: Endpoints,
    began: Instant,
    log: MessageLog,
    /// What the sender promises; known once it is connected.
    delivery: Option<Delivery>,
    closed: Option<String>,
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
    agreement: Arc<Agreement>,
    vehicle: Option<JoinHandle<Option<Ended>>>,
    cloud: Option<JoinHandle<Option<Ended>>>,
}

impl<'a> Conductor<'a> {
    /// Starts both endpoints.
    pub fn new(
        trial: &'a Trial,
        lab: &Lab,
        agreement: Arc<Agreement>,
    ) -> Result<Self, EngineError> {
        let (sender, reports) = sync_channel(REPORTS);
        let mut endpoints =
            Endpoints { agreement: Arc::clone(&agreement), vehicle: None, cloud: None };
        let plan = |role| {
            Ok::<_, LabError>(EndpointPlan {
                role,
                protocol: trial.sender().protocol.clone(),
                seed: trial.protocol_seed(),
                workload: trial.plan.workload.clone(),
                sockets: lab.endpoint_sockets(role)?,
                agreement: Arc::clone(&agreement),
                reports: sender.clone(),
            })
        };
        let (vehicle, cloud) = (plan(Role::Client)?, plan(Role::Server)?);
        let clock = agreement.clock();
        let began = clock.now();
        endpoints.cloud = Some(start("cloud", cloud)?);
        endpoints.vehicle = Some(start("vehicle", vehicle)?);
        Ok(Self {
            trial,
            clock,
            agreement,
            reports,
            endpoints,
            began,
            log: MessageLog::new(&trial.plan.workload),
            delivery: None,
            closed: None,
        })
    }

    /// Conducts the trial from the handshake to the last delivery.
    pub fn conduct(
        mut self,
        events: &mut dyn FnMut(Event) -> ControlFlow<()>,
    ) -> Result<Conducted, EngineError> {
        let connecting = self.connect()?;
        let start = self.trial.start_after(self.clock.now());
        self.agreement.set_start(start);
        thread::sleep(start.saturating_since(self.clock.now()));
        let answer = events(Event::Started { handshake: connecting });
        let answer = self.watch_to_the_end(start, answer, events)?;
        self.finish(connecting, start, answer.is_break())
    }

    /// Waits until both endpoints are connected; how long that took.
    fn connect(&mut self) -> Result<Duration, EngineError> {
        let limit = self.began + CONNECT_LIMIT;
        let (mut vehicle, mut cloud) = (None, None);
        while let Some(left) = self.time_left(limit) {
            match self.reports.recv_timeout(left.min(ROUND)) {
                Ok(Report::Established { role: Role::Client, at, delivery }) => {
                    (vehicle, self.delivery) = (Some(at), Some(delivery));
                }
                Ok(Report::Established { role: Role::Server, at, .. }) => cloud = Some(at),
                Ok(Report::Unbuildable(source)) => {
                    let sender = self.trial.sender().name.clone();
                    return Err(EngineError::Build { sender, source });
                }
                Ok(Report::Closed { .. }) => break,
                Ok(_) => {}
                Err(_) => self.endpoints.check(self.trial)?,
            }
            if let Some((vehicle, cloud)) = vehicle.zip(cloud) {
                return Ok(vehicle.max(cloud).saturating_since(self.began));
            }
        }
        let sender = self.trial.sender().name.clone();
        Err(EngineError::NotConnected { sender, limit_s: CONNECT_LIMIT.as_secs() })
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

    fn gather(&mut self) {
        while let Ok(report) = self.reports.try_recv() {
            match report {
                Report::Sent { id, at } => self.log.sent(id, at),
                Report::Refused { id } => self.log.refused(id),
                Report::Delivered { id, at } => drop(self.log.delivered(id, at)),
                Report::Closed { role: Role::Client, reason } => self.closed = Some(reason),
                Report::Closed { .. } | Report::Established { .. } | Report::Unbuildable(_) => {}
            }
        }
    }

    fn is_over(&self, elapsed: Duration) -> bool {
        let duration = self.periodic().duration;
        let drained = self.log.undelivered() == 0
            || self.closed.is_some()
            || self.delivery.is_some_and(|delivery| elapsed >= duration + drain_limit(delivery));
        elapsed >= duration && drained
    }

    fn progress(&mut self, elapsed: Duration) -> Progress {
        let recent = self.log.take_recent();
        Progress {
            elapsed,
            sent: self.log.sent_count(),
            delivered: self.log.delivered_count(),
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
        let (vehicle, cloud) = self.endpoints.end(self.trial)?;
        self.gather();
        let status = match self.closed {
            _ if interrupted => Status::Interrupted { after: elapsed },
            Some(reason) => Status::Closed { reason },
            None => Status::Complete,
        };
        let accepted = self.log.sent_count();
        let messages = match interrupted {
            true => self.log.finish_interrupted(elapsed),
            false => self.log.finish(elapsed),
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

    fn end(&mut self, trial: &Trial) -> Result<(Ended, Ended), EngineError> {
        self.agreement.end();
        let ended = |thread: &mut Option<JoinHandle<Option<Ended>>>| {
            thread.take().and_then(|thread| thread.join().ok().flatten())
        };
        let both = ended(&mut self.vehicle).zip(ended(&mut self.cloud));
        both.ok_or_else(|| EngineError::Crashed { sender: trial.sender().name.clone() })
    }
}

impl Drop for Endpoints {
    fn drop(&mut self) {
        self.agreement.end();
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
