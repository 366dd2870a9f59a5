//! Takes a byte stream apart into frames. Holds at most a header and the eight bytes of a window
//! update; payload is passed on in the pieces it comes in. Knows nothing of what a frame means.

use thiserror::Error;

use super::frame::{Command, HEADER_LEN, Header, HeaderFault, UPDATE_LEN, Version};

/// Why the stream cannot be read any further.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum SmuxError {
    #[error("the peer speaks version {theirs} of smux, and this side {}", *ours as u8)]
    OtherVersion { ours: Version, theirs: u8 },
    #[error("the peer sent smux command {0}, which this version does not have")]
    UnknownCommand(u8),
    #[error("the peer sent {length} bytes with smux command {}", *command as u8)]
    WrongLength { command: Command, length: u16 },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event<'a> {
    /// A header with nothing behind it that is not told by another event; so every frame, of
    /// whatever kind, is one of these and perhaps others.
    Frame(Header),
    /// Bytes of a stream.
    Bytes { stream: u32, bytes: &'a [u8] },
    /// The peer has taken `consumed` bytes of the stream since its start (modulo 2³²), and has
    /// room for `window` behind them.
    Window { stream: u32, consumed: u32, window: u32 },
}

#[derive(Debug)]
pub struct Reader {
    version: Version,
    /// A header or a window update that has not arrived completely.
    partial: [u8; HEADER_LEN],
    partial_len: usize,
    state: State,
    failed: Option<SmuxError>,
}

#[derive(Debug, Clone, Copy)]
enum State {
    Header,
    Payload { stream: u32, left: u16 },
    Window { stream: u32 },
}

impl Reader {
    pub const fn new(version: Version) -> Self {
        let (partial, partial_len) = ([0; HEADER_LEN], 0);
        Self { version, partial, partial_len, state: State::Header, failed: None }
    }

