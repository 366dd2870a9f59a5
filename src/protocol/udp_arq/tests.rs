use proptest::prelude::*;

use super::*;

const TIMEOUT: Duration = Duration::from_millis(100);

fn side() -> UdpArq {
    UdpArq::new(&UdpArqSettings { path: PathId(0), timeout: TIMEOUT, retries: 2 })
}

fn at(milliseconds: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(milliseconds)
}

/// What a side puts out until it waits, and until when it waits.
fn settle(side: &mut UdpArq, now: Instant) -> (Vec<Output>, Option<Instant>) {
    let mut outputs = Vec::new();
    loop {
        match side.poll(now) {
            Output::Wait(until) => return (outputs, until),
            output => outputs.push(output),
        }
    }
}

fn only_datagram(outputs: &[Output]) -> Datagram {
    match outputs {
        [Output::Transmit(datagram)] => datagram.clone(),
        other => panic!("not one datagram: {other:?}"),
    }
}

#[test]
fn a_message_that_is_not_acknowledged_goes_out_three_times_and_is_given_up() {
    let mut vehicle = side();
    assert_eq!(vehicle.send(at(0), b"brake"), Sent::Accepted);
    let (first, until) = settle(&mut vehicle, at(0));
    assert_eq!(until, Some(at(100)));
    for round in 1..=2 {
        let (again, until) = settle(&mut vehicle, at(100 * round));
        assert_eq!(again, first);
        assert_eq!(until, Some(at(100 * (round + 1))));
    }
    assert_eq!(settle(&mut vehicle, at(300)), (Vec::new(), None));
    assert_eq!(vehicle.statistics().retransmissions, Some(2));
    assert!(vehicle.unacknowledged.is_empty());
}

#[test]
fn every_copy_is_acknowledged_and_the_first_is_delivered() {
    let (mut vehicle, mut cloud) = (side(), side());
    vehicle.send(at(0), b"brake");
    let message = only_datagram(&settle(&mut vehicle, at(0)).0);
    cloud.receive(at(40), message.clone());
    cloud.receive(at(140), message);
    let (outputs, _) = settle(&mut cloud, at(140));
    let acknowledgement = Output::Transmit(Datagram::new(PathId(0), vec![0, 0, 0, 0, 1]));
    let delivered = Output::Deliver(b"brake".to_vec());
    assert_eq!(outputs, [acknowledgement.clone(), delivered, acknowledgement]);
    assert_eq!(cloud.statistics().discarded, 1);
    vehicle.receive(at(80), Datagram::new(PathId(0), vec![0, 0, 0, 0, 1]));
    assert_eq!(settle(&mut vehicle, at(500)), (Vec::new(), None));
    assert_eq!(vehicle.statistics().retransmissions, Some(0));
}

#[test]
fn more_unacknowledged_messages_than_the_limit_are_refused() {
    let mut vehicle = side();
    for _ in 0..UNACKNOWLEDGED_LIMIT {
        assert_eq!(vehicle.send(at(0), b"m"), Sent::Accepted);
        settle(&mut vehicle, at(0));
    }
    assert_eq!(vehicle.send(at(0), b"m"), Sent::Refused);
}

proptest! {
    #[test]
    fn garbage_is_dropped(datagrams in proptest::collection::vec(
        proptest::collection::vec(any::<u8>(), 0..12), 0..40,
    )) {
        let mut cloud = side();
        for payload in datagrams {
            let message = payload.len() >= HEADER_LEN && payload[4] == MESSAGE;
            cloud.receive(at(0), Datagram::new(PathId(0), payload));
            let (outputs, _) = settle(&mut cloud, at(0));
            prop_assert_eq!(!outputs.is_empty(), message);
        }
    }
}
