//! Sends and receives, inside of the guest. Frames go through packet sockets, which see everything
//! that the link does to a frame: no stack in between delays, checks or drops any.

use std::os::fd::{AsRawFd, OwnedFd};
use std::time::Duration;

use impairlab::engine::netem::options::{OPEN_BUCKET, bucket, options};
use impairlab::link::profile::LinkProfile;
use netns::netem::{History, Options};
use netns::{End, MacAddress, Namespace, Root, Shaper, Topology};
use nix::errno::Errno;
use nix::sys::socket::{
    AddressFamily, ControlMessageOwned, MsgFlags, SockFlag, SockProtocol, SockType, SockaddrLike,
    bind, recvmsg, send, setsockopt, socket, sockopt,
};
use nix::sys::time::TimeSpec;
use nix::time::{ClockId, ClockNanosleepFlags, clock_gettime, clock_nanosleep};

use crate::profiles::Case;
use crate::traffic::{AHEAD, CLOCK_STEP, Frame, Traffic};

/// More than a case can have under way.
const SOCKET_BUFFER: usize = 64 << 20;

pub struct Guest {
    near: Namespace,
    /// The interface index of the link that is shaped.
    link: u32,
    shaper: Shaper,
    sender: OwnedFd,
    receiver: OwnedFd,
    /// What the wall clock shows beyond the monotonic one.
    wall_ahead: Duration,
}

/// What the kernel has been given since netem was new, and does not let go of.
#[derive(Default)]
struct Given {
    tables: History,
    bucket: bool,
}

/// What the kernel did with a case. Instants count from its start.
#[derive(Debug, Default)]
pub struct Observed {
    /// When each frame was sent.
    pub entered: Vec<Duration>,
    /// Whether the kernel told the sender that the queue was full.
    pub refused: Vec<bool>,
    pub arrivals: Vec<Arrival>,
    pub changed: Duration,
    /// How long the change of profile took.
    pub change_took: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Arrival {
    pub number: usize,
    pub at: Duration,
    pub marked: bool,
    /// The bit that was flipped, counted from the start of the frame, if any was.
    pub flipped: Option<u32>,
}

impl Guest {
    pub fn new() -> Self {
        // A kernel that has just begun counts in ticks for a while.
        std::thread::sleep(Duration::from_millis(200));
        nix::sys::prctl::set_timerslack(1).expect("sleeps may be exact");
        // Of this guest alone: a burst that netem lets go at once has to fit.
        let queue = "/proc/sys/net/core/netdev_max_backlog";
        std::fs::write(queue, "100000").expect("root may set limits");
        let [near, far] = ["near", "far"].map(|name| Namespace::new(name).expect("a namespace"));
        let (here, there) = (MacAddress::local(1), MacAddress::local(2));
        let mut topology = Topology::new();
        // A neighbour keeps an end silent: the only frames are those of the test.
        let ip = "10.0.0.9".parse().expect("an address");
        let end = End::new(&near, "link", here).neighbour(ip, there);
        let link = end.index();
        topology.veth(end, End::new(&far, "link", there).neighbour(ip, here));
        topology.build().expect("a veth pair");
        let sender = near.run(packet_socket).expect("entered");
        let receiver = far.run(packet_socket).expect("entered");
        setsockopt(&receiver, sockopt::ReceiveTimestampns, &true).expect("timestamps");
        let shaper = near.shaper().expect("a connection");
        Self { near, link, shaper, sender, receiver, wall_ahead: wall_ahead() }
    }

    /// Sends the traffic of a case through its profiles.
    pub fn run(&mut self, case: &Case, traffic: &Traffic) -> Observed {
        let mut history = Given::default();
        self.set(&case.first, case.seeds[0], &mut history);
        let start = now() + AHEAD;
        self.assert_held(&case.first, case.seeds[0]);
        assert!(self.receive(Duration::ZERO, traffic).is_empty(), "nothing is under way");
        let mut observed = Observed::default();
        let mut at = Duration::ZERO;
        let mut entered = Duration::ZERO;
        for (number, frame) in traffic.frames.iter().enumerate() {
            if let (Some(second), true) = (&case.second, traffic.changes_before(number)) {
                observed.changed = wait_until(start + traffic.change, case) - start;
                self.set(second, case.seeds[1], &mut history);
                observed.change_took = now() - start - observed.changed;
                self.assert_held(second, case.seeds[1]);
            }
            if frame.at != at {
                entered = wait_until(start + frame.at, case) - start;
                at = frame.at;
            }
            observed.entered.push(entered);
            observed.refused.push(self.send(&bytes(number, frame)));
        }
        wait_until(start + traffic.over, case);
        observed.arrivals = self.receive(start, traffic);
        self.near.remove_root_qdisc("link").expect("removed");
        observed
    }

