use super::*;
use crate::protocol::settings::UdpSettings;
use crate::protocol::udp::Udp;
use crate::protocol::{Datagram, Output, Protocol, Sent};
use crate::units::{Instant, PathId};
use crate::workload::write_message;

const NOW: Instant = Instant::ZERO;
const PATHS: [PathId; 2] = [PathId(0), PathId(1)];

fn udp(path: PathId) -> Box<dyn Protocol> {
    Box::new(Udp::new(&UdpSettings { path }))
}

fn datagram_copies() -> DatagramCopies {
    DatagramCopies::new(udp(PATHS[0]), PATHS.to_vec())
}

fn message_copies() -> MessageCopies {
    MessageCopies::new(PATHS.map(|path| (path, udp(path))).into())
}

fn message(id: u64) -> Vec<u8> {
    let mut bytes = vec![0; 40];
    write_message(id, &mut bytes);
    bytes
}

fn transmitted(protocol: &mut dyn Protocol) -> Vec<Datagram> {
    std::iter::from_fn(|| match protocol.poll(NOW) {
        Output::Transmit(datagram) => Some(datagram),
        _ => None,
    })
    .collect()
}

fn deliveries(protocol: &mut dyn Protocol, datagrams: &[Datagram]) -> usize {
    datagrams.iter().for_each(|datagram| protocol.receive(NOW, datagram.clone()));
    std::iter::from_fn(|| matches!(protocol.poll(NOW), Output::Deliver(_)).then_some(())).count()
}

fn delivers_once_while_any_copy_arrives(mut sender: impl Protocol, mut receiver: impl Protocol) {
    for id in 0..100 {
        assert_eq!(sender.send(NOW, &message(id)), Sent::Accepted);
        let copies = transmitted(&mut sender);
        assert_eq!(copies.iter().map(|copy| copy.path).collect::<Vec<_>>(), PATHS);
        let arrived: &[Datagram] = match id % 4 {
            0 => &copies[..],
            1 => &copies[..1],
            2 => &copies[1..],
            _ => &[],
        };
        assert_eq!(deliveries(&mut receiver, arrived), usize::from(id % 4 != 3), "message {id}");
    }
    assert_eq!(receiver.statistics().discarded, 25);
}

#[test]
fn copied_datagrams_are_delivered_once() {
    delivers_once_while_any_copy_arrives(datagram_copies(), datagram_copies());
}

#[test]
fn copied_messages_are_delivered_once() {
    delivers_once_while_any_copy_arrives(message_copies(), message_copies());
}

#[test]
fn garbage_is_counted_and_dropped() {
    let garbage = [Datagram::new(PATHS[1], vec![1, 2, 3]), Datagram::new(PathId(7), vec![])];
    let mut datagrams = datagram_copies();
    assert_eq!(deliveries(&mut datagrams, &garbage), 0);
    let mut messages = message_copies();
    assert_eq!(deliveries(&mut messages, &garbage), 0);
    assert_eq!((datagrams.statistics().discarded, messages.statistics().discarded), (2, 2));
}
