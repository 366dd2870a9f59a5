//! The relay engine on this kernel: what it does to each packet is held against the link model
//! alone and against the engine in virtual time. Asserts what happened to which packet and never
//! how soon.

mod namespaces;
mod relay_trials;

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::time::Duration;

use impairlab::engine::relay::Relay;
use impairlab::engine::sim::Sim;
use impairlab::engine::{Engine, Event, Trial};
use impairlab::link::profile::{Correlated, LinkProfile, Loss};
use impairlab::link::{Link, Packet, Pushed};
use impairlab::recording::{Message, Messages, Recording, Status};
use impairlab::timeline::{Change, Outage};
use impairlab::units::{Direction, Instant, PathId, Probability};
use relay_trials::{FRAME_LENGTH, PATH, delayed, echo, namespaces_or_skip, percent, trial};

fn run(trial: &Trial) -> Recording {
    Relay.run(trial, &mut |_| ControlFlow::Continue(())).expect("the trial runs")
}

fn messages(recording: &Recording) -> &[Message] {
    match &recording.messages {
        Messages::Each(messages) => messages,
        Messages::Histogram(_) => panic!("every message is kept"),
    }
}

fn lost(recording: &Recording) -> BTreeSet<usize> {
    let messages = messages(recording).iter().enumerate();
    messages.filter(|(_, message)| message.delivered.is_none()).map(|(id, _)| id).collect()
}

#[test]
fn loses_exactly_the_packets_that_the_link_model_loses_and_delays_the_others() {
    namespaces_or_skip!();
    let mut profile = delayed(40);
    profile.loss = Loss::Random(Correlated { probability: percent(10), ..Correlated::default() });
    let trial = trial(profile.clone(), LinkProfile::default());
    let recording = run(&trial);

    let mut link = Link::new(&profile, trial.link_seed(PATH, Direction::Up, 0));
    let pushed = (0..messages(&recording).len()).map(|id| {
        let at = trial.plan.workload.periodic().due(id as u64);
        (id, link.push(Instant::ZERO + at, Packet::new(FRAME_LENGTH, ())))
    });
    let expected: BTreeSet<_> =
        pushed.filter(|(_, pushed)| *pushed == Pushed::Lost).map(|(id, _)| id).collect();
    assert!(expected.len() > 5, "{expected:?}");
    assert_eq!(lost(&recording), expected);
    let in_virtual_time = Sim.run(&trial, &mut |_| ControlFlow::Continue(())).expect("sim runs");
    assert_eq!(lost(&in_virtual_time), expected);
    for message in messages(&recording) {
        let sent = message.sent.expect("udp refuses nothing");
        assert!(sent >= message.scheduled, "{message:?}");
        let delivered = message.delivered.unwrap_or(u64::MAX);
        assert!(delivered - sent >= 40_000_000, "{message:?}");
    }
    assert_eq!(recording.wire[0].up, in_virtual_time.wire[0].up);
    assert_eq!(recording.status, Status::Complete);
}

#[test]
fn an_outage_takes_what_was_sent_in_it_and_nothing_else() {
    namespaces_or_skip!();
    let (from, until) = (Duration::from_millis(502), Duration::from_millis(1202));
    let mut dark = delayed(40);
    dark.loss =
        Loss::Random(Correlated { probability: Probability::ALWAYS, ..Correlated::default() });
    let change = |at, profile| Change { at, path: PATH, direction: Direction::Up, profile };
    let mut trial = trial(delayed(40), LinkProfile::default());
    let plan = std::sync::Arc::make_mut(&mut trial.plan);
    plan.timeline.changes = vec![change(from, dark), change(until, delayed(40))];
    plan.timeline.outages = vec![Outage { path: PATH, from, until }];
    let recording = run(&trial);

    // The host may take a message away from the sender, and give it to the relay this much later.
    let held_up = Duration::from_millis(100);
    let sent_between = |from: Duration, until: Duration| -> BTreeSet<usize> {
        let range = from.as_nanos() as u64..until.as_nanos() as u64;
        let all = messages(&recording).iter().enumerate();
        let sent = all.filter(|(_, message)| message.sent.is_some_and(|at| range.contains(&at)));
        sent.map(|(id, _)| id).collect()
    };
    let surely = sent_between(from, until - held_up);
    let perhaps = sent_between(from - held_up, until);
    let lost = lost(&recording);
    assert!(surely.len() > 50, "{surely:?}");
    assert!(surely.is_subset(&lost), "{:?}", &surely - &lost);
    assert!(lost.is_subset(&perhaps), "{:?}", &lost - &perhaps);
}

