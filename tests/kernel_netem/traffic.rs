//! What is sent: 2,000 frames, some together, of all lengths, half of them ECN-capable; and a
//! change of profile halfway, where there is one.

use std::time::Duration;

use impairlab::link::{Link, Packet};
use impairlab::splitmix::SplitMix64;
use impairlab::units::Instant;

use crate::profiles::Case;

pub const FRAMES: usize = 2_000;
/// The step of the guest's clock.
pub const CLOCK_STEP: Duration = Duration::from_nanos(256);
/// Shortest and longest frame, with the Ethernet header.
const LENGTHS: std::ops::Range<u64> = 60..1_515;

/// From the first profile to the start: a whole number of steps of any clock here.
pub const AHEAD: Duration = Duration::from_nanos(1 << 20);
/// The start on the clock of the model, which begins with the first profile: its slots count from
/// there. Reading the clock takes a few steps.
pub const START: Instant = Instant::from_nanos((1 << 20) + 2 * 256);

/// So long before and after each frame nothing else may happen on the link, since a timer of the
/// kernel may be late by a few steps of its clock, and the order of the two would then be open.
const QUIET: Duration = Duration::from_micros(4);
/// The same after a change of profile, which takes some readings of the clock.
const QUIET_CHANGE: Duration = Duration::from_micros(100);
/// From the change to the next frame, a whole number of steps of any clock here.
const AFTER_CHANGE: Duration = Duration::from_nanos(1 << 22);
/// After the last frame should have left.
const PATIENCE: Duration = Duration::from_millis(100);

#[derive(Debug, Clone, Copy)]
pub struct Frame {
    /// Since the start.
    pub at: Duration,
    pub length: u32,
    pub ecn_capable: bool,
}

#[derive(Debug)]
pub struct Traffic {
    pub frames: Vec<Frame>,
    /// When the second profile begins, if there is one: in the middle of the frames.
    pub change: Duration,
    /// When the last frame has left for certain.
    pub over: Duration,
}

impl Traffic {
    /// All instants are multiples of the case's grid. Where one would fall on something that the
    /// link does by itself, it is put off.
    pub fn plan(case: &Case, random: &mut SplitMix64) -> Self {
        let mut plan = Self {
            frames: Vec::with_capacity(FRAMES),
            change: Duration::ZERO,
            over: Duration::ZERO,
        };
        let mut link = Link::new(&case.first, case.seeds[0]);
        let mut at = Duration::from_millis(1);
        let spread = 2 * case.mean_gap.as_nanos() as u64;
        for number in 0..FRAMES {
            if number == 0 || !random.next().is_multiple_of(case.together) {
                at += Duration::from_nanos(random.next() % spread);
                at = quiet(&mut link, at, case.grid, QUIET);
            }
            if let (Some(second), true) = (&case.second, plan.changes_before(number)) {
                at = quiet(&mut link, at + case.grid, case.grid, QUIET_CHANGE);
                link.set_profile(START + at, second, case.seeds[1]);
                plan.change = at;
                at = quiet(&mut link, at + AFTER_CHANGE, case.grid, QUIET);
            }
            let length = LENGTHS.start + random.next() % (LENGTHS.end - LENGTHS.start);
            let ecn_capable = random.next().is_multiple_of(2);
            let frame = Frame { at, length: length as u32, ecn_capable };
            plan.frames.push(frame);
            link.push(START + at, packet(&frame, number));
        }
        while let Some(wakeup) = link.next_wakeup() {
            at = wakeup.saturating_since(START);
            while link.pop(wakeup).is_some() {}
        }
        plan.over = on_grid(at + PATIENCE + case.longest_guess, CLOCK_STEP);
        plan
    }

    pub fn changes_before(&self, number: usize) -> bool {
        number == FRAMES / 2
    }
}

pub fn packet(frame: &Frame, number: usize) -> Packet<usize> {
    let mut packet = Packet::new(frame.length, number);
    packet.ecn_capable = frame.ecn_capable;
    packet
}

/// The first instant of the grid from `at` on around which nothing leaves.
fn quiet(link: &mut Link<usize>, at: Duration, grid: Duration, after: Duration) -> Duration {
    let mut at = on_grid(at, grid);
    loop {
        let instant = START + at;
        while link.pop(instant - QUIET).is_some() {}
        match link.next_wakeup() {
            Some(wakeup) if wakeup <= instant + after => at += 37 * grid,
            _ => return at,
        }
    }
}

fn on_grid(at: Duration, grid: Duration) -> Duration {
    Duration::from_nanos((at.as_nanos() as u64).next_multiple_of(grid.as_nanos() as u64))
}
