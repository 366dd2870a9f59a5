use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

use nix::poll::{PollTimeout, poll};

use super::*;
use crate::engine::bounds::Bounds;
use crate::engine::pace::Pace;

struct Bare;

impl Underlay for Bare {
    fn furnish(&self, _socket: &TcpStream) -> io::Result<()> {
        Ok(())
    }
}

/// The vehicle's side, and what a peer of ours does with its end.
fn vehicle() -> (Stream, TcpStream, Watch) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("bound");
    let socket = TcpStream::connect(listener.local_addr().expect("an address")).expect("connected");
    socket.set_nonblocking(true).expect("set");
    let (peer, _) = listener.accept().expect("accepted");
    (Stream::connecting(socket, Box::new(Bare)), peer, Watch::new(&Bounds::new(Pace::Real)))
}

/// As an endpoint would, until `done`; what was delivered.
fn drive(stream: &mut Stream, watch: &Watch, done: impl Fn(&Stream) -> bool) -> Vec<Vec<u8>> {
    let mut delivered = Vec::new();
    for _ in 0..10_000 {
        if done(stream) {
            return delivered;
        }
        delivered.extend(turn(stream, watch));
    }
    panic!("not done after 10,000 turns; delivered {}", delivered.len());
}

/// One turn of the endpoint's loop; what was delivered.
fn turn(stream: &mut Stream, watch: &Watch) -> Vec<Vec<u8>> {
    let mut sources = stream.sources();
    poll(&mut sources, PollTimeout::from(10_u8)).expect("polled");
    if sources.iter().any(|source| source.any() != Some(false)) {
        stream.receive(0, watch);
    }
    let mut delivered = Vec::new();
    loop {
        match stream.poll(watch) {
            Step::Done => {}
            Step::Deliver(message) => delivered.push(message),
            Step::Wait(_) => return delivered,
        }
    }
}

fn established() -> (Stream, TcpStream, Watch) {
    let (mut stream, mut peer, watch) = vehicle();
    peer.write_all(&frame(GREETING)).expect("greeted");
    drive(&mut stream, &watch, |stream| stream.state() == State::Established);
    let mut greeting = [1; 4];
    peer.read_exact(&mut greeting).expect("greeted back");
    assert_eq!(greeting, [0; 4]);
    (stream, peer, watch)
}

fn reason(stream: &Stream) -> String {
    let State::Closed(reason) = stream.state() else { panic!("{:?}", stream.state()) };
    reason
}

#[test]
fn nothing_is_taken_before_the_other_side_has_answered() {
    let (mut stream, _peer, watch) = vehicle();
    drive(&mut stream, &watch, |stream| matches!(stream.stage, Stage::Connected(_)));
    assert_eq!(stream.state(), State::Connecting);
    assert_eq!(stream.send(b"12345678", &watch), Sent::Refused);
}

#[test]
fn both_sides_greet_and_messages_pass_whole() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("bound");
    let address = listener.local_addr().expect("an address");
    listener.set_nonblocking(true).expect("set");
    let socket = TcpStream::connect(address).expect("connected");
    socket.set_nonblocking(true).expect("set");
    let watch = Watch::new(&Bounds::new(Pace::Real));
    let mut cloud = Stream::listening(listener, Box::new(Bare));
    let mut vehicle = Stream::connecting(socket, Box::new(Bare));
    drive(&mut vehicle, &watch, |stream| matches!(stream.stage, Stage::Connected(_)));
    drive(&mut cloud, &watch, |stream| stream.state() == State::Established);
    drive(&mut vehicle, &watch, |stream| stream.state() == State::Established);
    let sent: Vec<Vec<u8>> = (1..50_u8).map(|n| vec![n; usize::from(n) * 97]).collect();
    for message in &sent {
        assert_eq!(vehicle.send(message, &watch), Sent::Accepted);
    }
    let mut arrived = Vec::new();
    for _ in 0..1000 {
        if arrived.len() == sent.len() {
            break;
        }
        vehicle.receive(0, &watch);
        arrived.extend(turn(&mut cloud, &watch));
    }
    assert_eq!(arrived, sent);
}

