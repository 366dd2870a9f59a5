//! How much faster than real time `sim` runs a 600 s control trial of each sender.
//! The aim: 1,000 times for kcp and quic, 300 times for mpquic.

use std::hint::black_box;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use impairlab::engine::sim::Sim;
use impairlab::engine::{Engine, Trial};
use impairlab::scenario;

const SCENARIO: &str = "
version: 1
name: bench
paths:
  4g: { profile: 4g-city-medium }
  5g: { profile: 5g-city-medium }
workload: { control: { rate: 50/s, size: 600B, duration: 600s, deadline: 250ms } }
senders:
  udp: { udp: { path: 4g } }
  kcp: { kcp: { path: 4g } }
  quic: { quic: { path: 4g, congestion: bbr } }
  mpquic: { mpquic: { paths: [4g, 5g], scheduler: redundant } }
";

fn trials(criterion: &mut Criterion) {
    let plan = scenario::load_str(Path::new("bench.yaml"), SCENARIO);
    let plan = Arc::new(plan.unwrap_or_else(|mistakes| panic!("{mistakes}")));
    let mut group = criterion.benchmark_group("virtual seconds per second");
    group.sample_size(10).measurement_time(Duration::from_secs(10));
    group.throughput(Throughput::Elements(600));
    for sender in 0..plan.senders.len() {
        let trial = Trial { plan: plan.clone(), sender, repetition: 0, vehicle: 0, qlog: None };
        group.bench_function(&trial.sender().name, |bencher| {
            bencher.iter(|| black_box(Sim.run(&trial, &mut |_| ControlFlow::Continue(()))));
        });
    }
    group.finish();
}

criterion_group!(benches, trials);
criterion_main!(benches);
