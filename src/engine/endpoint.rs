//! One side of a trial in real time: a thread that gives its carrier the messages and its turns as
//! they fall due, and reports what became of the messages. Knows nothing of links, nor of what
//! carries the messages.

use std::sync::Arc;
use std::sync::mpsc::SyncSender;
use std::time::Duration;

use netns::Namespace;

use super::bounds::Bounds;
use super::carrier::{Carried, Carrier, Prepared, Step};
use super::fidelity::{Damage, Lateness, Stalls};
use super::real_clock::thread_cpu_time;
use super::syscalls::BATCH;
use super::udp_overflows::udp_overflows;
use super::waiter::{Priority, Waiter};
use super::watch::Watch;
use crate::protocol::{BuildError, Delivery, ProtocolStatistics, Role, Sent, ShardCounts, State};
use crate::recording::EndSockets;
use crate::units::Instant;
use crate::workload::{Workload, message_id, write_message};

/// How long before a deadline an endpoint is awake.
const SPIN: Duration = Duration::from_micros(50);
/// Steps of the carrier before its sources have their turn again.
const STEPS_AT_ONCE: usize = 1024;
/// Messages sent before the sources have their turn again: as many as one batch could bring answers
/// to.
const MESSAGES_AT_ONCE: usize = BATCH;

/// What an endpoint is made from, on its own thread.
pub struct EndpointPlan {
    pub role: Role,
    pub prepared: Prepared,
    pub workload: Workload,
    /// Where it lives.
    pub host: Namespace,
    pub bounds: Arc<Bounds>,
    /// Bounded: an endpoint waits if nobody reads its reports, and is late.
    pub reports: SyncSender<Report>,
}

/// What an endpoint tells while it runs. Durations are since the start of the workload.
#[derive(Debug)]
pub enum Report {
    Unbuildable(BuildError),
    Established { role: Role, at: Instant, delivery: Delivery },
    Sent { id: u64, at: Duration },
    Refused { id: u64 },
    Delivered { id: u64, at: Duration },
    Closed { role: Role, reason: String },
}

/// What is known of an endpoint when it has ended.
pub struct Ended {
    pub delivery: Delivery,
    pub statistics: ProtocolStatistics,
    pub error_correction: Option<ShardCounts>,
    pub sockets: Option<EndSockets>,
    pub sends: Lateness,
    pub reads: Lateness,
    pub stalls: Stalls,
    pub realtime: bool,
    pub damage: Damage,
    /// Processor time since the start of the workload, system calls and programs included, waiting
    /// awake not.
    pub cpu: Duration,
    /// Sockets and programs, for as long as packets may be on their way.
    _kept: Box<dyn Send>,
}

/// Runs an endpoint until the trial is over; `None` if its carrier could not be built.
pub fn run(plan: EndpointPlan) -> Option<Ended> {
    let EndpointPlan { role, prepared, workload, host, bounds, reports } = plan;
    let side = Side { role, workload, host, bounds, reports };
    match prepared.carrier() {
        Ok(carrier) => Some(Endpoint::new(side, carrier).run()),
        Err(error) => {
            side.tell(Report::Unbuildable(error));
            None
        }
    }
}

struct Endpoint {
    side: Side,
    carrier: Box<dyn Carrier>,
    watch: Watch,
    waiter: Waiter,
    told: Told,
    /// When the carrier wants to be polled again.
    wakeup: Option<Instant>,
    next_id: u64,
    message: Vec<u8>,
    sends: Lateness,
    /// Whether each source had something to read, or was in trouble, when the last wait ended.
    ready: Vec<bool>,
    cpu_before: Duration,
}

/// What does not change while an endpoint runs.
struct Side {
    role: Role,
    workload: Workload,
    host: Namespace,
    bounds: Arc<Bounds>,
    reports: SyncSender<Report>,
}

/// The last state of the carrier that was reported.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Told {
    Nothing,
    Established,
    Closed,
}

impl Side {
    /// Nobody listens any more once the trial is given up, and then it does not matter.
    fn tell(&self, report: Report) {
        let _ = self.reports.send(report);
    }

    /// Of the cloud, where the workload asks for one.
    fn answer(&self, id: u64) -> Option<Vec<u8>> {
        (self.role == Role::Server).then(|| self.workload.answer(id)).flatten()
    }
}

impl Endpoint {
    fn new(side: Side, carrier: Box<dyn Carrier>) -> Self {
        let (clock, pace) = (side.bounds.clock(), side.bounds.pace());
        Self {
            watch: Watch::new(&side.bounds),
            waiter: Waiter::new(clock, pace, Priority::Endpoint, SPIN),
            told: Told::Nothing,
            wakeup: None,
            next_id: 0,
            message: vec![0; side.workload.periodic().size as usize],
            sends: Lateness::default(),
            ready: vec![true; carrier.sources().len()],
            cpu_before: Duration::ZERO,
            carrier,
            side,
        }
    }

