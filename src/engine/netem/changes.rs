//! The thread that changes what netem does at the instants of the timeline. Every change spells out
//! every setting, replaces the one before it in place (so that there is no moment without one), and
//! is read back and compared.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::time::Duration;

use netns::netem::{History, Options};
use netns::{Encoded, Held, Root, Shaper, tbf};

use super::error::NetemError;
use super::options::{OPEN_BUCKET, bucket, options};
use crate::engine::bounds::Bounds;
use crate::engine::fidelity::{Lateness, Stalls};
use crate::engine::lab::Lab;
use crate::engine::waiter::{Priority, Waiter};
use crate::engine::{Pace, Trial};
use crate::link::profile::LinkProfile;
use crate::scenario::plan::Plan;
use crate::units::{Direction, Instant, PathId};

/// How long before its instant a change is begun: about what the kernel takes for it.
const LEAD: Duration = Duration::from_micros(20);
/// The same in virtual time, where work takes none, but for a fraction of a microsecond each time
/// that a clock is read.
const VIRTUAL_LEAD: Duration = Duration::from_micros(2);
/// How long before that the thread is awake.
const SPIN: Duration = Duration::from_micros(100);

/// A change that the kernel has made.
pub(super) struct Changed {
    pub(super) path: PathId,
    pub(super) direction: Direction,
    /// When the kernel had acknowledged it: CLOCK_REALTIME in nanoseconds, as packets are stamped.
    pub(super) stamp: u64,
    pub(super) profile: LinkProfile,
}

/// The queue disciplines of one trial.
pub(super) struct Shaping {
    shaper: Shaper,
    disciplines: Vec<Discipline>,
    /// The kernel has not told the seed that it was given.
    seedless: bool,
}

/// netem in one direction of a path.
struct Discipline {
    path: PathId,
    direction: Direction,
    /// For messages.
    path_name: String,
    link: u32,
    link_name: String,
    history: History,
    /// A profile of the plan has a bucket, so that there is one behind netem all the time.
    has_bucket: bool,
}

/// What is to be changed at one instant.
struct Step {
    /// Since the start of the workload; `None`: before it.
    at: Option<Duration>,
    settings: Vec<Setting>,
}

struct Setting {
    discipline: usize,
    profile: LinkProfile,
    /// `None`: the profile has nothing random in it.
    seed: Option<u64>,
}

/// A setting as it will be sent.
struct Prepared {
    discipline: usize,
    asked: Options,
    encoded: Encoded,
    bucket: Option<(tbf::Options, Encoded)>,
}

/// How the changes went.
pub(super) struct Shaped {
    pub(super) lateness: Lateness,
    pub(super) stalls: Stalls,
    pub(super) realtime: bool,
    pub(super) seedless: bool,
    /// What each netem had counted when the workload started; empty if it never did.
    pub(super) at_start: Vec<Held>,
}

impl Shaping {
    /// Sets the clean profile everywhere.
    pub(super) fn begin(trial: &Trial, lab: &Lab) -> Result<Self, NetemError> {
        let buckets = buckets(&trial.plan);
        let paths = trial.plan.paths.iter().zip(buckets).zip(0..);
        let disciplines = paths.flat_map(|((path, buckets), id)| {
            [Direction::Up, Direction::Down].map(|direction| {
                let has_bucket = buckets[direction.index()];
                Discipline::new(&path.name, PathId(id), direction, lab, has_bucket)
            })
        });
        let disciplines: Vec<Discipline> = disciplines.collect();
        let mut shaping = Self { shaper: lab.shaper()?, disciplines, seedless: false };
        let settings = shaping.disciplines.iter().enumerate().map(|(discipline, of)| Setting {
            discipline,
            profile: trial.clean_profile(of.path, of.direction),
            seed: None,
        });
        let step = Step { at: None, settings: settings.collect() };
        let prepared = shaping.prepare(&step)?;
        shaping.set(&step, &prepared)?;
        Ok(shaping)
    }

    /// Sets everything that netem has on the first path, and then nothing of it.
    pub(super) fn probe(lab: &Lab) -> Result<(), NetemError> {
        let discipline = Discipline::new("probe", PathId(0), Direction::Up, lab, false);
        let disciplines = vec![discipline];
        let mut shaping = Self { shaper: lab.shaper()?, disciplines, seedless: false };
        for profile in super::probe::profiles() {
            let settings = vec![Setting { discipline: 0, profile, seed: Some(42) }];
            let step = Step { at: None, settings };
            let prepared = shaping.prepare(&step)?;
            shaping.set(&step, &prepared)?;
        }
        Ok(())
    }

    fn prepare(&mut self, step: &Step) -> Result<Vec<Prepared>, NetemError> {
        let prepare = |setting: &Setting| {
            let discipline = &mut self.disciplines[setting.discipline];
            let asked = options(&setting.profile, setting.seed)
                .map_err(|source| discipline.impossible(source))?;
            let encoded = asked
                .encode_after(&mut discipline.history)
                .map_err(|source| discipline.unencodable(source))?;
            let bucket = bucket(&setting.profile).unwrap_or(OPEN_BUCKET);
            let bucket = discipline.has_bucket.then(|| (bucket, bucket.encode()));
            Ok(Prepared { discipline: setting.discipline, asked, encoded, bucket })
        };
        step.settings.iter().map(prepare).collect()
    }

