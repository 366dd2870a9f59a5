//! A new profile on a link that is in use.

use super::effects::{always, certain, delayed};
use super::*;
use crate::link::Pushed;
use crate::link::profile::{Distribution, Loss, Order, Slot, SlotSpacing};

#[test]
fn a_new_profile_leaves_what_is_queued_alone() {
    let mut link = Link::new(&delayed(40 * MS), 1);
    link.push(Instant::ZERO, Packet::new(100, 0));
    let dark = LinkProfile { loss: Loss::Random(always()), limit: 0, ..delayed(5 * MS) };
    link.set_profile(at(10 * MS), &dark, 2);
    assert_eq!(link.push(at(10 * MS), Packet::new(100, 1)), Pushed::Lost);
    link.set_profile(at(20 * MS), &delayed(5 * MS), 3);
    link.push(at(20 * MS), Packet::new(100, 2));
    let departed = drain(&mut link);
    assert_eq!(numbers(&departed), [2, 0]);
    assert_eq!(dues(&departed), [at(25 * MS), at(40 * MS)]);
}

#[test]
fn order_is_kept_across_a_new_profile() {
    let keep = |delay| LinkProfile { order: Order::Keep, ..delayed(delay) };
    let mut link = Link::new(&keep(40 * MS), 1);
    link.push(Instant::ZERO, Packet::new(100, 0));
    link.set_profile(at(10 * MS), &keep(5 * MS), 2);
    link.push(at(10 * MS), Packet::new(100, 1));
    let departed = drain(&mut link);
    assert_eq!(numbers(&departed), [0, 1]);
    assert_eq!(dues(&departed), [at(40 * MS), at(40 * MS)]);
}

/// As the kernel's does: what follows a change is what follows the start of a link of that seed.
#[test]
fn a_new_profile_starts_the_draws_anew() {
    let lossy = LinkProfile { loss: Loss::Random(certain(0.3)), ..delayed(MS) };
    let undisturbed = numbers(&through(&lossy, 100, 100, MS));
    let mut link = Link::new(&lossy, 1);
    for number in 0..200 {
        if number == 100 {
            link.set_profile(at(MS * number), &lossy, 42_424_242);
        }
        link.push(at(MS * number), Packet::new(100, number));
    }
    let arrived = numbers(&drain(&mut link));
    let after: Vec<_> = arrived.iter().filter_map(|number| number.checked_sub(100)).collect();
    assert_eq!(after, undisturbed);
    let before: Vec<_> = arrived.into_iter().filter(|&number| number < 100).collect();
    assert_ne!(before, undisturbed);
}

/// The kernel's netem looks at its queue when its timer fires or a packet enters, not at a change.
#[test]
fn packets_that_a_new_profile_would_let_go_wait_for_the_timer() {
    let spacing = SlotSpacing::Between { min: 50 * MS, max: 50 * MS };
    let slots = Some(Slot { spacing, packets: 1, bytes: 0 });
    let mut link = Link::new(&LinkProfile { slot: slots, ..delayed(MS) }, 1);
    link.push(at(10 * MS), Packet::new(100, 0));
    link.set_profile(at(20 * MS), &delayed(MS), 2);
    assert_eq!(dues(&drain(&mut link)), [at(60 * MS)]);
}

/// The kernel cannot be made to drop a table. One of 8,192 samples has steps of jitter / 8192.
#[test]
fn uniform_jitter_after_a_table_is_drawn_from_an_even_one() {
    let spread =
        |distribution| LinkProfile { jitter: 2048 * MS, distribution, ..delayed(3000 * MS) };
    let mut link = Link::new(&spread(Distribution::Normal), 1);
    link.set_profile(at(MS), &spread(Distribution::Uniform), 2);
    for number in 0..1000 {
        link.push(at(2 * MS), Packet::new(100, number));
    }
    let beyond_steps = |due: Instant| due.as_nanos() % 250_000;
    assert!(dues(&drain(&mut link)).into_iter().all(|due| beyond_steps(due) == 0));
}
