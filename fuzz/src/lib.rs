//! What a peer may send to KCP and to what kcptun puts around and on it, as functions of some bytes:
//! each panics if the code under test does, keeps more than it may, or makes something up.

use std::time::Duration;

use impairlab::protocol::kcp::Kcp;
use impairlab::protocol::kcptun::Wrapping;
use impairlab::protocol::kcptun::crypt::{self, Crypt, Envelope};
use impairlab::protocol::kcptun::fec::{Decoder, Encoder, GroupSizes, Shard};
use impairlab::protocol::kcptun::smux::{Event, HEADER_LEN, Reader, Session, Version};
use impairlab::protocol::settings::{KcpBehaviour, KcpSettings};
use impairlab::protocol::{Datagram, Output, Protocol, Role};
use impairlab::units::{Instant, PathId};

const CONV: u32 = 0x0102_0304;
const CRYPTS: [Option<Crypt>; 4] = [None, Some(Crypt::None), Some(Crypt::Aes128), Some(Crypt::Aes)];
/// Far more than a side has to say at once: 65,536 acknowledgements fill 1,200 datagrams.
const MOST_OUTPUTS: usize = 10_000;

/// Takes bytes off the front; zeros once there are no more.
struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    fn byte(&mut self) -> u8 {
        self.0.split_off_first().copied().unwrap_or(0)
    }

    fn bytes(&mut self, len: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(len.min(self.0.len()));
        self.0 = rest;
        taken
    }

    const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn group_sizes(&mut self) -> GroupSizes {
        let [data, parity] = [self.byte(), self.byte()].map(|byte| 1 + u32::from(byte % 16));
        GroupSizes::new(data, parity).expect("few enough")
    }
}

/// A sender of any behaviour, with any of its layers, hears datagrams at any times: bare bytes,
/// those bytes as segments of its own conversation, and these within its own layers.
pub fn kcp_input(data: &[u8]) {
    let mut input = Input(data);
    let settings = kcp_settings(&mut input);
    let mut side = Kcp::with_conversation(&settings, Role::Server, CONV);
    let mut peer = Wrapping::new(settings.crypt, settings.fec, 1);
    let mut now = Instant::ZERO;
    while !input.is_empty() {
        now = now + Duration::from_millis(u64::from(input.byte()));
        let kind = input.byte();
        let len = usize::from(input.byte());
        let bytes = input.bytes(len);
        let segments = [&CONV.to_le_bytes(), bytes].concat();
        match kind % 4 {
            0 => side.receive(now, Datagram::new(PathId(0), bytes.to_vec())),
            1 => side.receive(now, Datagram::new(PathId(0), segments)),
            2 => peer.wrap(segments),
            _ => drop(side.send(now, bytes)),
        }
        while let Some(packet) = peer.transmit() {
            side.receive(now, Datagram::new(PathId(0), packet));
        }
        poll_all(&mut side, now);
    }
}

fn kcp_settings(input: &mut Input<'_>) -> KcpSettings {
    let behaviours = [KcpBehaviour::Ikcp17, KcpBehaviour::Ikcp211, KcpBehaviour::KcpGo56];
    let behaviour = behaviours[usize::from(input.byte() % 3)];
    let switches = input.byte();
    let is_on = |bit: u8| switches >> bit & 1 == 1;
    let plain = KcpSettings {
        behaviour,
        nodelay: input.byte() % 3,
        stream: is_on(0),
        nc: is_on(1),
        flush_at_once: is_on(2),
        ack_nodelay: is_on(3),
        write_delay: is_on(4),
        mtu: 78 + u32::from(input.byte()),
        ..KcpSettings::new(PathId(0))
    };
    if behaviour != KcpBehaviour::KcpGo56 {
        return plain;
    }
    KcpSettings {
        fec: is_on(5).then(|| input.group_sizes()),
        crypt: CRYPTS[usize::from(input.byte() % 4)],
        smux: [None, Some(Version::One), Some(Version::Two)][usize::from(input.byte() % 3)],
        ..plain
    }
}

/// It has something to say for a while only, and then waits for what is to come.
fn poll_all(side: &mut Kcp, now: Instant) {
    for _ in 0..MOST_OUTPUTS {
        match side.poll(now) {
            Output::Transmit(_) | Output::Deliver(_) => {}
            Output::Wait(None) => return,
            Output::Wait(Some(wake)) => {
                assert!(wake > now, "asks for {wake:?} at {now:?}");
                return;
            }
        }
    }
    panic!("it does not come to an end");
}

/// Shards as they may be forged, and then genuine ones with losses, to one decoder each.
pub fn fec_decoder(data: &[u8]) {
    let mut input = Input(data);
    let sizes = input.group_sizes();
    let mut input_again = Input(input.0);
    forged_shards(sizes, &mut input);
    genuine_shards(sizes, &mut input_again);
}

