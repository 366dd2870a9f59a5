use std::path::Path;
use std::sync::Arc;

use super::*;
use crate::protocol::Ticking;
use crate::recording::{Message, Messages};
use crate::scenario;

/// Latencies of each run, in milliseconds, with ends to which each thing takes so long at least.
fn latencies(scenario: &str, repeat: u32, tick: Duration) -> Vec<Vec<f64>> {
    let text = format!("version: 1\nname: test\n{scenario}");
    let plan = scenario::load_str(Path::new("test.yaml"), &text)
        .unwrap_or_else(|mistakes| panic!("{mistakes}"));
    let plan = Arc::new(plan);
    let trial =
        |repetition| Trial { plan: plan.clone(), sender: 0, repetition, vehicle: 0, qlog: None };
    (0..repeat).map(|repetition| run(&trial(repetition), tick)).collect()
}

fn run(trial: &Trial, tick: Duration) -> Vec<f64> {
    let mut run = Run::connected(trial, MessageLog::new(&trial.plan.workload)).unwrap();
    run.world = run.world.wrapped(|end| Box::new(Ticking::by(tick, end)));
    let go_on = ControlFlow::Continue(());
    let outcome = run.conduct(go_on, &mut |_| ControlFlow::Continue(())).unwrap();
    let Messages::Each(messages) = outcome.messages else { panic!("each is kept") };
    let latency = |m: &Message| (m.delivered.expect("it is reliable") - m.scheduled) as f64 / 1e6;
    messages.iter().map(latency).collect()
}

fn p99(mut latencies: Vec<f64>) -> f64 {
    latencies.sort_unstable_by(f64::total_cmp);
    latencies[latencies.len() * 99 / 100]
}

/// With a protocol whose clock stands still it is a quarter lower.
#[test]
fn a_tail_does_not_hang_on_how_fast_an_endpoint_answers() {
    const CUBIC_COPIED: &str = "
paths: { 4g: { profile: 4g-city-medium }, 5g: { profile: 5g-city-medium } }
workload: { control: { rate: 50/s, size: 600B, duration: 30s, deadline: 250ms } }
senders:
  cubic:
    replicate:
      paths: [4g, 5g]
      copy: datagram
      quic: { congestion: cubic, mode: stream-per-message }
";
    let of = |tick| p99(latencies(CUBIC_COPIED, 16, tick).concat());
    let (least, real) = (of(Duration::ZERO), of(Duration::from_micros(5)));
    assert!((least / real - 1.0).abs() < 0.05, "{least} ms against {real} ms");
}