    /// Makes the changes of a step with one send, and holds what the kernel then has against what
    /// was asked for.
    fn set(&mut self, step: &Step, prepared: &[Prepared]) -> Result<Vec<Held>, NetemError> {
        let disciplines = prepared.iter().map(|prepared| &self.disciplines[prepared.discipline]);
        let roots = disciplines.zip(prepared).map(|(discipline, prepared)| Root {
            link: discipline.link,
            name: &discipline.link_name,
            qdisc: &prepared.encoded,
            child: prepared.bucket.as_ref().map(|(_, encoded)| encoded),
        });
        let roots: Vec<Root<'_>> = roots.collect();
        let held = self.shaper.set(&roots).map_err(|source| self.refused(step, source))?;
        for (prepared, held) in prepared.iter().zip(&held) {
            self.compare(step, prepared, held)?;
        }
        Ok(held)
    }

    fn compare(&mut self, step: &Step, prepared: &Prepared, held: &Held) -> Result<(), NetemError> {
        let discipline = &self.disciplines[prepared.discipline];
        if let Some(((asked, _), child)) = prepared.bucket.as_ref().zip(held.child.as_ref()) {
            discipline.compare_bucket(step.at, asked, &child.options)?;
        }
        let asked = &prepared.asked;
        let held = Options::parse(&held.root.options)
            .map_err(|source| discipline.unreadable(step.at, source))?;
        let mut differences = asked.differences(&held);
        if asked.seed.is_some() && held.seed.is_none() {
            self.seedless = true;
            differences.retain(|option| *option != "seed");
        }
        match differences.first() {
            None => Ok(()),
            Some(option) => Err(discipline.not_held(step.at, option, asked, &held)),
        }
    }

    fn refused(&self, step: &Step, source: netns::QdiscError) -> NetemError {
        let one = step.settings.first().map(|setting| &self.disciplines[setting.discipline]);
        NetemError::Refused {
            path: one.map_or_else(String::new, |one| one.path_name.clone()),
            at: super::error::when(step.at),
            source: Box::new(source),
        }
    }
}

impl Discipline {
    fn new(name: &str, path: PathId, direction: Direction, lab: &Lab, has_bucket: bool) -> Self {
        let (link, link_name) = lab.exit(path, direction);
        let (path_name, history) = (name.to_owned(), History::default());
        Self { path, direction, path_name, link, link_name, history, has_bucket }
    }

    fn compare_bucket(
        &self,
        at: Option<Duration>,
        asked: &tbf::Options,
        held: &[u8],
    ) -> Result<(), NetemError> {
        let Some(option) = asked.differences(held).into_iter().next() else { return Ok(()) };
        let (path, direction) = (self.path_name.clone(), self.direction);
        let at = super::error::when(at);
        Err(NetemError::BucketNotHeld { path, direction, at, option, asked: *asked })
    }

    fn impossible(&self, source: super::options::OptionsError) -> NetemError {
        NetemError::Impossible { path: self.path_name.clone(), direction: self.direction, source }
    }

    fn unencodable(&self, source: netns::netem::EncodeError) -> NetemError {
        NetemError::Unencodable { path: self.path_name.clone(), direction: self.direction, source }
    }

    fn unreadable(&self, at: Option<Duration>, source: netns::netem::ParseError) -> NetemError {
        let (path, direction) = (self.path_name.clone(), self.direction);
        NetemError::Unreadable { path, direction, at: super::error::when(at), source }
    }

    fn not_held(
        &self,
        at: Option<Duration>,
        option: &'static str,
        asked: &Options,
        held: &Options,
    ) -> NetemError {
        NetemError::NotHeld {
            path: self.path_name.clone(),
            direction: self.direction,
            at: super::error::when(at),
            option,
            asked: super::error::value(option, asked),
            held: super::error::value(option, held),
        }
    }
}

/// The changes of one trial, made on a thread of their own.
pub(super) struct Changes {
    shaping: Shaping,
    steps: Vec<Step>,
    bounds: Arc<Bounds>,
    told: Sender<Changed>,
}

impl Changes {
    pub(super) fn new(
        trial: &Trial,
        mut shaping: Shaping,
        bounds: Arc<Bounds>,
        told: Sender<Changed>,
    ) -> Result<Self, NetemError> {
        let steps = steps(trial);
        // What cannot be encoded is found out now and not half-way through.
        let histories: Vec<History> = shaping.disciplines.iter().map(|d| d.history).collect();
        for step in &steps {
            shaping.prepare(step)?;
        }
        shaping.disciplines.iter_mut().zip(histories).for_each(|(d, history)| d.history = history);
        Ok(Self { shaping, steps, bounds, told })
    }