/// The endpoint first reports the message: its number has to be known before it can arrive, which
/// takes no time where the other end runs on a processor of its own.
#[test]
fn nothing_of_a_message_goes_out_before_it_has_been_reported() {
    let (mut stream, mut peer, watch) = established();
    peer.set_nonblocking(true).expect("set");
    assert_eq!(stream.send(b"12345678", &watch), Sent::Accepted);
    let mut arrived = [0; 12];
    let early = peer.read(&mut arrived).map_err(|error| error.kind());
    assert_eq!(early, Err(ErrorKind::WouldBlock));
    turn(&mut stream, &watch);
    peer.set_nonblocking(false).expect("set");
    peer.read_exact(&mut arrived).expect("read");
    assert_eq!(arrived[..], frame(b"12345678"));
}

/// A peer that does not read: what the kernel and the buffer hold, and not one message more; then
/// every one of them arrives.
#[test]
fn a_full_buffer_refuses_and_loses_nothing() {
    let (mut stream, mut peer, watch) = established();
    let message = vec![7; 100_000];
    let mut accepted = 0;
    while stream.send(&message, &watch) == Sent::Accepted {
        accepted += 1;
        assert!(accepted < 10_000, "no limit");
        assert_eq!(stream.poll(&watch), Step::Wait(None));
    }
    assert!(stream.unsent.len() <= SEND_BUFFER && stream.unsent.len() > SEND_BUFFER - 200_000);
    assert!(matches!(stream.state(), State::Established));
    let wanted = accepted * (message.len() + 4);
    let reader = std::thread::spawn(move || {
        let mut all = vec![0; wanted];
        peer.read_exact(&mut all).map(|()| (all, peer))
    });
    drive(&mut stream, &watch, |stream| stream.unsent.is_empty());
    let (all, _peer) = reader.join().expect("joined").expect("all of it");
    let whole = [&frame(&message)[..]].concat();
    assert!(all.chunks_exact(whole.len()).all(|chunk| chunk == whole));
}

#[test]
fn a_peer_that_ends_or_resets_or_talks_nonsense_closes_it_with_the_reason() {
    let (mut stream, peer, watch) = established();
    drop(peer);
    drive(&mut stream, &watch, |stream| matches!(stream.state(), State::Closed(_)));
    assert_eq!(reason(&stream), "the connection: the other side ended it");
    assert!(stream.sources().is_empty(), "an ended socket would wake its endpoint for ever");
    assert_eq!(stream.send(b"12345678", &watch), Sent::Refused);

    let (mut stream, peer, watch) = established();
    // Unread data makes the kernel reset the connection.
    assert_eq!(stream.send(b"12345678", &watch), Sent::Accepted);
    assert_eq!(stream.poll(&watch), Step::Wait(None));
    let mut sources = [PollFd::new(peer.as_fd(), PollFlags::POLLIN)];
    poll(&mut sources, PollTimeout::NONE).expect("polled");
    drop(peer);
    drive(&mut stream, &watch, |stream| matches!(stream.state(), State::Closed(_)));
    assert_eq!(reason(&stream), "the connection: Connection reset by peer (os error 104)");

    let (mut stream, mut peer, watch) = established();
    peer.write_all(&u32::MAX.to_be_bytes()).expect("sent");
    drive(&mut stream, &watch, |stream| matches!(stream.state(), State::Closed(_)));
    assert!(reason(&stream).contains("announced a message of 4294967295 bytes"));
}

/// Bytes that nobody framed: whatever they are, it is closed with a reason or waits for more, what
/// was whole before them is delivered, and nothing panics or is kept without end.
#[test]
fn garbage_in_the_framing_is_said_and_what_came_before_it_is_delivered() {
    let longest = MAX_MESSAGE as u32;
    for (garbage, expected) in [
        (&b"GET / HTTP/1.1\r\n\r\n"[..], "announced a message of 1195725856 bytes"),
        (&(longest + 1).to_be_bytes(), "announced a message of 1048577 bytes"),
        (&[0xff; 4096], "announced a message of 4294967295 bytes"),
        (&[0x80, 0, 0, 0], "announced a message of 2147483648 bytes"),
    ] {
        let (mut stream, mut peer, watch) = established();
        peer.write_all(&[&frame(b"12345678"), garbage].concat()).expect("sent");
        let closed = |stream: &Stream| matches!(stream.state(), State::Closed(_));
        assert_eq!(drive(&mut stream, &watch, closed), [b"12345678"]);
        assert!(reason(&stream).contains(expected), "{}", reason(&stream));
        assert_eq!(stream.send(b"12345678", &watch), Sent::Refused);
    }
}

