//! The sending end: every datagram leaves at once as a data shard, and right after the last of a
//! group its parity. No timer: the parity of a group that nothing completes waits.

use super::shard::{Kind, Shard, body_of};
use super::{Code, GroupSizes};

#[derive(Debug)]
pub struct Encoder {
    sizes: GroupSizes,
    code: Code,
    /// The number of the next shard.
    next: u32,
    /// Bodies of the data shards of the group so far.
    group: Vec<Vec<u8>>,
}

impl Encoder {
    pub fn new(sizes: GroupSizes) -> Self {
        Self::starting_at(sizes, 0)
    }

    /// As if `number` shards had been sent, a multiple of the group.
    pub(super) fn starting_at(sizes: GroupSizes, number: u32) -> Self {
        debug_assert_eq!(sizes.place(number), 0);
        Self { sizes, code: Code::new(sizes), next: number, group: Vec::new() }
    }

    /// The shards that leave for this datagram, of at most 65,533 bytes.
    pub fn encode(&mut self, datagram: &[u8]) -> Vec<Vec<u8>> {
        let body = body_of(datagram);
        let mut shards = vec![self.number(Kind::Data, &body)];
        self.group.push(body);
        if self.group.len() == self.sizes.data() {
            let parity = self.code.parity(&self.group);
            shards.extend(parity.iter().map(|body| self.number(Kind::Parity, body)));
            self.group.clear();
        }
        shards
    }

    fn number(&mut self, kind: Kind, body: &[u8]) -> Vec<u8> {
        let number = self.next;
        self.next = if number + 1 == self.sizes.wrap() { 0 } else { number + 1 };
        Shard { number, kind, body }.write()
    }
}
