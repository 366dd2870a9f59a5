//! The thread in the middle namespace: reads the frames that come out of each path's two veth
//! pairs, puts them through the links of that path, and sends them on when they are due.

use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::Duration;

use nix::poll::{PollFd, PollFlags};

use super::one_way::{Due, OneWay};
use crate::engine::Trial;
use crate::engine::bounds::Bounds;
use crate::engine::fidelity::{Damage, Lateness, STALL, Stalls};
use crate::engine::frame::{Frame, Unfit};
use crate::engine::packet_socket::PacketSocket;
use crate::engine::real_clock::Clock;
use crate::engine::syscalls::{BATCH, ReceiveBatch};
use crate::engine::waiter::{Priority, Waiter};
use crate::recording::receipt::PathReceipts;
use crate::recording::{PathWire, WireCount};
use crate::units::{Direction, Instant, PathId};

/// How long before a deadline the relay is awake.
const SPIN: Duration = Duration::from_micros(100);
/// It looks at least this often whether the trial goes on.
const HEARTBEAT: Duration = Duration::from_millis(20);
/// A frame of a path with an MTU of 1,500 bytes, its headers, and room to tell that it is too long.
const FRAME_BUFFER: usize = 2048;
/// Batches read from one socket before the others have their turn.
const BATCHES_AT_ONCE: usize = 8;
/// Frames sent at once before the clock is read again.
const FRAMES_AT_ONCE: usize = 2 * BATCH;

/// The relay of one trial.
pub(in crate::engine) struct Middle {
    paths: Vec<Path>,
    bounds: Arc<Bounds>,
    clock: Clock,
    start: Option<Instant>,
    batch: ReceiveBatch,
    outgoing: Vec<Vec<u8>>,
    dues: Vec<Due>,
    packets: Lateness,
    stamps: Lateness,
    changes: Lateness,
    damage: Damage,
}

struct Path {
    up: Lane,
    down: Lane,
}

/// One direction: where frames come from, and the link. They leave through the other lane's socket.
struct Lane {
    entry: PacketSocket,
    link: OneWay,
}

/// What the relay did and how well.
pub(in crate::engine) struct Relayed {
    pub(in crate::engine) handshake_up: WireCount,
    pub(in crate::engine) handshake_down: WireCount,
    pub(in crate::engine) wire: Vec<PathWire>,
    pub(in crate::engine) receipts: Vec<PathReceipts>,
    pub(in crate::engine) packets: Lateness,
    pub(in crate::engine) stamps: Lateness,
    pub(in crate::engine) changes: Lateness,
    pub(in crate::engine) damage: Damage,
    pub(in crate::engine) stalls: Stalls,
    pub(in crate::engine) realtime: bool,
}

impl Middle {
    /// `entries`: for each path the sockets of the vehicle's and of the cloud's veth.
    pub(in crate::engine) fn new(
        trial: &Trial,
        entries: Vec<(PacketSocket, PacketSocket)>,
        bounds: Arc<Bounds>,
    ) -> Self {
        let path = |((vehicle, cloud), id)| {
            let lane =
                |entry, direction| Lane { entry, link: OneWay::new(trial, PathId(id), direction) };
            Path { up: lane(vehicle, Direction::Up), down: lane(cloud, Direction::Down) }
        };
        Self {
            paths: entries.into_iter().zip(0..).map(path).collect(),
            clock: bounds.clock(),
            bounds,
            start: None,
            batch: ReceiveBatch::new(FRAME_BUFFER),
            outgoing: Vec::with_capacity(FRAMES_AT_ONCE),
            dues: Vec::with_capacity(FRAMES_AT_ONCE),
            packets: Lateness::default(),
            stamps: Lateness::default(),
            changes: Lateness::default(),
            damage: Damage::default(),
        }
    }

    /// Relays until the trial is over; to be called on a thread of its own.
    pub(in crate::engine) fn run(mut self) -> io::Result<Relayed> {
        let mut waiter = Waiter::new(self.clock, self.bounds.pace(), Priority::Relay, SPIN);
        while !self.bounds.is_over() {
            self.agree_on_start(&mut waiter);
            self.read_all(&mut waiter)?;
            self.send_all();
            let deadline = self.deadline();
            waiter.wait(&mut self.sources(), deadline);
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
                let Self { clock, batch, damage, stamps, .. } = self;
                let oldest = lane.read(*clock, batch, damage, stamps)?;
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
            self.send(index, Direction::Up);
            self.send(index, Direction::Down);
        }
    }

    /// Sends what is due in one direction of a path.
    fn send(&mut self, index: usize, direction: Direction) {
        let (link, exit) = self.paths[index].towards(direction);
        let now = self.clock.now();
        if let Some(late) = link.catch_up(now) {
            self.changes.record(late);
        }
        while let Some(leaving) = link.pop(now) {
            self.outgoing.push(leaving.frame);
            self.dues.extend(leaving.due);
            if self.outgoing.len() == FRAMES_AT_ONCE {
                break;
            }
        }
        if self.outgoing.is_empty() {
            return;
        }
        self.damage.unsendable += exit.send(&self.outgoing) as u64;
        let left = self.clock.now();
        self.dues.drain(..).for_each(|due| self.packets.record(link.sent(&due, left)));
        self.outgoing.clear();
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

    fn finish(mut self, waiter: &Waiter) -> Relayed {
        let lanes = self.paths.iter().flat_map(|path| [&path.up, &path.down]);
        self.damage.overflowed += lanes.map(|lane| lane.entry.overflowed()).sum::<u64>();
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
        let receipts = self.paths.iter_mut().zip(0..).map(receipts).collect();
        Relayed {
            receipts,
            handshake_up: self.paths.iter().map(|path| path.up.link.handshake()).sum(),
            handshake_down: self.paths.iter().map(|path| path.down.link.handshake()).sum(),
            wire: self.paths.iter().zip(0..).map(wire).collect(),
            packets: self.packets,
            stamps: self.stamps,
            changes: self.changes,
            damage: self.damage,
            stalls: waiter.stalls(),
            realtime: waiter.is_realtime(),
        }
    }
}

impl Path {
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
        batch: &mut ReceiveBatch,
        damage: &mut Damage,
        stamps: &mut Lateness,
    ) -> io::Result<Option<Instant>> {
        let mut oldest = None;
        for _ in 0..BATCHES_AT_ONCE {
            let count = self.entry.receive(batch)?;
            if count == 0 {
                break;
            }
            let (offset, now) = (clock.realtime_offset(), clock.now());
            for (bytes, received) in batch.iter() {
                let stamp = received.stamp.map(|stamp| offset.to_trial(stamp));
                stamps.record(offset.doubt());
                let at = stamp.unwrap_or(now).min(now);
                oldest.get_or_insert(at);
                let mut frame = bytes.to_vec();
                match Frame::new(&mut frame) {
                    _ if received.truncated => damage.super_packets += 1,
                    Ok(_) => self.link.push(at, frame),
                    Err(Unfit::SuperPacket) => damage.super_packets += 1,
                    // Nothing that an endpoint sent.
                    Err(Unfit::Foreign) => {}
                }
            }
            if count < BATCH {
                break;
            }
        }
        Ok(oldest)
    }
}
