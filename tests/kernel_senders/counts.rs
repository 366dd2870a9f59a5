//! What the lab counts is what the kernel counts.

use impairlab::engine::Trial;

use crate::trials::{trial, uml};
use crate::{mptcp, recorded};

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
