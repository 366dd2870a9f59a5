//! What is around a KCP datagram on its way through the network, from the inside out: error
//! correction, then the envelope. Without either the datagram is as it was.

use std::collections::VecDeque;

use thiserror::Error;

use super::crypt::{self, Crypt, CryptError, Envelope};
use super::fec::{
    self, Decoder, DecoderError, Encoder, GroupSizes, Kind, Shard, ShardCounts, ShardError,
};

/// One side of a connection: what it sends and what it hears.
#[derive(Debug, Default)]
pub struct Wrapping {
    envelope: Option<Envelope>,
    fec: Option<Fec>,
    outgoing: VecDeque<Vec<u8>>,
}

#[derive(Debug)]
struct Fec {
    encoder: Encoder,
    decoder: Decoder,
    /// But for what was made again.
    counts: ShardCounts,
}

impl Fec {
    fn new(sizes: GroupSizes) -> Self {
        Self {
            encoder: Encoder::new(sizes),
            decoder: Decoder::new(sizes),
            counts: ShardCounts::default(),
        }
    }

    fn take(&mut self, now_ms: u64, shard: &Shard<'_>) -> Result<Vec<Vec<u8>>, DecoderError> {
        match shard.kind {
            Kind::Data => self.counts.data += 1,
            Kind::Parity => self.counts.parity += 1,
        }
        let recovered = self.decoder.take(now_ms, shard);
        self.counts.failed += u64::from(matches!(recovered, Err(DecoderError::Forged(_))));
        recovered
    }
}

/// What a packet held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unwrapped {
    /// The KCP datagram that was sent in it.
    pub datagram: Option<Vec<u8>>,
    /// Earlier ones that can be made again now.
    pub recovered: Vec<Vec<u8>>,
}