    fn set(&mut self, profile: &LinkProfile, seed: u64, given: &mut Given) {
        let options = options(profile, Some(seed)).expect("netem can do it");
        let netem = options.encode_after(&mut given.tables).expect("it fits");
        given.bucket |= profile.bucket.is_some();
        let child = given.bucket.then(|| bucket(profile).unwrap_or(OPEN_BUCKET).encode());
        let root = Root { link: self.link, name: "link", qdisc: &netem, child: child.as_ref() };
        let result = self.shaper.set(&[root]);
        result.expect("this kernel has netem and tbf");
    }

    /// The kernel holds what it was asked for.
    fn assert_held(&self, profile: &LinkProfile, seed: u64) {
        let options = options(profile, Some(seed)).expect("netem can do it");
        let held = self.near.qdiscs().expect("queue disciplines");
        let netem = held.iter().find(|qdisc| qdisc.kind == "netem").expect("netem");
        let held = Options::parse(&netem.options).expect("netem's options");
        assert_eq!(options.differences(&held), [""; 0], "{options:?}");
        if let Some(bucket) = bucket(profile) {
            let held = self.near.qdiscs().expect("queue disciplines");
            let tbf = held.iter().find(|qdisc| qdisc.kind == "tbf").expect("tbf");
            assert_eq!(bucket.differences(&tbf.options), [""; 0], "{bucket:?}");
        }
    }

    /// Whether the kernel refused it.
    fn send(&self, frame: &[u8]) -> bool {
        match send(self.sender.as_raw_fd(), frame, MsgFlags::empty()) {
            Ok(_) => false,
            Err(Errno::ENOBUFS) => true,
            Err(error) => panic!("cannot send: {error}"),
        }
    }

