//! Each setting does what it says, and each limit is where it is said to be.

use std::time::Duration;

use impairlab::protocol::framing::MAX_MESSAGE;
use impairlab::protocol::quic;
use impairlab::protocol::settings::{
    MpquicCongestion, MpquicScheduler, NoqCongestion, QuicCongestion, QuicMode,
};
use impairlab::protocol::{Datagram, Ecn, Output, PathChange, Protocol, Role, Sent, State, mpquic};
use impairlab::units::{Instant, PathId};

use crate::senders::{
    Build, FIXED, NOQ_FIXED, mpquic_sender, noq_from, noq_sender, noq_settings, quic_from,
    quic_sender, quic_settings,
};
use crate::virtual_lab::{Lab, Path};

const PLAIN: [Path; 2] = [Path::new(30.0, 0.0, 0.0), Path::new(30.0, 0.0, 0.0)];
const MODES: [QuicMode; 3] = [QuicMode::Stream, QuicMode::StreamPerMessage, QuicMode::Datagram];

fn connected(build: impl Fn(Role) -> Box<dyn Protocol>) -> Lab {
    let mut lab = Lab::new(&PLAIN, 1, build);
    lab.connect();
    lab.impair();
    lab
}

fn wait(lab: &mut Lab, seconds: u64) {
    lab.run_until(lab.now + Duration::from_secs(seconds));
}

fn redundant(seed: u64) -> impl Fn(Role) -> Box<dyn Protocol> {
    mpquic_sender(MpquicScheduler::Redundant, MpquicCongestion::Cubic, seed)
}

/// How long the server keeps the acknowledgement of a lone packet, in milliseconds; its round trip
/// is 60 ms.
fn acknowledgement_delays_ms(max_ack_delay_ms: u64) -> Vec<f64> {
    let mut settings = quic_settings(FIXED, QuicMode::Stream);
    settings.transport.max_ack_delay = Duration::from_millis(max_ack_delay_ms);
    let mut lab = connected(quic_from(settings, 1));
    wait(&mut lab, 1);
    let delay = |_| {
        lab.trace = Some(Vec::new());
        let arrival = lab.now + Duration::from_millis(30);
        lab.send(0, &[1; 600]);
        wait(&mut lab, 1);
        let trace = lab.trace.take().unwrap();
        let (at, ..) = trace.iter().find(|(_, from, ..)| *from == 1).unwrap();
        (at - arrival.as_nanos()) as f64 / 1e6
    };
    // quinn skips a packet number now and then, and a gap is acknowledged at once.
    (0..40).map(delay).filter(|delay| *delay > 0.0).collect()
}

#[test]
fn acknowledgements_wait_as_long_as_the_setting_says_up_to_25_ms() {
    for ms in [1, 5, 24, 25] {
        let delays = acknowledgement_delays_ms(ms);
        assert!(delays.len() > 35 && delays.iter().all(|delay| *delay == ms as f64), "{delays:?}");
    }
}

#[test]
fn a_longer_acknowledgement_delay_follows_the_round_trip_time() {
    let delays = acknowledgement_delays_ms(100);
    assert_eq!(delays[0], 25.0);
    assert!(delays.is_sorted(), "{delays:?}");
    assert!(*delays.last().unwrap() > 48.0 && *delays.last().unwrap() <= 60.0, "{delays:?}");
}

/// RFC 9002, section 6.2.2: the first probe is due after rtt + 4 · rtt / 2.
#[test]
fn the_initial_rtt_decides_when_the_handshake_is_tried_again() {
    for initial_rtt in [Duration::from_millis(100), Duration::from_millis(333)] {
        let mut settings = quic_settings(FIXED, QuicMode::Stream);
        settings.transport.initial_rtt = initial_rtt;
        let mut client = quic::build(&settings, Role::Client, 1).unwrap();
        let now = Instant::from_nanos(5);
        assert!(matches!(client.poll(now), Output::Transmit(hello) if hello.payload.len() == 1200));
        assert_eq!(client.poll(now), Output::Wait(Some(now + 3 * initial_rtt)));
    }
}

