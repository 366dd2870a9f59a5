//! The sender as an engine sees it: messages survive every mode, limits refuse, garbage is counted
//! and harmless.

mod layers;

use proptest::prelude::*;

use super::super::{HEADER_LEN, SEND_QUEUE_LIMIT};
use super::*;
use crate::protocol::settings::KcpBehaviour;

fn any_behaviour() -> impl Strategy<Value = KcpBehaviour> {
    prop::sample::select(vec![KcpBehaviour::Ikcp17, KcpBehaviour::Ikcp211, KcpBehaviour::KcpGo56])
}

fn settings() -> KcpSettings {
    KcpSettings { flush_at_once: true, ..KcpSettings::new(PathId(3)) }
}

fn at_ms(ms: u64) -> Instant {
    Instant::from_nanos(ms * NANOS_PER_MILLI)
}

fn datagram(payload: &[u8]) -> Datagram {
    Datagram::new(PathId(3), payload.to_vec())
}

/// Everything a side has to say now.
fn drain(side: &mut Kcp, now: Instant) -> (Vec<Vec<u8>>, Vec<Vec<u8>>) {
    let (mut datagrams, mut messages) = (Vec::new(), Vec::new());
    loop {
        match side.poll(now) {
            Output::Transmit(datagram) => datagrams.push(datagram.payload),
            Output::Deliver(message) => messages.push(message),
            Output::Wait(_) => return (datagrams, messages),
        }
    }
}

/// Runs two sides over a perfect path for a while; what the second one delivers.
fn exchange(sides: &mut [Kcp; 2], milliseconds: std::ops::Range<u64>) -> Vec<Vec<u8>> {
    let mut delivered = Vec::new();
    for now in milliseconds.map(at_ms) {
        let (datagrams, _) = drain(&mut sides[0], now);
        datagrams.iter().for_each(|payload| sides[1].receive(now, datagram(payload)));
        let (answers, messages) = drain(&mut sides[1], now);
        answers.iter().for_each(|payload| sides[0].receive(now, datagram(payload)));
        delivered.extend(messages);
    }
    delivered
}

fn pair(settings: &KcpSettings) -> [Kcp; 2] {
    [Kcp::new(settings, Role::Client, 42), Kcp::new(settings, Role::Client, 42)]
}

#[test]
fn it_is_established_at_once_and_promises_order_and_delivery() {
    let side = Kcp::new(&settings(), Role::Client, 42);
    assert_eq!(side.state(), State::Established);
    assert_eq!(side.delivery(), Delivery { ordered: true, reliable: true });
}

#[test]
fn other_seeds_are_other_conversations() {
    let conversations: std::collections::HashSet<u32> = (0..1_000).map(conversation).collect();
    assert!(conversations.len() > 990 && !conversations.contains(&0));
}

#[test]
fn the_clock_may_wrap() {
    for wrap_ms in [1 << 31, 1 << 32] {
        let mut sides = pair(&settings());
        exchange(&mut sides, wrap_ms - 100..wrap_ms - 50);
        sides[0].send(at_ms(wrap_ms - 50), b"before");
        assert_eq!(exchange(&mut sides, wrap_ms - 50..wrap_ms + 50), [b"before"]);
        sides[0].send(at_ms(wrap_ms + 50), b"behind");
        assert_eq!(exchange(&mut sides, wrap_ms + 50..wrap_ms + 500), [b"behind"]);
        assert_eq!(sides[0].statistics().retransmissions, Some(0));
    }
}

#[test]
fn what_is_too_long_and_what_is_too_much_is_refused() {
    let mut settings = settings();
    let segment_len = settings.mtu as usize - HEADER_LEN;
    let mut side = Kcp::new(&settings, Role::Client, 1);
    assert_eq!(side.send(at_ms(0), &vec![0; 127 * segment_len]), Sent::Accepted);
    assert_eq!(side.send(at_ms(0), &vec![0; 127 * segment_len + 1]), Sent::Refused);

    settings.flush_at_once = false;
    let mut side = Kcp::new(&settings, Role::Client, 1);
    let accepted = (0..).take_while(|_| side.send(at_ms(0), b"x") == Sent::Accepted).count();
    assert_eq!(accepted, SEND_QUEUE_LIMIT);
}

