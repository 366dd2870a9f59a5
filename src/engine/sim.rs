//! Virtual time: the whole trial is one loop that jumps from event to event. The same trial gives
//! the same recording, bit for bit, on any machine. Needs nothing of the system, and must not read
//! its clock.

mod fleet;
mod meter;
mod path;
mod world;

use std::ops::ControlFlow;
use std::time::Duration;

use self::world::World;
use super::{
    CONNECT_LIMIT, Engine, EngineError, EngineKind, Event, Outcome, Progress, Trial, drain_limit,
};
use crate::protocol::State;
use crate::recording::{Handshake, MessageLog, Recording, Status};
use crate::scenario::plan::{Plan, SenderPlan};
use crate::timeline::Change;
use crate::units::Instant;
use crate::workload::{Periodic, write_message};

/// Virtual time between two progress events.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(1);

#[derive(Debug, Clone, Copy, Default)]
pub struct Sim;

impl Sim {
    /// As [`Engine::run`], and what it takes of this machine is in the recording even if there is
    /// one vehicle only. Each vehicle has a turn of this much of virtual time before the next one
    /// has its own. With zero, as `run` does it, all go from event to event together, and each
    /// finds the processor's caches full of the others. What is sent and delivered is the same.
    pub fn run_measured(
        &self,
        trial: &Trial,
        turn: Duration,
        events: &mut dyn FnMut(Event) -> ControlFlow<()>,
    ) -> Result<Recording, EngineError> {
        fleet::run(trial, turn, events)
    }
}

impl Engine for Sim {
    fn kind(&self) -> EngineKind {
        EngineKind::Sim
    }

    fn admit(&self, plan: &Plan) -> Result<(), EngineError> {
        let (needy, others): (Vec<&SenderPlan>, Vec<_>) =
            plan.senders.iter().partition(|sender| sender.protocol.needs_a_kernel());
        if needy.is_empty() {
            return Ok(());
        }
        let senders = needy.iter().map(|sender| sender.name.clone()).collect();
        Err(EngineError::NeedsKernel { senders, others: !others.is_empty() })
    }

    /// One at a time where what they take of this machine is measured.
    fn side_by_side(&self, plan: &Plan) -> usize {
        if plan.vehicles > 1 {
            return 1;
        }
        std::thread::available_parallelism().map_or(1, usize::from)
    }

    fn run(
        &self,
        trial: &Trial,
        events: &mut dyn FnMut(Event) -> ControlFlow<()>,
    ) -> Result<Recording, EngineError> {
        if trial.plan.vehicles > 1 {
            return fleet::run(trial, Duration::ZERO, events);
        }
        let run = Run::connected(trial, MessageLog::new(&trial.plan.workload))?;
        let answer = events(Event::Started { handshake: run.handshake.duration });
        Ok(Recording::new(trial, EngineKind::Sim, run.conduct(answer, events)?))
    }
}

/// Runs the clean network until both sides are ready to send; how long that takes.
fn connect(trial: &Trial, world: &mut World) -> Result<Duration, EngineError> {
    let limit = Instant::ZERO + CONNECT_LIMIT;
    while !world.is_connected() {
        if let State::Closed(reason) = world.state() {
            return Err(EngineError::ConnectionFailed {
                sender: trial.sender().name.clone(),
                reason,
            });
        }
        let next = world.next_event().filter(|at| *at <= limit);
        let Some(next) = next else {
            return Err(EngineError::NotConnected {
                sender: trial.sender().name.clone(),
                limit_s: CONNECT_LIMIT.as_secs(),
            });
        };
        world.run_until(next, &mut |_, _| {})?;
    }
    Ok(world.now().saturating_since(Instant::ZERO))
}

/// The workload, from its first message to the last delivery.
struct Run<'a> {
    trial: &'a Trial,
    handshake: Handshake,
    world: World,
    start: Instant,
    log: MessageLog,
    changes: std::slice::Iter<'a, Change>,
    next_id: u64,
    next_progress: Duration,
    message: Vec<u8>,
}

impl<'a> Run<'a> {
    /// Sets up the connection, and goes to the start of the workload.
    fn connected(trial: &'a Trial, log: MessageLog) -> Result<Self, EngineError> {
        let mut world = World::new(trial)?;
        let duration = connect(trial, &mut world)?;
        let start = trial.start_after(world.now());
        while let Some(next) = world.next_event().filter(|next| *next < start) {
            world.run_until(next, &mut |_, _| {})?;
        }
        world.go_to(start);
        let (up, down) = world.offered();
        world.go_live(trial);
        Ok(Self {
            trial,
            handshake: Handshake { duration, up, down },
            world,
            start,
            log,
            changes: trial.plan.timeline.changes.iter(),
            next_id: 0,
            next_progress: PROGRESS_INTERVAL,
            message: vec![0; trial.plan.workload.periodic().size as usize],
        })
    }

