//! Our cutting of super-packets against the kernel's own: it is given the same one to send through
//! an interface that cannot cut.

use std::cell::RefCell;

use netns::{End, MacAddress, Namespace, Topology};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::*;
use crate::engine::frame::{ETHERNET_HEADER_LEN, Frame, IP};
use crate::engine::namespaces;
use crate::engine::packet_socket::PacketSocket;

/// A super-packet as a sender leaves it to its interface.
#[derive(Debug, Clone)]
struct Sent {
    version: Version,
    protocol: u8,
    /// Of TCP; a multiple of 4.
    options: usize,
    flags: u8,
    identification: u16,
    sequence: u32,
    size: u16,
    payload: Vec<u8>,
    /// A hop-by-hop header in front of TCP, in IPv6.
    extended: bool,
}

fn any_super_packet() -> impl Strategy<Value = Sent> {
    let version = prop_oneof![Just(Version::V4), Just(Version::V6)];
    let header = (version, prop_oneof![Just(TCP), Just(UDP)], 0..=10_usize, any::<bool>());
    let fields = (any::<u8>(), any::<u16>(), any::<u32>());
    let payload = (8..=1400_u16).prop_flat_map(|size| {
        let longest = (usize::from(size) * 40).min(60_000);
        let payload = prop::collection::vec(any::<u8>(), usize::from(size) + 1..=longest);
        (Just(size), payload)
    });
    (header, fields, payload).prop_map(
        |((version, protocol, options, extended), (flags, identification, sequence), rest)| Sent {
            version,
            protocol,
            options: options * 4,
            // SYN and RST never come with a payload.
            flags: flags & !0b110 | 0b1_0000,
            identification,
            sequence,
            size: rest.0,
            payload: rest.1,
            extended: extended && version == Version::V6 && protocol == TCP,
        },
    )
}

