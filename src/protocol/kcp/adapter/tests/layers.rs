//! What kcptun puts around and on KCP, put together: messages survive losses in every combination,
//! the mtu is kept to, and what a peer may send instead is counted and harmless.

use proptest::prelude::*;

use super::*;
use crate::protocol::kcptun::crypt::Crypt;
use crate::protocol::kcptun::fec::GroupSizes;
use crate::protocol::kcptun::smux::Version;
use crate::protocol::settings::KcpBehaviour;
use crate::splitmix::SplitMix64;

const CRYPTS: [Option<Crypt>; 4] = [None, Some(Crypt::None), Some(Crypt::Aes128), Some(Crypt::Aes)];
const SMUX: [Option<Version>; 3] = [None, Some(Version::One), Some(Version::Two)];

fn groups(data: u32, parity: u32) -> Option<GroupSizes> {
    Some(GroupSizes::new(data, parity).expect("a group"))
}

fn layered(fec: Option<GroupSizes>, crypt: Option<Crypt>, smux: Option<Version>) -> KcpSettings {
    let behaviour = KcpBehaviour::KcpGo56;
    KcpSettings { behaviour, mtu: 1350, fec, crypt, smux, ..KcpSettings::new(PathId(3)) }
}

fn both_sides(settings: &KcpSettings) -> [Kcp; 2] {
    [Role::Client, Role::Server].map(|role| Kcp::new(settings, role, 42))
}

/// A path of 10 ms one way that loses some; what each side delivers in these milliseconds.
struct Path {
    loss_percent: u64,
    random: SplitMix64,
    travelling: VecDeque<(u64, usize, Vec<u8>)>,
    longest: usize,
}

impl Path {
    fn new(loss_percent: u64, seed: u64) -> Self {
        let random = SplitMix64::new(seed);
        Self { loss_percent, random, travelling: VecDeque::new(), longest: 0 }
    }

    fn run(
        &mut self,
        sides: &mut [Kcp; 2],
        milliseconds: std::ops::Range<u64>,
    ) -> [Vec<Vec<u8>>; 2] {
        let mut delivered = [Vec::new(), Vec::new()];
        for ms in milliseconds {
            let now = at_ms(ms);
            while self.travelling.front().is_some_and(|(arrival, ..)| *arrival <= ms)
                && let Some((_, to, payload)) = self.travelling.pop_front()
            {
                sides[to].receive(now, datagram(&payload));
            }
            for (side, delivered) in delivered.iter_mut().enumerate() {
                let (datagrams, messages) = drain(&mut sides[side], now);
                delivered.extend(messages);
                self.longest = datagrams.iter().map(Vec::len).fold(self.longest, usize::max);
                let lossy =
                    datagrams.into_iter().filter(|_| self.random.next() % 100 >= self.loss_percent);
                self.travelling.extend(lossy.map(|payload| (ms + 10, 1 - side, payload)));
            }
        }
        delivered
    }
}

#[test]
fn a_full_datagram_is_as_long_as_the_mtu() {
    for (fec, crypt, segment_len) in [
        (groups(3, 2), Some(Crypt::None), 1350 - 24 - 20 - 8),
        (groups(3, 2), None, 1350 - 24 - 8),
        (None, Some(Crypt::Aes), 1350 - 24 - 20),
        (None, None, 1350 - 24),
    ] {
        let mut sides = both_sides(&layered(fec, crypt, None));
        assert_eq!(sides[0].engine.settings.segment_len(), segment_len);
        sides[0].send(at_ms(0), &vec![1; 20 * segment_len]);
        let mut path = Path::new(0, 1);
        let [_, delivered] = path.run(&mut sides, 0..200);
        assert_eq!(delivered, [vec![1; 20 * segment_len]]);
        assert_eq!(path.longest, 1350);
    }
}

