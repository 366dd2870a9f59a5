//! The thread in the middle namespace: reads the frames that come out of each path's two veth
//! pairs, puts them through the links of that path, and sends them on when they are due.

use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::Duration;

use nix::poll::{PollFd, PollFlags};

use super::arrivals::{Arrival, Arrivals};
use super::one_way::{Due, OneWay};
use crate::engine::Trial;
use crate::engine::bounds::Bounds;
use crate::engine::buffer::Buffer;
use crate::engine::fidelity::{Damage, Lateness, STALL, Stalls};
use crate::engine::frame::Unfit;
use crate::engine::packet_socket::PacketSocket;
use crate::engine::real_clock::{Clock, Sequence, thread_cpu_time};
use crate::engine::syscalls::BATCH;
use crate::engine::waiter::{Priority, Waiter};
use crate::recording::receipt::PathReceipts;
use crate::recording::{PathWire, Volume, WireCount};
use crate::units::{Direction, Instant, PathId};

/// How long before a deadline the relay is awake.
const SPIN: Duration = Duration::from_micros(100);
/// It looks at least this often whether the trial goes on.
const HEARTBEAT: Duration = Duration::from_millis(20);
/// Batches read from one socket before the others have their turn.
const BATCHES_AT_ONCE: usize = 4;
/// Batches sent in one direction of a path before the sockets are read again: more than were read,
/// so that what is due does not pile up.
const BATCHES_SENT_AT_ONCE: usize = 2 * BATCHES_AT_ONCE;

/// The relay of one trial. Made on the thread that it runs on.
pub(super) struct Middle {
    paths: Vec<Path>,
    bounds: Arc<Bounds>,
    clock: Clock,
    start: Option<Instant>,
    arrivals: Arrivals,
    outgoing: Vec<Buffer>,
    dues: Vec<Due>,
    packets: Lateness,
    stamps: Lateness,
    changes: Lateness,
    damage: Damage,
}

/// Both directions of a path.
pub(super) struct Path {
    up: Lane,
    down: Lane,
}

/// One direction: where frames come from, and the link. They leave through the other lane's socket.
struct Lane {
    entry: PacketSocket,
    arrived: Sequence,
    link: OneWay,
}

/// What the relay did and how well.
pub(super) struct Relayed {
    pub(super) handshake_up: WireCount,
    pub(super) handshake_down: WireCount,
    pub(super) wire: Vec<PathWire>,
    pub(super) receipts: Vec<PathReceipts>,
    pub(super) volumes: Vec<Volume>,
    pub(super) packets: Lateness,
    pub(super) stamps: Lateness,
    pub(super) changes: Lateness,
    pub(super) damage: Damage,
    pub(super) stalls: Stalls,
    pub(super) realtime: bool,
    /// Processor time of the relay's thread, waiting awake left out.
    pub(super) cpu: Duration,
}

impl Middle {
    pub(super) fn new(paths: Vec<Path>, bounds: Arc<Bounds>) -> Self {
        Self {
            paths,
            clock: bounds.clock(),
            bounds,
            start: None,
            arrivals: Arrivals::new(),
            outgoing: Vec::with_capacity(BATCH),
            dues: Vec::with_capacity(BATCH),
            packets: Lateness::default(),
            stamps: Lateness::default(),
            changes: Lateness::default(),
            damage: Damage::default(),
        }
    }

    /// `entries`: for each path the sockets of the vehicle's and of the cloud's veth.
    pub(super) fn of_trial(
        trial: &Trial,
        entries: Vec<(PacketSocket, PacketSocket)>,
        bounds: Arc<Bounds>,
    ) -> Self {
        let link = |id, direction| OneWay::new(trial, PathId(id), direction);
        let path =
            |(entries, id)| Path::new(entries, link(id, Direction::Up), link(id, Direction::Down));
        Self::new(entries.into_iter().zip(0..).map(path).collect(), bounds)
    }