#[test]
fn a_stream_that_ends_within_a_message_says_how_much_of_it_had_come() {
    let whole = frame(&[7; 600]);
    for (cut, expected) in [
        (2, "within a message: 2 bytes of its length had come"),
        (4, "within a message: 0 of its 600 bytes had come"),
        (504, "within a message: 500 of its 600 bytes had come"),
    ] {
        let (mut stream, mut peer, watch) = established();
        peer.write_all(&[&frame(b"12345678"), &whole[..cut]].concat()).expect("sent");
        drop(peer);
        let closed = |stream: &Stream| matches!(stream.state(), State::Closed(_));
        assert_eq!(drive(&mut stream, &watch, closed), [b"12345678"]);
        let end = format!("the connection: the other side ended it {expected}");
        assert_eq!(reason(&stream), end);
    }
}

/// A message that says nothing is a greeting, and how many of them come does not matter.
#[test]
fn a_peer_that_greets_without_end_is_answered_once() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("bound");
    let mut peer = TcpStream::connect(listener.local_addr().expect("known")).expect("connected");
    listener.set_nonblocking(true).expect("set");
    let (mut cloud, watch) =
        (Stream::listening(listener, Box::new(Bare)), Watch::new(&Bounds::new(Pace::Real)));
    let greetings = [0; 4 * 10_000];
    peer.write_all(&[&greetings, &frame(b"12345678")[..]].concat()).expect("sent");
    let delivered = (0..10_000).map(|_| turn(&mut cloud, &watch)).find(|turn| !turn.is_empty());
    assert_eq!(delivered.expect("it arrives"), [b"12345678"]);
    assert_eq!(cloud.state(), State::Established);
    drop(cloud);
    let mut answers = Vec::new();
    peer.read_to_end(&mut answers).expect("read");
    assert_eq!(answers, [0; 4]);
}

/// What is under the stream knows why it failed, but a moment later: this is what counts.
#[test]
fn a_failed_connection_waits_for_the_word_of_what_is_under_it() {
    struct Late(std::sync::Arc<std::sync::atomic::AtomicU32>, Duration);
    impl Underlay for Late {
        fn furnish(&self, _socket: &TcpStream) -> io::Result<()> {
            Ok(())
        }
        fn hindsight(&self) -> Duration {
            self.1
        }
        fn fault(&mut self) -> Option<String> {
            let asked = self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            (asked > 1_000_000).then(|| "it died".to_owned())
        }
    }
    for (hindsight, expected) in [
        (Duration::from_secs(3600), "it died"),
        (Duration::ZERO, "the connection: the other side ended it"),
    ] {
        let asked = std::sync::Arc::new(std::sync::atomic::AtomicU32::new(0));
        let (mut stream, peer, watch) = established();
        stream.under = Box::new(Late(std::sync::Arc::clone(&asked), hindsight));
        drop(peer);
        drive(&mut stream, &watch, |stream| matches!(stream.stage, Stage::Ended(_)));
        let waits = !hindsight.is_zero();
        assert_eq!(stream.state() == State::Established, waits);
        assert_eq!(stream.send(b"12345678", &watch), Sent::Refused, "nothing would carry it");
        asked.store(2_000_000, std::sync::atomic::Ordering::Relaxed);
        drive(&mut stream, &watch, |stream| matches!(stream.state(), State::Closed(_)));
        assert_eq!(reason(&stream), expected);
    }
}

#[test]
fn a_peer_that_refuses_closes_it_with_the_reason() {
    let unused = TcpListener::bind("127.0.0.1:0").expect("bound").local_addr().expect("an address");
    let options = crate::engine::kernel_socket::Options::loopback();
    let socket = options.connect(None, unused).expect("begun");
    let (mut stream, watch) =
        (Stream::connecting(socket, Box::new(Bare)), Watch::new(&Bounds::new(Pace::Real)));
    drive(&mut stream, &watch, |stream| matches!(stream.state(), State::Closed(_)));
    assert!(reason(&stream).contains("refused"), "{}", reason(&stream));
}
