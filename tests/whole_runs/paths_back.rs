//! When a dark path is used again, on `sim`: from its closed form where there is one, and else by
//! what it is good for: a path that is back carries what is lost when the other one goes dark.

use std::time::Duration;

use impairlab::recording::{Recording, Recovery, Summary};

use super::lab::{longest_gap_ms, plan, simulate};

/// `a` is dark from 20 s to 25 s, `b` for as long as is given. What `a` loses at first keeps the
/// senders' windows small, so that they stop sending into the dark.
fn trial(sender: &str, b_dark: &str) -> Recording {
    let plan = plan(&format!(
        "
paths: {{ a: {{ delay: 20ms, loss: 5% }}, b: {{ delay: 30ms }} }}
timeline: [ {{ at: 15s, path: a, set: {{ loss: 0% }} }}, {{ at: 20s, path: a, outage: 5s }} {b_dark} ]
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
    // `b` is the spare one.
    let dark = trial(seldom, ", { at: 10s, path: b, outage: 5s }");
    let of_b = backs(&dark).into_iter().next();
    assert_eq!(of_b, Some(Some(Recovery::Unknown)));
}

/// The other path goes dark for a second: 200 ms before the first one is back, and 500 ms after.
#[test]
fn a_path_that_is_back_carries_what_the_other_one_loses() {
    for sender in [
        "{ mpquic: { paths: [a, b], scheduler: redundant } }",
        "{ replicate: { paths: [a, b], copy: message, quic: {} } }",
    ] {
        let back = Duration::from_secs(25) + back_after(sender);
        let gap = |from: Duration| {
            let dark = format!(", {{ at: {}ms, path: b, outage: 1s }}", from.as_millis());
            longest_gap_ms(&trial(sender, &dark))
        };
        let before = gap(back - Duration::from_millis(200));
        let after = gap(back + Duration::from_millis(500));
        println!("{sender}: back at {back:?}, gaps of {before:.0} and {after:.0} ms");
        assert!(back > Duration::from_secs(25), "it never stopped");
        assert!(before > 200.0 && after < 100.0);
    }
}
