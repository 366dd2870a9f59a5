//! Many vehicles, each with a connection to the same gateway, in one loop that goes from the next
//! event of any of them to the next. All connections are alive at once, as they are on a gateway.
//! They share the process and its clock, and nothing of the network: each has links and random
//! numbers of its own, and no work of the gateway takes virtual time. So each vehicle's figures are
//! those it would have alone, and what grows with their number is real: processor time and memory.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::ControlFlow;
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use super::meter::Meter;
use super::world::World;
use super::{PROGRESS_INTERVAL, Run};
use crate::engine::syscalls::heap_in_use;
use crate::engine::{EngineError, EngineKind, Event, Outcome, Progress, Trial};
use crate::recording::receipt::add_receipts;
use crate::recording::{FleetCost, MessageLog, Recording};
use crate::units::Instant;

pub(super) fn run(
    trial: &Trial,
    turn: Duration,
    events: &mut dyn FnMut(Event) -> ControlFlow<()>,
) -> Result<Recording, EngineError> {
    let alone = Alone::enter();
    // Only the first is logged: a thousand logs of one trial would be no help.
    let of = |vehicle: u32| {
        let qlog = trial.qlog.clone().filter(|_| vehicle == 0);
        Trial { vehicle, qlog, ..trial.clone() }
    };
    let trials: Vec<Trial> = (0..trial.plan.vehicles).map(of).collect();
    let mut fleet = Fleet::connected(&trials, events)?;
    let interrupted = fleet.conduct(turn, events)?;
    let (outcomes, cost) = fleet.finish(interrupted, &alone);
    Ok(Recording { cost: Some(cost), ..together(&trials, outcomes) })
}

/// The first vehicle's, with those of the others in it.
fn together(trials: &[Trial], outcomes: Vec<Outcome>) -> Recording {
    let mut recordings = trials
        .iter()
        .zip(outcomes)
        .map(|(trial, outcome)| Recording::new(trial, EngineKind::Sim, outcome));
    let mut first = recordings.next().expect("a plan has a vehicle");
    for mut other in recordings {
        add_receipts(&mut first.receipts_of_others, &std::mem::take(&mut other.receipts));
        first.others.push(other);
    }
    first
}

struct Fleet<'a> {
    runs: Vec<Run<'a>>,
    /// When the next thing happens to each vehicle that is not done.
    next: BinaryHeap<Reverse<(Instant, usize)>>,
    meter: Rc<Meter>,
}

impl<'a> Fleet<'a> {
    fn connected(
        trials: &'a [Trial],
        events: &mut dyn FnMut(Event) -> ControlFlow<()>,
    ) -> Result<Self, EngineError> {
        let mut runs = Vec::with_capacity(trials.len());
        for trial in trials {
            if events(Event::Connecting).is_break() {
                return Err(EngineError::Interrupted { sender: trial.sender().name.clone() });
            }
            let workload = &trial.plan.workload;
            let log = match trial.vehicle {
                0 => MessageLog::new(workload),
                _ => MessageLog::of_many(workload),
            };
            runs.push(Run::connected(trial, log)?);
        }
        let meter = Rc::new(Meter::start());
        runs.iter_mut().for_each(|run| run.world.measure(meter.clone()));
        let next = runs.iter().enumerate().map(|(n, run)| Reverse((run.next_instant(), n)));
        Ok(Self { next: next.collect(), runs, meter })
    }

    /// Whether it was interrupted.
    fn conduct(
        &mut self,
        turn: Duration,
        events: &mut dyn FnMut(Event) -> ControlFlow<()>,
    ) -> Result<bool, EngineError> {
        let mut answer = events(Event::Started { handshake: self.runs[0].handshake.duration });
        let mut next_progress = self.runs[0].start + PROGRESS_INTERVAL;
        while answer.is_continue()
            && let Some(Reverse((at, vehicle))) = self.next.pop()
        {
            let run = &mut self.runs[vehicle];
            run.step()?;
            while !run.is_over() && run.next_instant() < at + turn {
                run.step()?;
            }
            if !run.is_over() {
                self.next.push(Reverse((run.next_instant(), vehicle)));
            }
            if at >= next_progress {
                next_progress = at + PROGRESS_INTERVAL;
                answer = events(Event::Progress(self.progress()));
            }
        }
        Ok(answer.is_break())
    }

    /// Of all together; the latencies are those of the first.
    fn progress(&mut self) -> Progress {
        let first = self.runs[0].progress();
        self.runs.iter_mut().for_each(|run| run.log.forget_recent());
        let sum = |part: fn(&MessageLog) -> u64| self.runs.iter().map(|run| part(&run.log)).sum();
        Progress {
            sent: sum(MessageLog::sent_count),
            delivered: sum(MessageLog::delivered_count),
            ..first
        }
    }

    fn finish(self, interrupted: bool, alone: &Alone) -> (Vec<Outcome>, FleetCost) {
        let [vehicle_cpu, gateway_cpu, lab_cpu] = self.meter.stop().map(|time| {
            u64::try_from(time.as_micros()).expect("no trial takes half a million years")
        });
        let (outcomes, worlds): (Vec<Outcome>, Vec<World>) =
            self.runs.into_iter().map(|run| run.finish(interrupted)).unzip();
        let (vehicles, gateway): (Vec<_>, Vec<_>) =
            worlds.into_iter().map(World::into_ends).unzip();
        let (gateway_heap, vehicle_heap) = (freed(gateway), freed(vehicles));
        let cost = FleetCost {
            gateway_cpu_us: gateway_cpu,
            vehicle_cpu_us: vehicle_cpu,
            lab_cpu_us: lab_cpu,
            gateway_heap_bytes: gateway_heap.filter(|_| alone.is_still_so()),
            vehicle_heap_bytes: vehicle_heap.filter(|_| alone.is_still_so()),
        };
        (outcomes, cost)
    }
}

/// Bytes that the heap gets back with this.
fn freed<T>(held: T) -> Option<u64> {
    let before = heap_in_use()?;
    drop(held);
    Some(before.saturating_sub(heap_in_use()?))
}

/// Whether no other fleet shared the heap, which is one for the whole process.
struct Alone {
    others: u32,
    entered: u32,
}

static RUNNING: AtomicU32 = AtomicU32::new(0);
static ENTERED: AtomicU32 = AtomicU32::new(0);

impl Alone {
    fn enter() -> Self {
        let others = RUNNING.fetch_add(1, Ordering::SeqCst);
        Self { others, entered: ENTERED.fetch_add(1, Ordering::SeqCst) + 1 }
    }

    fn is_still_so(&self) -> bool {
        self.others == 0 && ENTERED.load(Ordering::SeqCst) == self.entered
    }
}

impl Drop for Alone {
    fn drop(&mut self) {
        RUNNING.fetch_sub(1, Ordering::SeqCst);
    }
}