    /// Relays until the trial is over; to be called on a thread of its own.
    pub(super) fn run(mut self) -> io::Result<Relayed> {
        let mut waiter = Waiter::new(self.clock, self.bounds.pace(), Priority::Relay, SPIN);
        while !self.bounds.is_over() {
            self.agree_on_start(&mut waiter);
            // What is due goes first: it is what the wait was for, and reading takes a while.
            self.send_all();
            self.read_all(&mut waiter)?;
            self.send_all();
            let deadline = self.deadline();
            let mut sources = self.sources();
            waiter.wait(&mut sources, deadline);
            if sources.iter().any(failed) {
                self.check_interfaces()?;
            }
        }
        Ok(self.finish(&waiter))
    }

    fn agree_on_start(&mut self, waiter: &mut Waiter) {
        if self.start.is_some() {
            return;
        }
        self.start = self.bounds.start();
        if let Some(start) = self.start {
            self.paths.iter_mut().for_each(|path| path.set_start(start));
            waiter.start_counting_stalls();
            self.stamps = Lateness::default();
        }
    }

    fn read_all(&mut self, waiter: &mut Waiter) -> io::Result<()> {
        for path in &mut self.paths {
            for lane in [&mut path.up, &mut path.down] {
                let Self { clock, arrivals, damage, stamps, .. } = self;
                let oldest = lane.read(*clock, arrivals, damage, stamps)?;
                let waited = oldest.map(|at| self.clock.now().saturating_since(at));
                if let Some(waited) = waited.filter(|waited| *waited > STALL) {
                    waiter.note_stall(waited);
                }
            }
        }
        Ok(())
    }

    fn send_all(&mut self) {
        for index in 0..self.paths.len() {
            for direction in [Direction::Up, Direction::Down] {
                let (link, _) = self.paths[index].towards(direction);
                if let Some(late) = link.catch_up(self.clock.now()) {
                    self.changes.record(late);
                }
                let mut batches = 0..BATCHES_SENT_AT_ONCE;
                while batches.next().is_some() && self.send(index, direction) == BATCH {}
            }
        }
    }

    /// Sends what is due in one direction of a path, at most a batch of it; how much there was.
    fn send(&mut self, index: usize, direction: Direction) -> usize {
        let (link, exit) = self.paths[index].towards(direction);
        let now = self.clock.now();
        while self.outgoing.len() < BATCH
            && let Some(leaving) = link.pop(now)
        {
            self.outgoing.extend(leaving.frame);
            self.dues.extend(leaving.due);
        }
        let count = self.outgoing.len();
        if count > 0 {
            self.damage.unsendable += exit.send(&self.outgoing) as u64;
            self.outgoing.clear();
        }
        if !self.dues.is_empty() {
            let left = self.clock.now();
            self.dues.drain(..).for_each(|due| self.packets.record(link.sent(&due, left)));
        }
        count
    }

    fn deadline(&self) -> Instant {
        let heartbeat = self.clock.now() + HEARTBEAT;
        let links = self.paths.iter().flat_map(|path| [&path.up.link, &path.down.link]);
        links.filter_map(OneWay::next_wakeup).fold(heartbeat, Instant::min)
    }

