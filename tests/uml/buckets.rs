//! A token bucket behind netem in a guest does to each packet what the link model does, and the
//! kernel's count of what it dropped is what is seen to go missing.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::{command, kernel_or_skip, printed};

/// The changes lie between the packets, so that no two things happen at one instant.
const SCENARIO: &str = "\
version: 1
name: buckets
paths:
  a: { delay: 20ms, up: { rate: { rate: 1Mbit/s, burst: 3kB, queue: 20kB } } }
timeline:
  - { at: 1.003s, path: a, set: { rate: { rate: 600kbit/s, burst: 4kB, queue: 10kB } } }
  - { at: 2.003s, path: a, set: { rate: 900kbit/s } }
  - { at: 3.003s, path: a, set: { rate: { rate: 500kbit/s, burst: 3kB, queue: 8kB } } }
workload: { control: { rate: 100/s, size: 1000B, duration: 4s, deadline: 250ms } }
senders:
  udp: { udp: { path: a } }
  kcp: { kcp: { path: a } }
";

#[test]
fn the_same_packets_find_no_room_in_a_bucket_of_the_kernel() {
    let _kernel = kernel_or_skip!();
    let place = tempfile::tempdir().unwrap();
    let scenario = place.path().join("scenario.yaml");
    fs::write(&scenario, SCENARIO).unwrap();
    let run = |engine: &str| {
        let results = place.path().join(engine);
        let mut command = command(&["run", "--quiet", "--engine", engine]);
        printed(&command.arg("--results").arg(&results).arg(&scenario).output().unwrap());
        let run = fs::read_dir(results.join("buckets")).unwrap().next().unwrap().unwrap();
        ["udp", "kcp"].map(|sender| recording(&run.path(), sender))
    };
    for (model, kernel) in run("sim").iter().zip(&run("uml")) {
        assert_eq!(undelivered(model), undelivered(kernel));
        assert_eq!(fates(model), fates(kernel));
        let (up, counted) = (&kernel["wire"][0]["up"], &kernel["wire"][0]["kernel"][0]);
        assert!(up["overflowed"].as_u64() > Some(0), "{up}");
        assert_eq!(up["lost"], 0);
        assert_eq!(counted["dropped"], up["overflowed"]);
    }
}

/// Nobody can tell packet by packet what a bucket drops from what netem loses; how many they are
/// together, and how many of them the bucket dropped, is known.
#[test]
fn losses_and_what_a_bucket_drops_are_counted_apart() {
    let _kernel = kernel_or_skip!();
    let place = tempfile::tempdir().unwrap();
    let scenario = place.path().join("scenario.yaml");
    fs::write(&scenario, SCENARIO.replace("delay: 20ms", "delay: 20ms, loss: 2%")).unwrap();
    let run = |engine: &str| {
        let results = place.path().join(engine);
        let mut command = command(&["run", "--quiet", "--engine", engine]);
        printed(&command.arg("--results").arg(&results).arg(&scenario).output().unwrap());
        let run = fs::read_dir(results.join("buckets")).unwrap().next().unwrap().unwrap();
        recording(&run.path(), "udp")["wire"][0]["up"].clone()
    };
    let (model, kernel) = (run("sim"), run("uml"));
    assert_eq!(model, kernel);
    assert!(model["lost"].as_u64() > Some(0) && model["overflowed"].as_u64() > Some(0), "{model}");
}

fn recording(run: &Path, sender: &str) -> Value {
    let file = run.join("recordings").join(format!("{sender}-0.json"));
    serde_json::from_slice(&fs::read(file).unwrap()).unwrap()
}

/// The numbers of the messages that did not arrive.
fn undelivered(recording: &Value) -> Vec<usize> {
    let latencies = recording["messages"]["each"]["latency"].as_array().unwrap();
    (0..latencies.len()).filter(|number| latencies[*number].is_null()).collect()
}

/// What became of the packets of each profile of the way up.
fn fates(recording: &Value) -> Vec<[Value; 4]> {
    let receipts = recording["receipts"][0]["up"].as_array().unwrap().iter();
    let fates = ["entered", "settled", "lost", "overflowed"];
    receipts.map(|receipt| fates.map(|fate| receipt["did"][fate].clone())).collect()
}
