//! Messages on an ordered byte stream: each behind its length, four bytes in network order. Knows
//! nothing of the transport that carries the bytes.

use bytes::{BufMut, Bytes, BytesMut};
use thiserror::Error;

/// A longer message is refused by the sender, and ends the connection at the receiver.
pub const MAX_MESSAGE: usize = 1 << 20;

#[derive(Debug, Error, PartialEq, Eq)]
#[error("the peer announced a message of {0} bytes; at most {MAX_MESSAGE} are taken")]
pub struct FramingError(usize);

/// The message with its length in front.
pub fn frame(message: &[u8]) -> Bytes {
    debug_assert!(message.len() <= MAX_MESSAGE);
    let mut framed = BytesMut::with_capacity(PREFIX_LEN + message.len());
    framed.put_u32(message.len() as u32);
    framed.put_slice(message);
    framed.freeze()
}

const PREFIX_LEN: usize = 4;

/// Cuts a byte stream back into messages. Holds at most one incomplete message.
#[derive(Debug, Default)]
pub struct Deframer {
    partial: Vec<u8>,
}

impl Deframer {
    /// Takes the next bytes of the stream and hands every message they complete to `deliver`.
    pub fn push(
        &mut self,
        mut bytes: &[u8],
        mut deliver: impl FnMut(Vec<u8>),
    ) -> Result<(), FramingError> {
        loop {
            self.take(&mut bytes, PREFIX_LEN);
            let Some(length) = self.announced() else { return Ok(()) };
            if length > MAX_MESSAGE {
                return Err(FramingError(length));
            }
            self.take(&mut bytes, PREFIX_LEN + length);
            if self.partial.len() < PREFIX_LEN + length {
                return Ok(());
            }
            deliver(self.partial[PREFIX_LEN..].to_vec());
            self.partial.clear();
        }
    }

    /// What of a message has come, if the stream ends now; `None`: no part of one.
    pub fn incomplete(&self) -> Option<String> {
        let held = self.partial.len();
        match self.announced() {
            _ if held == 0 => None,
            None => Some(format!("{held} bytes of its length had come")),
            Some(length) => Some(format!("{} of its {length} bytes had come", held - PREFIX_LEN)),
        }
    }

    /// Moves bytes over until `wanted` of them are held.
    fn take(&mut self, bytes: &mut &[u8], wanted: usize) {
        let count = wanted.saturating_sub(self.partial.len()).min(bytes.len());
        let (taken, rest) = bytes.split_at(count);
        self.partial.extend_from_slice(taken);
        *bytes = rest;
    }

    fn announced(&self) -> Option<usize> {
        let prefix = self.partial.first_chunk::<PREFIX_LEN>()?;
        Some(u32::from_be_bytes(*prefix) as usize)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn messages_come_back_whole_however_the_stream_is_cut(
            messages in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 0..20),
            cut in 1usize..500,
        ) {
            let stream: Vec<u8> = messages.iter().flat_map(|message| frame(message)).collect();
            let (mut deframer, mut received) = (Deframer::default(), Vec::new());
            for chunk in stream.chunks(cut) {
                deframer.push(chunk, |message| received.push(message)).unwrap();
            }
            prop_assert_eq!(received, messages);
            prop_assert!(deframer.partial.is_empty());
        }
    }

    #[test]
    fn an_endless_message_is_an_error() {
        let announced = (MAX_MESSAGE + 1) as u32;
        let refused = Deframer::default().push(&announced.to_be_bytes(), |_| ());
        assert_eq!(refused, Err(FramingError(MAX_MESSAGE + 1)));
    }
}
