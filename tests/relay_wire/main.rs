//! The relay under traffic of the kernel's own, offloads on: super-packets, changes by the stamps
//! of packets, thousands of packets in flight, queues that are full. Asserts what happened to which
//! packet and never how soon.

mod lab;
#[path = "../namespaces/mod.rs"]
mod namespaces;
mod tap;

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::thread;
use std::time::Duration;

use impairlab::link::profile::{Correlated, LinkProfile, Loss, RateLimit};
use impairlab::timeline::Change;
use impairlab::units::{Direction, PathId, Probability, Rate};
use nix::sys::socket::setsockopt;
use nix::sys::socket::sockopt::UdpGsoSegment;
use nix::time::{ClockId, clock_gettime};

use lab::{CLOUD, Lab, VEHICLE, at_port};
use tap::Tap;

/// Bytes of a TCP stream.
const STREAM: usize = 8 << 20;
const MTU: usize = 1500;

fn delayed(ms: u64) -> LinkProfile {
    LinkProfile { delay: Duration::from_millis(ms), limit: 100_000, ..LinkProfile::default() }
}

fn lossy(percent: f64) -> LinkProfile {
    let probability = Probability::new(percent / 100.0).expect("between 0 and 100");
    let loss = Loss::Random(Correlated { probability, ..Correlated::default() });
    LinkProfile { loss, ..delayed(1) }
}

