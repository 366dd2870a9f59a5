//! Profiles that between them use everything netem has: a kernel that holds each as asked can run
//! any scenario.

use std::sync::Arc;
use std::time::Duration;

use crate::link::profile::{
    Correlated, Distribution, LinkProfile, Loss, RateLimit, Reorder, Slot, SlotSpacing,
};
use crate::units::{Probability, Rate};

/// The last one has nothing of the others, which must not stay behind.
pub(super) fn profiles() -> Vec<LinkProfile> {
    let gilbert_elliott = Loss::GilbertElliott {
        p: of(0.01),
        r: of(0.1),
        one_minus_h: of(0.7),
        one_minus_k: of(0.001),
    };
    let four_state =
        Loss::FourState { p13: of(0.01), p31: of(0.1), p32: of(0.2), p23: of(0.4), p14: of(0.3) };
    let distribution = Distribution::Table(Arc::from([-8192, 0, 8192]));
    let (delay, jitter) = (Duration::from_millis(5), Duration::from_millis(2));
    let spacing = SlotSpacing::Distributed { delay, jitter, distribution: distribution.clone() };
    vec![
        everything(),
        LinkProfile { loss: gilbert_elliott, distribution, ..everything() },
        LinkProfile {
            loss: four_state,
            slot: Some(Slot { spacing, packets: 5, bytes: 9000 }),
            ..everything()
        },
        LinkProfile::default(),
    ]
}

fn everything() -> LinkProfile {
    let of_both = |probability, correlation| Correlated {
        probability: of(probability),
        correlation: of(correlation),
    };
    LinkProfile {
        delay: Duration::from_nanos(40_000_001),
        jitter: Duration::from_millis(10),
        delay_correlation: of(0.25),
        loss: Loss::Random(of_both(0.01, 0.3)),
        duplicate: of_both(0.02, 0.1),
        corrupt: of_both(0.005, 0.05),
        reorder: Some(Reorder { probability: of(0.03), correlation: of(0.5), gap: 5 }),
        rate: Rate::from_bits_per_second(100_000_000_000).map(|rate| RateLimit {
            rate,
            packet_overhead: -14,
            cell_size: 48,
            cell_overhead: 5,
        }),
        limit: 12_345,
        ecn: true,
        ..LinkProfile::default()
    }
}

fn of(fraction: f64) -> Probability {
    Probability::new(fraction).expect("between 0 and 1")
}
