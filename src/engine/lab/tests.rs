use std::thread;
use std::time::Duration;

use super::*;
use crate::engine::namespaces;
use crate::engine::receive_batch::ReceiveBatch;
use crate::protocol::Ecn;

/// Every frame that waits at a tap.
fn seen(tap: &Tap) -> Vec<Vec<u8>> {
    let mut batch = ReceiveBatch::new(2048);
    let mut frames = Vec::new();
    while tap.receive(&mut batch).expect("the tap can be read") > 0 {
        frames.extend(batch.iter().map(|(frame, _)| frame.to_vec()));
    }
    frames
}

#[test]
fn a_bridged_path_carries_what_is_sent_as_it_is_and_nothing_else() {
    if !namespaces::are_here() {
        return;
    }
    let lab = Lab::build(&[IpVersion::V4; 2], Joint::Bridge).expect("a lab");
    let taps = lab.taps().expect("taps");
    let mut vehicle = lab.endpoint_sockets(Role::Client).expect("sockets");
    let mut cloud = lab.endpoint_sockets(Role::Server).expect("sockets");
    for socket in vehicle.iter_mut().chain(&mut cloud) {
        socket.send(b"hello", Ecn::Capable0).expect("sent");
    }
    // What a kernel or a bridge says unasked comes within seconds.
    thread::sleep(Duration::from_secs(4));
    let mut received = ReceiveBatch::new(2048);
    for socket in vehicle.iter().chain(&cloud) {
        assert_eq!(socket.receive(&mut received).expect("read"), 1);
        assert!(received.iter().all(|(payload, _)| payload == b"hello"));
    }
    for Taps { entry, exit } in taps.iter().flatten() {
        let (entered, left) = (seen(entry), seen(exit));
        assert_eq!(entered.len(), 1, "{entered:02x?}");
        assert_eq!(entered, left, "the same bytes");
        assert!(entered[0].ends_with(b"hello") && entered[0].len() == 14 + 20 + 8 + 5);
    }
}
