use super::*;
use crate::recording::sample;
use crate::units::PathId;

const SLOT: Duration = Duration::from_millis(20);

/// Made of the bytes of each slot.
fn volume(bytes: impl Fn(usize) -> u32) -> Volume {
    let mut volume = Volume::new(PathId(0), sample::workload().periodic());
    assert_eq!(volume.middle(1), SLOT);
    (0..3000).for_each(|slot| volume.add(SLOT * slot, bytes(slot as usize)));
    volume
}

/// The sample's outage lasts from 20 s to 25 s, slots 1000 to 1250, and its workload 60 s.
fn back(bytes: impl Fn(usize) -> u32) -> PathBack {
    let trial = Recording { volumes: vec![volume(bytes)], ..sample::recording("kcp-both", 0) };
    of_first(&trial).expect("two paths, and one of them kept")
}

fn of_first(trial: &Recording) -> Option<PathBack> {
    PathBack::of_all(trial, &trial.outages)[0]
}

fn after(slots: u32) -> PathBack {
    PathBack { after: Recovery::After(SLOT * slots), why: None }
}

fn unknown(why: NoLevel) -> PathBack {
    PathBack { after: Recovery::Unknown, why: Some(why) }
}

#[test]
fn a_path_that_is_used_all_the_time_is_back_at_once() {
    assert_eq!(back(|_| 650), after(0));
    // What is sent in the dark does not count, nor does silence in it.
    assert_eq!(back(|slot| if (1000..1250).contains(&slot) { 0 } else { 650 }), after(0));
}

#[test]
fn the_first_slot_of_what_stays_is_the_moment() {
    for late in [1, 20, 190] {
        assert_eq!(
            back(|slot| u32::from(!(1000..1250 + late).contains(&slot)) * 650),
            after(late as u32)
        );
    }
    // A burst of all that had been waiting, …
    let burst = |slot| match slot {
        1000..1270 => 0,
        1270 => 90_000,
        _ => 650,
    };
    assert_eq!(back(burst), after(20));
    // … and one that nothing follows.
    let alone = |slot| match slot {
        1000..1270 => 0,
        1270 => 90_000,
        1271..1400 => 0,
        _ => 650,
    };
    assert_eq!(back(alone), after(150));
}

#[test]
fn probes_are_not_traffic() {
    let probing = |slot: usize| match slot {
        1000..1300 if slot.is_multiple_of(25) => 1200,
        1000..1300 => 0,
        _ => 650,
    };
    assert_eq!(back(probing), after(50));
    assert_eq!(back(|slot| if slot < 1000 { 650 } else { 40 }).after, Recovery::Never);
}

#[test]
fn a_sender_that_bundles_is_back_with_its_first_bundle() {
    // One packet every fourth slot.
    let bundles = |slot: usize| match slot {
        1000..1250 => 0,
        _ if slot % 4 == 3 => 2600,
        _ => 0,
    };
    assert_eq!(back(bundles), after(1));
}

#[test]
fn without_a_level_before_it_is_unknown_and_why() {
    assert_eq!(back(|slot| u32::from(slot % 40 < 20) * 650), unknown(NoLevel::Seldom));
    // Acknowledgements alone.
    assert_eq!(back(|_| 40), unknown(NoLevel::Seldom));
    let trial = |from, until| {
        let outage = Outage { path: PathId(0), from, until };
        let outages = vec![outage];
        let volumes = vec![volume(|_| 650)];
        let trial = Recording { volumes, outages, ..sample::recording("kcp-both", 0) };
        of_first(&trial).expect("two paths")
    };
    let seconds = Duration::from_millis;
    assert_eq!(trial(seconds(900), seconds(2000)), unknown(NoLevel::TooSoon { slot: SLOT }));
    assert_eq!(trial(seconds(1000), seconds(2000)), after(0));
    assert_eq!(trial(seconds(50_000), seconds(59_700)), unknown(NoLevel::TooLate { slot: SLOT }));
    assert_eq!(trial(seconds(50_000), seconds(59_600)), after(0));
}

