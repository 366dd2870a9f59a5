//! Two sides with a perfect transport between them, and what a peer may say that is wrong.

use proptest::prelude::*;

use super::*;

fn at_s(seconds: u64) -> Instant {
    Instant::ZERO + Duration::from_secs(seconds)
}

fn pair(version: Version) -> [Session; 2] {
    let mut sides = [Role::Client, Role::Server].map(|role| Session::new(role, version));
    sides.iter_mut().for_each(|side| side.update(at_s(0)));
    sides
}

/// Carries everything across, in pieces; what each side delivers.
fn exchange(sides: &mut [Session; 2], piece: usize) -> [Vec<u8>; 2] {
    let mut delivered = [Vec::new(), Vec::new()];
    loop {
        let mut idle = true;
        for from in 0..2 {
            while let Some(frame) = sides[from].transmit() {
                idle = false;
                for bytes in frame.chunks(piece) {
                    sides[1 - from].read(bytes, |bytes| delivered[1 - from].extend(bytes));
                }
            }
        }
        if idle {
            return delivered;
        }
    }
}

fn frame(version: Version, command: Command, stream: u32, payload: &[u8]) -> Vec<u8> {
    let header = Header { version, command, length: payload.len() as u16, stream };
    [&header.to_bytes()[..], payload].concat()
}

/// The frames a side has to say, taken apart.
fn frames(side: &mut Session) -> Vec<(Command, u32, Vec<u8>)> {
    let take_apart = |bytes: Vec<u8>| {
        let (header, payload) = bytes.split_first_chunk().expect("a header");
        let header = Header::from_bytes(*header).expect("a good one");
        (header.command, header.stream, payload.to_vec())
    };
    std::iter::from_fn(|| side.transmit()).map(take_apart).collect()
}

#[test]
fn the_client_opens_stream_3_at_once_and_the_server_waits_for_it() {
    for version in [Version::One, Version::Two] {
        let mut sides = pair(version);
        assert!(sides[0].is_open() && !sides[1].is_open());
        assert!(sides[1].write(b"early"));
        assert_eq!(frames(&mut sides[1]), []);
        assert_eq!(exchange(&mut sides, 3), [b"early".to_vec(), Vec::new()]);
        assert!(sides[1].is_open());
    }
}

#[test]
fn a_long_write_is_cut_into_frames_and_the_window_holds_it_back() {
    let bytes = vec![7; 300_000];
    let mut client = Session::new(Role::Client, Version::One);
    client.update(at_s(0));
    assert!(client.write(&bytes));
    let lengths: Vec<usize> = frames(&mut client).iter().map(|(_, _, bytes)| bytes.len()).collect();
    let whole = [LONGEST_PAYLOAD; 9];
    assert_eq!(lengths, [&[0][..], &whole, &[300_000 - 9 * LONGEST_PAYLOAD]].concat());

    let mut client = Session::new(Role::Client, Version::Two);
    client.update(at_s(0));
    assert!(client.write(&bytes));
    let lengths: Vec<usize> = frames(&mut client).iter().map(|(_, _, bytes)| bytes.len()).collect();
    assert_eq!(lengths.iter().sum::<usize>(), INITIAL_WINDOW as usize);
    let update = [200_000_u32.to_le_bytes(), 70_000_u32.to_le_bytes()];
    client.read(&frame(Version::Two, Command::Update, 3, update.as_flattened()), |_| {});
    let more: usize = frames(&mut client).iter().map(|(_, _, bytes)| bytes.len()).sum();
    assert_eq!(more, 270_000 - INITIAL_WINDOW as usize);
    // A window that shrank below what is under way lets nothing out.
    let update = [200_000_u32.to_le_bytes(), 10_u32.to_le_bytes()];
    client.read(&frame(Version::Two, Command::Update, 3, update.as_flattened()), |_| {});
    assert_eq!(frames(&mut client), []);
}

#[test]
fn the_window_is_told_at_the_first_bytes_and_then_every_half_of_it() {
    let mut sides = pair(Version::Two);
    let bytes = vec![1; 3_000_000];
    assert!(sides[0].write(&bytes[..10]));
    let push_all = |sides: &mut [Session; 2]| -> Vec<(Command, u32, Vec<u8>)> {
        let mut answers = Vec::new();
        while let Some(frame) = sides[0].transmit() {
            sides[1].read(&frame, |_| {});
            for (command, stream, payload) in frames(&mut sides[1]) {
                sides[0].read(&self::frame(Version::Two, command, stream, &payload), |_| {});
                answers.push((command, stream, payload));
            }
        }
        answers
    };
    let told = |consumed: u32| {
        let numbers = [consumed.to_le_bytes(), RECEIVE_WINDOW.to_le_bytes()];
        (Command::Update, 3, numbers.as_flattened().to_vec())
    };
    assert_eq!(push_all(&mut sides), [told(10)]);
    assert!(sides[0].write(&bytes));
    // In frames of 32 KiB: the first with which 1 MiB is reached.
    let per_update = 32 * LONGEST_PAYLOAD as u32;
    assert_eq!(push_all(&mut sides), [told(10 + per_update), told(10 + 2 * per_update)]);
}

