//! Model and kernel, packet by packet.
//!
//! Equal means: the same frames refused, lost, sent twice, marked and corrupted, leaving in the
//! same order, each when the model says. A timer of the guest fires when its clock, which goes in
//! steps of 256 ns, shows that it is due, or up to five steps later: the kernel sets no timer
//! for less than 500 ns, adds a nanosecond, and its clock hides what is left of a step. So a frame
//! is on time if it leaves less than [`LATENESS`] after the model's instant, and never before it.
//! Where there are slots that is twice as much: each counts from when the last one opened, and
//! netem sets its timer once more where its clock does not show the instant yet.
//!
//! What netem takes from the kernel's entropy cannot be foretold. The number that a correlated draw
//! begins with is found: one has to exist with which every frame is equal. Which bit of a corrupted
//! frame flips is judged by its distribution.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Duration;

use impairlab::splitmix::SplitMix64;

use crate::flips::Flips;
use crate::guest::{Arrival, Guest, Observed};
use crate::model::{Departure, Expected, expect};
use crate::profiles::{Case, Effect, cases};
use crate::traffic::{CLOCK_STEP, FRAMES, Traffic};

/// How late a frame may leave, that instant excluded.
const LATENESS: Duration = Duration::from_nanos(6 * CLOCK_STEP.as_nanos() as u64);

#[derive(Default)]
struct Summary {
    kinds: BTreeMap<&'static str, [u32; 2]>,
    frames: usize,
    arrivals: usize,
    latest: Duration,
    flips: Flips,
}

