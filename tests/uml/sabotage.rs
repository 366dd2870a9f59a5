//! What somebody else does to the queue disciplines of a running trial is found out: engine netem in
//! a guest, where tc reaches them by the namespaces of the process.

use std::fs;

use crate::{PROGRAM, complaint, in_guest, kernel_or_skip, text};

const SCENARIO: &str = "\
version: 1
name: sabotage
paths: { a: { delay: 40ms } }
timeline: [ { at: 6s, path: a, set: { delay: 45ms } } ]
workload: { control: { rate: 50/s, size: 600B, duration: 8s, deadline: 250ms } }
senders: { udp: { udp: { path: a } } }
";

/// Runs the scenario in a guest and, four seconds later, this in the namespace with its netem.
fn run_with(meanwhile: &str) -> (i32, String, String) {
    let place = tempfile::tempdir().unwrap();
    let scenario = place.path().join("scenario.yaml");
    fs::write(&scenario, SCENARIO).unwrap();
    let script = format!(
        "cd /tmp
         {PROGRAM} run --quiet --engine netem {} & run=$!
         sleep 4
         for space in /proc/$run/fd/* /proc/$run/task/*/ns/net; do
             inside() {{ nsenter --net=$space \"$@\"; }}
             if inside tc qdisc show dev c0 2>/dev/null | grep -q netem; then
                 inside sh -c '{meanwhile}' || exit 99
                 wait $run; exit $?
             fi
         done
         exit 98",
        scenario.display()
    );
    let output = in_guest(&[], &script);
    let (code, said) = complaint(&output);
    (code, text(&output.stdout), said)
}

#[test]
fn left_alone_the_impairment_is_what_was_asked_for() {
    kernel_or_skip!();
    let (code, printed, said) = run_with("true");
    assert_eq!(code, 0, "{printed}{said}");
}

#[test]
fn a_link_that_loses_what_it_should_not_ends_with_code_8() {
    kernel_or_skip!();
    let (code, printed, said) = run_with("tc qdisc change dev c0 root netem delay 40ms loss 20%");
    assert_eq!(code, 8, "{printed}{said}");
    assert!(printed.contains("! a up #1, loss: asked 0 %, realised "), "{printed}");
    assert!(printed.contains("suspect packets dropped"), "{printed}");
}

/// All packets are later than the engine asked for, which may have been its own fault.
#[test]
fn a_link_with_another_delay_ends_with_code_8() {
    kernel_or_skip!();
    let (code, printed, said) = run_with("tc qdisc change dev c0 root netem delay 60ms");
    assert_eq!(code, 8, "{printed}{said}");
    assert!(printed.contains("not delay") && printed.contains("spoilt by the host"), "{printed}");
}

/// Its handle now belongs to a queue discipline of another kind.
#[test]
fn a_change_that_the_kernel_refuses_ends_the_trial_with_its_instant() {
    kernel_or_skip!();
    let replace = "tc qdisc del dev c0 root
                   tc qdisc add dev c0 root handle 1: tbf rate 1gbit burst 100kb latency 50ms";
    let (code, printed, said) = run_with(replace);
    assert_eq!(code, 1, "{printed}{said}");
    assert!(said.contains("path a, the change at 6 s of the workload"), "{said}");
    assert!(said.contains("cannot set netem on c0"), "{said}");
}