    /// Takes the next bytes of the stream and tells `tell` what they hold. After an error nothing
    /// more is read: where the next frame starts is unknown.
    pub fn read(
        &mut self,
        mut bytes: &[u8],
        mut tell: impl FnMut(Event<'_>),
    ) -> Result<(), SmuxError> {
        while !bytes.is_empty() {
            if let Some(error) = self.failed {
                return Err(error);
            }
            if let State::Payload { stream, left } = self.state {
                let (now, rest) = bytes.split_at(bytes.len().min(usize::from(left)));
                tell(Event::Bytes { stream, bytes: now });
                self.continue_payload(stream, left - now.len() as u16);
                bytes = rest;
            } else if let Some(whole) = self.complete(&mut bytes) {
                let event = self.take(whole).inspect_err(|error| self.failed = Some(*error))?;
                tell(event);
            }
        }
        Ok(())
    }

    /// The next eight bytes, once they are there.
    fn complete(&mut self, bytes: &mut &[u8]) -> Option<[u8; HEADER_LEN]> {
        let missing = &mut self.partial[self.partial_len..];
        let (now, rest) = bytes.split_at(bytes.len().min(missing.len()));
        missing[..now.len()].copy_from_slice(now);
        *bytes = rest;
        self.partial_len = (self.partial_len + now.len()) % HEADER_LEN;
        (self.partial_len == 0).then_some(self.partial)
    }

    fn take(&mut self, whole: [u8; HEADER_LEN]) -> Result<Event<'static>, SmuxError> {
        if let State::Window { stream } = self.state {
            self.state = State::Header;
            let [a, b, c, d, e, f, g, h] = whole;
            let (consumed, window) =
                (u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h]));
            return Ok(Event::Window { stream, consumed, window });
        }
        let header = self.check(Header::from_bytes(whole))?;
        match header.command {
            Command::Push => self.continue_payload(header.stream, header.length),
            Command::Update => self.state = State::Window { stream: header.stream },
            Command::Open | Command::Finish | Command::Nothing => {}
        }
        Ok(Event::Frame(header))
    }

    const fn continue_payload(&mut self, stream: u32, left: u16) {
        self.state = if left == 0 { State::Header } else { State::Payload { stream, left } };
    }

    fn check(&self, header: Result<Header, HeaderFault>) -> Result<Header, SmuxError> {
        let ours = self.version;
        let header = header.map_err(|fault| match fault {
            HeaderFault::Version(theirs) => SmuxError::OtherVersion { ours, theirs },
            HeaderFault::Command(command) => SmuxError::UnknownCommand(command),
        })?;
        let Header { version, command, length, .. } = header;
        if version != ours {
            return Err(SmuxError::OtherVersion { ours, theirs: version as u8 });
        }
        let expected = match command {
            Command::Push => return Ok(header),
            Command::Update if ours == Version::One => {
                return Err(SmuxError::UnknownCommand(command as u8));
            }
            Command::Update => UPDATE_LEN,
            Command::Open | Command::Finish | Command::Nothing => 0,
        };
        if length == expected {
            Ok(header)
        } else {
            Err(SmuxError::WrongLength { command, length })
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn frame(version: Version, command: Command, payload: &[u8]) -> Vec<u8> {
        let header = Header { version, command, length: payload.len() as u16, stream: 3 };
        [&header.to_bytes()[..], payload].concat()
    }

    /// What is told of a stream cut into pieces: events with the bytes joined again.
    fn read(version: Version, stream: &[u8], piece: usize) -> Result<Vec<String>, SmuxError> {
        let mut reader = Reader::new(version);
        let mut told: Vec<String> = Vec::new();
        let mut joined = Vec::new();
        for bytes in stream.chunks(piece) {
            reader.read(bytes, |event| match event {
                Event::Bytes { stream, bytes } => {
                    assert_eq!(stream, 3);
                    joined.extend_from_slice(bytes);
                }
                other => told.push(format!("{other:?}")),
            })?;
        }
        told.push(format!("{joined:?}"));
        Ok(told)
    }

    #[test]
    fn the_bytes_are_those_of_the_protocol() {
        let header = Header {
            version: Version::Two,
            command: Command::Update,
            length: 0x0102,
            stream: 0x0304_0506,
        };
        assert_eq!(header.to_bytes(), [2, 4, 2, 1, 6, 5, 4, 3]);
        assert_eq!(Header::from_bytes(header.to_bytes()), Ok(header));
    }

    #[test]
    fn a_frame_that_cannot_be_ends_the_reading_for_good() {
        let good = frame(Version::One, Command::Push, b"fine");
        for (bad, error) in [
            ([3, 0, 0, 0, 3, 0, 0, 0], SmuxError::OtherVersion { ours: Version::One, theirs: 3 }),
            ([2, 0, 0, 0, 3, 0, 0, 0], SmuxError::OtherVersion { ours: Version::One, theirs: 2 }),
            ([1, 5, 0, 0, 3, 0, 0, 0], SmuxError::UnknownCommand(5)),
            ([1, 4, 8, 0, 3, 0, 0, 0], SmuxError::UnknownCommand(4)),
            (
                [1, 3, 7, 0, 3, 0, 0, 0],
                SmuxError::WrongLength { command: Command::Nothing, length: 7 },
            ),
        ] {
            let mut reader = Reader::new(Version::One);
            assert_eq!(reader.read(&bad, |event| panic!("{event:?}")), Err(error));
            assert_eq!(reader.read(&good, |event| panic!("{event:?}")), Err(error));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

        #[test]
        fn frames_survive_any_cut_of_the_stream(
            payloads in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..20),
            piece in 1..30_usize,
        ) {
            let window = [1, 2, 3, 4, 5, 6, 7, 8];
            let others = [
                frame(Version::Two, Command::Open, &[]),
                frame(Version::Two, Command::Update, &window),
                frame(Version::Two, Command::Nothing, &[]),
            ];
            let stream: Vec<u8> = payloads
                .iter()
                .zip(others.iter().cycle())
                .flat_map(|(payload, other)| [frame(Version::Two, Command::Push, payload), other.clone()])
                .flatten()
                .collect();
            let whole = read(Version::Two, &stream, usize::MAX)?;
            prop_assert_eq!(whole.last(), Some(&format!("{:?}", payloads.concat())));
            prop_assert_eq!(read(Version::Two, &stream, piece)?, whole);
        }

        #[test]
        fn garbage_does_not_panic(
            pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..40),
        ) {
            let mut reader = Reader::new(Version::Two);
            for bytes in &pieces {
                // With the right version, so that more than the first byte is reached.
                let _ = reader.read(&[2], |_| {});
                let _ = reader.read(bytes, |_| {});
            }
        }
    }
}
