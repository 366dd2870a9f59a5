use super::*;
use crate::engine::lab::Joint;
use crate::engine::namespaces;
use crate::engine::netem::error::{value, when};
use crate::units::IpVersion;

/// A path whose link is not there, on any kernel.
fn without_its_link() -> Shaping {
    let lab = Lab::build(&[IpVersion::V4], Joint::Bridge).expect("a lab");
    let discipline = Discipline {
        path: PathId(0),
        direction: Direction::Up,
        path_name: "4g".to_owned(),
        link: 9999,
        link_name: "c0".to_owned(),
        history: History::default(),
        has_bucket: false,
    };
    let shaper = lab.shaper().expect("a connection");
    Shaping { shaper, disciplines: vec![discipline], seedless: false }
}

#[test]
fn a_change_that_the_kernel_refuses_is_named_with_its_instant() {
    if !namespaces::are_here() {
        return;
    }
    let mut shaping = without_its_link();
    let setting = Setting { discipline: 0, profile: LinkProfile::default(), seed: Some(1) };
    let step = Step { at: Some(Duration::from_millis(1500)), settings: vec![setting] };
    let prepared = shaping.prepare(&step).expect("encoded");
    let error = shaping.set(&step, &prepared).expect_err("there is no such link");
    assert_eq!(
        error.to_string(),
        "path 4g, the change at 1.5 s of the workload: cannot set netem on c0 in network \
         namespace middle: ENODEV: No such device"
    );
}

#[test]
fn what_the_kernel_does_not_hold_is_named_with_what_was_asked() {
    let discipline = Discipline {
        path: PathId(0),
        direction: Direction::Down,
        path_name: "5g".to_owned(),
        link: 1,
        link_name: "v0".to_owned(),
        history: History::default(),
        has_bucket: false,
    };
    let asked = Options { delay: Duration::from_millis(40), ..Options::default() };
    let held = Options { delay: Duration::from_millis(39), ..Options::default() };
    let error = discipline.not_held(None, "delay", &asked, &held);
    assert_eq!(
        error.to_string(),
        "path 5g, down, the change before the workload: the kernel's netem did not take over \
         delay: 40ms was asked for, and it holds 39ms (see `impairlab doctor`; a newer kernel, or \
         the engine relay or sim, can do it)"
    );
}

/// Every name that a difference can have has a value to be shown.
#[test]
fn every_option_can_be_shown() {
    let one = Options { seed: Some(1), ..Options::default() };
    let other = Options {
        delay: Duration::from_millis(1),
        jitter: Duration::from_millis(1),
        delay_correlation: netns::netem::Chance(1),
        limit: 1,
        loss: netns::netem::Loss::Random(netns::netem::Correlated::of(netns::netem::Chance(1))),
        duplicate: netns::netem::Correlated::of(netns::netem::Chance(1)),
        corrupt: netns::netem::Correlated::of(netns::netem::Chance(1)),
        reorder: netns::netem::Correlated::of(netns::netem::Chance(1)),
        gap: 1,
        rate: Some(netns::netem::Rate {
            bytes_per_second: 1,
            packet_overhead: 0,
            cell_size: 0,
            cell_overhead: 0,
        }),
        slot: Some(netns::netem::Slot {
            spacing: netns::netem::Spacing::Between { min: Duration::ZERO, max: Duration::ZERO },
            packets: 1,
            bytes: 1,
        }),
        ecn: true,
        seed: Some(2),
        ..Options::default()
    };
    let names = one.differences(&other);
    assert_eq!(names.len(), 13);
    for name in names {
        assert_ne!(value(name, &one), value(name, &other), "{name}");
    }
    assert_eq!(when(Some(Duration::ZERO)), "at 0 s of the workload");
}

/// As the threads of the other engines count them: while a connection is set up, it spoils nothing
/// that the host stands still.
#[test]
fn stalls_count_from_when_the_start_is_agreed() {
    let bounds = Bounds::new(Pace::Real);
    let mut waiter = Waiter::new(bounds.clock(), Pace::Real, Priority::Relay, SPIN);
    let stall = Duration::from_millis(25);
    waiter.note_stall(stall);
    bounds.set_start(Instant::from_nanos(1));
    let start = wait_for_start(&bounds, &mut waiter, &AtomicBool::new(false));
    assert_eq!((start, waiter.stalls()), (bounds.start(), Stalls::default()));
    waiter.note_stall(stall);
    assert_ne!(waiter.stalls(), Stalls::default());
    assert_eq!(wait_for_start(&bounds, &mut waiter, &AtomicBool::new(true)), None);
}
