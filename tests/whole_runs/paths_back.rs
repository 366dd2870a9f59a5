//! When a dark path is used again, on `sim`: from its closed form where there is one, and else by
//! what it is good for: a path that is back carries what is lost when the other one goes dark.

use std::time::Duration;

use impairlab::recording::{Recording, Recovery, Summary};

use super::lab::{longest_gap_ms, plan, simulate};

/// `a` is dark from 20 s to 25 s, `b` for as long as is given.
fn trial(sender: &str, b_dark: &str) -> Recording {
    let plan = plan(&format!(
        "
paths: {{ a: {{ delay: 20ms }}, b: {{ delay: 30ms }} }}
timeline: [ {{ at: 20s, path: a, outage: 5s }} {b_dark} ]
workload: {{ control: {{ rate: 50/s, size: 600B, duration: 40s, deadline: 250ms }} }}
senders: {{ it: {sender} }}
"
    ));
    simulate(&plan).remove(0)
}

fn backs(recording: &Recording) -> Vec<Option<Recovery>> {
    let summary = Summary::of(&[recording]).expect("one trial");
    summary.outages.iter().map(|outage| outage.path_back.map(|back| back.after)).collect()
}

fn back_after(sender: &str) -> Duration {
    match backs(&trial(sender, ""))[..] {
        [Some(Recovery::After(time))] => time,
        ref other => panic!("{sender}: {other:?}"),
    }
}

/// It puts every datagram on every path, whatever becomes of it.
#[test]
fn what_copies_each_datagram_uses_a_path_all_the_time() {
    for inner in ["udp: {}", "kcp: {}", "quic: {}"] {
        let sender = format!("{{ replicate: {{ paths: [a, b], copy: datagram, {inner} }} }}");
        assert_eq!(back_after(&sender), Duration::ZERO, "{inner}");
    }
}

#[test]
fn a_single_path_and_one_that_was_seldom_used_have_no_such_figure() {
    assert_eq!(backs(&trial("{ kcp: { path: a } }", "")), [None]);
    let seldom = "{ mpquic: { paths: [a, b], scheduler: minrtt } }";
    // `a` is the quicker one, `b` the spare.
    let dark = trial(seldom, ", { at: 10s, path: b, outage: 5s }");
    let of_b = backs(&dark).into_iter().next();
    assert_eq!(of_b, Some(Some(Recovery::Unknown)));
}

/// The other path goes dark for a second, before or after that.
#[test]
fn a_path_that_is_back_carries_what_the_other_one_loses() {
    let sender = "{ mpquic: { paths: [a, b], scheduler: redundant } }";
    let back = back_after(sender);
    println!("mpquic: a path that was dark for 5 s is used again after {back:?}");
    let gap = |from: Duration| {
        let at = Duration::from_secs(25) + from;
        let dark = format!(", {{ at: {}ms, path: b, outage: 1s }}", at.as_millis());
        longest_gap_ms(&trial(sender, &dark))
    };
    let (before, after) = (gap(back - Duration::from_millis(600)), gap(back));
    assert!(before > 400.0, "{before} ms without a delivery, though the path was said to be dark");
    assert!(after < 100.0, "{after} ms without a delivery, though the path was said to be back");
}
