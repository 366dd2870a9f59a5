//! The link as a whole: its effects one by one, and all of them together against a second model.

mod changes;
mod effects;
mod equality;
mod reference;

use std::time::Duration;

use super::profile::LinkProfile;
use super::{Departed, Link, Packet};
use crate::units::{Instant, Probability};

const MS: Duration = Duration::from_millis(1);

fn p(value: f64) -> Probability {
    Probability::new(value).expect("between 0 and 1")
}

fn at(since_start: Duration) -> Instant {
    Instant::ZERO + since_start
}

/// Packets 0 … `count` − 1 of `length` bytes, one each `gap`, and what comes out at the other end.
fn through(profile: &LinkProfile, count: u32, length: u32, gap: Duration) -> Vec<Departed<u32>> {
    let mut link = Link::new(profile, 42_424_242);
    for number in 0..count {
        link.push(at(gap * number), Packet::new(length, number));
    }
    drain(&mut link)
}

fn drain(link: &mut Link<u32>) -> Vec<Departed<u32>> {
    std::iter::from_fn(|| link.pop(Instant::FAR_FUTURE)).collect()
}

fn numbers(departed: &[Departed<u32>]) -> Vec<u32> {
    departed.iter().map(|departed| departed.packet.payload).collect()
}

fn dues(departed: &[Departed<u32>]) -> Vec<Instant> {
    departed.iter().map(|departed| departed.due).collect()
}