#[test]
fn a_driver_that_wakes_late_flushes_late_but_keeps_the_rhythm() {
    let mut side = Kcp::new(&KcpSettings { flush_at_once: false, ..settings() }, Role::Client, 1);
    assert_eq!(side.poll(at_ms(0)), Output::Wait(None));
    side.send(at_ms(4), b"first");
    assert_eq!(side.poll(at_ms(4)), Output::Wait(Some(at_ms(10))));
    assert_eq!(drain(&mut side, at_ms(13)).0.len(), 1);
    side.send(at_ms(14), b"second");
    assert_eq!(side.poll(at_ms(14)), Output::Wait(Some(at_ms(20))));
    assert_eq!(drain(&mut side, at_ms(20)).0.len(), 1);
}

#[test]
fn a_session_writes_at_once_and_lets_the_application_wait_for_room() {
    let windows = KcpSettings { send_window: 2, receive_window: 2, ..settings() };
    let mut sides = pair(&KcpSettings { behaviour: KcpBehaviour::KcpGo56, ..windows });
    let messages: Vec<[u8; 1]> = (0..5).map(|id| [id]).collect();
    for message in &messages {
        assert_eq!(sides[0].send(at_ms(3), message), Sent::Accepted);
    }
    assert_eq!(drain(&mut sides[0], at_ms(3)).0.len(), 2);
    // These two are lost here. What waits for room is woken by nothing but an answer to them.
    assert_eq!(sides[0].poll(at_ms(4)), Output::Wait(Some(at_ms(203))));
    assert_eq!(exchange(&mut sides, 4..500), messages);
}

#[test]
fn a_message_that_could_never_be_put_together_is_refused() {
    let go = KcpSettings { behaviour: KcpBehaviour::KcpGo56, receive_window: 3, ..settings() };
    let segment_len = go.mtu as usize - HEADER_LEN;
    let mut side = Kcp::new(&go, Role::Client, 1);
    assert_eq!(side.send(at_ms(0), &vec![0; 3 * segment_len]), Sent::Accepted);
    assert_eq!(side.send(at_ms(0), &vec![0; 3 * segment_len + 1]), Sent::Refused);
    assert_eq!(side.send(at_ms(0), &[]), Sent::Refused);
}

#[test]
fn what_was_recovered_is_no_sample_and_tells_no_window() {
    let mut sides = pair(&KcpSettings { behaviour: KcpBehaviour::KcpGo56, ..settings() });
    sides[0].send(at_ms(0), b"lost");
    let (datagrams, _) = drain(&mut sides[0], at_ms(0));
    sides[1].input(at_ms(40), &datagrams[0], Origin::Recovered);
    assert_eq!(sides[1].engine.remote_window, 32);
    sides[1].input(at_ms(41), &datagrams[0], Origin::Arrived);
    assert_eq!(sides[1].engine.remote_window, 128);
    let (answers, messages) = drain(&mut sides[1], at_ms(50));
    assert_eq!(messages, [b"lost"]);
    sides[0].input(at_ms(90), &answers[0], Origin::Recovered);
    assert_eq!(sides[0].engine.round_trip.rto_ms(), 200);
}

#[test]
fn a_duplicate_is_counted_and_delivered_once() {
    let mut sides = pair(&settings());
    sides[0].send(at_ms(0), b"once");
    let (datagrams, _) = drain(&mut sides[0], at_ms(0));
    for _ in 0..5 {
        sides[1].receive(at_ms(1), datagram(&datagrams[0]));
    }
    let (answers, messages) = drain(&mut sides[1], at_ms(1));
    assert_eq!(messages, [b"once"]);
    assert_eq!(sides[1].statistics().discarded, 4);
    // Each copy is acknowledged, for the first acknowledgement might be lost; only one of them is
    // news.
    assert_eq!(answers.len(), 5);
    answers.iter().for_each(|answer| sides[0].receive(at_ms(2), datagram(answer)));
    assert_eq!(sides[0].statistics().discarded, 4);
}

