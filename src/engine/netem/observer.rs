//! The thread that keeps the books of every path: it sees each frame enter and leave through taps
//! on both ends, and so knows what netem did to it. It is nowhere in the way of a frame, and may be
//! late.

use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::Receiver;
use std::thread;
use std::time::Duration;

use nix::poll::{PollFd, PollFlags, poll};

use super::changes::Changed;
use super::fingerprint::{Fingerprint, LONGEST_FRAME};
use super::ledger::{Count, Ledger, Remains};
use crate::engine::Pace;
use crate::engine::bounds::Bounds;
use crate::engine::lab::Taps;
use crate::engine::real_clock::Clock;
use crate::engine::receive_batch::ReceiveBatch;
use crate::engine::syscalls::BATCH;
use crate::engine::tap::Tap;
use crate::link::profile::LinkProfile;
use crate::recording::Volume;

/// The books are brought up to what happened this long ago: by then the kernel has handed out every
/// frame that it had stamped, and the changes of that time are known.
const HOLD: Duration = Duration::from_millis(5);
/// Between two looks in real time, so that it does not wake for each frame. In virtual time no
/// frame can be missed for want of a processor, and the heartbeat is enough.
const NAP: Duration = Duration::from_millis(3);

/// The kernel's timers may let a packet go this much late without being wrong: interrupts have to
/// come, and other work to be done first.
const SLACK: Duration = Duration::from_micros(200);
/// The same where work takes no time.
const VIRTUAL_SLACK: Duration = Duration::from_micros(1);

/// The observer of one trial.
pub(super) struct Observer {
    ways: Vec<Way>,
    changes: Receiver<Changed>,
    clock: Clock,
    pace: Pace,
    batch: ReceiveBatch,
    /// Seen and not yet in the books.
    events: Vec<Event>,
    end: End,
}

/// When an observer is to end.
pub(super) struct End {
    pub(super) stop: Arc<AtomicBool>,
    pub(super) closing: Closing,
}

/// Up to which stamp the books are kept: for ever, as long as nobody closes them.
#[derive(Clone)]
pub(super) struct Closing(Arc<AtomicU64>);

impl Closing {
    pub(super) fn open() -> Self {
        Self(Arc::new(AtomicU64::new(u64::MAX)))
    }

    /// Later than the last time to keep them for longer. What came after the stamp and before this
    /// call may be in them; so it is in a count that is taken after it.
    pub(super) fn close_at(&self, stamp: u64) {
        self.0.store(stamp, Ordering::Release);
    }

    fn stamp(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }
}

/// One direction of a path.
struct Way {
    taps: Taps,
    ledger: Ledger,
}

/// What is known of one direction of a path beforehand.
pub(super) struct Foreseen {
    /// Until the workload starts.
    pub(super) clean: LinkProfile,
    /// netem has a token bucket behind it.
    pub(super) bucket: bool,
    /// To be kept.
    pub(super) volume: Option<Volume>,
}

/// The books when the observer has ended.
pub(super) struct Books(Vec<Way>);

/// What the books say in the end; for each path up, then down.
pub(super) struct Observed {
    pub(super) counts: Vec<[Count; 2]>,
    /// Frames that a tap had no room for.
    pub(super) unseen: u64,
}

struct Event {
    stamp: u64,
    way: usize,
    what: What,
}

enum What {
    Change(Box<LinkProfile>),
    Entry(Fingerprint),
    Exit(Fingerprint),
}

impl What {
    /// Of what has the same stamp: a change comes before what it was made for, and a frame enters
    /// before it leaves.
    fn rank(&self) -> u8 {
        match self {
            Self::Change(_) => 0,
            Self::Entry(_) => 1,
            Self::Exit(_) => 2,
        }
    }
}

impl Observer {
    /// `taps` and `foreseen`: for each path up and down.
    pub(super) fn new(
        taps: Vec<[Taps; 2]>,
        foreseen: Vec<[Foreseen; 2]>,
        horizon: Duration,
        changes: Receiver<Changed>,
        bounds: &Bounds,
        end: End,
    ) -> Self {
        let (clock, pace) = (bounds.clock(), bounds.pace());
        let slack = match pace {
            Pace::Real => SLACK,
            Pace::Virtual => VIRTUAL_SLACK,
        };
        let way = |(taps, foreseen): (Taps, Foreseen)| {
            let ledger = Ledger::new(&foreseen.clean, horizon, slack).with_volume(foreseen.volume);
            Way { taps, ledger: if foreseen.bucket { ledger.with_bucket() } else { ledger } }
        };
        Self {
            ways: taps.into_iter().flatten().zip(foreseen.into_iter().flatten()).map(way).collect(),
            changes,
            clock,
            pace,
            batch: ReceiveBatch::new(LONGEST_FRAME),
            events: Vec::new(),
            end,
        }
    }

