//! Messages in a byte stream: each behind its length as a little-endian u32, for KCP's stream mode,
//! which keeps no boundaries. Knows nothing of segments.

/// Bytes.
pub const PREFIX_LEN: usize = 4;

/// Cuts the received stream into messages again.
#[derive(Debug)]
pub struct MessageCutter {
    buffer: Vec<u8>,
    /// Bytes; a longer announcement can only be garbage.
    longest_message: usize,
    broken: bool,
}

/// The message as it goes into the stream.
pub fn with_prefix(message: &[u8]) -> Vec<u8> {
    let length = message.len() as u32;
    [&length.to_le_bytes(), message].concat()
}

impl MessageCutter {
    pub const fn new(longest_message: usize) -> Self {
        Self { buffer: Vec::new(), longest_message, broken: false }
    }

    /// A length that cannot be was announced. Where the next message starts is unknown from there
    /// on, so that everything later is thrown away.
    pub const fn is_broken(&self) -> bool {
        self.broken
    }

    pub fn push(&mut self, bytes: &[u8]) {
        if !self.broken {
            self.buffer.extend_from_slice(bytes);
        }
    }

    /// The next complete message.
    pub fn pop(&mut self) -> Option<Vec<u8>> {
        let (prefix, rest) = self.buffer.split_first_chunk::<PREFIX_LEN>()?;
        let length = u32::from_le_bytes(*prefix) as usize;
        if length > self.longest_message {
            self.broken = true;
            self.buffer.clear();
            return None;
        }
        let message = rest.get(..length)?.to_vec();
        self.buffer.drain(..PREFIX_LEN + length);
        Some(message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_impossible_length_breaks_the_stream_for_good() {
        let mut cutter = MessageCutter::new(10);
        cutter.push(&with_prefix(&[0; 11]));
        assert_eq!(cutter.pop(), None);
        assert!(cutter.is_broken());
        cutter.push(&with_prefix(b"fine"));
        assert_eq!(cutter.pop(), None);
    }

    proptest! {
        #[test]
        fn messages_survive_any_cut_of_the_stream(
            messages in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..50), 0..20),
            piece in 1_usize..30,
        ) {
            let stream: Vec<u8> = messages.iter().flat_map(|message| with_prefix(message)).collect();
            let mut cutter = MessageCutter::new(50);
            let mut cut = Vec::new();
            for bytes in stream.chunks(piece) {
                cutter.push(bytes);
                cut.extend(std::iter::from_fn(|| cutter.pop()));
            }
            prop_assert_eq!(cut, messages);
        }
    }
}
