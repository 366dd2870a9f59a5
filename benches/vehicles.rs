//! What each of many vehicles on one gateway costs this machine: processor time and memory of the
//! transports at both ends, by the number of vehicles. Prints one table. A library whose cost for
//! each connection grows with their number shows it here.
//!
//! Each cell is a process of its own with glibc's per-thread cache switched off, since what lies
//! there counts as used. Processor time is the thread's own: a busy machine makes it a little
//! larger (colder caches), and no more.

use std::env;
use std::error::Error;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use impairlab::engine::Trial;
use impairlab::engine::sim::Sim;
use impairlab::recording::FleetCost;
use impairlab::scenario;
use serde::{Deserialize, Serialize};

const SENDERS: [&str; 4] = ["udp", "kcp", "quic", "mpquic"];
const VEHICLES: [u32; 4] = [1, 10, 100, 1000];
const SECONDS: u32 = 10;
/// Of virtual time, before the next vehicle has its turn.
const TURN_MS: u64 = 1000;
/// A few vehicles are run again and again, for figures as steady as those of many.
const AT_LEAST: u32 = 100;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["cell", sender, vehicles, turn] => {
            println!(
                "{}",
                serde_json::to_string(&cell(sender, vehicles.parse()?, turn.parse()?)?)?
            );
            Ok(())
        }
        // `cargo bench` adds a flag of its own.
        _ => table(),
    }
}

fn table() -> Result<(), Box<dyn Error>> {
    println!("50 messages of 600 B a second over medium loss, {SECONDS} s; for each vehicle:\n");
    println!(
        "{:8} {:>8} {:>13} {:>13} {:>13} {:>13} {:>13} {:>13}",
        "", "", "in turns", "", "all at once", "", "heap", ""
    );
    println!(
        "{:8} {:>8} {:>13} {:>13} {:>13} {:>13} {:>13} {:>13}",
        "sender", "vehicles", "gateway", "vehicle", "gateway", "vehicle", "gateway", "vehicle"
    );
    for sender in SENDERS {
        for vehicles in VEHICLES {
            let [turns, together] = [TURN_MS, 0].map(|turn| measured(sender, vehicles, turn));
            let (turns, together) = (turns?, together?);
            let cpu = |us: f64| format!("{us:.0} µs/s");
            let heap =
                |kb: Option<f64>| kb.map_or("unknown".to_owned(), |kb| format!("{kb:.1} kB"));
            println!(
                "{sender:8} {vehicles:>8} {:>13} {:>13} {:>13} {:>13} {:>13} {:>13}",
                cpu(turns.gateway_cpu),
                cpu(turns.vehicle_cpu),
                cpu(together.gateway_cpu),
                cpu(together.vehicle_cpu),
                heap(together.gateway_heap),
                heap(together.vehicle_heap),
            );
        }
    }
    println!(
        "\nCPU: microseconds of a processor for each second of the workload. In turns: {TURN_MS} ms \
         of virtual time each,\nso that a vehicle's state is in the processor's caches; all at once: \
         from event to event, so that it is not.\nHeap: after the last delivery."
    );
    Ok(())
}

/// Of one vehicle.
#[derive(Serialize, Deserialize)]
struct Cell {
    /// Microseconds for each second of the workload.
    gateway_cpu: f64,
    vehicle_cpu: f64,
    /// Kilobytes.
    gateway_heap: Option<f64>,
    vehicle_heap: Option<f64>,
}

fn measured(sender: &str, vehicles: u32, turn_ms: u64) -> Result<Cell, Box<dyn Error>> {
    let cell = Command::new(env::current_exe()?)
        .args(["cell", sender, &vehicles.to_string(), &turn_ms.to_string()])
        .env("GLIBC_TUNABLES", "glibc.malloc.tcache_count=0")
        .output()?;
    if !cell.status.success() {
        return Err(String::from_utf8_lossy(&cell.stderr).into());
    }
    Ok(serde_json::from_slice(&cell.stdout)?)
}

fn cell(sender: &str, vehicles: u32, turn_ms: u64) -> Result<Cell, Box<dyn Error>> {
    let mut plan = scenario::load_str(Path::new("bench.yaml"), &written(vehicles))
        .map_err(|mistakes| mistakes.to_string())?;
    plan.senders.retain(|one| one.name == sender);
    let plan = Arc::new(plan);
    let runs = AT_LEAST.div_ceil(vehicles);
    let costs = (0..runs).map(|repetition| {
        let trial = Trial { plan: plan.clone(), sender: 0, repetition, vehicle: 0, qlog: None };
        let turn = Duration::from_millis(turn_ms);
        let run = Sim.run_measured(&trial, turn, &mut |_| ControlFlow::Continue(()))?;
        run.cost.ok_or_else(|| "not measured".into())
    });
    let costs: Vec<FleetCost> = costs.collect::<Result<_, Box<dyn Error>>>()?;
    let all = f64::from(runs * vehicles);
    let cpu = |part: fn(&FleetCost) -> u64| {
        costs.iter().map(part).map(|us| us as f64).sum::<f64>() / all / f64::from(SECONDS)
    };
    let heap = |part: fn(&FleetCost) -> Option<u64>| {
        let bytes = costs.iter().map(part).sum::<Option<u64>>()?;
        Some(bytes as f64 / all / 1000.0)
    };
    Ok(Cell {
        gateway_cpu: cpu(|cost| cost.gateway_cpu_us),
        vehicle_cpu: cpu(|cost| cost.vehicle_cpu_us),
        gateway_heap: heap(|cost| cost.gateway_heap_bytes),
        vehicle_heap: heap(|cost| cost.vehicle_heap_bytes),
    })
}

fn written(vehicles: u32) -> String {
    format!(
        "version: 1
name: bench
paths:
  4g: {{ profile: 4g-city-medium }}
  5g: {{ profile: 5g-city-medium }}
vehicles: {vehicles}
workload:
  control: {{ rate: 50/s, size: 600B, duration: {SECONDS}s, deadline: 250ms, keep: histogram }}
senders:
  udp: {{ udp: {{ path: 4g }} }}
  kcp: {{ kcp: {{ path: 4g }} }}
  quic: {{ quic: {{ path: 4g, congestion: bbr }} }}
  mpquic: {{ mpquic: {{ paths: [4g, 5g], scheduler: redundant }} }}
"
    )
}
