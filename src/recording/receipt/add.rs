//! Facts of several trials added up: they are counts and sums alone.

use super::{Backlog, Delays, Overtaking, Tally};
use crate::sum::add_fields;

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
