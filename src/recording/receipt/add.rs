//! Facts of several trials added up: they are counts and sums alone.

use std::ops::AddAssign;

use super::{Backlog, Delays, Overtaking, Tally};

macro_rules! add_fields {
    ($kind:ident { $($field:ident),+ $(,)? }) => {
        impl AddAssign for $kind {
            fn add_assign(&mut self, other: Self) {
                // Whole, so that a new field is not forgotten.
                let $kind { $($field),+ } = other;
                $(self.$field += $field;)+
            }
        }
    };
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