    fn sources(&self) -> Vec<PollFd<'_>> {
        let lanes = self.paths.iter().flat_map(|path| [&path.up, &path.down]);
        lanes.map(|lane| PollFd::new(lane.entry.as_fd(), PollFlags::POLLIN)).collect()
    }

    fn check_interfaces(&self) -> io::Result<()> {
        let mut lanes = self.paths.iter().flat_map(|path| [&path.up, &path.down]);
        lanes.try_for_each(|lane| lane.entry.check())
    }

    fn finish(mut self, waiter: &Waiter) -> Relayed {
        let lanes = self.paths.iter().flat_map(|path| [&path.up, &path.down]);
        for lane in lanes {
            self.damage.overflowed += lane.entry.overflowed();
            self.damage.unheld += lane.link.unheld();
            lane.link.missed().into_iter().for_each(|missed| self.changes.record(missed));
        }
        let wire = |(path, id): (&Path, u8)| PathWire {
            path: PathId(id),
            up: path.up.link.count(),
            down: path.down.link.count(),
            kernel: None,
        };
        let receipts = |(path, id): (&mut Path, u8)| PathReceipts {
            path: PathId(id),
            up: path.up.link.take_receipts(),
            down: path.down.link.take_receipts(),
        };
        let ways = self.paths.iter_mut().flat_map(|path| [&mut path.up.link, &mut path.down.link]);
        Relayed {
            volumes: ways.filter_map(OneWay::take_volume).collect(),
            receipts: self.paths.iter_mut().zip(0..).map(receipts).collect(),
            handshake_up: self.paths.iter().map(|path| path.up.link.handshake()).sum(),
            handshake_down: self.paths.iter().map(|path| path.down.link.handshake()).sum(),
            wire: self.paths.iter().zip(0..).map(wire).collect(),
            packets: self.packets,
            stamps: self.stamps,
            changes: self.changes,
            damage: self.damage,
            stalls: waiter.stalls(),
            realtime: waiter.is_realtime(),
            cpu: thread_cpu_time().saturating_sub(waiter.spun()),
        }
    }
}

fn failed(source: &PollFd<'_>) -> bool {
    source.revents().is_some_and(|events| events.contains(PollFlags::POLLERR))
}

impl Path {
    /// `entries`: the sockets of the vehicle's and of the cloud's veth.
    pub(super) fn new(
        (vehicle, cloud): (PacketSocket, PacketSocket),
        up: OneWay,
        down: OneWay,
    ) -> Self {
        let lane = |entry, link| Lane { entry, arrived: Sequence::new(), link };
        Self { up: lane(vehicle, up), down: lane(cloud, down) }
    }

    fn set_start(&mut self, start: Instant) {
        self.up.link.set_start(start);
        self.down.link.set_start(start);
    }

    /// The link of a direction, and the socket its frames leave by.
    fn towards(&mut self, direction: Direction) -> (&mut OneWay, &PacketSocket) {
        match direction {
            Direction::Up => (&mut self.up.link, &self.down.entry),
            Direction::Down => (&mut self.down.link, &self.up.entry),
        }
    }
}

impl Lane {
    /// Puts what has arrived into the link; when the oldest of it arrived.
    fn read(
        &mut self,
        clock: Clock,
        arrivals: &Arrivals,
        damage: &mut Damage,
        stamps: &mut Lateness,
    ) -> io::Result<Option<Instant>> {
        let mut oldest = None;
        for _ in 0..BATCHES_AT_ONCE {
            let count = self.entry.waiting(BATCH);
            if count == 0 {
                break;
            }
            // After the last of them came, so that none is from the future.
            let (offset, now) = (clock.realtime_offset(), clock.now());
            stamps.record_many(offset.doubt(), count as u64);
            for _ in 0..count {
                match arrivals.take(&mut self.entry)? {
                    Some(Arrival::Frame { buffer, stamp }) => {
                        let at = self.arrived.next(stamp, offset, now);
                        oldest.get_or_insert(at);
                        match self.link.push(at, buffer, arrivals.pool()) {
                            // Foreign: nothing that an endpoint sent.
                            Ok(()) | Err(Unfit::Foreign) => {}
                            Err(Unfit::SuperPacket) => damage.super_packets += 1,
                        }
                    }
                    Some(Arrival::TooLong) => damage.super_packets += 1,
                    Some(Arrival::NoRoom) => damage.unheld += 1,
                    Some(Arrival::Overflowed) => damage.overflowed += 1,
                    None => break,
                }
            }
            if count < BATCH {
                break;
            }
        }
        Ok(oldest)
    }
}