#[test]
fn another_conversation_is_not_heard() {
    let mut stranger = Kcp::new(&settings(), Role::Client, 43);
    stranger.send(at_ms(0), b"hello");
    let (datagrams, _) = drain(&mut stranger, at_ms(0));
    let mut side = Kcp::new(&settings(), Role::Client, 42);
    side.receive(at_ms(0), datagram(&datagrams[0]));
    assert_eq!(drain(&mut side, at_ms(1)), (vec![], vec![]));
    assert_eq!(side.statistics().discarded, 1);
}

#[test]
fn a_lost_segment_is_counted_when_it_is_sent_again() {
    let mut sides = pair(&settings());
    sides[0].send(at_ms(0), b"lost");
    drain(&mut sides[0], at_ms(0));
    assert_eq!(exchange(&mut sides, 1..400), [b"lost"]);
    assert_eq!(sides[0].statistics().retransmissions, Some(1));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

    #[test]
    fn messages_keep_their_boundaries(
        sizes in prop::collection::vec(0..5_000_usize, 1..30),
        stream: bool,
        flush_at_once: bool,
        mtu in 100..1_500_u32,
        behaviour in any_behaviour(),
    ) {
        let sizes: Vec<usize> = sizes.into_iter().map(|size| size.max(1)).collect();
        let mut sides = pair(&KcpSettings { behaviour, stream, flush_at_once, mtu, ..settings() });
        let messages: Vec<Vec<u8>> =
            sizes.iter().enumerate().map(|(id, size)| vec![id as u8; *size]).collect();
        for message in &messages {
            prop_assert_eq!(sides[0].send(at_ms(5), message), Sent::Accepted);
        }
        prop_assert_eq!(exchange(&mut sides, 5..1_000), messages);
    }

    #[test]
    fn garbage_is_counted_and_harmless(
        garbage in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..200), 1..50),
        stream: bool,
    ) {
        let mut sides = pair(&KcpSettings { stream, ..settings() });
        for bytes in &garbage {
            sides[1].receive(at_ms(1), datagram(bytes));
        }
        prop_assert_eq!(sides[1].statistics().discarded, garbage.len() as u64);
        sides[0].send(at_ms(2), b"after all");
        prop_assert_eq!(exchange(&mut sides, 2..100), vec![b"after all".to_vec()]);
    }

    /// With the right conversation a mutated datagram can say anything: it may ruin the connection,
    /// as it would the C code's, but it must not panic, ask for the past or make the sender keep
    /// more than its limits.
    #[test]
    fn mutated_datagrams_do_not_panic(
        mutations in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..4_usize), 1..200),
        start_ms in prop::sample::select(vec![0, 1 << 31, (1_u64 << 32) - 300]),
        stream: bool,
        nc: bool,
        behaviour in any_behaviour(),
    ) {
        let mut sides = pair(&KcpSettings { behaviour, stream, nc, ..settings() });
        for (step, (place, byte, target)) in mutations.iter().enumerate() {
            let now = at_ms(start_ms + 7 * step as u64);
            for from in 0..2 {
                sides[from].send(now, &[9; 700]);
                for mut payload in drain(&mut sides[from], now).0 {
                    if *target < 3 {
                        // Past the conversation number, and the more often in the header.
                        let end = if *target == 0 { payload.len() } else { HEADER_LEN };
                        payload[4 + place.index(end - 4)] = *byte;
                    }
                    sides[1 - from].receive(now, datagram(&payload));
                }
                if let Output::Wait(Some(wake)) = sides[from].poll(now) {
                    prop_assert!(wake > now);
                }
            }
        }
    }
}
