//! One side of a trial in real time: a thread that gives its protocol the datagrams, messages and
//! timers as they fall due, and reports what became of the messages. Knows nothing of links.

use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::mpsc::SyncSender;
use std::time::Duration;

use netns::Namespace;
use nix::poll::{PollFd, PollFlags};

use super::bounds::Bounds;
use super::fidelity::{Damage, Lateness, STALL, Stalls};
use super::pace::Pace;
use super::real_clock::{Clock, thread_cpu_time};
use super::receive_batch::ReceiveBatch;
use super::syscalls::BATCH;
use super::udp_overflows::udp_overflows;
use super::udp_socket::PathSocket;
use super::waiter::{Priority, Waiter};
use crate::protocol::{
    BuildError, Datagram, Delivery, Ecn, Output, Protocol, ProtocolSettings, ProtocolStatistics,
    Role, Sent, State, build,
};
use crate::units::{Instant, PathId};
use crate::workload::{Workload, message_id, write_message};

/// How long before a deadline an endpoint is awake.
const SPIN: Duration = Duration::from_micros(50);
/// The longest UDP datagram.
const DATAGRAM_BUFFER: usize = 1 << 16;
/// Outputs of the protocol before the sockets have their turn again.
const OUTPUTS_AT_ONCE: usize = 1024;
/// Messages sent before the sockets have their turn again: as many as one batch could bring answers
/// to.
const MESSAGES_AT_ONCE: usize = BATCH;

/// What an endpoint is made from, on its own thread: a protocol does not leave the thread it was
/// built on.
pub struct EndpointPlan {
    pub role: Role,
    pub protocol: ProtocolSettings,
    pub seed: u64,
    pub workload: Workload,
    /// Where it lives.
    pub host: Namespace,
    /// One a path, in the order of the plan.
    pub sockets: Vec<PathSocket>,
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
    pub sends: Lateness,
    pub reads: Lateness,
    pub stalls: Stalls,
    pub realtime: bool,
    pub damage: Damage,
    /// Processor time since the start of the workload, system calls included, waiting awake not.
    pub cpu: Duration,
    /// Open for as long as packets may be on their way: one that came to a closed socket would be
    /// answered with an error, which is nothing that a sender sent.
    _sockets: Vec<PathSocket>,
}

/// Runs an endpoint until the trial is over; `None` if its protocol could not be built.
pub fn run(plan: EndpointPlan) -> Option<Ended> {
    match build(&plan.protocol, plan.role, plan.seed) {
        Ok(protocol) => Some(Endpoint::new(plan, protocol).run()),
        Err(error) => {
            plan.tell(Report::Unbuildable(error));
            None
        }
    }
}

struct Endpoint {
    plan: EndpointPlan,
    protocol: Box<dyn Protocol>,
    clock: Clock,
    waiter: Waiter,
    batch: ReceiveBatch,
    /// When the workload starts, once that is agreed.
    start: Option<Instant>,
    /// When the present turn of the loop began.
    turn: Instant,
    told: Told,
    /// When the protocol wants to be polled again.
    wakeup: Option<Instant>,
    next_id: u64,
    message: Vec<u8>,
    sends: Lateness,
    reads: Lateness,
    unsendable: u64,
    /// Whether each socket had something to read, or was in trouble, when the last wait ended.
    readable: Vec<bool>,
    cpu_before: Duration,
}

/// The last state of the protocol that was reported.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Told {
    Nothing,
    Established,
    Closed,
}

impl EndpointPlan {
    /// Nobody listens any more once the trial is given up, and then it does not matter.
    fn tell(&self, report: Report) {
        let _ = self.reports.send(report);
    }

    /// Bytes of the cloud's answer to each message.
    fn response_size(&self) -> Option<usize> {
        match (&self.workload, self.role) {
            (Workload::Echo { response_size, .. }, Role::Server) => Some(*response_size as usize),
            _ => None,
        }
    }
}

impl Endpoint {
    fn new(plan: EndpointPlan, protocol: Box<dyn Protocol>) -> Self {
        let clock = plan.bounds.clock();
        Self {
            clock,
            protocol,
            waiter: Waiter::new(clock, plan.bounds.pace(), Priority::Endpoint, SPIN),
            batch: ReceiveBatch::new(DATAGRAM_BUFFER),
            start: None,
            turn: Instant::ZERO,
            told: Told::Nothing,
            wakeup: None,
            next_id: 0,
            message: vec![0; plan.workload.periodic().size as usize],
            sends: Lateness::default(),
            reads: Lateness::default(),
            unsendable: 0,
            readable: vec![true; plan.sockets.len()],
            cpu_before: Duration::ZERO,
            plan,
        }
    }

    fn run(mut self) -> Ended {
        while !self.plan.bounds.is_over() {
            self.turn = self.clock.now();
            self.agree_on_start();
            self.read_datagrams();
            self.send_messages();
            self.settle();
            self.tell_state();
            self.wait();
        }
        self.finish()
    }

    /// In virtual time a turn takes none, and so its time is read once: each reading would cost
    /// more than all that is done in between.
    fn now(&self) -> Instant {
        match self.plan.bounds.pace() {
            Pace::Real => self.clock.now(),
            Pace::Virtual => self.turn,
        }
    }

    fn agree_on_start(&mut self) {
        if self.start.is_none() {
            self.start = self.plan.bounds.start();
            if self.start.is_some() {
                self.waiter.start_counting_stalls();
                self.cpu_before = self.cpu_time();
            }
        }
    }

    fn read_datagrams(&mut self) {
        for index in 0..self.plan.sockets.len() {
            if !self.readable[index] {
                continue;
            }
            // An error here is one of the path's (port unreachable, as the other side ends): as
            // good as nothing read.
            let count = self.plan.sockets[index].receive(&mut self.batch).unwrap_or(0);
            if count > 0 {
                self.receive(index);
            }
        }
    }