    fn run(mut self) -> Ended {
        while !self.side.bounds.is_over() {
            self.watch.begin_turn();
            self.agree_on_start();
            self.receive();
            self.send_messages();
            self.settle();
            self.tell_state();
            self.wait();
        }
        self.finish()
    }

    fn agree_on_start(&mut self) {
        if self.watch.start().is_some() {
            return;
        }
        if let Some(start) = self.side.bounds.start() {
            self.watch.set_start(start);
            self.waiter.start_counting_stalls();
            self.cpu_before = self.cpu_time();
        }
    }

    fn receive(&mut self) {
        for source in 0..self.ready.len() {
            if self.ready[source] && self.carrier.receive(source, &self.watch) {
                self.settle();
            }
        }
    }

    /// Sends messages that are due; what is due beyond one turn is sent in the next, and late.
    fn send_messages(&mut self) {
        for _ in 0..MESSAGES_AT_ONCE {
            let due = self.next_message().filter(|due| *due <= self.watch.now());
            let Some(due) = due else { return };
            self.send_message(due);
            self.settle();
        }
    }

    /// Reports the message before it can arrive: the carrier sends nothing until it is polled. The
    /// other end could be sooner with its report, and a message that nobody has sent cannot arrive.
    fn send_message(&mut self, due: Instant) {
        let id = self.next_id;
        write_message(id, &mut self.message);
        let now = self.watch.now();
        self.sends.record(now.saturating_since(due));
        let report = match self.carrier.send(&self.message, &self.watch) {
            Sent::Accepted => Report::Sent { id, at: self.watch.since_start(now) },
            Sent::Refused => Report::Refused { id },
        };
        self.side.tell(report);
        self.next_id += 1;
    }

    /// Polls the carrier until it waits.
    fn settle(&mut self) {
        self.wakeup = Some(Instant::ZERO);
        for _ in 0..STEPS_AT_ONCE {
            match self.carrier.poll(&self.watch) {
                Step::Done => {}
                Step::Deliver(message) => self.deliver(&message),
                Step::Wait(wakeup) => {
                    self.wakeup = wakeup;
                    return;
                }
            }
        }
    }

    /// What the application at this end does with a message: answer it, or report that it has
    /// arrived.
    fn deliver(&mut self, message: &[u8]) {
        let now = self.watch.now();
        let Some(id) = message_id(message) else { return };
        if let Some(answer) = self.side.answer(id) {
            // A refused answer is a message that never completes.
            let _ = self.carrier.send(&answer, &self.watch);
        } else {
            self.side.tell(Report::Delivered { id, at: self.watch.since_start(now) });
        }
    }

    fn tell_state(&mut self) {
        let role = self.side.role;
        match self.carrier.state() {
            State::Established if self.told < Told::Established => {
                let (at, delivery) = (self.watch.now(), self.carrier.delivery());
                self.side.tell(Report::Established { role, at, delivery });
                self.told = Told::Established;
            }
            State::Closed(reason) if self.told < Told::Closed => {
                self.side.tell(Report::Closed { role, reason });
                self.told = Told::Closed;
            }
            _ => {}
        }
    }

    fn wait(&mut self) {
        let heartbeat = self.watch.now() + self.watch.pace().heartbeat();
        let timers = [self.wakeup, self.next_message()];
        let deadline = timers.into_iter().flatten().fold(heartbeat, Instant::min);
        let mut sources = self.carrier.sources();
        self.waiter.wait(&mut sources, deadline);
        self.ready = sources.iter().map(|source| source.any() != Some(false)).collect();
    }

    /// When the vehicle's next message is due; `None` after the last, and before the start is
    /// agreed.
    fn next_message(&self) -> Option<Instant> {
        let periodic = self.side.workload.periodic();
        let more = self.side.role == Role::Client && self.next_id < periodic.count();
        self.watch.start().filter(|_| more).map(|start| start + periodic.due(self.next_id))
    }

    fn cpu_time(&self) -> Duration {
        thread_cpu_time().saturating_sub(self.waiter.spun()) + self.carrier.cpu_time()
    }

    fn finish(self) -> Ended {
        // A namespace that cannot be entered any more has nothing to say.
        let overflowed = self.side.host.run(udp_overflows).unwrap_or_default();
        let cpu = self.cpu_time().saturating_sub(self.cpu_before);
        let Carried {
            delivery,
            statistics,
            error_correction,
            reads,
            stalls,
            damage,
            sockets,
            kept,
        } = self.carrier.finish();
        Ended {
            delivery,
            statistics,
            error_correction,
            sockets,
            reads,
            cpu,
            sends: self.sends,
            stalls: Stalls::sum([self.waiter.stalls(), stalls]),
            realtime: self.waiter.is_realtime(),
            damage: [damage, Damage { overflowed, ..Damage::default() }].into_iter().sum(),
            _kept: kept,
        }
    }
}
