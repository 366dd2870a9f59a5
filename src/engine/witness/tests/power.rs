//! A link that does something else is found, with so many packets; results/README.md has these
//! numbers for a reader.

use super::profiles::{bursts, chance, likely, limit, mobile};
use super::*;
use crate::link::profile::{Distribution, Loss, Order, Reorder};

const RUNS: usize = 20;

/// In each of twenty runs.
fn is_found(what: What, asked: &LinkProfile, done: &LinkProfile, packets: u64) {
    let spacing = Duration::from_millis(2);
    let found = (0..RUNS).filter(|seed| {
        let receipt = watch(asked, done, packets, spacing, *seed as u64);
        disagrees(&judge(&receipt)).contains(&what)
    });
    assert_eq!(found.count(), RUNS, "{what} with {packets} packets");
}

fn changed(change: impl Fn(&mut LinkProfile)) -> LinkProfile {
    let mut profile = mobile();
    change(&mut profile);
    profile
}

fn losing(share: f64) -> LinkProfile {
    changed(|it| it.loss = Loss::Random(chance(share)))
}

#[test]
fn another_loss_is_found() {
    is_found(What::Loss, &losing(0.02), &losing(0.06), 3000);
    is_found(What::Loss, &losing(0.02), &losing(0.03), 15_000);
    is_found(What::Loss, &losing(0.02), &losing(0.0), 3000);
}

#[test]
fn one_packet_is_enough_where_none_may_be_lost_or_none_may_pass() {
    is_found(What::Loss, &losing(0.0), &losing(0.01), 1500);
    is_found(What::Loss, &losing(1.0), &losing(0.99), 1500);
}

#[test]
fn bursts_that_were_not_asked_for_are_found_and_bursts_that_are_missing_too() {
    let bursty = changed(|it| it.loss = bursts());
    let scattered = losing((0.01 * 0.8 + 0.25 * 0.002) / 0.26);
    is_found(What::Burst, &bursty, &scattered, 6000);
    is_found(What::Burst, &scattered, &bursty, 6000);
}

#[test]
fn another_delay_is_found() {
    let later = |ms| changed(|it| it.delay = Duration::from_millis(ms));
    is_found(What::Delay, &mobile(), &later(45), 600);
    is_found(What::Delay, &mobile(), &later(41), 10_000);
    let steady = |delay| LinkProfile { delay, ..LinkProfile::default() };
    let (asked, done) = (Duration::from_millis(40), Duration::from_nanos(40_000_010));
    is_found(What::Delay, &steady(asked), &steady(done), 1);
}

#[test]
fn another_jitter_is_found() {
    let wider = |ms| changed(|it| it.jitter = Duration::from_millis(ms));
    is_found(What::Jitter, &mobile(), &wider(12), 3000);
    is_found(What::Jitter, &mobile(), &wider(0), 300);
    let pareto = changed(|it| it.distribution = Distribution::Pareto);
    is_found(What::Jitter, &mobile(), &pareto, 3000);
}

#[test]
fn another_order_is_found() {
    let kept = changed(|it| it.order = Order::Keep);
    is_found(What::Overtaking, &kept, &mobile(), 200);
    is_found(What::Overtaking, &mobile(), &kept, 400);
}

#[test]
fn another_rate_is_found_with_a_few_packets() {
    let limited = |bits| LinkProfile { rate: limit(bits), ..LinkProfile::default() };
    is_found(What::Rate, &limited(1_000_000), &limited(1_010_000), 10);
    is_found(What::Rate, &limited(1_000_000), &limited(990_000), 10);
}

/// 642 bytes every 2 ms are 3.1 Mbit/s on these cells.
#[test]
fn another_delay_before_a_queue_is_found() {
    let limited =
        |ms| changed(|it| (it.rate, it.delay) = (limit(20_000_000), Duration::from_millis(ms)));
    is_found(What::Delay, &limited(40), &limited(45), 3000);
}

#[test]
fn copies_and_wrong_bits_are_found() {
    let copying = |share| changed(|it| it.duplicate = chance(share));
    is_found(What::Copies, &copying(0.05), &copying(0.0), 1500);
    is_found(What::Copies, &mobile(), &copying(0.01), 3000);
    let corrupting = |share| changed(|it| it.corrupt = chance(share));
    is_found(What::Corruption, &corrupting(0.05), &corrupting(0.1), 3000);
}

#[test]
fn packets_that_go_ahead_too_often_are_found() {
    let reordering = |share, gap| {
        changed(|it| {
            let (probability, correlation) = (likely(share), likely(0.0));
            it.reorder = Some(Reorder { probability, correlation, gap });
            it.jitter = Duration::from_millis(1);
        })
    };
    is_found(What::Ahead, &reordering(1.0, 5), &reordering(1.0, 4), 1500);
    is_found(What::Ahead, &reordering(0.25, 1), &reordering(0.5, 1), 1500);
}