#[test]
fn a_smux_server_is_connected_once_it_hears_the_client() {
    for smux in [Version::One, Version::Two] {
        let mut sides = both_sides(&layered(None, None, Some(smux)));
        assert_eq!(sides[1].state(), State::Connecting);
        let mut path = Path::new(0, 1);
        path.run(&mut sides, 0..15);
        assert_eq!(sides.each_ref().map(Protocol::state), [State::Established, State::Established]);
        assert_eq!(sides[1].send(at_ms(15), b"down first"), Sent::Accepted);
        assert_eq!(path.run(&mut sides, 15..40)[0], [b"down first"]);
    }
}

#[test]
fn smux_keeps_an_idle_connection_and_ends_a_dark_one() {
    let mut sides = both_sides(&layered(groups(3, 2), Some(Crypt::Aes128), Some(Version::One)));
    let mut path = Path::new(2, 1);
    path.run(&mut sides, 0..100_000);
    assert_eq!(sides.each_ref().map(Protocol::state), [State::Established, State::Established]);
    path.loss_percent = 100;
    // The longest that anything can have come before a tick of 30 s, and then the next tick.
    path.run(&mut sides, 100_000..160_100);
    for side in &mut sides {
        let State::Closed(reason) = side.state() else { panic!("{:?}", side.state()) };
        assert_eq!(reason, "nothing came from the smux peer for 30 s");
        assert_eq!(side.send(at_ms(160_100), b"too late"), Sent::Refused);
    }
}

#[test]
fn a_lost_datagram_is_recovered_without_being_sent_again() {
    let mut sides = both_sides(&layered(groups(3, 2), Some(Crypt::None), None));
    for (at, message) in [b"a", b"b", b"c"].into_iter().enumerate() {
        sides[0].send(at_ms(at as u64), message);
        for (number, packet) in drain(&mut sides[0], at_ms(at as u64)).0.iter().enumerate() {
            if at != 1 || number != 0 {
                sides[1].receive(at_ms(3), datagram(packet));
            }
        }
    }
    assert_eq!(drain(&mut sides[1], at_ms(3)).1, [b"a", b"b", b"c"]);
    assert_eq!(sides[1].statistics().discarded, 0);
    // The first parity shard completes the group; the second one is alone.
    let heard = ShardCounts { data: 2, parity: 2, recovered: 1, ..ShardCounts::default() };
    assert_eq!(sides[1].error_correction(), Some(heard));
    assert_eq!(sides[0].error_correction(), Some(ShardCounts::default()));
    assert_eq!(sides[0].statistics().retransmissions, Some(0));
}

/// As kcp-go does: with as much parity as data, the parity of a whole group makes it once more.
#[test]
fn what_is_made_again_for_nothing_is_counted_apart() {
    let mut sides = both_sides(&layered(groups(1, 1), Some(Crypt::None), None));
    sides[0].send(at_ms(0), b"a");
    for packet in drain(&mut sides[0], at_ms(0)).0 {
        sides[1].receive(at_ms(3), datagram(&packet));
    }
    let heard = ShardCounts { data: 1, parity: 1, known: 1, ..ShardCounts::default() };
    assert_eq!(sides[1].error_correction(), Some(heard));
    let mut plain = layered(None, None, None);
    plain.stream = true;
    assert_eq!(both_sides(&plain)[0].error_correction(), None);
}