    /// Gives the protocol the datagrams of the last batch, which came from this path.
    fn receive(&mut self, path: usize) {
        // In virtual time a datagram is read when it comes.
        let real = self.plan.bounds.pace() == Pace::Real;
        let offset = real.then(|| self.clock.realtime_offset());
        let now = self.now();
        for (payload, received) in self.batch.iter() {
            let stamp = received.stamp.filter(|_| self.start.is_some());
            if let Some((stamp, offset)) = stamp.zip(offset) {
                let late = now.saturating_since(offset.to_trial(stamp)) + offset.doubt();
                self.reads.record(late);
                if late > STALL {
                    self.waiter.note_stall(late);
                }
            }
            let (path, payload) = (PathId(path as u8), payload.to_vec());
            self.protocol.receive(now, Datagram { path, payload, ecn: ecn(received.tos) });
        }
        self.settle();
    }

    /// Sends messages that are due; what is due beyond one turn is sent in the next, and late.
    fn send_messages(&mut self) {
        for _ in 0..MESSAGES_AT_ONCE {
            let due = self.next_message().filter(|due| *due <= self.now());
            let Some(due) = due else { return };
            self.send_message(due);
            self.settle();
        }
    }

    /// Reports the message before it can arrive.
    fn send_message(&mut self, due: Instant) {
        let id = self.next_id;
        write_message(id, &mut self.message);
        let now = self.now();
        self.sends.record(now.saturating_since(due));
        let report = match self.protocol.send(now, &self.message) {
            Sent::Accepted => Report::Sent { id, at: self.since_start(now) },
            Sent::Refused => Report::Refused { id },
        };
        self.plan.tell(report);
        self.next_id += 1;
    }

    /// Polls the protocol until it waits.
    fn settle(&mut self) {
        self.wakeup = Some(Instant::ZERO);
        for _ in 0..OUTPUTS_AT_ONCE {
            match self.protocol.poll(self.now()) {
                Output::Transmit(datagram) => self.transmit(&datagram),
                Output::Deliver(message) => self.deliver(&message),
                Output::Wait(wakeup) => {
                    self.wakeup = wakeup;
                    return;
                }
            }
        }
    }

    fn transmit(&mut self, datagram: &Datagram) {
        let socket = &mut self.plan.sockets[datagram.path.index()];
        if socket.send(&datagram.payload, datagram.ecn).is_err() {
            self.unsendable += 1;
        }
    }

    /// What the application at this end does with a message: answer it, or report that it has
    /// arrived.
    fn deliver(&mut self, message: &[u8]) {
        let now = self.now();
        let Some(id) = message_id(message) else { return };
        if let Some(size) = self.plan.response_size() {
            let mut response = vec![0; size];
            write_message(id, &mut response);
            // A refused answer is a message that never completes.
            let _ = self.protocol.send(now, &response);
        } else {
            self.plan.tell(Report::Delivered { id, at: self.since_start(now) });
        }
    }

    fn tell_state(&mut self) {
        let role = self.plan.role;
        match self.protocol.state() {
            State::Established if self.told < Told::Established => {
                let (at, delivery) = (self.now(), self.protocol.delivery());
                self.plan.tell(Report::Established { role, at, delivery });
                self.told = Told::Established;
            }
            State::Closed(reason) if self.told < Told::Closed => {
                self.plan.tell(Report::Closed { role, reason });
                self.told = Told::Closed;
            }
            _ => {}
        }
    }

    fn wait(&mut self) {
        let heartbeat = self.now() + self.plan.bounds.pace().heartbeat();
        let timers = [self.wakeup, self.next_message()];
        let deadline = timers.into_iter().flatten().fold(heartbeat, Instant::min);
        let source = |socket| PollFd::new(AsFd::as_fd(socket), PollFlags::POLLIN);
        let mut sources: Vec<_> = self.plan.sockets.iter().map(source).collect();
        self.waiter.wait(&mut sources, deadline);
        let readable = sources.iter().map(|source| source.any() != Some(false));
        self.readable = readable.collect();
    }

    /// When the vehicle's next message is due; `None` after the last, and before the start is
    /// agreed.
    fn next_message(&self) -> Option<Instant> {
        let periodic = self.plan.workload.periodic();
        let more = self.plan.role == Role::Client && self.next_id < periodic.count();
        self.start.filter(|_| more).map(|start| start + periodic.due(self.next_id))
    }

    fn since_start(&self, at: Instant) -> Duration {
        self.start.map_or(Duration::ZERO, |start| at.saturating_since(start))
    }

    fn cpu_time(&self) -> Duration {
        thread_cpu_time().saturating_sub(self.waiter.spun())
    }

    fn finish(self) -> Ended {
        // A namespace that cannot be entered any more has nothing to say.
        let overflowed = self.plan.host.run(udp_overflows).unwrap_or_default();
        Ended {
            delivery: self.protocol.delivery(),
            statistics: self.protocol.statistics(),
            cpu: self.cpu_time().saturating_sub(self.cpu_before),
            sends: self.sends,
            reads: self.reads,
            stalls: self.waiter.stalls(),
            realtime: self.waiter.is_realtime(),
            damage: Damage { overflowed, unsendable: self.unsendable, ..Damage::default() },
            _sockets: self.plan.sockets,
        }
    }
}

fn ecn(tos: u8) -> Ecn {
    match tos & 0b11 {
        0b01 => Ecn::Capable1,
        0b10 => Ecn::Capable0,
        0b11 => Ecn::CongestionExperienced,
        _ => Ecn::NotCapable,
    }
}
