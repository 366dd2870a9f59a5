//! The kernel's own netem between network namespaces, told the same settings as the link model, and
//! changed at the instants of the timeline. In real time on any kernel that has netem; in virtual
//! time on one that travels in time.

mod aside;
mod changes;
mod error;
mod fingerprint;
mod ledger;
mod observer;
pub mod options;
mod outcome;
mod possible;
mod probe;

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

pub use self::error::NetemError;
pub use self::possible::possible;

use self::aside::Aside;
use self::changes::{Changes, Shaped, Shaping};
use self::observer::{Books, Closing, End, Foreseen, Observer};
use self::outcome::{Counters, Measured, outcome};
use super::bounds::Bounds;
use super::conductor::Conductor;
use super::lab::{Joint, Lab};
use super::pace::Pace;
use super::real_clock::Clock;
use super::side_by_side::side_by_side;
use super::{Engine, EngineError, EngineKind, Event, Trial, kernel_socket};
use crate::link::profile::{LinkProfile, SlotSpacing, TokenBucket};
use crate::protocol::Role;
use crate::recording::Recording;
use crate::scenario::plan::Plan;
use crate::units::{Direction, IpVersion, PathId};

/// How long the paths may take to run empty after a trial.
const DRAIN: Duration = Duration::from_secs(2);
const DRAIN_ROUND: Duration = Duration::from_millis(5);

#[derive(Debug, Clone, Copy)]
pub struct Netem {
    pace: Pace,
}

impl Netem {
    /// At the pace of the kernel that it runs on.
    pub fn new(pace: Pace) -> Self {
        Self { pace }
    }

    /// Whether a trial could be run here: builds the network of one, sets netem in it with every
    /// setting that it has, reads that back, and takes it down.
    pub fn probe() -> Result<(), EngineError> {
        let lab = Lab::build(&[IpVersion::V4], Joint::Bridge)?;
        lab.taps()?;
        lab.endpoint_sockets(Role::Client)?;
        Ok(Shaping::probe(&lab)?)
    }
}

impl Engine for Netem {
    fn kind(&self) -> EngineKind {
        EngineKind::Netem
    }

    fn admit(&self, plan: &Plan) -> Result<(), EngineError> {
        possible(plan)?;
        kernel_socket::admit(&plan.senders)
    }

    /// Virtual time goes by for all trials at once: each would only wait for the others.
    fn side_by_side(&self, plan: &Plan) -> usize {
        match self.pace {
            Pace::Real => side_by_side(plan),
            Pace::Virtual => 1,
        }
    }

    fn run(
        &self,
        trial: &Trial,
        events: &mut dyn FnMut(Event) -> ControlFlow<()>,
    ) -> Result<Recording, EngineError> {
        let lab = Lab::of(&trial.plan.paths, Joint::Bridge)?;
        let bounds = Arc::new(Bounds::new(self.pace));
        let threads = Threads::start(trial, &lab, &bounds)?;
        let clock = bounds.clock();
        let conducted = Conductor::new(trial, &lab, bounds)?.conduct(events);
        // If a change failed, that is why the trial ended.
        let shaped = threads.changes.end()?;
        let counters = run_empty(&lab, trial.plan.paths.len(), &threads.closing, clock)?;
        let books = threads.observer.end()?;
        let conducted = conducted?;
        let counters = outcome::since(&shaped.at_start, counters);
        let remains = |path: &[Counters; 2]| path.map(|way| way.remains());
        let observed = books.close(&counters.iter().map(remains).collect::<Vec<_>>());
        let measured = Measured { pace: self.pace, conducted, shaped, observed, counters };
        Ok(Recording::new(trial, EngineKind::Netem, outcome(measured)))
    }
}

/// What runs beside the endpoints.
struct Threads {
    changes: Aside<Result<Shaped, NetemError>>,
    observer: Aside<Result<Books, NetemError>>,
    closing: Closing,
}