/// Why a packet held nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum WrappingError {
    #[error(transparent)]
    Crypt(#[from] CryptError),
    #[error(transparent)]
    Shard(#[from] ShardError),
    #[error(transparent)]
    Decoder(#[from] DecoderError),
    #[error("a parity shard, and error correction is off on this side")]
    NoDecoder,
}

impl Wrapping {
    /// `seed` is this side's own: nonces come from it.
    pub fn new(crypt: Option<Crypt>, fec: Option<GroupSizes>, seed: u64) -> Self {
        Self {
            envelope: crypt.map(|crypt| Envelope::new(crypt, seed)),
            fec: fec.map(Fec::new),
            outgoing: VecDeque::new(),
        }
    }

    /// What it adds to a datagram; bytes.
    pub const fn overhead(crypt: Option<Crypt>, fec: Option<GroupSizes>) -> usize {
        let envelope = if crypt.is_some() { crypt::OVERHEAD } else { 0 };
        let shard = if fec.is_some() { fec::OVERHEAD } else { 0 };
        envelope + shard
    }

    /// What has been heard; what became of what it made again is known where that goes. `None`:
    /// error correction is off.
    pub fn counts(&self) -> Option<ShardCounts> {
        self.fec.as_ref().map(|fec| fec.counts)
    }

    /// Takes a KCP datagram that is to leave.
    pub fn wrap(&mut self, datagram: Vec<u8>) {
        let shards = match &mut self.fec {
            None => vec![datagram],
            Some(fec) => fec.encoder.encode(&datagram),
        };
        for shard in shards {
            let packet = match &mut self.envelope {
                None => shard,
                Some(envelope) => envelope.seal(&shard),
            };
            self.outgoing.push_back(packet);
        }
    }

    /// The next packet for the network.
    pub fn transmit(&mut self) -> Option<Vec<u8>> {
        self.outgoing.pop_front()
    }

    /// Takes a packet from the network.
    pub fn unwrap(&mut self, now_ms: u64, packet: Vec<u8>) -> Result<Unwrapped, WrappingError> {
        let inner = match &self.envelope {
            None => packet,
            Some(envelope) => envelope.open(packet)?,
        };
        let Some(shard) = Shard::parse(&inner) else {
            return Ok(Unwrapped { datagram: Some(inner), recovered: Vec::new() });
        };
        self.decode(now_ms, &shard?)
    }

    /// A data shard's own datagram counts even where the decoder has no use for the shard: KCP
    /// knows itself what it has heard before.
    fn decode(&mut self, now_ms: u64, shard: &Shard<'_>) -> Result<Unwrapped, WrappingError> {
        let recovered = match &mut self.fec {
            None => Err(WrappingError::NoDecoder),
            Some(fec) => fec.take(now_ms, shard).map_err(WrappingError::from),
        };
        match shard.kind {
            Kind::Parity => Ok(Unwrapped { datagram: None, recovered: recovered? }),
            Kind::Data => Ok(Unwrapped {
                datagram: shard.datagram().map(<[u8]>::to_vec),
                recovered: recovered.unwrap_or_default(),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes() -> GroupSizes {
        GroupSizes::new(3, 2).expect("a group")
    }

    fn wrapped(wrapping: &mut Wrapping, datagrams: &[&[u8]]) -> Vec<Vec<u8>> {
        datagrams.iter().for_each(|datagram| wrapping.wrap(datagram.to_vec()));
        std::iter::from_fn(|| wrapping.transmit()).collect()
    }

    #[test]
    fn every_combination_adds_its_overhead_and_is_undone() {
        let datagram = vec![9; 100];
        for crypt in [None, Some(Crypt::None), Some(Crypt::Aes128), Some(Crypt::Aes)] {
            for fec in [None, Some(sizes())] {
                let packets = wrapped(&mut Wrapping::new(crypt, fec, 1), &[&datagram]);
                assert_eq!(packets.len(), 1);
                assert_eq!(packets[0].len(), 100 + Wrapping::overhead(crypt, fec));
                let mut other_side = Wrapping::new(crypt, fec, 2);
                let unwrapped = Unwrapped { datagram: Some(datagram.clone()), recovered: vec![] };
                assert_eq!(other_side.unwrap(0, packets[0].clone()), Ok(unwrapped.clone()));
                // Again: the decoder knows it, and KCP will.
                assert_eq!(other_side.unwrap(0, packets[0].clone()), Ok(unwrapped));
            }
        }
    }

    #[test]
    fn parity_leaves_right_behind_its_group_and_tells_what_was_lost() {
        let mut one = Wrapping::new(Some(Crypt::Aes), Some(sizes()), 1);
        let mut other = Wrapping::new(Some(Crypt::Aes), Some(sizes()), 2);
        assert_eq!(wrapped(&mut one, &[b"first, lost", b"second, lost"]).len(), 2);
        let [third, parity @ ..] = &wrapped(&mut one, &[b"third"])[..] else { panic!("none") };
        let third = other.unwrap(0, third.clone()).expect("good");
        assert_eq!(third.datagram.as_deref(), Some(&b"third"[..]));
        let nothing = Unwrapped { datagram: None, recovered: vec![] };
        assert_eq!(other.unwrap(0, parity[0].clone()), Ok(nothing));
        let recovered = vec![b"first, lost".to_vec(), b"second, lost".to_vec()];
        assert_eq!(other.unwrap(0, parity[1].clone()), Ok(Unwrapped { datagram: None, recovered }));
    }

    #[test]
    fn a_side_without_error_correction_hears_one_with_it() {
        let packets = wrapped(&mut Wrapping::new(None, Some(sizes()), 1), &[b"a", b"b", b"c"]);
        let mut plain = Wrapping::default();
        let heard: Vec<_> = packets.into_iter().map(|packet| plain.unwrap(0, packet)).collect();
        let datagrams: Vec<_> =
            heard.iter().flatten().filter_map(|one| one.datagram.as_deref()).collect();
        assert_eq!(datagrams, [b"a", b"b", b"c"]);
        assert_eq!(heard[3..], [Err(WrappingError::NoDecoder), Err(WrappingError::NoDecoder)]);
        // And the other way round: what is no shard is KCP's.
        let mut with = Wrapping::new(None, Some(sizes()), 1);
        let bare = vec![1, 2, 3, 4, 81, 0, 0, 0];
        assert_eq!(with.unwrap(0, bare.clone()).map(|one| one.datagram), Ok(Some(bare)));
    }

    #[test]
    fn a_packet_that_holds_nothing_says_why() {
        let mut wrapping = Wrapping::new(None, Some(sizes()), 1);
        let packets = wrapped(&mut wrapping, &[b"a", b"b", b"c"]);
        let mut other = Wrapping::new(None, Some(sizes()), 2);
        other.unwrap(0, packets[3].clone()).expect("good");
        let twice = Err(WrappingError::Decoder(DecoderError::Duplicate(3)));
        assert_eq!(other.unwrap(0, packets[3].clone()), twice);
        assert!(matches!(
            other.unwrap(0, vec![0, 0, 0, 0, 0xf1, 0, 9, 0, 1]),
            Err(WrappingError::Shard(_))
        ));
        let mut sealed = Wrapping::new(Some(Crypt::None), None, 1);
        assert!(matches!(sealed.unwrap(0, vec![1; 30]), Err(WrappingError::Crypt(_))));
    }
}
