//! How many shards a group has, checked once.

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The field has this many points, one for each shard of a group.
const MOST_SHARDS: u32 = 256;

/// A group of `data` datagrams is followed by `parity` shards: any `data` of all these are enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "WrittenSizes", into = "WrittenSizes")]
pub struct GroupSizes {
    data: u8,
    parity: u8,
}

#[derive(Serialize, Deserialize)]
struct WrittenSizes {
    data: u32,
    parity: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum GroupSizesError {
    #[error("a group needs at least one data shard")]
    NoData,
    #[error("a group without parity shards corrects nothing; leave `fec` out instead")]
    NoParity,
    #[error(
        "{data} data and {parity} parity shards are too many: a group has at most {MOST_SHARDS}"
    )]
    TooMany { data: u32, parity: u32 },
}

impl GroupSizes {
    /// At least one shard of each kind, and at most 256 together.
    pub const fn new(data: u32, parity: u32) -> Result<Self, GroupSizesError> {
        if data == 0 {
            return Err(GroupSizesError::NoData);
        }
        if parity == 0 {
            return Err(GroupSizesError::NoParity);
        }
        if data.saturating_add(parity) > MOST_SHARDS {
            return Err(GroupSizesError::TooMany { data, parity });
        }
        Ok(Self { data: data as u8, parity: parity as u8 })
    }

    pub const fn data(self) -> usize {
        self.data as usize
    }

    pub const fn parity(self) -> usize {
        self.parity as usize
    }

    pub const fn shards(self) -> usize {
        self.data() + self.parity()
    }

    /// Shard numbers are below this, the largest multiple of a group that 32 bits hold; so that a
    /// group never wraps.
    pub const fn wrap(self) -> u32 {
        let shards = self.shards() as u32;
        u32::MAX / shards * shards
    }

    /// Where a number is within its group.
    pub const fn place(self, number: u32) -> usize {
        number as usize % self.shards()
    }
}

impl TryFrom<WrittenSizes> for GroupSizes {
    type Error = GroupSizesError;

    fn try_from(written: WrittenSizes) -> Result<Self, GroupSizesError> {
        Self::new(written.data, written.parity)
    }
}

impl From<GroupSizes> for WrittenSizes {
    fn from(sizes: GroupSizes) -> Self {
        Self { data: u32::from(sizes.data), parity: u32::from(sizes.parity) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_a_group_is_refused() {
        assert_eq!(GroupSizes::new(0, 2), Err(GroupSizesError::NoData));
        assert_eq!(GroupSizes::new(3, 0), Err(GroupSizesError::NoParity));
        let too_many = GroupSizesError::TooMany { data: 200, parity: 100 };
        assert_eq!(GroupSizes::new(200, 100), Err(too_many));
        assert!(GroupSizes::new(u32::MAX, u32::MAX).is_err());
        for (data, parity) in [(1, 1), (255, 1), (1, 255)] {
            let sizes = GroupSizes::new(data, parity).expect("small enough");
            assert_eq!((sizes.data(), sizes.parity()), (data as usize, parity as usize));
        }
    }

    #[test]
    fn numbers_wrap_behind_a_whole_group() {
        let sizes = GroupSizes::new(3, 2).expect("a group");
        assert_eq!(sizes.wrap(), 4_294_967_295);
        let sizes = GroupSizes::new(10, 3).expect("a group");
        assert_eq!(sizes.wrap(), 4_294_967_295 - 4_294_967_295 % 13);
        assert_eq!(sizes.place(sizes.wrap() - 1), 12);
    }
}
