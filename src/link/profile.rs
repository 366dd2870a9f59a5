//! The settings of one direction of a path, with every default filled in.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::units::{Probability, Rate};

/// Settings by netem's meaning. `LinkProfile::default()` is a link that does nothing but pass
/// packets on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LinkProfile {
    /// One way, before jitter.
    pub delay: Duration,
    pub jitter: Duration,
    pub delay_correlation: Probability,
    pub distribution: Distribution,
    pub order: Order,
    pub loss: Loss,
    pub duplicate: Correlated,
    pub corrupt: Correlated,
    pub reorder: Option<Reorder>,
    pub rate: Option<RateLimit>,
    /// What packets pass after the delay line, but for those that [`Reorder`] picks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bucket: Option<TokenBucket>,
    /// Packets held at most, those on the delay line included (netem's `limit`).
    pub limit: u32,
    pub slot: Option<Slot>,
    /// Mark ECN-capable packets instead of losing them.
    pub ecn: bool,
}

impl Default for LinkProfile {
    fn default() -> Self {
        Self {
            delay: Duration::ZERO,
            jitter: Duration::ZERO,
            delay_correlation: Probability::NEVER,
            distribution: Distribution::Uniform,
            order: Order::ByTime,
            loss: Loss::None,
            duplicate: Correlated::default(),
            corrupt: Correlated::default(),
            reorder: None,
            rate: None,
            bucket: None,
            limit: DEFAULT_LIMIT,
            slot: None,
            ecn: false,
        }
    }
}

impl LinkProfile {
    /// Whether packets that enter at one instant all leave at one instant, as long as the queue has
    /// room for them: no draw, rate or slot could tell one from another.
    pub fn treats_all_alike(&self) -> bool {
        let alike = Self {
            delay: self.delay,
            delay_correlation: self.delay_correlation,
            distribution: self.distribution.clone(),
            order: self.order,
            limit: self.limit,
            ecn: self.ecn,
            ..Self::default()
        };
        *self == alike
    }

    /// Whether what becomes of a packet says nothing of what becomes of the next: no draw leans on
    /// the one before, and none waits for another, as long as the queue has room.
    pub fn treats_each_alone(&self) -> bool {
        let alone = Self {
            delay: self.delay,
            jitter: self.jitter,
            distribution: self.distribution.clone(),
            loss: match self.loss {
                Loss::Random(Correlated { probability, .. }) => {
                    Loss::Random(Correlated { probability, ..Correlated::default() })
                }
                _ => Loss::None,
            },
            duplicate: Correlated {
                probability: self.duplicate.probability,
                ..Correlated::default()
            },
            corrupt: Correlated { probability: self.corrupt.probability, ..Correlated::default() },
            limit: self.limit,
            ecn: self.ecn,
            ..Self::default()
        };
        *self == alone
    }
}

/// netem's own default.
pub const DEFAULT_LIMIT: u32 = 1000;

/// How jitter is spread around the delay.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Distribution {
    #[default]
    Uniform,
    Normal,
    Pareto,
    ParetoNormal,
    /// Samples in units of jitter / 8192, as netem's `.dist` files hold them: 1 to 16,384 of them.
    Table(Arc<[i16]>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// As netem: packets leave by their drawn time, so jitter reorders them.
    #[default]
    ByTime,
    /// Jitter lets no packet overtake an earlier one: its time is raised to that of the one before
    /// it. What [`Reorder`] picks goes ahead all the same.
    Keep,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Loss {
    #[default]
    None,
    Random(Correlated),
    /// p: good → bad, r: bad → good, loss in the bad state (1 − h), loss in the good state (1 − k).
    GilbertElliott {
        p: Probability,
        r: Probability,
        one_minus_h: Probability,
        one_minus_k: Probability,
    },
    /// netem's `loss state`.
    FourState {
        p13: Probability,
        p31: Probability,
        p32: Probability,
        p23: Probability,
        p14: Probability,
    },
}

/// A probability, and how much each draw depends on the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Correlated {
    pub probability: Probability,
    pub correlation: Probability,
}

/// Packets that skip the delay: every `gap`-th, with `probability`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Reorder {
    pub probability: Probability,
    pub correlation: Probability,
    /// At least 1.
    pub gap: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RateLimit {
    pub rate: Rate,
    /// Bytes added to each packet (may be negative).
    pub packet_overhead: i32,
    /// Bytes a cell carries; 0: no cells.
    pub cell_size: u32,
    /// Bytes added to each cell.
    pub cell_overhead: i32,
}

/// A rate that lets bursts pass, as the kernel's tbf does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenBucket {
    pub rate: Rate,
    /// Bytes, Ethernet headers included, that may pass at once after silence. Longer packets never
    /// pass.
    pub burst: u32,
    /// Bytes that may wait; more are dropped.
    pub queue: u32,
}

/// Packets leave only in slots, as on a scheduled radio link.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Slot {
    pub spacing: SlotSpacing,
    /// Packets a slot lets through; 0: no limit.
    pub packets: u32,
    /// Bytes a slot lets through; 0: no limit.
    pub bytes: u32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SlotSpacing {
    /// Drawn uniformly between the two.
    Between {
        min: Duration,
        max: Duration,
    },
    Distributed {
        delay: Duration,
        jitter: Duration,
        distribution: Distribution,
    },
}

impl SlotSpacing {
    /// A middle, what is scattered around it, and how: in this form slots are drawn.
    pub fn spread(&self) -> (Duration, Duration, Distribution) {
        match self {
            SlotSpacing::Between { min, max } => {
                let half = max.saturating_sub(*min) / 2;
                (*min + half, half, Distribution::Uniform)
            }
            SlotSpacing::Distributed { delay, jitter, distribution } => {
                (*delay, *jitter, distribution.clone())
            }
        }
    }
}
