//! What the whole-run tests share: a scenario as text, run in virtual time.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use impairlab::engine::sim::Sim;
use impairlab::engine::{Engine, Trial};
use impairlab::recording::{Message, Messages, Recording};
use impairlab::scenario::plan::Plan;
use impairlab::scenario::{self};

/// A plan from YAML without its `version` and `name`.
pub fn plan(yaml: &str) -> Plan {
    let text = format!("version: 1\nname: test\n{yaml}");
    scenario::load_str(Path::new("test.yaml"), &text)
        .unwrap_or_else(|mistakes| panic!("{mistakes}"))
}

/// Every trial of a plan on `sim`, in order.
pub fn simulate(plan: &Plan) -> Vec<Recording> {
    let plan = Arc::new(plan.clone());
    let mut recordings = Vec::new();
    for repetition in 0..plan.repeat {
        for sender in 0..plan.senders.len() {
            let trial = Trial { plan: plan.clone(), sender, repetition, vehicle: 0, qlog: None };
            let recording = Sim.run(&trial, &mut |_| ControlFlow::Continue(()));
            recordings.push(recording.expect("the trial runs"));
        }
    }
    recordings
}

pub fn messages(recording: &Recording) -> &[Message] {
    match &recording.messages {
        Messages::Each(messages) => messages,
        Messages::Histogram(_) => panic!("this trial keeps its messages"),
    }
}

/// Latencies in milliseconds in the order of sending; infinite for lost messages.
pub fn latencies_ms(recording: &Recording) -> Vec<f64> {
    let latency = |message: &Message| {
        let delivered = message.delivered.map_or(f64::INFINITY, |at| at as f64);
        (delivered - message.scheduled as f64) / 1e6
    };
    messages(recording).iter().map(latency).collect()
}

/// The longest time between one delivery and the next.
pub fn longest_gap_ms(recording: &Recording) -> f64 {
    let delivered = messages(recording).iter().filter_map(|message| message.delivered);
    let mut times: Vec<u64> = delivered.collect();
    times.sort_unstable();
    let longest = times.windows(2).map(|pair| pair[1] - pair[0]).max();
    longest.map_or(f64::INFINITY, |gap| gap as f64 / 1e6)
}

/// The smallest value that at least this share of all does not exceed.
pub fn quantile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted[rank.max(1) - 1]
}

/// Bytes on the wire, both directions, for each byte of payload.
pub fn amplification_total(recording: &Recording) -> f64 {
    let down: u64 = recording.wire.iter().map(|wire| wire.down.offered.bytes).sum();
    amplification_up(recording) + down as f64 / payload(recording)
}

pub fn amplification_up(recording: &Recording) -> f64 {
    let up: u64 = recording.wire.iter().map(|wire| wire.up.offered.bytes).sum();
    up as f64 / payload(recording)
}

fn payload(recording: &Recording) -> f64 {
    let (up, down) = recording.workload.payload_per_message();
    messages(recording).len() as f64 * f64::from(up + down)
}