    /// Makes every change until the trial is over.
    pub(super) fn run(mut self, stop: &AtomicBool) -> Result<Shaped, NetemError> {
        let pace = self.bounds.pace();
        let mut waiter = Waiter::new(self.bounds.clock(), pace, Priority::Relay, SPIN);
        let mut lateness = Lateness::default();
        let mut at_start = Vec::new();
        let start = wait_for_start(&self.bounds, &mut waiter, stop);
        for step in std::mem::take(&mut self.steps) {
            let prepared = self.shaping.prepare(&step)?;
            let due = start.map(|start| start + step.at.unwrap_or_default());
            let Some(due) = due.filter(|due| self.wait_for(*due, &mut waiter, stop)) else { break };
            let held = self.shaping.set(&step, &prepared)?;
            let (stamp, now) = (self.bounds.clock().stamp(), self.bounds.clock().now());
            lateness.record(now.saturating_since(due));
            if at_start.is_empty() {
                at_start = held;
            }
            self.tell(step, stamp);
        }
        while !is_over(&self.bounds, stop) {
            waiter.wait(&mut [], self.bounds.clock().now() + pace.heartbeat());
        }
        Ok(Shaped {
            lateness,
            stalls: waiter.stalls(),
            realtime: waiter.is_realtime(),
            seedless: self.shaping.seedless,
            at_start,
        })
    }

    /// Until shortly before a step is due; `false` once the trial is over.
    fn wait_for(&self, due: Instant, waiter: &mut Waiter, stop: &AtomicBool) -> bool {
        let clock = self.bounds.clock();
        let begin = due
            - match self.bounds.pace() {
                Pace::Real => LEAD,
                Pace::Virtual => VIRTUAL_LEAD,
            };
        while !is_over(&self.bounds, stop) {
            let now = clock.now();
            if begin <= now {
                return true;
            }
            waiter.wait(&mut [], begin.min(now + self.bounds.pace().heartbeat()));
        }
        false
    }

    /// The observer may have ended, and then nobody has to know any more.
    fn tell(&self, step: Step, stamp: u64) {
        for Setting { discipline, profile, .. } in step.settings {
            let Discipline { path, direction, .. } = self.shaping.disciplines[discipline];
            let _ = self.told.send(Changed { path, direction, stamp, profile });
        }
    }
}

/// When the workload starts, as soon as that is agreed; `None` once the trial is over. Stalls count
/// from then on.
fn wait_for_start(bounds: &Bounds, waiter: &mut Waiter, stop: &AtomicBool) -> Option<Instant> {
    while !is_over(bounds, stop) {
        if let Some(start) = bounds.start() {
            waiter.start_counting_stalls();
            return Some(start);
        }
        waiter.wait(&mut [], bounds.clock().now() + bounds.pace().heartbeat());
    }
    None
}

fn is_over(bounds: &Bounds, stop: &AtomicBool) -> bool {
    bounds.is_over() || stop.load(Ordering::Acquire)
}

/// For each path up and down, whether a profile of the plan has a bucket: then there is one behind
/// netem all the time. A kernel that has none says so before the workload, and it could not be
/// taken away again without losing what waits in it.
pub(super) fn buckets(plan: &Plan) -> Vec<[bool; 2]> {
    let first = plan.paths.iter().map(|path| [&path.up, &path.down]);
    let mut buckets: Vec<[bool; 2]> =
        first.map(|both| both.map(|profile| profile.bucket.is_some())).collect();
    for change in &plan.timeline.changes {
        let buckets = &mut buckets[change.path.index()];
        buckets[change.direction.index()] |= change.profile.bucket.is_some();
    }
    buckets
}

/// The profiles of the scenario at the start of the workload, then the changes of the timeline,
/// those of one instant together.
fn steps(trial: &Trial) -> Vec<Step> {
    let plan = &trial.plan;
    let mut changes_before = vec![0; plan.paths.len() * 2];
    let mut setting = |path: PathId, direction: Direction, profile: &LinkProfile| {
        let discipline = path.index() * 2 + direction.index();
        let number: usize = changes_before[discipline];
        changes_before[discipline] += 1;
        let seed = Some(trial.link_seed(path, direction, number));
        Setting { discipline, profile: profile.clone(), seed }
    };
    let mut first = Vec::new();
    for (path, id) in plan.paths.iter().zip(0..) {
        first.push(setting(PathId(id), Direction::Up, &path.up));
        first.push(setting(PathId(id), Direction::Down, &path.down));
    }
    let mut steps = vec![Step { at: Some(Duration::ZERO), settings: first }];
    for change in &plan.timeline.changes {
        let setting = setting(change.path, change.direction, &change.profile);
        match steps.last_mut() {
            Some(step) if step.at == Some(change.at) && step.has_room_for(&setting) => {
                step.settings.push(setting);
            }
            _ => steps.push(Step { at: Some(change.at), settings: vec![setting] }),
        }
    }
    steps
}

impl Step {
    fn has_room_for(&self, setting: &Setting) -> bool {
        self.settings.iter().all(|other| other.discipline != setting.discipline)
    }
}

#[cfg(test)]
mod tests;
