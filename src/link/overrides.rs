//! Some settings of a link, to be laid over a profile: what a scenario writes of a path, and what a
//! timeline changes.

use std::time::Duration;

use super::profile::{
    Correlated, Distribution, LinkProfile, Loss, Order, RateLimit, Reorder, Slot, TokenBucket,
};
use crate::units::Probability;

/// Settings that are `None` stay as they are.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Overrides {
    pub delay: Option<Duration>,
    pub jitter: Option<Duration>,
    pub delay_correlation: Option<Probability>,
    pub distribution: Option<Distribution>,
    pub order: Option<Order>,
    pub loss: Option<Loss>,
    pub duplicate: Option<Correlated>,
    pub corrupt: Option<Correlated>,
    /// `Some(None)` takes reordering away.
    pub reorder: Option<Option<Reorder>>,
    /// `Some(None)` takes the limit away.
    pub rate: Option<Option<RateLimit>>,
    /// `Some(None)` takes the bucket away.
    pub bucket: Option<Option<TokenBucket>>,
    pub limit: Option<u32>,
    /// `Some(None)` takes the slots away.
    pub slot: Option<Option<Slot>>,
    pub ecn: Option<bool>,
}

impl Overrides {
    pub fn apply(&self, profile: &mut LinkProfile) {
        put(&mut profile.delay, &self.delay);
        put(&mut profile.jitter, &self.jitter);
        put(&mut profile.delay_correlation, &self.delay_correlation);
        put(&mut profile.distribution, &self.distribution);
        put(&mut profile.order, &self.order);
        put(&mut profile.loss, &self.loss);
        put(&mut profile.duplicate, &self.duplicate);
        put(&mut profile.corrupt, &self.corrupt);
        put(&mut profile.reorder, &self.reorder);
        put(&mut profile.rate, &self.rate);
        put(&mut profile.bucket, &self.bucket);
        put(&mut profile.limit, &self.limit);
        put(&mut profile.slot, &self.slot);
        put(&mut profile.ecn, &self.ecn);
    }
}

fn put<T: Clone>(setting: &mut T, value: &Option<T>) {
    if let Some(value) = value {
        *setting = value.clone();
    }
}