fn congested(datagram: Datagram) -> Option<Datagram> {
    let marked = Datagram { ecn: Ecn::CongestionExperienced, ..datagram.clone() };
    Some(if datagram.ecn == Ecn::Capable0 { marked } else { datagram })
}

fn bleached(datagram: Datagram) -> Option<Datagram> {
    Some(Datagram { ecn: Ecn::NotCapable, ..datagram })
}

/// How long 300 kB take on a link that does this to datagrams.
fn transfer(
    build: impl Fn(Role) -> Box<dyn Protocol>,
    meddle: fn(Datagram) -> Option<Datagram>,
) -> (Duration, Ecn) {
    let mut lab = connected(build);
    lab.meddle = meddle;
    let start = lab.now;
    for _ in 0..500 {
        lab.send(0, &[7; 600]);
    }
    while lab.delivered[1].len() < 500 {
        lab.step(start + Duration::from_secs(600));
    }
    let duration = lab.now.saturating_since(start);
    lab.meddle = Some;
    lab.captured = Some(Vec::new());
    lab.send(0, &[7; 600]);
    wait(&mut lab, 1);
    (duration, lab.captured.unwrap()[0].1.ecn)
}

#[test]
fn congestion_marks_are_heard_and_a_path_that_bleaches_them_is_noticed() {
    let senders: [Build; 2] = [
        Box::new(quic_sender(QuicCongestion::NewReno, QuicMode::Stream, 1)),
        Box::new(noq_sender(NoqCongestion::NewReno, 1)),
    ];
    for build in &senders {
        let (clean, ecn) = transfer(build, Some);
        assert_eq!(ecn, Ecn::Capable0);
        let (marked, ecn) = transfer(build, congested);
        assert_eq!(ecn, Ecn::Capable0);
        assert!(marked > 2 * clean, "{marked:?} {clean:?}");
        let (_, ecn) = transfer(build, bleached);
        assert_eq!(ecn, Ecn::NotCapable);
    }
}

fn lost(_: Datagram) -> Option<Datagram> {
    None
}

/// Messages taken until one is refused, on a path that has gone dark; all of them arrive once it is
/// back.
fn accepted_in_the_dark(build: impl Fn(Role) -> Box<dyn Protocol>, size: usize) -> usize {
    let mut lab = connected(build);
    lab.meddle = lost;
    let mut accepted = 0;
    while lab.send(0, &vec![3; size]) == Sent::Accepted {
        accepted += 1;
        assert!(accepted < 100_000, "no limit");
    }
    let reliable = lab.endpoints[0].delivery().reliable;
    wait(&mut lab, 5);
    // A datagram leaves the buffer when it is sent, all else when it is acknowledged.
    assert!(!reliable || lab.send(0, &vec![3; size]) == Sent::Refused);
    lab.meddle = Some;
    wait(&mut lab, 120);
    assert!(!reliable || lab.delivered[1].len() == accepted);
    assert_eq!(lab.send(0, &vec![3; size]), Sent::Accepted);
    accepted
}

#[test]
fn a_full_send_buffer_refuses_and_recovers() {
    let buffer = quic::SEND_BUFFER as usize;
    for mode in MODES {
        let bytes = 1_000 * accepted_in_the_dark(quic_sender(FIXED, mode, 1), 1_000);
        assert!(bytes <= buffer + 1_000 && bytes > buffer * 9 / 10, "{mode:?} {bytes}");
        let narrow = noq_settings(NoqCongestion::FixedWindow(1 << 16), mode);
        let bytes = 1_000 * accepted_in_the_dark(noq_from(narrow, 1), 1_000);
        assert!(bytes <= buffer + 1_000 && bytes > buffer * 9 / 10, "noq {mode:?} {bytes}");
    }
    let streams = accepted_in_the_dark(quic_sender(FIXED, QuicMode::StreamPerMessage, 1), 8);
    assert_eq!(streams, quic::MAX_STREAMS as usize);
    let bytes = 1_004 * accepted_in_the_dark(redundant(1), 1_000);
    assert!(bytes.abs_diff(mpquic::SEND_BUFFER as usize) <= 2_008, "{bytes}");
}