/// Sends a stream up and checks that it arrives as it was.
fn stream(lab: &Lab, to: &str) {
    let bytes: Vec<u8> =
        (0..STREAM as u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let listener = lab.cloud.run(|| TcpListener::bind(at_port(to))).expect("it is there");
    let listener = listener.expect("the port is free");
    let (to, sent) = (at_port(to), bytes.clone());
    let sender = lab.vehicle.spawn("sender", move || {
        let mut stream = TcpStream::connect(to).expect("the other side listens");
        stream.write_all(&sent).expect("the other side reads");
    });
    let sender = sender.expect("a thread can be had");
    let (mut stream, _) = listener.accept().expect("the sender connects");
    let mut received = Vec::with_capacity(STREAM);
    stream.read_to_end(&mut received).expect("the sender sends");
    sender.join().expect("it did not panic");
    assert!(received == bytes, "{} of {} bytes, or other ones", received.len(), bytes.len());
}

/// Bytes of the longest frame.
fn longest(seen: &[tap::Seen]) -> usize {
    seen.iter().map(|frame| frame.bytes.len()).max().unwrap_or(0)
}

#[test]
fn super_packets_pass_whole_where_a_link_only_delays() {
    for to in CLOUD {
        let Some(lab) = Lab::build(delayed(1), delayed(1), Vec::new()) else { return };
        let entry = Tap::open(&lab.middle, lab.interfaces[0]);
        let exit = Tap::open(&lab.cloud, lab.exit);
        stream(&lab, to);
        let (entered, left) = (entry.seen(), exit.seen());
        assert!(longest(&entered) > 10 * MTU, "the kernel made no super-packets");
        assert_eq!(longest(&left), longest(&entered));
        let report = lab.end();
        assert_eq!(report.fidelity.damaged_packets, 0, "{report:?}");
        // They count as what they are on a wire.
        assert!(report.up.offered.packets > (STREAM / MTU) as u64, "{report:?}");
        assert_eq!(report.up.offered.packets, report.up.delivered, "{report:?}");
    }
}

#[test]
fn super_packets_are_cut_where_a_link_has_to_decide_on_each_packet() {
    let rate = Rate::from_bits_per_second(400_000_000).expect("not zero");
    let rate = RateLimit { rate, packet_overhead: 0, cell_size: 0, cell_overhead: 0 };
    let limited = LinkProfile { rate: Some(rate), ..delayed(1) };
    for (to, up) in CLOUD.into_iter().zip([lossy(1.0), limited]) {
        let Some(lab) = Lab::build(up, delayed(1), Vec::new()) else { return };
        let entry = Tap::open(&lab.middle, lab.interfaces[0]);
        let exit = Tap::open(&lab.cloud, lab.exit);
        stream(&lab, to);
        let left = exit.seen();
        assert!(longest(&entry.seen()) > 2 * MTU, "the kernel made no super-packets");
        assert!(longest(&left) <= MTU + 14, "{}", longest(&left));
        let report = lab.end();
        assert_eq!(report.fidelity.damaged_packets, 0, "{report:?}");
        assert!(report.up.delivered >= left.len() as u64, "{report:?}");
    }
}

/// A hundred changes between a link that loses all and one that loses nothing: what became of a
/// packet tells the profile it met. Held against the kernel's stamps alone: there has to be a start
/// for which every packet met the profile of its own instant.
#[test]
fn no_packet_meets_the_wrong_profile_at_a_hundred_changes() {
    const CHANGES: u32 = 100;
    const EVERY: Duration = Duration::from_millis(20);
    let change = |number: u32| Change {
        at: EVERY * number,
        path: PathId(0),
        direction: Direction::Up,
        profile: if number % 2 == 1 { lossy(100.0) } else { lossy(0.0) },
    };
    let changes = (1..=CHANGES).map(change).collect();
    let Some(lab) = Lab::build(lossy(0.0), delayed(0), changes) else { return };
    let entry = Tap::open(&lab.middle, lab.interfaces[0]);
    let exit = Tap::open(&lab.cloud, lab.exit);
    send_numbered(&lab, 21_000, Duration::from_micros(100));
    thread::sleep(Duration::from_millis(100));
    let entered: Vec<_> = entry.seen().iter().map(|seen| (number(&seen.bytes), seen.at)).collect();
    let arrived: BTreeSet<_> = exit.seen().iter().map(|seen| number(&seen.bytes)).collect();
    assert_eq!(entered.len(), 21_000);
    // Each switch from one fate to the other lies between two stamps.
    let fates: Vec<_> = entered.iter().map(|(id, at)| (arrived.contains(id), *at)).collect();
    let switches: Vec<_> = fates
        .windows(2)
        .filter(|pair| pair[0].0 != pair[1].0)
        .map(|pair| (pair[0].1, pair[1].1))
        .collect();
    // A machine that stood still for longer than two changes may have sent nothing between them.
    let mut starts = (i64::MIN, i64::MAX);
    let every = EVERY.as_nanos() as i64;
    let first = switches.first().expect("there are changes").0;
    let mut judged = 0;
    for (before, after) in switches {
        let number = (after - first + every / 2) / every;
        if after - before < every / 2 {
            let offset = number * every;
            starts = (starts.0.max(before - offset), starts.1.min(after - offset));
            judged += 1;
        }
    }
    // The wire's clock and the stamps' may drift apart by as much as clocks are corrected.
    assert!(starts.0 <= starts.1 + 50_000, "{starts:?} of {judged} changes");
    assert!(judged > CHANGES / 4, "{judged}");
    let report = lab.end();
    assert_eq!(report.fidelity.damaged_packets, 0, "{report:?}");
}

#[test]
fn thousands_of_packets_are_in_flight_and_all_of_them_arrive() {
    let Some(lab) = Lab::build(delayed(400), delayed(0), Vec::new()) else { return };
    let entry = Tap::open(&lab.middle, lab.interfaces[0]);
    let exit = Tap::open(&lab.cloud, lab.exit);
    // In less time than the delay, so that nearly all of them are on the link at once.
    send_numbered(&lab, 8_000, Duration::from_micros(20));
    thread::sleep(Duration::from_secs(1));
    let numbers = |tap: &Tap| tap.seen().iter().map(|it| number(&it.bytes)).collect::<Vec<_>>();
    let (entered, left) = (numbers(&entry), numbers(&exit));
    let report = lab.end();
    assert_eq!(report.fidelity.damaged_packets, 0, "{report:?}");
    // In whatever order the kernel brought them to the relay: it has to keep that one.
    let all: BTreeSet<_> = entered.iter().copied().collect();
    assert!(entered.len() == 8_000 && all.into_iter().eq(0..8_000), "{} came", entered.len());
    let parted = entered.iter().zip(&left).position(|(entered, left)| entered != left);
    assert!(entered == left, "{} left, from the {parted:?}th on in another order", left.len());
}

#[test]
fn what_a_full_queue_has_no_room_for_is_counted() {
    let narrow = LinkProfile { limit: 100, ..delayed(400) };
    let Some(lab) = Lab::build(narrow, delayed(0), Vec::new()) else { return };
    let exit = Tap::open(&lab.cloud, lab.exit);
    send_numbered(&lab, 1_000, Duration::from_micros(20));
    thread::sleep(Duration::from_secs(1));
    let arrived = exit.seen().len() as u64;
    let report = lab.end();
    assert_eq!(report.fidelity.damaged_packets, 0, "{report:?}");
    assert_eq!(report.up.offered.packets, 1_000);
    assert_eq!(report.up.overflowed + arrived, 1_000, "{report:?}");
    assert!(report.up.overflowed > 0, "{report:?}");
}

/// UDP's own segmentation offload, passed whole and cut.
#[test]
fn udp_super_packets_arrive_as_the_datagrams_that_were_sent() {
    const SEGMENT: usize = 1000;
    for up in [delayed(1), lossy(0.0)] {
        let Some(lab) = Lab::build(up, delayed(0), Vec::new()) else { return };
        for (from, to) in VEHICLE.into_iter().zip(CLOUD) {
            let receiver = lab.cloud.run(|| UdpSocket::bind(at_port(to))).expect("it is there");
            let receiver = receiver.expect("the port is free");
            receiver.set_read_timeout(Some(Duration::from_secs(10))).expect("it can be set");
            let bind = || UdpSocket::bind((lab::address(from), 0));
            let sender = lab.vehicle.run(bind).expect("it is there").expect("a free port");
            setsockopt(&sender, UdpGsoSegment, &(SEGMENT as i32)).expect("kernels have it");
            let sent: Vec<u8> = (0..10_500_u32).map(|at| (at % 251) as u8).collect();
            sender.send_to(&sent, at_port(to)).expect("there is room");
            for expected in sent.chunks(SEGMENT) {
                let mut received = vec![0; 2 * SEGMENT];
                let length = receiver.recv(&mut received).expect("it arrives");
                assert!(received[..length] == *expected, "{length} bytes over {to}");
            }
        }
        let report = lab.end();
        assert_eq!((report.up.offered.packets, report.up.delivered), (22, 22), "{report:?}");
        assert_eq!(report.fidelity.damaged_packets, 0, "{report:?}");
    }
}

/// Fragments are packets like others to a link, and the kernel at the other end makes a datagram of
/// them again.
#[test]
fn fragments_pass_as_packets() {
    let Some(lab) = Lab::build(delayed(1), delayed(0), Vec::new()) else { return };
    for (from, to) in VEHICLE.into_iter().zip(CLOUD) {
        let receiver = lab.cloud.run(|| UdpSocket::bind(at_port(to))).expect("it is there");
        let receiver = receiver.expect("the port is free");
        receiver.set_read_timeout(Some(Duration::from_secs(10))).expect("it can be set");
        let bind = || UdpSocket::bind((lab::address(from), 0));
        let sender = lab.vehicle.run(bind).expect("it is there").expect("there is a free port");
        let datagram: Vec<u8> = (0..5000_u32).map(|at| at as u8).collect();
        sender.send_to(&datagram, at_port(to)).expect("it is cut into fragments");
        let mut received = vec![0; 6000];
        let length = receiver.recv(&mut received).expect("it arrives");
        assert!(received[..length] == datagram, "{length} bytes");
    }
    let report = lab.end();
    assert_eq!((report.up.offered.packets, report.up.delivered), (8, 8), "{report:?}");
}

/// Sends so many datagrams, each with its number, one every `gap` or as soon as can be after that.
fn send_numbered(lab: &Lab, count: u32, gap: Duration) {
    let bind = || UdpSocket::bind((lab::address(VEHICLE[0]), 0));
    let socket = lab.vehicle.run(bind).expect("it is there").expect("there is a free port");
    // Somebody has to listen, or the answers would be errors.
    let listener = lab.cloud.run(|| UdpSocket::bind(at_port(CLOUD[0]))).expect("it is there");
    let _listener = listener.expect("the port is free");
    socket.connect(at_port(CLOUD[0])).expect("there is a route");
    let start = monotonic();
    for id in 0..count {
        while monotonic() < start + gap * id {
            thread::sleep(gap / 4);
        }
        socket.send(&id.to_be_bytes()).expect("there is room");
    }
}

fn monotonic() -> Duration {
    clock_gettime(ClockId::CLOCK_MONOTONIC).expect("every system has it").into()
}

/// The number in a frame with a UDP datagram over IPv4.
fn number(frame: &[u8]) -> u32 {
    let (number, _) = frame[14 + 20 + 8..].split_first_chunk().expect("it holds a number");
    u32::from_be_bytes(*number)
}
