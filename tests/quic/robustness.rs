//! Garbage, truncated, mangled and replayed datagrams in the middle of a run: nothing panics, they
//! are counted, and every message still arrives, once and whole.

use std::time::Duration;

use crate::senders::{
    Build, FIXED, NOQ_FIXED, mpquic_sender, noq_from, noq_sender, noq_settings, quic_sender,
};
use crate::virtual_lab::{Dice, Lab, Path};
use impairlab::protocol::settings::{MpquicCongestion, MpquicScheduler, NoqCongestion};
use impairlab::protocol::settings::{QuicCongestion, QuicMode};
use impairlab::protocol::{Datagram, Protocol, Role, Sent, State};
use impairlab::splitmix::SplitMix64;
use impairlab::units::PathId;
use impairlab::workload::{message_id, write_message};

const PATHS: [Path; 2] = [Path::new(20.0, 5.0, 0.01), Path::new(25.0, 5.0, 0.01)];
const MESSAGES: u64 = 1_000;

/// A datagram made worse, and whom it is for.
fn spoilt(dice: &mut Dice, captured: &[(usize, Datagram)]) -> (usize, Datagram) {
    let (to, mut datagram) = captured[dice.next() as usize % captured.len()].clone();
    let length = datagram.payload.len();
    match dice.next() % 4 {
        0 => datagram.payload.truncate(dice.next() as usize % length),
        1 => datagram.payload[dice.next() as usize % length] ^= 1 << (dice.next() % 8),
        2 => datagram.payload.iter_mut().for_each(|byte| *byte = dice.next() as u8),
        _ => {}
    }
    (to, datagram)
}

fn bombard(seed: u64, spoil_handshake: bool, build: impl Fn(Role) -> Box<dyn Protocol>) {
    let mut lab = Lab::new(&PATHS, seed, build);
    let mut dice = Dice(SplitMix64::new(seed));
    lab.captured = Some(Vec::new());
    if spoil_handshake {
        spoil_while_connecting(&mut lab, &mut dice);
    }
    lab.connect();
    lab.impair();
    let mut message = [0; 600];
    let mut injected = [0; 2];
    for id in 0..MESSAGES {
        write_message(id, &mut message);
        assert_eq!(lab.send(0, &message), Sent::Accepted);
        for _ in 0..3 {
            let (to, datagram) = spoilt(&mut dice, lab.captured.as_ref().unwrap());
            injected[to] += 1;
            lab.inject(to, datagram);
        }
        lab.run_until(lab.now + Duration::from_millis(20));
    }
    lab.run_until(lab.now + Duration::from_secs(5));
    assert_eq!(lab.states(), [State::Established, State::Established]);
    let discarded = [0, 1].map(|side| lab.endpoints[side].statistics().discarded);
    assert!(
        discarded[0] >= injected[0] && discarded[1] >= injected[1],
        "{discarded:?} of {injected:?}"
    );
    let ids: Vec<Option<u64>> =
        lab.delivered[1].iter().map(|(_, bytes)| message_id(bytes)).collect();
    assert!(ids.iter().all(Option::is_some), "a mangled message was delivered");
    let mut sorted: Vec<u64> = ids.into_iter().flatten().collect();
    sorted.sort_unstable();
    sorted.dedup();
    assert_eq!(sorted.len(), lab.delivered[1].len(), "a message was delivered twice");
    if lab.endpoints[1].delivery().reliable {
        assert_eq!(sorted.len() as u64, MESSAGES);
    }
}

fn spoil_while_connecting(lab: &mut Lab, dice: &mut Dice) {
    for _ in 0..200 {
        lab.inject((dice.next() % 2) as usize, garbage(dice));
        lab.step(lab.now + Duration::from_micros(100));
        if lab.captured.as_ref().is_some_and(|captured| !captured.is_empty()) {
            let (to, datagram) = spoilt(dice, lab.captured.as_ref().unwrap());
            lab.inject(to, datagram);
        }
    }
}

fn garbage(dice: &mut Dice) -> Datagram {
    let length = dice.next() as usize % 1300;
    Datagram::new(PathId((dice.next() % 2) as u8), (0..length).map(|_| dice.next() as u8).collect())
}

#[test]
fn quic_outlives_what_is_thrown_at_it() {
    for mode in [QuicMode::Stream, QuicMode::StreamPerMessage, QuicMode::Datagram] {
        for seed in 0..6 {
            bombard(seed, true, quic_sender(FIXED, mode, seed));
            bombard(seed, true, quic_sender(QuicCongestion::Cubic, mode, seed));
        }
    }
}

#[test]
fn mpquic_outlives_what_is_thrown_at_it() {
    for scheduler in
        [MpquicScheduler::Redundant, MpquicScheduler::MinRtt, MpquicScheduler::RoundRobin]
    {
        for seed in 0..6 {
            bombard(seed, false, mpquic_sender(scheduler, MpquicCongestion::Cubic, seed));
        }
    }
}

#[test]
fn noq_outlives_what_is_thrown_at_it() {
    for mode in [QuicMode::Stream, QuicMode::StreamPerMessage, QuicMode::Datagram] {
        for seed in 0..6 {
            bombard(seed, true, noq_from(noq_settings(NOQ_FIXED, mode), seed));
            bombard(seed, true, noq_from(noq_settings(NoqCongestion::Cubic, mode), seed));
        }
    }
}

#[test]
fn an_empty_or_foreign_datagram_before_the_first_one_is_harmless() {
    let mut dice = Dice(SplitMix64::new(5));
    let senders: [Build; 3] = [
        Box::new(quic_sender(FIXED, QuicMode::Stream, 1)),
        Box::new(mpquic_sender(MpquicScheduler::Redundant, MpquicCongestion::Cubic, 1)),
        Box::new(noq_sender(NOQ_FIXED, 1)),
    ];
    for sender in senders {
        let mut lab = Lab::new(&PATHS, 1, sender);
        for side in [0, 1, 0, 1] {
            lab.inject(side, Datagram::new(PathId(0), Vec::new()));
            lab.inject(side, garbage(&mut dice));
        }
        lab.connect();
    }
}