#[test]
fn both_sides_say_nothing_every_ten_seconds_and_hear_it() {
    let mut sides = pair(Version::One);
    exchange(&mut sides, 100);
    for second in 1..200_u64 {
        assert_eq!(sides[0].wake(), Some(at_s(second.next_multiple_of(10))));
        sides.iter_mut().for_each(|side| side.update(at_s(second)));
        let said: Vec<_> = sides.iter_mut().flat_map(frames).collect();
        if second % 10 == 0 {
            assert_eq!(said, [(Command::Nothing, 0, vec![]), (Command::Nothing, 0, vec![])]);
            for side in &mut sides {
                side.read(&frame(Version::One, Command::Nothing, 0, &[]), |_| {});
            }
        } else {
            assert_eq!(said, []);
        }
    }
    assert_eq!(sides.map(|side| side.end()), [None, None]);
}

#[test]
fn silence_ends_the_session_at_the_second_tick_after_the_last_frame() {
    let mut client = Session::new(Role::Client, Version::One);
    client.update(at_s(5));
    client.update(at_s(34));
    client.read(&frame(Version::One, Command::Nothing, 0, &[]), |_| {});
    client.update(at_s(35));
    client.update(at_s(64));
    assert_eq!(client.end(), None);
    client.update(at_s(65));
    assert_eq!(client.end(), Some(SessionEnd::Silence));
    assert_eq!(client.wake(), None);
    assert!(!client.write(b"too late"));
}

#[test]
fn a_late_driver_makes_up_for_no_missed_tick() {
    let mut client = Session::new(Role::Client, Version::One);
    client.update(at_s(0));
    client.update(at_s(27));
    let said = frames(&mut client);
    assert_eq!(said.iter().filter(|frame| frame.0 == Command::Nothing).count(), 1);
    assert_eq!(client.wake(), Some(at_s(30)));
}

#[test]
fn too_much_is_refused_and_nothing_of_it_taken() {
    let mut server = Session::new(Role::Server, Version::One);
    assert!(server.write(&vec![1; SEND_BUFFER_LIMIT - 1]));
    assert!(!server.write(&[2; 2]));
    assert!(server.write(&[3]));
}

#[test]
fn what_the_peer_may_not_say_ends_the_session() {
    let two = Version::Two;
    let impossible = [1_u32.to_le_bytes(), 1_u32.to_le_bytes()];
    for (said, end) in [
        (frame(two, Command::Finish, 3, &[]), SessionEnd::Finished),
        (frame(two, Command::Update, 3, impossible.as_flattened()), SessionEnd::ImpossibleWindow),
        (
            frame(Version::One, Command::Nothing, 0, &[]),
            SessionEnd::Protocol(SmuxError::OtherVersion { ours: two, theirs: 1 }),
        ),
    ] {
        let mut client = Session::new(Role::Client, two);
        client.update(at_s(0));
        let behind = frame(two, Command::Push, 3, b"behind");
        let before = frame(two, Command::Push, 3, b"before");
        let mut delivered = Vec::new();
        let mut deliver = |bytes: &[u8]| delivered.extend_from_slice(bytes);
        client.read(&[before, said, behind.clone()].concat(), &mut deliver);
        client.read(&behind, &mut deliver);
        assert_eq!(delivered, b"before");
        assert_eq!(client.end(), Some(end));
    }
}

#[test]
fn other_streams_are_not_heard() {
    let mut server = Session::new(Role::Server, Version::One);
    server.update(at_s(0));
    for (command, payload) in
        [(Command::Open, &b""[..]), (Command::Push, b"not this one"), (Command::Finish, b"")]
    {
        server.read(&frame(Version::One, command, 5, payload), |bytes| assert!(bytes.is_empty()));
    }
    assert_eq!((server.end(), server.is_open()), (None, false));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

    #[test]
    fn bytes_arrive_as_they_were_sent(
        writes in prop::collection::vec((0..2_usize, 0..100_000_usize), 1..20),
        piece in 1..3_000_usize,
        version in prop::sample::select(vec![Version::One, Version::Two]),
    ) {
        let mut sides = pair(version);
        let mut sent = [Vec::new(), Vec::new()];
        for (number, (from, len)) in writes.iter().enumerate() {
            let bytes = vec![number as u8; *len];
            prop_assert!(sides[*from].write(&bytes));
            sent[1 - from].extend(bytes);
        }
        prop_assert_eq!(exchange(&mut sides, piece), sent);
    }

    /// Frames as a peer might forge them: no panic, and no more kept than was there before.
    #[test]
    fn forged_frames_do_not_panic(
        forged in prop::collection::vec(
            (0..5_u8, prop::sample::select(vec![0, 3, 5_u32]), prop::collection::vec(any::<u8>(), 8)),
            1..100,
        ),
    ) {
        let mut server = Session::new(Role::Server, Version::Two);
        prop_assert!(server.write(&[1; 1_000]));
        for (second, (command, stream, payload)) in forged.iter().enumerate() {
            let length = if matches!(command, 2 | 4) { 8 } else { 0 };
            let [a, b, c, d] = stream.to_le_bytes();
            let header = [2, *command, length, 0, a, b, c, d];
            server.read(&header, |_| {});
            server.read(&payload[..usize::from(length)], |_| {});
            server.update(at_s(second as u64));
            let said = frames(&mut server);
            prop_assert!(said.iter().map(|frame| frame.2.len()).sum::<usize>() <= 1_016);
        }
    }
}