/// Ten hours of messages every 20 ms, with an outage that begins after 20 s of traffic: a thousand
/// messages that are kept as seventeen slots.
#[test]
fn in_a_workload_of_hours_the_reason_is_how_long_a_slot_is() {
    let mut trial = sample::recording("kcp-both", 0);
    let crate::workload::Workload::Control(periodic) = &mut trial.workload else {
        panic!("the sample is one way")
    };
    periodic.duration = Duration::from_secs(36_000);
    let mut volume = Volume::new(PathId(0), periodic);
    (0..1_800_000).for_each(|message| volume.add(SLOT * message, 650));
    assert!(volume.bytes.len() > 29_000);
    trial.volumes = vec![volume];
    let mut why = |from, until| {
        let (from, until) = (Duration::from_secs(from), Duration::from_secs(until));
        trial.outages[0] = Outage { path: PathId(0), from, until };
        of_first(&trial).expect("two paths").why.map(|why| why.to_string())
    };
    assert_eq!(
        why(20, 25).as_deref(),
        Some("in use for fewer than 50 slots of 1200 ms before the outage")
    );
    assert_eq!(
        why(18_000, 35_990).as_deref(),
        Some("lit for fewer than 20 slots of 1200 ms after the outage")
    );
    assert_eq!(why(18_000, 18_005), None);
}

#[test]
fn the_next_outage_ends_what_is_looked_at() {
    let second =
        Outage { path: PathId(0), from: Duration::from_secs(27), until: Duration::from_secs(30) };
    let dark = |slot: usize| (1000..1500).contains(&slot);
    let volumes = vec![volume(|slot| u32::from(!dark(slot)) * 650)];
    let mut trial = Recording { volumes, ..sample::recording("kcp-both", 0) };
    trial.outages.push(second);
    let backs = PathBack::of_all(&trial, &trial.outages);
    assert_eq!(backs[0], Some(PathBack { after: Recovery::Never, why: None }));
    // Nothing was sent between the two.
    assert_eq!(backs[1], Some(unknown(NoLevel::TooSoon { slot: SLOT })));
}

/// Used again 4 s after the first outage, with half as much for the two before.
#[test]
fn until_a_path_is_used_again_there_is_no_level_to_come_back_to() {
    let second =
        Outage { path: PathId(0), from: Duration::from_secs(31), until: Duration::from_secs(35) };
    let volumes = vec![volume(|slot| match slot {
        1000..1350 | 1550..1800 => 0,
        1350..1450 | 1800..1850 => 325,
        _ => 650,
    })];
    let mut trial = Recording { volumes, ..sample::recording("kcp-both", 0) };
    trial.outages.push(second);
    // Nine tenths are in a window with two slots of ten half full.
    assert_eq!(PathBack::of_all(&trial, &trial.outages), [Some(after(198)), Some(after(98))]);
}

/// The first outage begins too soon for a level; after it the path carries a third for a while.
#[test]
fn what_was_sent_before_it_is_known_to_be_in_use_is_no_level() {
    let (slot, seconds) = (|slot: u32| SLOT * slot, Duration::from_secs);
    let backs = |full_again: usize, second: u32| {
        let outages = [(slot(25), slot(75)), (slot(second), slot(second) + seconds(5))];
        let outages = outages.map(|(from, until)| Outage { path: PathId(0), from, until });
        let dark = second as usize..second as usize + 250;
        let volumes = vec![volume(|slot| match slot {
            25..75 => 0,
            _ if dark.contains(&slot) => 0,
            _ if slot < full_again || (dark.end..dark.end + 100).contains(&slot) => 195,
            _ => 650,
        })];
        let trial =
            Recording { volumes, outages: outages.to_vec(), ..sample::recording("kcp-both", 0) };
        PathBack::of_all(&trial, &trial.outages)
    };
    let too_soon = Some(unknown(NoLevel::TooSoon { slot: SLOT }));
    assert_eq!(backs(150, 200), [too_soon; 2]);
    // Ten windows' time after the first outage at the soonest, and half of that is level enough.
    assert_eq!(backs(150, 224), [too_soon; 2]);
    let [_, second] = backs(150, 225)[..] else { panic!("two outages") };
    assert_eq!(second, Some(after(99)));
}

#[test]
fn a_single_path_has_nothing_to_be_redundant_with() {
    let volumes = vec![volume(|_| 650)];
    let trial = Recording { volumes, ..sample::recording("kcp", 0) };
    assert_eq!(of_first(&trial), None);
    let trial = Recording { volumes: Vec::new(), ..sample::recording("kcp-both", 0) };
    assert_eq!(of_first(&trial), None, "nothing kept");
}