impl Threads {
    /// The clean profile is in place, and the taps are open, before the first packet.
    fn start(trial: &Trial, lab: &Lab, bounds: &Arc<Bounds>) -> Result<Self, EngineError> {
        let shaping = Shaping::begin(trial, lab)?;
        let (tell, told) = channel();
        let (taps, horizon) = (lab.taps()?, horizon(&trial.plan));
        let (foreseen, closing) = (foreseen(trial), Closing::open());
        let observer = Aside::start("observer", bounds, |stop| {
            let end = End { stop, closing: closing.clone() };
            let observer = Observer::new(taps, foreseen, horizon, told, bounds, end);
            move || observer.run().map_err(NetemError::Tap)
        })?;
        let plan = Changes::new(trial, shaping, Arc::clone(bounds), tell)?;
        let changes = Aside::start("netem", bounds, |stop| move || plan.run(&stop))?;
        Ok(Self { changes, observer, closing })
    }
}

/// For each path up and down.
fn foreseen(trial: &Trial) -> Vec<[Foreseen; 2]> {
    let buckets = (0..).map(PathId).zip(changes::buckets(&trial.plan));
    let both = buckets.map(|(path, [up, down])| {
        [(Direction::Up, up), (Direction::Down, down)].map(|(direction, bucket)| Foreseen {
            clean: trial.clean_profile(path, direction),
            bucket,
            volume: trial.volume(path, direction),
        })
    });
    both.collect()
}

/// Waits until every netem is empty, so that what has not left by then is known to be lost. What
/// each of them has counted by the end, and the books are closed at just that instant: no counter
/// moves around it, so what was seen until then is in both counts, and what a sender says later (an
/// acknowledgement that it had delayed, a timer that runs out) is in neither.
fn run_empty(
    lab: &Lab,
    paths: usize,
    closing: &Closing,
    clock: Clock,
) -> Result<Vec<[Counters; 2]>, EngineError> {
    let mut rounds = DRAIN.as_millis() / DRAIN_ROUND.as_millis();
    loop {
        let before = outcome::counters(lab, paths)?;
        closing.close_at(clock.stamp());
        let counters = outcome::counters(lab, paths)?;
        let is_empty = counters.iter().flatten().all(|way| way.remains().queued == 0);
        if is_empty && counters == before || rounds == 0 {
            return Ok(counters);
        }
        rounds -= 1;
        thread::sleep(DRAIN_ROUND);
    }
}

/// How long a packet may stay on any link of a plan: the observer waits for it that long.
fn horizon(plan: &Plan) -> Duration {
    const SHORTEST: Duration = Duration::from_secs(10);
    const LONGEST: Duration = Duration::from_secs(60);
    let first = plan.paths.iter().flat_map(|path| [&path.up, &path.down]);
    let later = plan.timeline.changes.iter().map(|change| &change.profile);
    let all = first.chain(later);
    let longest = all.clone().map(longest_stay).max().unwrap_or_default();
    let in_bucket = longest_in_bucket(all.filter_map(|profile| profile.bucket));
    longest.saturating_add(in_bucket).clamp(SHORTEST, LONGEST)
}

/// What waits in a bucket stays there when it changes: the longest queue, at the slowest rate.
fn longest_in_bucket(buckets: impl Iterator<Item = TokenBucket> + Clone) -> Duration {
    let queue = buckets.clone().map(|bucket| bucket.queue).max().unwrap_or(0);
    let rate = buckets.map(|bucket| bucket.rate.bytes_per_second()).min();
    rate.map_or(Duration::ZERO, |rate| seconds(f64::from(queue) / rate as f64))
}

fn seconds(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
}

/// Of a packet of 1,500 bytes that comes last into netem's full queue.
fn longest_stay(profile: &LinkProfile) -> Duration {
    /// Tables reach four times the jitter.
    const SPREAD: u32 = 4;
    const BITS: f64 = 1514.0 * 8.0;
    let delay = profile.delay.saturating_add(profile.jitter.saturating_mul(SPREAD));
    let at_rate = profile.rate.map_or(Duration::ZERO, |limit| {
        seconds(f64::from(profile.limit) * BITS / (limit.rate.bytes_per_second() as f64 * 8.0))
    });
    let in_slots = profile.slot.as_ref().map_or(Duration::ZERO, |slot| match &slot.spacing {
        SlotSpacing::Between { max, .. } => max.saturating_mul(profile.limit),
        SlotSpacing::Distributed { delay, jitter, .. } => {
            delay.saturating_add(jitter.saturating_mul(SPREAD)).saturating_mul(profile.limit)
        }
    });
    delay.saturating_add(at_rate).saturating_add(in_slots)
}
