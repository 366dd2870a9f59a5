//! KCP's wire format: a datagram is one or more segments, each a header of 24 bytes (little-endian)
//! and its payload. Knows nothing of what a segment means to the connection.
//!
//! ```text
//! conv u32 | command u8 | fragment u8 | window u16 | timestamp u32 | number u32 | unacknowledged u32 | length u32
//! ```

use thiserror::Error;

/// Bytes in front of every segment's payload.
pub const HEADER_LEN: usize = 24;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Command {
    /// Carries data.
    Push = 81,
    /// Acknowledges one segment and echoes its timestamp.
    Acknowledge = 82,
    /// Asks how large the receive window is.
    AskWindow = 83,
    /// Says how large it is.
    TellWindow = 84,
}

/// A segment's header without its length, which is that of the payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// The conversation: the same on both sides.
    pub conv: u32,
    pub command: Command,
    /// Fragments of the same message that follow this one.
    pub fragment: u8,
    /// Segments the sender of this header can still take in.
    pub window: u16,
    /// Milliseconds; an acknowledgement echoes that of the segment it is for.
    pub timestamp: u32,
    pub number: u32,
    /// Every segment before this number has arrived.
    pub unacknowledged: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment<'a> {
    pub header: Header,
    pub payload: &'a [u8],
}

/// Why a datagram was not understood. Segments before the bad one have been taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum DatagramError {
    #[error("a datagram of {0} bytes is shorter than a segment's header of {HEADER_LEN}")]
    TooShort(usize),
    #[error("a segment of conversation {0:#010x}, which is not this one")]
    OtherConversation(u32),
    #[error("a segment announces {announced} bytes of payload where {present} are left")]
    Truncated { announced: u32, present: usize },
    #[error("unknown command {0}")]
    UnknownCommand(u8),
}

impl Header {
    /// Appends the header and the payload.
    pub fn write(&self, payload: &[u8], into: &mut Vec<u8>) {
        into.extend_from_slice(&self.conv.to_le_bytes());
        into.extend_from_slice(&[self.command as u8, self.fragment]);
        into.extend_from_slice(&self.window.to_le_bytes());
        let length = payload.len() as u32;
        for word in [self.timestamp, self.number, self.unacknowledged, length] {
            into.extend_from_slice(&word.to_le_bytes());
        }
        into.extend_from_slice(payload);
    }
}

impl<'a> Segment<'a> {
    /// Takes the next segment off `rest`. `None` when fewer bytes than a header are left: they are
    /// padding.
    pub fn take(rest: &mut &'a [u8], conv: u32) -> Result<Option<Self>, DatagramError> {
        let Some((head, tail)) = rest.split_first_chunk::<HEADER_LEN>() else {
            return Ok(None);
        };
        let word =
            |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        if word(0) != conv {
            return Err(DatagramError::OtherConversation(word(0)));
        }
        let announced = word(20);
        let Some((payload, after)) = tail.split_at_checked(announced as usize) else {
            return Err(DatagramError::Truncated { announced, present: tail.len() });
        };
        let header = Header {
            conv,
            command: Command::from_byte(head[4])?,
            fragment: head[5],
            window: u16::from_le_bytes([head[6], head[7]]),
            timestamp: word(8),
            number: word(12),
            unacknowledged: word(16),
        };
        *rest = after;
        Ok(Some(Self { header, payload }))
    }
}

impl Command {
    fn from_byte(byte: u8) -> Result<Self, DatagramError> {
        match byte {
            81 => Ok(Self::Push),
            82 => Ok(Self::Acknowledge),
            83 => Ok(Self::AskWindow),
            84 => Ok(Self::TellWindow),
            other => Err(DatagramError::UnknownCommand(other)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const CONV: u32 = 0x0102_0304;

    fn header() -> Header {
        Header {
            conv: CONV,
            command: Command::Push,
            fragment: 7,
            window: 0x0a0b,
            timestamp: 0x1112_1314,
            number: 0x2122_2324,
            unacknowledged: 0x3132_3334,
        }
    }

    #[test]
    fn the_bytes_are_those_of_the_protocol() {
        let mut bytes = Vec::new();
        header().write(b"ab", &mut bytes);
        let expected = [
            0x04, 0x03, 0x02, 0x01, 81, 7, 0x0b, 0x0a, 0x14, 0x13, 0x12, 0x11, 0x24, 0x23, 0x22,
            0x21, 0x34, 0x33, 0x32, 0x31, 2, 0, 0, 0, b'a', b'b',
        ];
        assert_eq!(bytes, expected);
    }

    #[test]
    fn each_mistake_has_its_name() {
        let mut bytes = Vec::new();
        header().write(b"ab", &mut bytes);
        let take = |bytes: &[u8]| Segment::take(&mut &*bytes, CONV).map(|_| ());
        assert_eq!(take(&bytes[..25]), Err(DatagramError::Truncated { announced: 2, present: 1 }));
        bytes[4] = 80;
        assert_eq!(take(&bytes), Err(DatagramError::UnknownCommand(80)));
        bytes[0] = 5;
        assert_eq!(take(&bytes), Err(DatagramError::OtherConversation(0x0102_0305)));
        assert_eq!(take(&bytes[..23]), Ok(()));
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(
            command in prop::sample::select(vec![
                Command::Push, Command::Acknowledge, Command::AskWindow, Command::TellWindow,
            ]),
            fragment: u8, window: u16, timestamp: u32, number: u32, unacknowledged: u32,
            payload in prop::collection::vec(any::<u8>(), 0..100),
        ) {
            let header =
                Header { conv: CONV, command, fragment, window, timestamp, number, unacknowledged };
            let mut bytes = Vec::new();
            header.write(&payload, &mut bytes);
            let mut rest = &bytes[..];
            let segment = Segment::take(&mut rest, CONV).expect("well formed").expect("complete");
            prop_assert_eq!(segment, Segment { header, payload: &payload });
            prop_assert!(rest.is_empty());
        }
    }
}
