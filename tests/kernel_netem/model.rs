//! What the link model makes of the traffic.

use std::time::Duration;

use impairlab::link::{LastDraws, Link, Pushed};
use impairlab::units::Instant;

use crate::guest::Observed;
use crate::profiles::{Case, Effect};
use crate::traffic::{START, Traffic, packet};

#[derive(Debug, Default)]
pub struct Expected {
    /// Whether the queue was full.
    pub refused: Vec<bool>,
    /// In the order of leaving.
    pub departures: Vec<Departure>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Departure {
    pub number: usize,
    pub due: Duration,
    pub marked: bool,
    pub corrupted: bool,
}

/// `last` is what the correlated draws of the case begin with.
pub fn expect(case: &Case, traffic: &Traffic, observed: &Observed, last: u32) -> Expected {
    let mut link = Link::new(&case.first, case.seeds[0]);
    link.lean_on(last_draws(case.correlated, last));
    let mut expected = Expected::default();
    for (number, frame) in traffic.frames.iter().enumerate() {
        if let (Some(second), true) = (&case.second, traffic.changes_before(number)) {
            link.set_profile(START + observed.changed, second, case.seeds[1]);
        }
        let pushed = link.push(START + observed.entered[number], packet(frame, number));
        expected.refused.push(pushed == Pushed::Overflowed);
    }
    while let Some(departed) = link.pop(Instant::FAR_FUTURE) {
        expected.departures.push(Departure {
            number: departed.packet.payload,
            due: departed.due.saturating_since(START),
            marked: departed.packet.marked,
            corrupted: departed.packet.corrupted.is_some(),
        });
    }
    expected
}

fn last_draws(correlated: Option<Effect>, last: u32) -> LastDraws {
    let none = LastDraws::default();
    match correlated {
        None => none,
        Some(Effect::Loss) => LastDraws { loss: last, ..none },
        Some(Effect::Duplicate) => LastDraws { duplicate: last, ..none },
        Some(Effect::Corrupt) => LastDraws { corrupt: last, ..none },
        Some(Effect::Reorder) => LastDraws { reorder: last, ..none },
        Some(Effect::Delay) => LastDraws { delay: last, ..none },
    }
}