    fn conduct(
        mut self,
        answer: ControlFlow<()>,
        events: &mut dyn FnMut(Event) -> ControlFlow<()>,
    ) -> Result<Outcome, EngineError> {
        let mut answer = answer;
        while answer.is_continue() && !self.is_over() {
            self.step()?;
            if self.elapsed() >= self.next_progress {
                self.next_progress = self.elapsed() + PROGRESS_INTERVAL;
                answer = events(Event::Progress(self.progress()));
            }
        }
        Ok(self.finish(answer.is_break()).0)
    }

    /// Goes to the next thing that happens and lets it happen. Of what falls on one instant a change
    /// comes first, then the messages, then arrivals and the protocols' timers: so it is where each
    /// takes time, since a timer counts from when what started it was done.
    fn step(&mut self) -> Result<(), EngineError> {
        let next = self.next_instant();
        self.world.go_to(next);
        self.apply_changes();
        self.send_messages()?;
        self.run_network(next)
    }

    /// When the next thing happens.
    fn next_instant(&self) -> Instant {
        let end = self.periodic().duration + drain_limit(self.world.delivery());
        let change = self.changes.as_slice().first().map(|change| change.at);
        let message = self.next_message();
        let next = [Some(end), change, message].into_iter().flatten().min().unwrap_or(end);
        let network = self.world.next_event().unwrap_or(Instant::FAR_FUTURE);
        (self.start + next).min(network)
    }

    fn run_network(&mut self, until: Instant) -> Result<(), EngineError> {
        let (log, start) = (&mut self.log, self.start);
        self.world.run_until(until, &mut |id, at| {
            log.delivered(id, at.saturating_since(start));
        })
    }

    fn apply_changes(&mut self) {
        let elapsed = self.elapsed();
        while let Some(change) = self.changes.as_slice().first().filter(|c| c.at <= elapsed) {
            self.world.change(self.trial, change);
            self.changes.next();
        }
    }

    fn send_messages(&mut self) -> Result<(), EngineError> {
        while self.next_message().is_some_and(|due| due <= self.elapsed()) {
            write_message(self.next_id, &mut self.message);
            if self.world.send(&self.message) {
                self.log.sent(self.next_id, self.elapsed());
            } else {
                self.log.refused(self.next_id);
            }
            self.next_id += 1;
            self.run_network(self.world.now())?;
        }
        Ok(())
    }

    /// When the next message is due; `None` after the last.
    fn next_message(&self) -> Option<Duration> {
        let periodic = self.periodic();
        (self.next_id < periodic.count()).then(|| periodic.due(self.next_id))
    }

    fn is_over(&self) -> bool {
        let elapsed = self.elapsed();
        let duration = self.periodic().duration;
        let drained = self.log.undelivered() == 0
            || matches!(self.world.state(), State::Closed(_))
            || elapsed >= duration + drain_limit(self.world.delivery());
        elapsed >= duration && drained
    }

    fn progress(&mut self) -> Progress {
        let recent = self.log.take_recent();
        Progress {
            elapsed: self.elapsed(),
            sent: self.log.sent_count(),
            delivered: self.log.delivered_count(),
            p50: recent.map(|(p50, _)| p50),
            p99: recent.map(|(_, p99)| p99),
            dark: self.trial.plan.timeline.dark_paths(self.elapsed()),
        }
    }

    /// What was measured, and what is left of the connection.
    fn finish(mut self, interrupted: bool) -> (Outcome, World) {
        let elapsed = self.elapsed();
        let state = self.world.state();
        let open = !matches!(state, State::Closed(_));
        let status = match state {
            _ if interrupted => Status::Interrupted { after: elapsed },
            State::Closed(reason) => Status::Closed { reason },
            _ => Status::Complete,
        };
        let outcome = Outcome {
            handshake: self.handshake,
            delivery: self.world.delivery(),
            statistics: self.world.statistics(),
            error_correction: self.world.error_correction(),
            kernel_sockets: None,
            wire: self.world.wire(),
            volumes: self.world.take_volumes(),
            receipts: self.world.take_receipts(),
            accepted: self.log.sent_count(),
            messages: match interrupted {
                true => {
                    let all_come = self.world.delivery().reliable && open;
                    self.log.finish_interrupted(elapsed, all_come)
                }
                false => self.log.finish(elapsed),
            },
            status,
            fidelity: None,
        };
        (outcome, self.world)
    }

    fn periodic(&self) -> &'a Periodic {
        self.trial.plan.workload.periodic()
    }

    fn elapsed(&self) -> Duration {
        self.world.now().saturating_since(self.start)
    }
}

#[cfg(test)]
mod tests;
