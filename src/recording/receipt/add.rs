//! Facts of several trials added up: they are counts and sums alone.

use super::{Backlog, Delays, Overtaking, PathReceipts, Receipt, Tally};
use crate::sum::add_fields;

/// Path by path, direction by direction and profile by profile.
pub fn add_receipts(sum: &mut Vec<PathReceipts>, more: &[PathReceipts]) {
    for more in more {
        match sum.iter_mut().find(|it| it.path == more.path) {
            Some(path) => {
                add_direction(&mut path.up, &more.up);
                add_direction(&mut path.down, &more.down);
            }
            None => sum.push(more.clone()),
        }
    }
}

fn add_direction(sum: &mut Vec<Receipt>, more: &[Receipt]) {
    for more in more {
        match sum.iter_mut().find(|it| it.asked == more.asked) {
            Some(receipt) => {
                receipt.did += more.did;
                receipt.slack_ns = receipt.slack_ns.max(more.slack_ns);
            }
            None => sum.push(more.clone()),
        }
    }
}

add_fields!(Tally {
    entered,
    spells,
    settled,
    lost,
    bursts,
    overflowed,
    left,
    copies,
    corrupted,
    marked,
    ahead,
    delay,
    overtaking,
    backlog,
});

add_fields!(Delays {
    count,
    sum,
    squares,
    beyond,
    beyond_squares,
    variance,
    square_variance,
    late,
    late_squares,
});

add_fields!(Overtaking { count, expected });

add_fields!(Backlog { packets, periods, asked, took, late });
