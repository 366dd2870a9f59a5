use super::*;

/// A UDP datagram over IPv4 with the right checksum in the IP header.
fn frame(payload: usize, ecn: u8) -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 0, 0x08, 0x00];
    let length = (28 + payload) as u16;
    frame.extend([0x45, ecn]);
    frame.extend(length.to_be_bytes());
    frame.extend([0x12, 0x34, 0x40, 0, 64, 17, 0, 0, 10, 77, 0, 1, 10, 77, 0, 2]);
    frame.extend([0x11, 0x51, 0x11, 0x51, 0, 0, 0, 0]);
    frame.extend((0..payload).map(|byte| (byte * 7) as u8));
    set_checksum(&mut frame);
    frame
}

fn set_checksum(frame: &mut [u8]) {
    frame[24..26].fill(0);
    let words = frame[14..34].as_chunks::<2>().0;
    let sum: u32 = words.iter().map(|word| u32::from(u16::from_be_bytes(*word))).sum();
    let folded = (sum & 0xffff) + (sum >> 16);
    frame[24..26].copy_from_slice(&(!(folded as u16)).to_be_bytes());
}

#[test]
fn the_digest_is_the_published_crc() {
    let mut crc = Crc::default();
    crc.take(b"123456789");
    // CRC-64/ECMA-182 (reveng's catalogue).
    assert_eq!(crc.0, 0x6C40_DF5F_0B49_7347);
}

#[test]
fn every_flip_of_one_bit_is_known_and_told_from_a_mark() {
    for frame in [frame(600, 0b10), frame(1, 0), frame(1472, 0b01)] {
        let entered = Fingerprint::of(&frame);
        for bit in 0..frame.len() * 8 {
            let mut flipped = frame.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            let left = Fingerprint::of(&flipped);
            if left.key == entered.key {
                let harm = left.harm_since(&entered);
                assert_eq!(harm, Harm { marked: false, corrupted: true }, "bit {bit}");
            } else {
                assert!(left.key.before_a_flip().any(|key| key == entered.key), "bit {bit}");
            }
        }
    }
}

#[test]
fn a_mark_is_one_with_and_without_a_flip_beside_it() {
    let entered = Fingerprint::of(&frame(600, 0b10));
    let mut marked = frame(600, 0b11);
    let left = Fingerprint::of(&marked);
    assert_eq!(left.key, entered.key);
    assert_eq!(left.harm_since(&entered), Harm { marked: true, corrupted: false });
    assert_eq!(entered.harm_since(&entered), Harm::default());
    marked[24] ^= 4;
    let harm = Fingerprint::of(&marked).harm_since(&entered);
    assert_eq!(harm, Harm { marked: true, corrupted: true });
}

#[test]
fn frames_that_are_no_ip_are_known_too() {
    let arp = [[0xff; 12].as_slice(), &[0x08, 0x06], &[7; 28]].concat();
    let print = Fingerprint::of(&arp);
    assert_eq!(print, Fingerprint::of(&arp.clone()));
    assert_eq!(print.key.length, 42);
    for short in [&arp[..13], &arp[..14], &[]] {
        assert_eq!(Fingerprint::of(short).key.length as usize, short.len());
    }
}
