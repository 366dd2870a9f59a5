use std::path::Path;
use std::sync::Arc;

use super::*;
use crate::protocol::LEAST_WORK;
use crate::recording::Messages;
use crate::scenario;

const REPEAT: u32 = 16;

fn plan() -> Plan {
    let text = "\
version: 1
name: answers
paths:
  4g: { profile: 4g-city-medium }
  5g: { profile: 5g-city-medium }
workload:
  control: { rate: 50/s, size: 600B, duration: 30s, deadline: 250ms }
senders:
  cubic:
    replicate:
      paths: [4g, 5g]
      copy: datagram
      quic: { congestion: cubic, mode: stream-per-message }
";
    scenario::load_str(Path::new("test.yaml"), text).unwrap_or_else(|mistakes| panic!("{mistakes}"))
}

/// Milliseconds, of all runs together, with endpoints that take so long to answer.
fn p99(work: Duration) -> f64 {
    let plan = Arc::new(plan());
    let latencies = |repetition| {
        let trial = Trial { plan: plan.clone(), sender: 0, repetition, vehicle: 0, qlog: None };
        let mut run = Run::connected(&trial, MessageLog::new(&plan.workload)).unwrap();
        run.world.work = work;
        let go_on = ControlFlow::Continue(());
        let outcome = run.conduct(go_on, &mut |_| ControlFlow::Continue(())).unwrap();
        let Messages::Each(messages) = outcome.messages else { panic!("each is kept") };
        messages
            .iter()
            .map(|m| (m.delivered.expect("a reliable sender") - m.scheduled) as f64 / 1e6)
            .collect::<Vec<_>>()
    };
    let mut all: Vec<f64> = (0..REPEAT).flat_map(latencies).collect();
    all.sort_unstable_by(f64::total_cmp);
    all[all.len() * 99 / 100]
}

/// As soon as it takes any time at all: without, it is a quarter lower.
#[test]
fn a_tail_does_not_hang_on_how_fast_an_endpoint_answers() {
    let (least, real) = (p99(LEAST_WORK), p99(Duration::from_micros(20)));
    assert!((least / real - 1.0).abs() < 0.05, "{least} ms against {real} ms");
}