fn forged_shards(sizes: GroupSizes, input: &mut Input<'_>) {
    let mut decoder = Decoder::new(sizes);
    let mut now_ms = 0;
    while !input.is_empty() {
        now_ms += u64::from(input.byte()) * 300;
        // Near to each other, or anywhere.
        let number = match input.byte() {
            near @ 0..200 => u32::from(near),
            _ => u32::from_le_bytes(std::array::from_fn(|_| input.byte())),
        };
        let kind = if input.byte().is_multiple_of(4) || sizes.place(number) < sizes.data() {
            0xf1
        } else {
            0xf2
        };
        let len = usize::from(input.byte() % 32);
        let body = input.bytes(len);
        let length = if kind == 0xf1 { (2 + body.len()) as u16 } else { u16::from(input.byte()) };
        let packet = [&number.to_le_bytes()[..], &[kind, 0], &length.to_le_bytes(), body].concat();
        if let Some(Ok(shard)) = Shard::parse(&packet) {
            let recovered = decoder.take(now_ms, &shard).unwrap_or_default();
            assert!(recovered.len() <= sizes.data());
        }
        assert!(decoder.waiting() <= 3 * sizes.shards());
    }
}

/// Every datagram of a group arrives, or is recovered, or more than the parity were lost.
fn genuine_shards(sizes: GroupSizes, input: &mut Input<'_>) {
    let (mut encoder, mut decoder) = (Encoder::new(sizes), Decoder::new(sizes));
    while !input.is_empty() {
        let datagrams: Vec<Vec<u8>> = (0..sizes.data())
            .map(|_| {
                let len = usize::from(input.byte() % 32);
                input.bytes(len).to_vec()
            })
            .collect();
        let shards: Vec<Vec<u8>> =
            datagrams.iter().flat_map(|datagram| encoder.encode(datagram)).collect();
        let kept: Vec<bool> = shards.iter().map(|_| input.byte().is_multiple_of(2)).collect();
        let mut known = vec![false; sizes.data()];
        for (place, packet) in shards.iter().enumerate().filter(|(place, _)| kept[*place]) {
            if let Some(known) = known.get_mut(place) {
                *known = true;
            }
            let shard = Shard::parse(packet).expect("a shard").expect("a good one");
            for recovered in decoder.take(0, &shard).expect("in its place, for the first time") {
                let places = (0..sizes.data()).filter(|place| datagrams[*place] == recovered);
                let before = known.clone();
                places.for_each(|place| known[place] = true);
                assert!(datagrams.contains(&recovered), "made up, with {before:?} known");
            }
        }
        let enough = kept.iter().filter(|kept| **kept).count() >= sizes.data();
        assert!(!enough || known.iter().all(|known| *known), "{kept:?} gave {known:?}");
    }
}

/// A byte stream in any pieces, to a bare reader and to both sides of a session.
pub fn smux_reader(data: &[u8]) {
    let mut input = Input(data);
    let version = if input.byte().is_multiple_of(2) { Version::One } else { Version::Two };
    let mut reader = Reader::new(version);
    let mut sessions = [Role::Client, Role::Server].map(|role| Session::new(role, version));
    let (mut read, mut told) = (0, 0);
    let mut now = Instant::ZERO;
    while !input.is_empty() {
        now = now + Duration::from_millis(u64::from(input.byte()) * 100);
        let len = usize::from(input.byte());
        let bytes = input.bytes(len);
        read += bytes.len();
        let _ = reader.read(bytes, |event| {
            told += match event {
                Event::Bytes { bytes, .. } => bytes.len(),
                Event::Frame(_) | Event::Window { .. } => HEADER_LEN,
            };
        });
        assert!(told <= read, "{told} bytes told of {read}");
        for session in &mut sessions {
            session.update(now);
            session.write(bytes);
            let mut delivered = 0;
            session.read(bytes, |bytes| delivered += bytes.len());
            assert!(delivered <= bytes.len());
            // What was written and is let out, an opening, a keepalive and a window.
            let sent: usize =
                std::iter::from_fn(|| session.transmit()).map(|frame| frame.len()).sum();
            assert!(sent <= read + 8 * HEADER_LEN, "{sent} bytes to say after {read}");
        }
    }
}

/// Packets of anybody to each cipher, and sealed ones with a bit flipped.
pub fn crypt_envelope(data: &[u8]) {
    let mut input = Input(data);
    let flip = usize::from(input.byte()) << 8 | usize::from(input.byte());
    for crypt in CRYPTS.into_iter().flatten() {
        let mut envelope = Envelope::new(crypt, 7);
        if let Ok(datagram) = envelope.open(input.0.to_vec()) {
            assert_eq!(datagram.len() + crypt::OVERHEAD, input.0.len());
        }
        let mut packet = envelope.seal(input.0);
        assert_eq!(envelope.open(packet.clone()).as_deref(), Ok(input.0));
        // The nonce is not protected.
        let place = 16 + flip / 8 % (packet.len() - 16);
        packet[place] ^= 1 << (flip % 8);
        assert!(envelope.open(packet).is_err(), "a flipped bit was not found");
    }
}
