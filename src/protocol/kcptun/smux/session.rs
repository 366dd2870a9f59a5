//! One side of a session with one stream, number 3: the first that smux's client opens. Keeps the
//! session alive, keeps to the peer's window (version 2), and notices when the peer falls silent.
//! Frames leave in the order they were made, cut as smux cuts them.

use std::collections::VecDeque;
use std::time::Duration;

use thiserror::Error;

use super::frame::{Command, Header, Version};
use super::reader::{Event, Reader, SmuxError};
use crate::protocol::Role;
use crate::units::Instant;

const STREAM: u32 = 3;
/// Of one frame; smux's default, which kcptun leaves as it is.
const LONGEST_PAYLOAD: usize = 32_768;
/// Bytes that wait for the peer's window or for KCP; beyond it a message is refused.
pub const SEND_BUFFER_LIMIT: usize = 4 << 20;
/// What the peer of version 2 is taken to have room for before it says so; bytes.
const INITIAL_WINDOW: u32 = 262_144;
/// What this side says it has room for: kcptun's default `--streambuf`; bytes.
const RECEIVE_WINDOW: u32 = 2_097_152;
/// kcptun's default `--keepalive`, from the start of the session on.
const KEEP_ALIVE: Duration = Duration::from_secs(10);
/// At every multiple of this since the start, something must have come since the one before.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Why the session is over, for good.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum SessionEnd {
    #[error(transparent)]
    Protocol(#[from] SmuxError),
    #[error("the peer ended the smux stream")]
    Finished,
    #[error("nothing came from the smux peer for {} s", TIMEOUT.as_secs())]
    Silence,
    #[error("the smux peer says it took more than it was sent")]
    ImpossibleWindow,
}

#[derive(Debug)]
pub struct Session {
    version: Version,
    role: Role,
    reader: Reader,
    /// `None` before the session starts.
    timers: Option<Timers>,
    stream: Stream,
    /// Frames ready to leave.
    frames: VecDeque<Vec<u8>>,
    end: Option<SessionEnd>,
}

#[derive(Debug, Clone, Copy)]
struct Timers {
    keep_alive: Instant,
    timeout: Instant,
}

/// Counts of the stream's bytes since its start are modulo 2³².
#[derive(Debug)]
struct Stream {
    /// The client's is open from the start, the server's when the client has opened it.
    open: bool,
    /// Bytes that are in no frame yet.
    unsent: VecDeque<u8>,
    sent: u32,
    /// Of these the peer has taken so many.
    consumed: u32,
    /// Bytes the peer has room for behind them.
    window: u32,
    received: u32,
    /// Bytes received since the peer was last told.
    untold: u32,
    /// Since the last timeout; frames of any stream.
    heard: bool,
}

impl Session {
    pub const fn new(role: Role, version: Version) -> Self {
        Self {
            version,
            role,
            reader: Reader::new(version),
            timers: None,
            stream: Stream::new(),
            frames: VecDeque::new(),
            end: None,
        }
    }

    /// Starts the session at the first call, and lets its timers fire.
    pub fn update(&mut self, now: Instant) {
        match self.timers {
            None => self.start(now),
            Some(timers) if self.end.is_none() => self.timers = Some(self.fire(timers, now)),
            Some(_) => {}
        }
    }

    fn start(&mut self, now: Instant) {
        self.timers = Some(Timers { keep_alive: now + KEEP_ALIVE, timeout: now + TIMEOUT });
        if self.role == Role::Client {
            self.stream.open = true;
            self.push_frame(Command::Open, STREAM, &[]);
        }
    }

    /// Each at most once, however late it is.
    fn fire(&mut self, mut timers: Timers, now: Instant) -> Timers {
        if timers.keep_alive <= now {
            timers.keep_alive = tick_after(now, timers.keep_alive, KEEP_ALIVE);
            self.push_frame(Command::Nothing, 0, &[]);
        }
        if timers.timeout <= now {
            timers.timeout = tick_after(now, timers.timeout, TIMEOUT);
            if !std::mem::take(&mut self.stream.heard) {
                self.end = Some(SessionEnd::Silence);
            }
        }
        timers
    }

    /// When `update` has something to do next: at once before the start, and `None` once the
    /// session is over.
    pub fn wake(&self) -> Option<Instant> {
        match self.timers {
            _ if self.end.is_some() => None,
            None => Some(Instant::ZERO),
            Some(timers) => Some(timers.keep_alive.min(timers.timeout)),
        }
    }

    /// Both sides know of the stream.
    pub const fn is_open(&self) -> bool {
        self.stream.open
    }

    pub const fn end(&self) -> Option<SessionEnd> {
        self.end
    }