#[test]
fn a_corrupted_packet_is_dropped_by_the_kernel_of_the_receiver() {
    namespaces_or_skip!();
    let mut profile = delayed(5);
    profile.corrupt = Correlated { probability: Probability::ALWAYS, ..Correlated::default() };
    let trial = trial(profile.clone(), LinkProfile::default());
    let recording = run(&trial);

    let mut link = Link::new(&profile, trial.link_seed(PATH, Direction::Up, 0));
    let mut unnoticed = BTreeSet::new();
    for id in 0..messages(&recording).len() {
        let at = Instant::ZERO + Duration::from_secs(id as u64);
        link.push(at, Packet::new(FRAME_LENGTH, id));
        let departed = link.pop(at + Duration::from_millis(500)).expect("it has left");
        let flip = departed.packet.corrupted.expect("every packet is corrupted");
        // Nobody checks the hardware address of the sender, nor whether a unicast comes by
        // multicast.
        if (6..12).contains(&flip.offset) || (flip.offset, flip.bit) == (0, 0) {
            unnoticed.insert(departed.packet.payload);
        }
    }
    let all: BTreeSet<_> = (0..messages(&recording).len()).collect();
    assert_eq!(lost(&recording), &all - &unnoticed);
    assert_eq!(recording.wire[0].up.corrupted, all.len() as u64);
}

#[test]
fn every_packet_is_accounted_for() {
    namespaces_or_skip!();
    let mut profile = delayed(10);
    profile.duplicate = Correlated { probability: percent(20), ..Correlated::default() };
    profile.loss = Loss::Random(Correlated { probability: percent(20), ..Correlated::default() });
    profile.jitter = Duration::from_millis(5);
    let recording = run(&trial(profile.clone(), profile));
    for path in &recording.wire {
        for count in [path.up, path.down] {
            let taken = count.offered.packets + count.duplicated;
            assert_eq!(taken, count.lost + count.overflowed + count.delivered, "{count:?}");
        }
    }
    let up = recording.wire[0].up;
    assert_eq!(up.offered.packets, messages(&recording).len() as u64);
    assert_eq!(up.offered.bytes, up.offered.packets * u64::from(FRAME_LENGTH - 14));
    assert!(up.duplicated > 0 && up.lost > 0, "{up:?}");
    let fidelity = recording.fidelity.expect("a real-time engine tells how well it kept time");
    assert_eq!(fidelity.damaged_packets, 0);
}

#[test]
fn an_answer_takes_both_ways() {
    namespaces_or_skip!();
    let recording = run(&echo(delayed(10), delayed(20)));
    assert_eq!(lost(&recording), BTreeSet::new());
    for message in messages(&recording) {
        let delivered = message.delivered.expect("nothing is lost");
        assert!(delivered - message.scheduled >= 30_000_000, "{message:?}");
    }
    assert_eq!(recording.wire[0].up.offered.packets, recording.wire[0].down.offered.packets);
}

#[test]
fn what_was_measured_before_an_interruption_is_kept() {
    namespaces_or_skip!();
    let trial = trial(delayed(5), LinkProfile::default());
    let mut answer = |event| match event {
        Event::Connecting | Event::Started { .. } => ControlFlow::Continue(()),
        Event::Progress(_) => ControlFlow::Break(()),
    };
    let recording = Relay.run(&trial, &mut answer).expect("the trial runs");
    let Status::Interrupted { after } = recording.status else { panic!("{:?}", recording.status) };
    assert!(after > Duration::ZERO);
    assert!(!messages(&recording).is_empty());
    let scheduled = messages(&recording).iter().map(|message| message.scheduled);
    assert!(scheduled.max().is_some_and(|last| u128::from(last) < after.as_nanos()));
}

#[test]
fn the_network_of_the_host_stays_as_it_was() {
    namespaces_or_skip!();
    let before = relay_trials::host();
    run(&trial(delayed(5), LinkProfile::default()));
    assert_eq!(relay_trials::host(), before);
}

#[test]
fn two_paths_do_not_touch_each_other() {
    namespaces_or_skip!();
    let mut dark = delayed(5);
    dark.loss =
        Loss::Random(Correlated { probability: Probability::ALWAYS, ..Correlated::default() });
    let trial = relay_trials::second_path(delayed(5), dark);
    let recording = run(&trial);
    assert_eq!(lost(&recording), BTreeSet::new());
    assert_eq!(recording.wire[1].path, PathId(1));
    assert_eq!(recording.wire[1].up.offered.packets, recording.wire[1].up.lost);
    assert_eq!(recording.wire[0].up.offered, recording.wire[1].up.offered);
}

