//! How each stack opens its paths, and which of them a packet goes on.

use std::time::Duration;

use impairlab::protocol::mpquic;
use impairlab::protocol::settings::{
    MpquicScheduler, MpquicSettings, MpquicStack, NoqCongestion, NoqScheduler, NoqSettings,
    QuicMode, TquicSettings,
};
use impairlab::protocol::{Datagram, Protocol, Role, Sent, State};
use impairlab::units::PathId;

use crate::senders::{NOQ_FIXED, multipath, noq_from, noq_settings};
use crate::virtual_lab::{Lab, Path};

const PLAIN: Path = Path::new(30.0, 0.0, 0.0);

fn stacks() -> [MpquicStack; 2] {
    [MpquicStack::Tquic(TquicSettings::new()), MpquicStack::Noq(NoqSettings::new())]
}

fn over(count: u8, stack: &MpquicStack) -> impl Fn(Role) -> Box<dyn Protocol> {
    let settings = MpquicSettings { paths: (0..count).map(PathId).collect(), stack: stack.clone() };
    move |role| mpquic::build(&settings, role, 1).unwrap()
}

fn wait(lab: &mut Lab, seconds: u64) {
    lab.run_until(lab.now + Duration::from_secs(seconds));
}

fn second_path_lost(datagram: Datagram) -> Option<Datagram> {
    (datagram.path == PathId(0)).then_some(datagram)
}

/// tquic then says which is not; noq goes on asking, and the engine's time limit ends it.
#[test]
fn a_side_is_established_when_every_path_is() {
    for stack in stacks() {
        let mut lab = Lab::new(&[PLAIN; 2], 1, multipath(stack.clone(), 1));
        lab.meddle = second_path_lost;
        lab.start_both();
        wait(&mut lab, 1);
        assert_eq!(lab.states(), [State::Connecting, State::Connecting]);
        wait(&mut lab, 20);
        let expected = match stack {
            MpquicStack::Tquic(_) => State::Closed("path 1 could not be validated".into()),
            MpquicStack::Noq(_) => State::Connecting,
        };
        assert_eq!(lab.states()[0], expected);
    }
}

#[test]
fn a_path_that_could_not_be_opened_at_first_is_opened_later_by_noq() {
    let stack = MpquicStack::Noq(NoqSettings::new());
    let mut lab = Lab::new(&[PLAIN; 2], 1, multipath(stack, 1));
    lab.meddle = second_path_lost;
    lab.start_both();
    wait(&mut lab, 3);
    lab.meddle = Some;
    wait(&mut lab, 5);
    assert_eq!(lab.states(), [State::Established, State::Established]);
}

#[test]
fn a_peer_has_to_speak_multipath() {
    for stack in stacks() {
        let mut lab = Lab::new(&[PLAIN; 2], 1, |role| match role {
            Role::Client => over(2, &stack)(role),
            Role::Server => over(1, &stack)(role),
        });
        lab.start_both();
        wait(&mut lab, 2);
        let expected = State::Closed("the other side does not speak multipath".into());
        assert_eq!(lab.states()[0], expected);
    }
}

/// Path by path, the datagrams of the client.
fn used(lab: &Lab, count: u8) -> Vec<usize> {
    let from_client = || lab.trace.iter().flatten().filter(|(_, side, ..)| *side == 0);
    (0..count).map(|path| from_client().filter(|entry| entry.2 == path).count()).collect()
}

#[test]
fn one_path_or_three_carry_every_message() {
    let round_robin =
        TquicSettings { scheduler: MpquicScheduler::RoundRobin, ..TquicSettings::new() };
    for stack in [MpquicStack::Tquic(round_robin), MpquicStack::Noq(NoqSettings::new())] {
        for count in [1, 3] {
            let mut lab = Lab::new(&[Path::new(20.0, 5.0, 0.01); 3], 1, over(count, &stack));
            lab.connect();
            lab.impair();
            lab.trace = Some(Vec::new());
            for _ in 0..300 {
                assert_eq!(lab.send(0, &[1; 600]), Sent::Accepted);
                lab.run_until(lab.now + Duration::from_millis(20));
            }
            wait(&mut lab, 3);
            assert_eq!(lab.delivered[1].len(), 300);
            let used = used(&lab, count);
            match stack {
                MpquicStack::Tquic(_) => {
                    assert!(used.iter().all(|n| *n > 250 / usize::from(count)), "{used:?}");
                }
                // There is always room on the first.
                MpquicStack::Noq(_) => assert!(used[0] > 290, "{used:?}"),
            }
        }
    }
}

/// The data of a burst of 60 kB that leaves noq before anything is acknowledged, path by path.
fn burst(scheduler: NoqScheduler) -> [u64; 2] {
    let settings = noq_settings(NoqCongestion::FixedWindow(24_000), QuicMode::Stream);
    let mut lab = Lab::new(&[PLAIN; 2], 1, noq_from(NoqSettings { scheduler, ..settings }, 1));
    lab.connect();
    lab.impair();
    wait(&mut lab, 1);
    lab.trace = Some(Vec::new());
    for _ in 0..60 {
        lab.send(0, &[7; 1_000]);
    }
    // It has measured 4 ms on the clean link, and probes after 30.
    lab.run_until(lab.now + Duration::from_millis(20));
    let sent = |path| {
        let on = lab.trace.iter().flatten().filter(|entry| entry.1 == 0 && entry.2 == path);
        on.map(|entry| u64::from(entry.3)).sum()
    };
    let flight = [sent(0), sent(1)];
    wait(&mut lab, 5);
    assert_eq!(lab.delivered[1].len(), 60);
    flight
}

#[test]
fn noq_fills_the_window_of_its_first_path_and_goes_on_to_the_second() {
    let window = |sent: u64| (22_800..=24_000).contains(&sent);
    let [first, second] = burst(NoqScheduler::FirstUnblocked);
    assert!(window(first) && window(second), "{first} {second}");
    let [first, second] = burst(NoqScheduler::Backup);
    assert!(window(first) && second == 0, "{first} {second}");
}

/// Each message on a stream of its own: what is stuck on a dark path holds up nothing else.
#[test]
fn a_stream_a_message_is_not_held_up_by_another_on_noq() {
    let settings = noq_settings(NOQ_FIXED, QuicMode::StreamPerMessage);
    let paths = [PLAIN.dark(1_000, 1_050), PLAIN];
    let mut lab = Lab::new(&paths, 1, noq_from(settings, 1));
    lab.connect();
    lab.impair();
    lab.run_until(lab.now + Duration::from_millis(1_010));
    lab.send(0, &[1; 600]);
    lab.run_until(lab.now + Duration::from_millis(50));
    let second = lab.now;
    lab.send(0, &[2; 600]);
    wait(&mut lab, 2);
    let delivered: Vec<u8> = lab.delivered[1].iter().map(|(_, message)| message[0]).collect();
    assert_eq!(delivered, [2, 1]);
    assert_eq!(lab.delivered[1][0].0, second + Duration::from_millis(30));
}
