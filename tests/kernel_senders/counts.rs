//! What the lab counts is what the kernel counts.

use impairlab::engine::Trial;

use crate::trials::{SIZE, messages, sockets, trial, uml};
use crate::{mptcp, outage_of_the_first_path, recorded};

/// A receiver may delay an acknowledgement, and a sender repeat what has come by another path: both
/// may say something after the last delivery, and after the kernel was asked for its counts. In each
/// of these repetitions somebody does so just then.
#[test]
fn what_is_said_after_the_end_is_in_neither_count() {
    let Some(uml) = uml() else { return };
    for repetition in [9, 80, 90, 99] {
        let recording = recorded(&uml, &Trial { repetition, ..trial(mptcp(), 0.05, 2) });
        for path in &recording.wire {
            assert_eq!(path.discrepancies(), [], "run {repetition}: {path:?}");
            let kernel = path.kernel.expect("netem counts");
            for (link, kernel) in [path.up, path.down].iter().zip(kernel) {
                assert_eq!(link.offered.packets, kernel.sent + kernel.dropped, "{path:?}");
                assert_eq!(link.delivered, kernel.sent, "{path:?}");
            }
        }
    }
}

/// What multipath TCP puts on a second subflow arrives twice, if it does: once both paths are whole
/// again, by the counts of the other end.
#[test]
fn what_multipath_tcp_sends_again_by_another_path_arrives_twice() {
    let Some(uml) = uml() else { return };
    let recording = recorded(&uml, &outage_of_the_first_path(mptcp()));
    let [vehicle, cloud] = sockets(&recording);
    let [at_vehicle, at_cloud] = [vehicle, cloud].map(|end| end.mptcp.expect("multipath TCP"));
    // Each message behind its length, and the greeting.
    let payload = messages(&recording).len() as u64 * u64::from(SIZE + 4) + 4;
    assert_eq!(at_vehicle.bytes_sent, Some(payload), "{vehicle:?}");
    assert_eq!(at_cloud.bytes_received, Some(payload), "{cloud:?}");
    let arrived: u64 = cloud.connections.iter().map(|tcp| tcp.bytes_received).sum();
    let twice = arrived - payload;
    assert!(twice > 0, "{cloud:?}");
    assert_eq!(at_vehicle.reinjected_bytes, Some(twice), "{vehicle:?}");
    assert_eq!(at_cloud.reinjected_bytes, Some(0), "{cloud:?}");
}