    /// All that has arrived.
    fn receive(&self, start: Duration, traffic: &Traffic) -> Vec<Arrival> {
        let mut arrivals = Vec::new();
        let mut buffer = [0; 2048];
        let mut control = nix::cmsg_space!(nix::sys::time::TimeSpec);
        loop {
            let mut parts = [std::io::IoSliceMut::new(&mut buffer)];
            let flags = MsgFlags::MSG_DONTWAIT;
            let received =
                recvmsg::<()>(self.receiver.as_raw_fd(), &mut parts, Some(&mut control), flags);
            let message = match received {
                Ok(message) => message,
                Err(Errno::EAGAIN) => return arrivals,
                Err(error) => panic!("cannot receive: {error}"),
            };
            let mut control = message.cmsgs().expect("room for control messages");
            let stamp = control.find_map(|message| match message {
                ControlMessageOwned::ScmTimestampns(at) => Some(Duration::from(at)),
                _ => None,
            });
            let at = stamp.expect("a timestamp") - self.wall_ahead - start;
            let length = message.bytes;
            arrivals.push(arrival(&buffer[..length], at, traffic));
        }
    }
}

/// In the namespace that the calling thread is in.
fn packet_socket() -> OwnedFd {
    let flags = SockFlag::SOCK_CLOEXEC;
    let socket = socket(AddressFamily::Packet, SockType::Raw, flags, SockProtocol::EthAll)
        .expect("root may open packet sockets");
    setsockopt(&socket, sockopt::RcvBufForce, &SOCKET_BUFFER).expect("a large buffer");
    setsockopt(&socket, sockopt::SndBufForce, &SOCKET_BUFFER).expect("a large buffer");
    let addresses = nix::ifaddrs::getifaddrs().expect("interfaces");
    let address = addresses
        .filter(|interface| interface.interface_name == "link")
        .find_map(|interface| interface.address?.as_link_addr().copied())
        .expect("the interface");
    assert_eq!(address.family(), Some(AddressFamily::Packet));
    bind(socket.as_raw_fd(), &address).expect("bound");
    socket
}

fn now() -> Duration {
    clock_gettime(ClockId::CLOCK_MONOTONIC).expect("a clock").into()
}

/// Each reading takes one step of the clock, and nothing else takes any time.
fn wall_ahead() -> Duration {
    let before = now();
    let wall: Duration = clock_gettime(ClockId::CLOCK_REALTIME).expect("a clock").into();
    let after = now();
    assert_eq!(after - before, 2 * CLOCK_STEP, "virtual time: it goes on only when it is read");
    wall - before - CLOCK_STEP
}

/// What the clock shows then: `at`, or a few steps later. Where the case has a grid of its own the
/// instant is met exactly, but when a tick of the kernel takes a step of the clock as well.
fn wait_until(at: Duration, case: &Case) -> Duration {
    // As late as a timer may be.
    const MARGIN: Duration = Duration::from_nanos(5 * 256);
    let margin = if case.grid == CLOCK_STEP { CLOCK_STEP } else { MARGIN };
    let early = TimeSpec::from_duration(at - margin);
    let (clock, flags) = (ClockId::CLOCK_MONOTONIC, ClockNanosleepFlags::TIMER_ABSTIME);
    clock_nanosleep(clock, flags, &early).expect("slept");
    loop {
        let shown = now();
        if shown >= at {
            return shown;
        }
    }
}

/// Ethernet, IPv4 and the number of the frame, three times over: one flipped bit does not hide it.
fn bytes(number: usize, frame: &Frame) -> Vec<u8> {
    let mut bytes = vec![0x55; frame.length as usize];
    bytes[..6].copy_from_slice(&[2, 0, 0, 0, 0, 9]);
    bytes[6..12].copy_from_slice(&[2, 0, 0, 0, 0, 1]);
    bytes[12..14].copy_from_slice(&[0x08, 0x00]);
    bytes[14..34].fill(0);
    bytes[14] = 0x45;
    bytes[15] = u8::from(frame.ecn_capable) * 2;
    bytes[16..18].copy_from_slice(&(frame.length as u16 - 14).to_be_bytes());
    for copy in bytes[34..46].chunks_mut(4) {
        copy.copy_from_slice(&(number as u32).to_be_bytes());
    }
    bytes
}

fn arrival(bytes: &[u8], at: Duration, traffic: &Traffic) -> Arrival {
    let mut copies: Vec<u32> = bytes[34..46]
        .chunks(4)
        .map(|copy| u32::from_be_bytes(copy.try_into().expect("four bytes")))
        .collect();
    copies.sort_unstable();
    let number = copies[1] as usize;
    let frame = traffic.frames.get(number).unwrap_or_else(|| panic!("no frame of ours: {number}"));
    let sent = self::bytes(number, frame);
    assert_eq!(bytes.len(), sent.len(), "frame {number}");
    let mut marked = sent.clone();
    mark(&mut marked);
    let [flipped, flipped_beside_mark] = [&sent, &marked].map(|to| differing_bits(bytes, to));
    let is_marked = frame.ecn_capable && flipped_beside_mark.len() < flipped.len();
    let flipped = if is_marked { flipped_beside_mark } else { flipped };
    assert!(flipped.len() <= 1, "frame {number}: {flipped:?}");
    Arrival { number, at, marked: is_marked, flipped: flipped.first().copied() }
}

/// As the kernel marks: ECT(0) becomes CE, and what that takes from the sum is added to the
/// checksum, which was zero.
fn mark(bytes: &mut [u8]) {
    bytes[15] |= 3;
    bytes[24..26].copy_from_slice(&[0xff, 0xfe]);
}

fn differing_bits(bytes: &[u8], sent: &[u8]) -> Vec<u32> {
    let mut bits = Vec::new();
    for (index, (a, b)) in bytes.iter().zip(sent).enumerate() {
        bits.extend((0..8).filter(|bit| (a ^ b) >> bit & 1 == 1).map(|bit| 8 * index as u32 + bit));
    }
    bits
}