    /// Takes all of the bytes for the stream, or none if too many are waiting or the session is
    /// over.
    pub fn write(&mut self, bytes: &[u8]) -> bool {
        let unsent = &mut self.stream.unsent;
        let accepted = self.end.is_none() && unsent.len() + bytes.len() <= SEND_BUFFER_LIMIT;
        if accepted {
            unsent.extend(bytes);
        }
        accepted
    }

    /// The next frame, which the transport has to take whole.
    pub fn transmit(&mut self) -> Option<Vec<u8>> {
        if self.frames.is_empty() && self.end.is_none() {
            let payload = self.stream.next_payload(self.version);
            if !payload.is_empty() {
                self.push_frame(Command::Push, STREAM, &payload);
            }
        }
        self.frames.pop_front()
    }

    fn push_frame(&mut self, command: Command, stream: u32, payload: &[u8]) {
        let length = payload.len() as u16;
        let header = Header { version: self.version, command, length, stream };
        self.frames.push_back([&header.to_bytes()[..], payload].concat());
    }

    /// Takes bytes from the transport and hands those of the stream to `deliver`. After the end of
    /// the session nothing is read any more.
    pub fn read(&mut self, bytes: &[u8], mut deliver: impl FnMut(&[u8])) {
        if self.end.is_some() {
            return;
        }
        let Self { reader, stream, end, .. } = self;
        let read = reader.read(bytes, |event| {
            if end.is_none() {
                match stream.take(event) {
                    Ok(bytes) => deliver(bytes),
                    Err(error) => *end = Some(error),
                }
            }
        });
        if let Err(error) = read {
            self.end.get_or_insert(error.into());
        }
        if self.version == Version::Two && self.stream.is_update_due() {
            self.tell_window();
        }
    }

    fn tell_window(&mut self) {
        self.stream.untold = 0;
        let [consumed, window] = [self.stream.received, RECEIVE_WINDOW].map(u32::to_le_bytes);
        self.push_frame(Command::Update, STREAM, [consumed, window].as_flattened());
    }
}

impl Stream {
    const fn new() -> Self {
        Self {
            open: false,
            unsent: VecDeque::new(),
            sent: 0,
            consumed: 0,
            window: INITIAL_WINDOW,
            received: 0,
            untold: 0,
            heard: false,
        }
    }

    /// The bytes of the stream in this event. What belongs to other streams is thrown away.
    fn take<'a>(&mut self, event: Event<'a>) -> Result<&'a [u8], SessionEnd> {
        match event {
            Event::Bytes { stream: STREAM, bytes } if self.open => {
                self.received = self.received.wrapping_add(bytes.len() as u32);
                self.untold = self.untold.saturating_add(bytes.len() as u32);
                return Ok(bytes);
            }
            Event::Window { stream: STREAM, consumed, window } => {
                self.set_window(consumed, window)?;
            }
            Event::Frame(header) => self.take_frame(header)?,
            Event::Bytes { .. } | Event::Window { .. } => {}
        }
        Ok(&[])
    }

    const fn take_frame(&mut self, header: Header) -> Result<(), SessionEnd> {
        self.heard = true;
        match (header.command, header.stream) {
            (Command::Open, STREAM) => self.open = true,
            (Command::Finish, STREAM) if self.open => return Err(SessionEnd::Finished),
            _ => {}
        }
        Ok(())
    }

    const fn set_window(&mut self, consumed: u32, window: u32) -> Result<(), SessionEnd> {
        if self.sent.wrapping_sub(consumed).cast_signed() < 0 {
            return Err(SessionEnd::ImpossibleWindow);
        }
        (self.consumed, self.window) = (consumed, window);
        Ok(())
    }

    /// Bytes for the next frame: none without a stream, a window or anything to send.
    fn next_payload(&mut self, version: Version) -> Vec<u8> {
        let room = match version {
            _ if !self.open => 0,
            Version::One => u32::MAX,
            Version::Two => self.window.saturating_sub(self.sent.wrapping_sub(self.consumed)),
        };
        let len = self.unsent.len().min(room as usize).min(LONGEST_PAYLOAD);
        self.sent = self.sent.wrapping_add(len as u32);
        self.unsent.drain(..len).collect()
    }

    /// After the first bytes, and then at every half of the window.
    const fn is_update_due(&self) -> bool {
        self.untold > 0 && (self.untold == self.received || self.untold >= RECEIVE_WINDOW / 2)
    }
}

/// The first tick after `now` of a timer that was due at `tick`.
fn tick_after(now: Instant, tick: Instant, every: Duration) -> Instant {
    let missed = now.saturating_since(tick).as_nanos() / every.as_nanos();
    tick + every * (missed as u32).saturating_add(1)
}

#[cfg(test)]
mod tests;
