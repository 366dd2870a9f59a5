//! The receiving end, by kcp-go's rules: a queue of shards in the order of their numbers; a group
//! with enough of them leaves it, and what it lacks is made again; what is too many or too old is
//! dropped. Shards that say where they cannot be are not taken (kcp-go would guess new sizes from
//! them).

use std::collections::VecDeque;

use thiserror::Error;

use super::shard::{Kind, Shard, datagram_in};
use super::{Code, GroupSizes};

/// A shard that waited this long for others is dropped, when the next one comes.
pub const EXPIRY_MS: u64 = 60_000;
/// Groups whose shards fit into the queue.
const GROUPS_KEPT: usize = 3;

#[derive(Debug)]
pub struct Decoder {
    sizes: GroupSizes,
    code: Code,
    /// Sorted by number.
    queue: VecDeque<Held>,
}

#[derive(Debug)]
struct Held {
    number: u32,
    kind: Kind,
    body: Vec<u8>,
    arrived_ms: u64,
}

/// Why a shard was of no use to the decoder. A data shard's own datagram is there all the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum DecoderError {
    #[error("shard {0} is in the queue already")]
    Duplicate(u32),
    #[error("shard {0} is of a kind or a number that the group sizes rule out")]
    Misplaced(u32),
    #[error("the group of shard {0} gives nonsense: some shard of it is forged")]
    Forged(u32),
}

impl Decoder {
    pub fn new(sizes: GroupSizes) -> Self {
        Self { sizes, code: Code::new(sizes), queue: VecDeque::new() }
    }

    /// Takes a shard and gives the datagrams that it recovers: those of its group that have not
    /// arrived, or that arrived so long ago that they are forgotten.
    pub fn take(&mut self, now_ms: u64, shard: &Shard<'_>) -> Result<Vec<Vec<u8>>, DecoderError> {
        self.check_place(shard)?;
        self.insert(now_ms, shard)?;
        let recovered = self.recover(shard.number);
        if self.queue.len() > GROUPS_KEPT * self.sizes.shards() {
            self.queue.pop_front();
        }
        self.expire(now_ms);
        recovered
    }

    fn check_place(&self, shard: &Shard<'_>) -> Result<(), DecoderError> {
        let is_data = self.sizes.place(shard.number) < self.sizes.data();
        let fits = is_data == (shard.kind == Kind::Data) && shard.number < self.sizes.wrap();
        if fits { Ok(()) } else { Err(DecoderError::Misplaced(shard.number)) }
    }

    fn insert(&mut self, now_ms: u64, shard: &Shard<'_>) -> Result<(), DecoderError> {
        let Shard { number, kind, body } = *shard;
        let not_after = |held: &Held| number.wrapping_sub(held.number).cast_signed() >= 0;
        let before = self.queue.iter().rposition(not_after);
        if before.is_some_and(|place| self.queue[place].number == number) {
            return Err(DecoderError::Duplicate(number));
        }
        let held = Held { number, kind, body: body.to_vec(), arrived_ms: now_ms };
        self.queue.insert(before.map_or(0, |place| place + 1), held);
        Ok(())
    }

    /// If the group has enough shards, they leave the queue, and what it lacks comes out.
    fn recover(&mut self, number: u32) -> Result<Vec<Vec<u8>>, DecoderError> {
        let group = self.group_of(number);
        let members: Vec<&Held> =
            self.queue.iter().filter(|held| self.group_of(held.number) == group).collect();
        if members.len() < self.sizes.data() {
            return Ok(Vec::new());
        }
        let complete = members.iter().filter(|held| held.kind == Kind::Data).count();
        let recovered =
            if complete == self.sizes.data() { Some(Vec::new()) } else { self.decode(&members) };
        let sizes = self.sizes;
        self.queue.retain(|held| held.number / sizes.shards() as u32 != group);
        recovered.ok_or(DecoderError::Forged(number))
    }

    fn decode(&self, members: &[&Held]) -> Option<Vec<Vec<u8>>> {
        let present: Vec<(usize, &[u8])> =
            members.iter().map(|held| (self.sizes.place(held.number), &held.body[..])).collect();
        let bodies = self.code.recover(&present)?;
        bodies.iter().map(|body| datagram_in(body).map(<[u8]>::to_vec)).collect()
    }

    const fn group_of(&self, number: u32) -> u32 {
        number / self.sizes.shards() as u32
    }

    /// From the front only, as long as there are old ones.
    fn expire(&mut self, now_ms: u64) {
        let is_old = |held: &Held| now_ms.saturating_sub(held.arrived_ms) > EXPIRY_MS;
        while self.queue.front().is_some_and(is_old) {
            self.queue.pop_front();
        }
    }

    /// Shards that wait for others of their group.
    pub fn waiting(&self) -> usize {
        self.queue.len()
    }
}
