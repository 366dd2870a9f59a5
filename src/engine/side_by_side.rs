//! How many trials of a real-time engine may run at once.

use std::thread;

use crate::scenario::plan::Plan;

/// On this machine.
pub fn side_by_side(plan: &Plan) -> usize {
    with_processors(thread::available_parallelism().map_or(1, usize::from), plan)
}

/// A trial has three threads that must be on time, each of them awake for a small part of it: so
/// several share a processor, up to a number of packets a second at which they begin to stand in
/// each other's way. Twelve trials of 50 messages a second on two busy processors, or four of
/// 1,000, had 99th percentiles of lateness around 0.2 ms.
fn with_processors(processors: usize, plan: &Plan) -> usize {
    const TRIALS: usize = 6;
    const PACKETS_PER_SECOND: f64 = 2000.0;
    let (_, answer) = plan.workload.payload_per_message();
    let ways = if answer > 0 { 2.0 } else { 1.0 };
    let packets = plan.workload.periodic().rate * ways * plan.paths.len() as f64;
    let by_rate = (PACKETS_PER_SECOND * processors as f64 / packets) as usize;
    by_rate.clamp(1, processors * TRIALS)
}

#[cfg(test)]
mod tests;