impl Sent {
    fn bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0; VNET_HEADER_LEN];
        bytes.extend([2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1]);
        self.append_ip(&mut bytes);
        let transport = bytes.len();
        match self.protocol {
            TCP => self.append_tcp(&mut bytes),
            _ => bytes.extend([0, 7, 0, 9, 0, 0, 0, 0]),
        }
        let headers = bytes.len();
        bytes.extend(&self.payload);
        let length = bytes.len() - transport;
        set_length(&mut bytes, self.version);
        if self.version == Version::V4 {
            set_header_checksum(&mut bytes);
        }
        if self.protocol == UDP {
            bytes[transport + 4..transport + 6].copy_from_slice(&(length as u16).to_be_bytes());
        }
        let place = if self.protocol == TCP { 16 } else { 6 };
        let partial = fold(pseudo_header(&bytes, self.version, self.protocol, length));
        bytes[transport + place..transport + place + 2].copy_from_slice(&partial.to_be_bytes());
        self.describe(&mut bytes, headers, transport, place);
        bytes
    }

    fn append_ip(&self, bytes: &mut Vec<u8>) {
        if self.version == Version::V4 {
            let [high, low] = self.identification.to_be_bytes();
            bytes.extend([0x08, 0, 0x45, 0, 0, 0, high, low, 0x40, 0, 64, self.protocol, 0, 0]);
            bytes.extend([10, 0, 0, 1, 10, 0, 0, 2]);
            return;
        }
        let next = if self.extended { 0 } else { self.protocol };
        bytes.extend([0x86, 0xdd, 0x60, 0, 0, 0, 0, 0, next, 64]);
        bytes.extend([0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
        bytes.extend([0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2]);
        if self.extended {
            // One option that pads.
            bytes.extend([self.protocol, 0, 1, 4, 0, 0, 0, 0]);
        }
    }

    fn append_tcp(&self, bytes: &mut Vec<u8>) {
        bytes.extend([0, 7, 0, 9]);
        bytes.extend(self.sequence.to_be_bytes());
        let offset = ((TCP_HEADER_MIN + self.options) / 4) as u8;
        bytes.extend([0, 0, 0, 5, offset << 4, self.flags, 1, 0, 0, 0, 0, 0]);
        bytes.resize(bytes.len() + self.options, 1);
    }

    /// The virtio-net header.
    fn describe(&self, bytes: &mut [u8], headers: usize, transport: usize, place: usize) {
        let kind = match (self.protocol, self.version) {
            (UDP, _) => UDP_SEGMENTS,
            (_, Version::V4) => TCP_V4,
            (_, Version::V6) => TCP_V6,
        };
        let ecn = if self.protocol == TCP && self.flags & CWR != 0 { WITH_ECN } else { 0 };
        bytes[..2].copy_from_slice(&[NEEDS_CHECKSUM, kind | ecn]);
        let fields =
            [headers - VNET_HEADER_LEN, self.size.into(), transport - VNET_HEADER_LEN, place];
        for (field, to) in fields.into_iter().zip(bytes[2..].chunks_exact_mut(2)) {
            to.copy_from_slice(&(field as u16).to_ne_bytes());
        }
    }
}

impl Sent {
    /// A TCP checksum of zero has two forms that say the same (RFC 1624, section 3). The kernel
    /// writes 0 where it cuts a super-packet, and 0xffff where it finishes a single packet's, as
    /// is done here.
    fn write_zero_as_it_is_finished(&self, frame: &mut [u8]) {
        const ETHERNET_HEADER: usize = 14;
        let header = if self.version == Version::V4 { 20 } else { 40 };
        let header = header + if self.extended { 8 } else { 0 };
        let place = ETHERNET_HEADER + header + 16;
        if self.protocol == TCP && frame[place..place + 2] == [0, 0] {
            frame[place..place + 2].fill(0xff);
        }
    }
}

/// Two interfaces that are one wire; the first has no offloads.
struct Kernel {
    in_front: PacketSocket,
    behind: PacketSocket,
}

impl Kernel {
    fn new() -> Self {
        let [one, other] = ["one", "other"].map(|name| Namespace::new(name).expect("as asked"));
        let end = |namespace, mac| End::new(namespace, "wire", MacAddress::local(mac));
        let (from, to) = (end(&one, 1), end(&other, 2));
        let (from_index, to_index) = (from.index(), to.index());
        let quiet =
            |end: End| end.neighbour("10.0.0.9".parse().expect("it is one"), MacAddress::local(9));
        let mut topology = Topology::new();
        topology.veth(quiet(from), quiet(to));
        topology.build().expect("there is nothing there");
        one.set_offloads("wire", false).expect("veth can do without");
        let open = |namespace: &Namespace, index| {
            let socket =
                namespace.run(|| PacketSocket::open(index, 2)).expect("the namespace is there");
            socket.expect("the interface is there")
        };
        Self { in_front: open(&one, from_index), behind: open(&other, to_index) }
    }

    /// What comes out when this is sent: `count` frames, or fewer if no more come.
    fn cut(&mut self, whole: &[u8], count: usize) -> Vec<Vec<u8>> {
        assert_eq!(self.in_front.send(&[whole]), 0, "the kernel takes it");
        let mut frames = Vec::new();
        for _ in 0..10_000 {
            while let Some(frame) = self.behind.receive() {
                frames.push(frame.bytes().to_vec());
            }
            if frames.len() >= count {
                break;
            }
            std::thread::sleep(std::time::Duration::from_micros(100));
        }
        frames
    }
}

fn cut_here(whole: &mut [u8]) -> Vec<Vec<u8>> {
    let segments = Frame::new(whole).expect("it is IP").segments();
    let segments = segments.expect("it can be cut").expect("it is several");
    let segment = |index| {
        let mut bytes = vec![0xee; segments.buffer_length(index)];
        segments.write(whole, index, &mut bytes);
        assert_eq!(segments.length(index), bytes.len() - VNET_HEADER_LEN);
        Frame::new(&mut bytes).expect("it is IP").complete_checksum();
        bytes
    };
    (0..segments.count()).map(segment).collect()
}

#[test]
fn super_packets_are_cut_as_the_kernel_cuts_them() {
    if !namespaces::are_here() {
        return;
    }
    let kernel = RefCell::new(Kernel::new());
    let mut runner = TestRunner::new(Config::with_cases(200));
    let result = runner.run(&any_super_packet(), |sent| {
        let mut whole = sent.bytes();
        let ours = cut_here(&mut whole);
        let theirs = kernel.borrow_mut().cut(&whole, ours.len());
        prop_assert_eq!(ours.len(), theirs.len());
        for (index, (ours, theirs)) in ours.iter().zip(&theirs).enumerate() {
            let mut theirs = theirs[VNET_HEADER_LEN..].to_vec();
            sent.write_zero_as_it_is_finished(&mut theirs);
            let ours = &ours[VNET_HEADER_LEN..];
            let headers = ours.len().min(100);
            prop_assert_eq!(&ours[..headers], &theirs[..headers], "segment {}", index);
            prop_assert!(ours == theirs, "payload of segment {}", index);
        }
        Ok(())
    });
    result.unwrap_or_else(|failure| panic!("{failure}"));
}

#[test]
fn what_cannot_be_cut_is_told() {
    let sent = Sent {
        version: Version::V4,
        protocol: TCP,
        options: 12,
        flags: 0,
        identification: 1,
        sequence: 1,
        size: 1000,
        payload: vec![1; 3000],
        extended: false,
    };
    let of = |change: fn(&mut Vec<u8>)| {
        let mut bytes = sent.bytes();
        change(&mut bytes);
        Segments::of(&bytes, Version::V4).map(|segments| segments.map(|it| it.count()))
    };
    const TCP_AT: usize = IP + 20;
    assert_eq!(of(|_| ()), Ok(Some(3)));
    assert_eq!(of(|bytes| bytes[1] = 0), Ok(None));
    // UDP fragmentation offload, which kernels gave up long ago.
    assert_eq!(of(|bytes| bytes[1] = 3), Err(Unfit::SuperPacket));
    assert_eq!(of(|bytes| bytes[1] = TCP_V6), Err(Unfit::SuperPacket));
    assert_eq!(of(|bytes| bytes[4..6].fill(0)), Err(Unfit::SuperPacket));
    assert_eq!(of(|bytes| bytes[IP + 9] = UDP), Err(Unfit::SuperPacket));
    assert_eq!(of(|bytes| bytes[TCP_AT + 12] = 0x40), Err(Unfit::SuperPacket));
    assert_eq!(of(|bytes| bytes.truncate(TCP_AT + 12)), Err(Unfit::SuperPacket));
    assert_eq!(of(|bytes| bytes.truncate(TCP_AT + 32)), Err(Unfit::SuperPacket));
    assert_eq!(ETHERNET_HEADER_LEN + VNET_HEADER_LEN, IP);
}
