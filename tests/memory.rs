//! Memory does not grow with the number of messages where only a histogram of them is kept.

use std::fs;
use std::process::Command;

use nix::sys::resource::{UsageWho, getrusage};

#[test]
fn ten_times_the_messages_take_the_same_memory() {
    let place = tempfile::tempdir().unwrap();
    let run = |duration: &str| {
        let scenario = format!(
            "version: 1
name: long
paths: {{ a: {{ delay: 40ms, jitter: 10ms, loss: 2% }} }}
workload: {{ control: {{ rate: 500/s, size: 100B, duration: {duration}, deadline: 250ms, keep: histogram }} }}
senders: {{ udp: {{ udp: {{}} }}, kcp: {{ kcp: {{}} }} }}"
        );
        fs::write(place.path().join("long.yaml"), scenario).unwrap();
        let args = ["run", "--engine", "sim", "--quiet", "--jobs", "1", "long.yaml"];
        let run = Command::new(env!("CARGO_BIN_EXE_impairlab"))
            .args(args)
            .current_dir(place.path())
            .output()
            .unwrap();
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        // Of all children so far the largest, so it can only grow.
        getrusage(UsageWho::RUSAGE_CHILDREN).unwrap().max_rss()
    };
    let short_kib = run("200s");
    let long_kib = run("2000s");
    // Three times of each message, 40 bytes: of 900,000 more they would be 34 MiB more.
    assert!(long_kib < short_kib + 8 * 1024, "{short_kib} KiB, then {long_kib} KiB");
}