#[test]
fn a_marked_packet_arrives_as_any_other() {
    namespaces_or_skip!();
    let mut profile = delayed(5);
    profile.ecn = true;
    profile.loss = Loss::Random(Correlated { probability: percent(30), ..Correlated::default() });
    let recording = run(&relay_trials::quic(profile, delayed(5)));
    let up = recording.wire[0].up;
    assert!(up.marked > 50, "{up:?}");
    assert_eq!((up.lost, up.delivered), (0, up.offered.packets));
    // The kernel drops a datagram whose header has a wrong checksum: QUIC would have had to send it
    // again.
    assert_eq!(recording.statistics.retransmissions, Some(0));
    assert_eq!(lost(&recording), BTreeSet::new());
}

#[test]
fn every_sender_is_connected_before_the_first_loss_and_delivers_in_spite_of_it() {
    namespaces_or_skip!();
    let mut profile = delayed(5);
    profile.loss = Loss::Random(Correlated { probability: percent(10), ..Correlated::default() });
    for trial in relay_trials::reliable(profile) {
        let recording = run(&trial);
        let sender = &recording.sender;
        assert_eq!(recording.status, Status::Complete, "{sender}");
        assert_eq!(lost(&recording), BTreeSet::new(), "{sender}");
        assert!(recording.wire[0].up.lost > 0, "{sender}");
        if recording.protocol.keyword() != "kcp" {
            assert!(recording.handshake.up.packets > 0, "{sender}");
            assert!(recording.handshake.duration >= Duration::from_millis(4), "{sender}");
        }
    }
}

#[test]
fn ipv6_has_longer_headers_and_the_same_fates() {
    namespaces_or_skip!();
    let mut profile = delayed(10);
    profile.loss = Loss::Random(Correlated { probability: percent(10), ..Correlated::default() });
    let trial = relay_trials::over_ipv6(trial(profile, LinkProfile::default()));
    let recording = run(&trial);
    let in_virtual_time = Sim.run(&trial, &mut |_| ControlFlow::Continue(())).expect("sim runs");
    assert_eq!(lost(&recording), lost(&in_virtual_time));
    let up = recording.wire[0].up;
    assert_eq!(up, in_virtual_time.wire[0].up);
    assert_eq!(up.offered.bytes, up.offered.packets * u64::from(FRAME_LENGTH - 14 + 20));
    assert!(up.lost > 0, "{up:?}");
}

#[test]
fn ecn_works_over_ipv6() {
    namespaces_or_skip!();
    let mut profile = delayed(5);
    profile.ecn = true;
    profile.loss = Loss::Random(Correlated { probability: percent(30), ..Correlated::default() });
    let recording = run(&relay_trials::over_ipv6(relay_trials::quic(profile, delayed(5))));
    let up = recording.wire[0].up;
    assert!(up.marked > 50, "{up:?}");
    assert_eq!((up.lost, up.delivered), (0, up.offered.packets));
    assert_eq!(lost(&recording), BTreeSet::new());
}

/// There is no router on a path that could answer with an ICMP message, and no fragment: what does
/// not fit is refused where it is sent (EMSGSIZE), and counted.
#[test]
fn what_does_not_fit_a_packet_is_refused_at_the_endpoint() {
    namespaces_or_skip!();
    let plain = || trial(delayed(1), delayed(1));
    for (trial, most) in [(plain(), 1472), (relay_trials::over_ipv6(plain()), 1452)] {
        let fits = run(&relay_trials::of_size(trial.clone(), most));
        assert_eq!(lost(&fits), BTreeSet::new(), "{most}");
        let too_long = run(&relay_trials::of_size(trial, most + 1));
        assert_eq!(lost(&too_long).len(), messages(&too_long).len(), "{most}");
        assert_eq!(too_long.wire[0].up.offered.packets, 0, "{most}");
        let count = messages(&too_long).len() as u64;
        let fidelity = too_long.fidelity.expect("a real-time engine tells how well it kept time");
        assert_eq!(fidelity.damaged_packets, count);
        assert!(fidelity.spoilt.is_some_and(|why| why.contains("unsendable")), "{most}");
    }
}