#[test]
fn a_server_may_take_the_conversation_of_whoever_speaks_first() {
    let settings = layered(groups(3, 2), Some(Crypt::Aes), Some(Version::Two));
    let mut sides = [Kcp::new(&settings, Role::Client, 1_234), Kcp::accepting(&settings, 99)];
    // Nobody: in an envelope of the right key, too.
    let mut nobody = Wrapping::new(settings.crypt, settings.fec, 5);
    nobody.wrap(vec![7; 40]);
    sides[1].receive(at_ms(0), datagram(&nobody.transmit().expect("a packet")));
    assert_eq!(sides[1].statistics().discarded, 1);
    sides[0].send(at_ms(0), b"hello");
    let mut path = Path::new(0, 1);
    assert_eq!(path.run(&mut sides, 0..100)[1], [b"hello"]);
    sides[1].send(at_ms(100), b"and back");
    assert_eq!(path.run(&mut sides, 100..200)[0], [b"and back"]);
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None, cases: 64, ..Default::default()
    })]

    #[test]
    fn messages_survive_losses_in_every_combination(
        fec in prop::sample::select(vec![None, groups(1, 1), groups(3, 2), groups(10, 3)]),
        crypt in prop::sample::select(CRYPTS.to_vec()),
        smux in prop::sample::select(SMUX.to_vec()),
        stream: bool,
        mtu in 150..1_500_u32,
        loss_percent in 0..20_u64,
        sizes in prop::collection::vec((0..2_usize, 1..6_000_usize), 1..40),
        seed: u64,
    ) {
        let settings = KcpSettings { stream, mtu, ..layered(fec, crypt, smux) };
        let mut sides = both_sides(&settings);
        let mut path = Path::new(loss_percent, seed);
        let (mut sent, mut delivered) = ([Vec::new(), Vec::new()], [Vec::new(), Vec::new()]);
        for (step, (from, size)) in sizes.iter().enumerate() {
            let message = vec![step as u8; *size];
            let start_ms = 10 * step as u64;
            prop_assert_eq!(sides[*from].send(at_ms(start_ms), &message), Sent::Accepted);
            sent[1 - from].push(message);
            let now = path.run(&mut sides, start_ms..start_ms + 10);
            delivered.iter_mut().zip(now).for_each(|(all, now)| all.extend(now));
        }
        let start_ms = 10 * sizes.len() as u64;
        let rest = path.run(&mut sides, start_ms..start_ms + 25_000);
        delivered.iter_mut().zip(rest).for_each(|(all, rest)| all.extend(rest));
        prop_assert!(delivered == sent, "not the same messages");
        prop_assert!(path.longest <= mtu as usize);
    }

    /// Besides garbage: packets of the other side cut short, damaged or once more. Each is counted
    /// (but for parity once more: the decoder may have forgotten its group), and the messages arrive
    /// as they were sent all the same: with an envelope nothing else gets in.
    #[test]
    fn garbage_truncation_and_replay_are_counted_and_harmless(
        fec in prop::sample::select(vec![None, groups(3, 2)]),
        crypt in prop::sample::select(CRYPTS[1..].to_vec()),
        smux in prop::sample::select(SMUX.to_vec()),
        garbage in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..200), 0..20),
        cuts in prop::collection::vec((any::<prop::sample::Index>(), 0..3_usize), 30),
    ) {
        let mut sides = both_sides(&layered(fec, crypt, smux));
        let mut delivered = Vec::new();
        for (step, (place, kind)) in cuts.iter().enumerate() {
            let now = at_ms(20 * step as u64);
            sides[0].send(now, &[step as u8; 300]);
            for packet in drain(&mut sides[0], now).0 {
                let bad = match kind {
                    0 => packet[..place.index(packet.len())].to_vec(),
                    1 => {
                        let mut damaged = packet.clone();
                        // Behind the nonce, which nothing protects.
                        damaged[16 + place.index(packet.len() - 16)] ^= 0x40;
                        damaged
                    }
                    _ => packet.clone(),
                };
                if *kind == 2 {
                    sides[1].receive(now, datagram(&packet));
                }
                let is_data = Wrapping::new(crypt, None, 0).unwrap(0, packet.clone()).is_ok();
                let before = sides[1].statistics().discarded;
                sides[1].receive(now, datagram(&bad));
                let counted = sides[1].statistics().discarded - before;
                prop_assert!(counted == 1 || counted == 0 && *kind == 2 && !is_data);
                sides[1].receive(now, datagram(&packet));
            }
            let (answers, messages) = drain(&mut sides[1], now);
            answers.iter().for_each(|answer| sides[0].receive(now, datagram(answer)));
            delivered.extend(messages);
        }
        for bytes in &garbage {
            sides[1].receive(at_ms(1_000), datagram(bytes));
        }
        prop_assert_eq!(delivered, (0..30).map(|step| vec![step; 300]).collect::<Vec<_>>());
    }
}
