use super::*;

/// 10.0.0.1:7 → 10.0.0.2:9, UDP, payload "abcd"; checksums by hand, as RFC 1071 and RFC 768 have
/// them.
fn frame() -> Vec<u8> {
    let mut bytes = vec![0; VNET_HEADER_LEN];
    bytes.extend([2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0]);
    bytes.extend([0x45, 0b10, 0, 32, 0, 1, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
    bytes.extend([0, 7, 0, 9, 0, 12, 0, 0, b'a', b'b', b'c', b'd']);
    let header = !fold(sum(&bytes[IP..IP + 20]));
    bytes[IP + 10..IP + 12].copy_from_slice(&header.to_be_bytes());
    let udp = !fold(pseudo_header() + sum(&bytes[IP + 20..]));
    bytes[IP + 26..IP + 28].copy_from_slice(&udp.to_be_bytes());
    bytes
}

fn pseudo_header() -> u64 {
    sum(&[10, 0, 0, 1, 10, 0, 0, 2, 0, 17, 0, 12])
}

fn checks(bytes: &[u8]) -> (bool, bool) {
    let header = fold(sum(&bytes[IP..IP + 20]));
    let udp = fold(pseudo_header() + sum(&bytes[IP + 20..]));
    (header == 0xffff, udp == 0xffff)
}

#[test]
fn a_marked_frame_has_both_bits_and_a_good_header() {
    let mut bytes = frame();
    assert_eq!(checks(&bytes), (true, true));
    let mut frame = Frame::new(&mut bytes).expect("it is IPv4");
    assert_eq!((frame.length(), frame.is_ecn_capable()), (46, true));
    frame.mark();
    assert_eq!(bytes[IP + 1], 0b11);
    assert_eq!(checks(&bytes), (true, true));
}

/// fd00::1 → fd00::2, a fragment of 8 bytes behind a fragment header: nothing that could be cut.
fn ipv6_fragment() -> Vec<u8> {
    let mut bytes = vec![0; VNET_HEADER_LEN];
    bytes.extend([2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x86, 0xdd]);
    bytes.extend([0x60, 0x10, 0, 0, 0, 16, 44, 64]);
    bytes.extend([0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
    bytes.extend([0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2]);
    bytes.extend([17, 0, 0, 0, 0, 0, 0, 1, b'a', b'b', b'c', b'd', b'e', b'f', b'g', b'h']);
    bytes
}

#[test]
fn ipv6_and_fragments_pass_and_the_traffic_class_is_marked() {
    let mut bytes = ipv6_fragment();
    let before = bytes.clone();
    let mut frame = Frame::new(&mut bytes).expect("it is IPv6");
    assert_eq!((frame.length(), frame.is_ecn_capable()), (70, true));
    assert_eq!(frame.segments(), Ok(None));
    frame.mark();
    let mut expected = before.clone();
    expected[IP + 1] = 0x30;
    assert_eq!(bytes, expected);
    let mut bytes = before;
    bytes[IP + 1] = 0;
    assert!(!Frame::new(&mut bytes).expect("it is IPv6").is_ecn_capable());
}

#[test]
fn a_bit_flipped_anywhere_behind_the_ethernet_header_is_found_by_a_checksum() {
    for offset in 14..46 {
        for bit in 0..8 {
            let mut bytes = frame();
            Frame::new(&mut bytes).expect("it is IPv4").corrupt(BitFlip { offset, bit });
            assert_ne!(checks(&bytes), (true, true), "{offset} {bit}");
        }
    }
}

#[test]
fn a_checksum_left_to_the_interface_is_finished_before_the_flip() {
    let mut bytes = frame();
    let whole = bytes.clone();
    // What the kernel leaves in the field: the sum of the pseudo-header, not inverted.
    bytes[IP + 26..IP + 28].copy_from_slice(&fold(pseudo_header()).to_be_bytes());
    bytes[0] = NEEDS_CHECKSUM;
    bytes[6..8].copy_from_slice(&34_u16.to_ne_bytes());
    bytes[8..10].copy_from_slice(&6_u16.to_ne_bytes());
    let flip = BitFlip { offset: 45, bit: 3 };
    Frame::new(&mut bytes).expect("it is IPv4").corrupt(flip);
    bytes[VNET_HEADER_LEN + 45] ^= 1 << 3;
    assert_eq!(bytes, whole);
}

#[test]
fn what_is_no_ip_packet_is_told_apart() {
    let unfit = |change: fn(&mut Vec<u8>)| {
        let mut bytes = frame();
        change(&mut bytes);
        Frame::new(&mut bytes).err()
    };
    assert_eq!(unfit(|_| ()), None);
    assert_eq!(unfit(|bytes| bytes[IP - 1] = 6), Some(Unfit::Foreign));
    assert_eq!(unfit(|bytes| bytes[IP] = 0x44), Some(Unfit::Foreign));
    let mut cut_short = ipv6_fragment();
    cut_short.truncate(IP + 39);
    assert_eq!(Frame::new(&mut cut_short).err(), Some(Unfit::Foreign));
    assert_eq!(unfit(|bytes| bytes[IP] = 0x4f), Some(Unfit::Foreign));
    assert_eq!(unfit(|bytes| bytes.truncate(IP + 19)), Some(Unfit::Foreign));
    assert_eq!(unfit(|bytes| bytes.truncate(3)), Some(Unfit::Foreign));
}
