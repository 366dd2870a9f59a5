//! The wire format of one shard: a header and, in a data shard, one datagram behind its length. The
//! parity is computed over length and datagram, so that a recovered shard says how long it was.
//!
//! ```text
//! number u32 | kind u16 (0xf1 data, 0xf2 parity) | length u16, itself included | datagram      data
//! number u32 | 0xf2                              | parity over length and datagram
//! ```

use thiserror::Error;

const HEADER_LEN: usize = 6;
const LENGTH_LEN: usize = 2;
/// What a data shard adds to its datagram; bytes.
pub const OVERHEAD: usize = HEADER_LEN + LENGTH_LEN;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u16)]
pub enum Kind {
    Data = 0xf1,
    Parity = 0xf2,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard<'a> {
    pub number: u32,
    pub kind: Kind,
    /// What the code is over.
    pub body: &'a [u8],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum ShardError {
    #[error("a shard of {0} bytes is shorter than {OVERHEAD}")]
    TooShort(usize),
    #[error("a data shard says it has {said} bytes, and has {present}")]
    WrongLength { said: u16, present: usize },
}

impl<'a> Shard<'a> {
    /// `None` if this is no shard: what KCP itself writes there is never one of the two kinds.
    pub fn parse(bytes: &'a [u8]) -> Option<Result<Self, ShardError>> {
        let (header, body) = bytes.split_first_chunk::<HEADER_LEN>()?;
        let [a, b, c, d, kind @ ..] = *header;
        let kind = Kind::from_number(u16::from_le_bytes(kind))?;
        let number = u32::from_le_bytes([a, b, c, d]);
        Some(Self { number, kind, body }.checked(bytes.len()))
    }

    fn checked(self, len: usize) -> Result<Self, ShardError> {
        let Some((length, _)) = self.body.split_first_chunk::<LENGTH_LEN>() else {
            return Err(ShardError::TooShort(len));
        };
        let said = u16::from_le_bytes(*length);
        if self.kind == Kind::Data && usize::from(said) != self.body.len() {
            return Err(ShardError::WrongLength { said, present: self.body.len() });
        }
        Ok(self)
    }

    /// The datagram that a data shard carries.
    pub fn datagram(&self) -> Option<&'a [u8]> {
        datagram_in(self.body).filter(|_| self.kind == Kind::Data)
    }

    pub fn write(&self) -> Vec<u8> {
        let kind = (self.kind as u16).to_le_bytes();
        [&self.number.to_le_bytes()[..], &kind, self.body].concat()
    }
}

impl Kind {
    const fn from_number(number: u16) -> Option<Self> {
        match number {
            0xf1 => Some(Self::Data),
            0xf2 => Some(Self::Parity),
            _ => None,
        }
    }
}

/// The body of a data shard. A UDP payload, which holds the datagram, fits into the length.
pub fn body_of(datagram: &[u8]) -> Vec<u8> {
    let length = (LENGTH_LEN + datagram.len()) as u16;
    [&length.to_le_bytes()[..], datagram].concat()
}

/// The datagram in the body of a data shard, recovered ones with what pads them; `None` if the
/// length cannot be.
pub fn datagram_in(body: &[u8]) -> Option<&[u8]> {
    let length = u16::from_le_bytes(*body.first_chunk::<LENGTH_LEN>()?);
    body.get(LENGTH_LEN..usize::from(length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_are_those_of_the_format() {
        let body = body_of(b"abc");
        let shard = Shard { number: 0x0403_0201, kind: Kind::Data, body: &body };
        let bytes = [1, 2, 3, 4, 0xf1, 0, 5, 0, b'a', b'b', b'c'];
        assert_eq!(shard.write(), bytes);
        assert_eq!(Shard::parse(&bytes), Some(Ok(shard)));
        assert_eq!(datagram_in(&[5, 0, b'a', b'b', b'c', 0, 0]), Some(&b"abc"[..]));
    }

    #[test]
    fn what_is_no_shard_is_told_from_a_bad_one() {
        assert_eq!(Shard::parse(&[0; 5]), None);
        // KCP's commands are 81 to 84.
        assert_eq!(Shard::parse(&[1, 2, 3, 4, 81, 0, 9, 9, 9]), None);
        assert_eq!(Shard::parse(&[1, 2, 3, 4, 0xf2, 0, 9]), Some(Err(ShardError::TooShort(7))));
        let wrong = ShardError::WrongLength { said: 6, present: 3 };
        assert_eq!(Shard::parse(&[1, 2, 3, 4, 0xf1, 0, 6, 0, 9]), Some(Err(wrong)));
        for body in [&[][..], &[9], &[1, 0], &[0, 0, 5], &[4, 0, 5]] {
            assert_eq!(datagram_in(body), None, "{body:?}");
        }
    }
}