#[test]
fn a_message_that_does_not_fit_is_refused() {
    for mode in MODES {
        let mut lab = connected(quic_sender(FIXED, mode, 1));
        assert_eq!(lab.send(0, &vec![0; MAX_MESSAGE + 1]), Sent::Refused, "{mode:?}");
        let mut lab = connected(noq_from(noq_settings(NOQ_FIXED, mode), 1));
        assert_eq!(lab.send(0, &vec![0; MAX_MESSAGE + 1]), Sent::Refused, "noq {mode:?}");
    }
    let mut lab = connected(quic_sender(FIXED, QuicMode::Datagram, 1));
    assert_eq!(lab.send(0, &[0; 1_200]), Sent::Refused);
    assert_eq!(lab.send(0, &[0; 1_100]), Sent::Accepted);
    assert_eq!(connected(redundant(1)).send(0, &vec![0; MAX_MESSAGE + 1]), Sent::Refused);
}

#[test]
fn both_directions_carry_messages() {
    let senders: Vec<Build> = vec![
        Box::new(quic_sender(QuicCongestion::Cubic, QuicMode::Stream, 1)),
        Box::new(quic_sender(QuicCongestion::Cubic, QuicMode::StreamPerMessage, 1)),
        Box::new(quic_sender(QuicCongestion::Cubic, QuicMode::Datagram, 1)),
        Box::new(redundant(1)),
        Box::new(noq_from(noq_settings(NOQ_FIXED, QuicMode::Stream), 1)),
        Box::new(noq_from(noq_settings(NOQ_FIXED, QuicMode::StreamPerMessage), 1)),
        Box::new(noq_from(noq_settings(NOQ_FIXED, QuicMode::Datagram), 1)),
    ];
    for sender in senders {
        let mut lab = connected(sender);
        for side in [1, 0, 1] {
            assert_eq!(lab.send(side, &[side as u8; 900]), Sent::Accepted);
            wait(&mut lab, 1);
        }
        let received = |side: usize| lab.delivered[side].iter().map(|(_, m)| m.clone());
        assert!(received(0).eq([vec![1; 900], vec![1; 900]]));
        assert!(received(1).eq([vec![0; 900]]));
    }
}

#[test]
fn a_new_local_address_keeps_the_connection() {
    let mut lab = connected(quic_sender(FIXED, QuicMode::Stream, 1));
    let now = lab.now;
    lab.endpoints[0].path_changed(now, PathId(0), PathChange::NewLocalAddress);
    lab.send(0, &[1; 600]);
    wait(&mut lab, 2);
    assert_eq!(lab.delivered[1].len(), 1);
    assert_eq!(lab.states(), [State::Established, State::Established]);
}

#[test]
fn a_peer_that_speaks_otherwise_ends_the_connection_with_a_reason() {
    let mut lab = connected(|role| {
        let mode = match role {
            Role::Client => QuicMode::StreamPerMessage,
            Role::Server => QuicMode::Stream,
        };
        quic_sender(FIXED, mode, 1)(role)
    });
    lab.send(0, &[0xff; 600]);
    wait(&mut lab, 2);
    for state in lab.states() {
        assert!(
            matches!(&state, State::Closed(why) if why.contains("4294967295 bytes")),
            "{state:?}"
        );
    }
    assert_eq!(lab.send(0, &[1; 600]), Sent::Refused);
    assert_eq!(lab.send(1, &[1; 600]), Sent::Refused);
}

#[test]
fn nothing_is_sent_before_the_connection_is_up() {
    let clients = [
        quic_sender(FIXED, QuicMode::Stream, 1)(Role::Client),
        redundant(1)(Role::Client),
        noq_sender(NOQ_FIXED, 1)(Role::Client),
    ];
    for mut client in clients {
        assert_eq!(client.state(), State::Connecting);
        assert_eq!(client.send(Instant::from_nanos(1), &[1; 600]), Sent::Refused);
    }
}
