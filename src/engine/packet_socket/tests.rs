use std::thread;
use std::time::Duration;

use netns::{End, MacAddress, Namespace, Topology};

use super::*;
use crate::engine::frame::{ETHERNET_HEADER_LEN, VNET_HEADER_LEN};
use crate::engine::namespaces;

/// Sockets on both ends of a wire.
struct Ends {
    near: PacketSocket,
    far: PacketSocket,
    space: Namespace,
}

impl Ends {
    /// `None`, and a word about it, where there are no namespaces and none are expected. `sockets`:
    /// that share the memory.
    fn new(sockets: usize) -> Option<Self> {
        if !namespaces::are_here() {
            return None;
        }
        let [space, other] =
            ["one", "other"].map(|name| Namespace::new(name).expect("there was one just now"));
        let end = |space, mac| {
            let end = End::new(space, "wire", MacAddress::local(mac)).mtu(9000);
            end.neighbour("10.0.0.9".parse().expect("it is one"), MacAddress::local(9))
        };
        let (near, far) = (end(&space, 1), end(&other, 2));
        let indexes = [near.index(), far.index()];
        let mut topology = Topology::new();
        topology.veth(near, far);
        topology.build().expect("there is nothing there");
        let open = |space: &Namespace, index| {
            let socket = space.run(|| PacketSocket::open(index, sockets));
            socket.expect("the namespace is there").expect("the interface is there")
        };
        let [near, far] = [open(&space, indexes[0]), open(&other, indexes[1])];
        Some(Self { near, far, space })
    }

    fn send(&self, frames: &[Vec<u8>]) {
        assert_eq!(self.near.send(frames), 0, "the kernel takes them");
    }

    /// The next frame, for which it waits.
    fn receive(&mut self) -> (usize, Vec<u8>, bool) {
        for _ in 0..10_000 {
            if let Some(frame) = self.far.receive() {
                return (frame.length(), frame.bytes().to_vec(), frame.is_queued());
            }
            thread::sleep(Duration::from_millis(1));
        }
        panic!("nothing comes");
    }
}

/// With a number in it, of a protocol that nobody speaks.
fn frame(number: u32, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; VNET_HEADER_LEN + length];
    bytes[VNET_HEADER_LEN..][..6].fill(0xff);
    bytes[VNET_HEADER_LEN + 12..][..2].copy_from_slice(&[0x88, 0xb5]);
    bytes[VNET_HEADER_LEN + ETHERNET_HEADER_LEN..][..4].copy_from_slice(&number.to_be_bytes());
    bytes
}

#[test]
fn frames_come_in_order_however_often_the_ring_goes_round() {
    let Some(mut ends) = Ends::new(usize::MAX) else { return };
    for number in 0..500 {
        let three = [3 * number, 3 * number + 1, 3 * number + 2].map(|it| frame(it, 60));
        ends.send(&three);
        for expected in three {
            let (length, bytes, _) = ends.receive();
            assert_eq!((length, bytes), (expected.len(), expected));
        }
        assert!(ends.far.receive().is_none());
    }
    ends.send(&[frame(0, 60)]);
    while ends.far.waiting(2) == 0 {}
    assert_eq!(ends.far.waiting(2), 1);
    let stamp = ends.far.receive().expect("it waits").stamp();
    let now = std::time::UNIX_EPOCH.elapsed().expect("it is past 1970").as_nanos() as u64;
    assert!(stamp <= now && stamp + 600_000_000_000 > now, "{stamp} {now}");
}

#[test]
fn what_a_full_ring_has_no_room_for_is_counted() {
    let Some(mut ends) = Ends::new(usize::MAX) else { return };
    const SENT: usize = 1000;
    let frames: Vec<_> = (0..SENT as u32).map(|number| frame(number, 60)).collect();
    ends.send(&frames);
    let mut received = 0;
    let mut dropped = 0;
    for _ in 0..10_000 {
        dropped += ends.far.overflowed() as usize;
        if dropped + ends.far.waiting(SENT) == SENT {
            break;
        }
        thread::sleep(Duration::from_millis(1));
    }
    while let Some(frame) = ends.far.receive() {
        assert!(frames[received] == frame.bytes(), "the first ones are kept");
        received += 1;
    }
    assert_eq!(received + dropped, SENT);
    assert!(received > 0 && dropped > 0, "{received} {dropped}");
    assert_eq!(ends.far.overflowed(), 0);
    // And then it goes on.
    ends.send(&frames[..1]);
    assert_eq!(ends.receive().1, frames[0]);
}

#[test]
fn a_frame_that_does_not_fit_into_the_ring_is_whole_in_the_queue() {
    let Some(mut ends) = Ends::new(2) else { return };
    let lengths = [60, 5000, 1514, SLOT, 1960, 9000, 60];
    let frames: Vec<_> = lengths.into_iter().zip(0..).map(|(it, n)| frame(n, it)).collect();
    ends.send(&frames);
    for sent in &frames {
        let (length, bytes, queued) = ends.receive();
        assert_eq!(length, sent.len());
        assert_eq!(bytes, sent[..bytes.len()]);
        assert_eq!(queued, bytes.len() < length);
        assert_eq!(queued, length >= SLOT);
        if queued {
            let mut whole = vec![0; 1 << 16];
            assert_eq!(ends.far.receive_queued(&mut whole).expect("it is there"), length);
            assert!(whole[..length] == sent[..]);
        }
    }
    assert_eq!(ends.far.overflowed(), 0);
}

#[test]
fn an_interface_that_is_gone_is_told() {
    let Some(ends) = Ends::new(2) else { return };
    ends.far.check().expect("it is there");
    let Ends { near, far, space } = ends;
    drop((near, space));
    // With its namespace the near end goes, and the far end with it; the kernel takes its time.
    for _ in 0..10_000 {
        if let Err(error) = far.check() {
            assert_eq!(error.raw_os_error(), Some(libc::ENETDOWN));
            return;
        }
        thread::sleep(Duration::from_millis(1));
    }
    panic!("nothing is told");
}