pub fn every_profile() -> ExitCode {
    let mut guest = Guest::new();
    let mut summary = Summary::default();
    for (number, case) in cases().enumerate() {
        let traffic = Traffic::plan(&case, &mut SplitMix64::new(number as u64));
        let observed = guest.run(&case, &traffic);
        let difference = compare(&case, &traffic, &observed);
        if let Some(difference) = &difference {
            println!("{number}, {}: {difference}\n{:?}\n{:?}", case.kind, case.first, case.second);
        }
        summary.add(&case, &traffic, &observed, difference.is_none());
    }
    summary.print();
    if summary.is_good() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// `None` if there is none.
fn compare(case: &Case, traffic: &Traffic, observed: &Observed) -> Option<String> {
    match case.correlated {
        None => difference(&expect(case, traffic, observed, 0), observed, lateness(case)),
        Some(effect) => find_the_first_draw(case, effect, traffic, observed),
    }
}

fn lateness(case: &Case) -> Duration {
    let second = case.second.as_ref();
    let slots = case.first.slot.is_some() || second.is_some_and(|second| second.slot.is_some());
    if slots { 2 * LATENESS } else { LATENESS }
}

fn difference(expected: &Expected, observed: &Observed, lateness: Duration) -> Option<String> {
    if let Some(frame) = (0..FRAMES).find(|&n| expected.refused[n] != observed.refused[n]) {
        return Some(format!("frame {frame} found room in one of the two only"));
    }
    let pairs = expected.departures.iter().zip(&observed.arrivals);
    for (place, (departure, arrival)) in pairs.enumerate() {
        if !is_equal(departure, arrival, lateness) {
            return Some(format!("in place {place}: {departure:?} in the model, {arrival:?}"));
        }
    }
    let (model, kernel) = (expected.departures.len(), observed.arrivals.len());
    (model != kernel).then(|| format!("{model} frames left the model, {kernel} the kernel"))
}

fn is_equal(departure: &Departure, arrival: &Arrival, lateness: Duration) -> bool {
    departure.number == arrival.number
        && departure.marked == arrival.marked
        && departure.corrupted == arrival.flipped.is_some()
        && arrival.at >= departure.due
        && arrival.at < departure.due + lateness
}

/// Halves the range of the unknown number: the first frame that fares otherwise tells on which side
/// of it the true one lies, since up to there the draws are the same and each grows with it.
fn find_the_first_draw(
    case: &Case,
    effect: Effect,
    traffic: &Traffic,
    observed: &Observed,
) -> Option<String> {
    let (mut low, mut high) = (0, u64::from(u32::MAX));
    let mut last_difference = None;
    while low <= high {
        let middle = low.midpoint(high);
        let expected = expect(case, traffic, observed, middle as u32);
        last_difference = Some(difference(&expected, observed, LATENESS)?);
        match direction(effect, &expected, observed) {
            Ordering::Greater => low = middle + 1,
            Ordering::Less if middle > 0 => high = middle - 1,
            _ => break,
        }
    }
    last_difference
        .map(|difference| format!("whatever the first draw leans on; at last {difference}"))
}

/// Where the true number lies, seen from the one that was tried.
fn direction(effect: Effect, expected: &Expected, observed: &Observed) -> Ordering {
    let mut model: Vec<Vec<&Departure>> = vec![Vec::new(); FRAMES];
    expected.departures.iter().for_each(|it| model[it.number].push(it));
    let mut kernel: Vec<Vec<&Arrival>> = vec![Vec::new(); FRAMES];
    observed.arrivals.iter().for_each(|it| kernel[it.number].push(it));
    for (number, (model, kernel)) in model.iter().zip(&kernel).enumerate() {
        let order = match effect {
            // What has a probability happens when the draw is small.
            Effect::Loss => kernel.len().cmp(&model.len()),
            Effect::Duplicate => model.len().cmp(&kernel.len()),
            Effect::Corrupt => {
                let corrupted = model.iter().any(|it| it.corrupted);
                corrupted.cmp(&kernel.iter().any(|it| it.flipped.is_some()))
            }
            Effect::Reorder => {
                let entered = observed.entered[number];
                let ahead = model.iter().any(|it| it.due == entered);
                ahead.cmp(&kernel.iter().any(|it| it.at == entered))
            }
            Effect::Delay => match (model.first(), kernel.first()) {
                (Some(model), Some(kernel)) if kernel.at < model.due => Ordering::Less,
                (Some(model), Some(kernel)) if kernel.at >= model.due + LATENESS => {
                    Ordering::Greater
                }
                _ => Ordering::Equal,
            },
        };
        if order.is_ne() {
            return order;
        }
    }
    Ordering::Equal
}

impl Summary {
    fn add(&mut self, case: &Case, traffic: &Traffic, observed: &Observed, is_equal: bool) {
        let [equal, all] = self.kinds.entry(case.kind).or_default();
        *equal += u32::from(is_equal);
        *all += 1;
        self.frames += traffic.frames.len();
        self.arrivals += observed.arrivals.len();
        for arrival in &observed.arrivals {
            if let Some(bit) = arrival.flipped {
                self.flips.add(bit, traffic.frames[arrival.number].length);
            }
        }
        if is_equal && case.correlated.is_none() {
            let expected = expect(case, traffic, observed, 0);
            let pairs = expected.departures.iter().zip(&observed.arrivals);
            let latest = pairs.map(|(departure, arrival)| arrival.at - departure.due).max();
            self.latest = self.latest.max(latest.unwrap_or_default());
        }
    }

    fn is_good(&self) -> bool {
        self.kinds.values().all(|[equal, all]| equal == all) && self.flips.are_even()
    }

    fn print(&self) {
        for (kind, [equal, all]) in &self.kinds {
            println!("{kind:<28} {equal:>3} of {all:>3} profiles equal");
        }
        let [equal, all] = self.kinds.values().fold([0, 0], |[a, b], [c, d]| [a + c, b + d]);
        println!(
            "{equal} of {all} profiles equal, {} frames sent, {} arrived; left the kernel at most \
             {} ns after the model's instant, and never before it",
            self.frames,
            self.arrivals,
            self.latest.as_nanos()
        );
        println!("{}", self.flips);
    }
}