    /// Keeps the books until it is told to stop.
    pub(super) fn run(mut self) -> io::Result<Books> {
        loop {
            let stopping = self.end.stop.load(Ordering::Acquire);
            let now = self.clock.stamp();
            self.read_all()?;
            self.take_changes();
            let closing = self.end.closing.stamp();
            if stopping {
                self.write_down(closing);
                return Ok(Books(self.ways));
            }
            self.write_down(now.saturating_sub(HOLD.as_nanos() as u64).min(closing));
            self.wait();
        }
    }

    fn read_all(&mut self) -> io::Result<()> {
        let Self { ways, batch, events, clock, .. } = self;
        for (way, Way { taps, .. }) in ways.iter().enumerate() {
            read(&taps.exit, batch, *clock, &mut |stamp, print| {
                events.push(Event { stamp, way, what: What::Exit(print) });
            })?;
            read(&taps.entry, batch, *clock, &mut |stamp, print| {
                events.push(Event { stamp, way, what: What::Entry(print) });
            })?;
        }
        Ok(())
    }

    fn take_changes(&mut self) {
        for Changed { path, direction, stamp, profile } in self.changes.try_iter() {
            let way = path.index() * 2 + direction.index();
            self.events.push(Event { stamp, way, what: What::Change(Box::new(profile)) });
        }
    }

    /// Puts everything up to a stamp into the books, in order.
    fn write_down(&mut self, until: u64) {
        // Stable: what came by one tap stays in its order.
        self.events.sort_by_key(|event| (event.stamp, event.what.rank()));
        let due = self.events.partition_point(|event| event.stamp <= until);
        for Event { stamp, way, what } in self.events.drain(..due) {
            let ledger = &mut self.ways[way].ledger;
            match what {
                What::Change(profile) => ledger.change(stamp, &profile),
                What::Entry(print) => ledger.enter(stamp, print),
                What::Exit(print) => ledger.leave(stamp, print),
            }
        }
    }

    fn wait(&self) {
        let heartbeat = self.pace.heartbeat();
        if self.pace == Pace::Virtual {
            thread::sleep(heartbeat);
            return;
        }
        let taps = self.ways.iter().flat_map(|way| [&way.taps.entry, &way.taps.exit]);
        let source = |tap| PollFd::new(AsFd::as_fd(tap), PollFlags::POLLIN);
        let mut sources: Vec<_> = taps.map(source).collect();
        // A signal ends the wait early, which does no harm.
        let _ = poll(&mut sources, heartbeat.as_millis() as u16);
        thread::sleep(NAP);
    }
}

impl Books {
    /// Closes them; `remains`: for each path up and down.
    pub(super) fn close(self, remains: &[[Remains; 2]]) -> Observed {
        let mut unseen = 0;
        let mut counts = Vec::new();
        let mut ways = self.0.into_iter();
        for remains in remains {
            let Some((up, down)) = ways.next().zip(ways.next()) else { break };
            unseen += up.unseen() + down.unseen();
            counts.push([up.ledger.finish(remains[0]), down.ledger.finish(remains[1])]);
        }
        Observed { counts, unseen }
    }
}

impl Way {
    fn unseen(&self) -> u64 {
        self.taps.entry.overflowed() + self.taps.exit.overflowed()
    }
}

/// Everything that waits at a tap; what comes in meanwhile may be left for the next time.
fn read(
    tap: &Tap,
    batch: &mut ReceiveBatch,
    clock: Clock,
    seen: &mut dyn FnMut(u64, Fingerprint),
) -> io::Result<()> {
    loop {
        let count = tap.receive(batch)?;
        for (frame, received) in batch.iter() {
            let stamp = received.stamp.unwrap_or_else(|| clock.stamp());
            seen(stamp, Fingerprint::of(frame));
        }
        if count < BATCH {
            return Ok(());
        }
    }
}
