//! How the application's messages travel in a KCP connection: each as a message of KCP's own, or
//! behind its length in a stream, or in a stream of smux inside of that. Knows nothing of datagrams.

use std::collections::VecDeque;

use crate::protocol::framing::MAX_MESSAGE;
use crate::protocol::kcptun::smux;
use crate::protocol::settings::KcpSettings;
use crate::protocol::{Role, Sent, State};
use crate::units::Instant;

use super::driver::Driver;
use super::engine::Engine;
use super::framing::{MessageCutter, with_prefix};
use super::longest::LongestMessage;

/// Segments that a frame of smux is written in at a time: all of it, but where the mtu is tiny.
const SEGMENTS_A_WRITE: usize = 64;

/// A message that is longer than `longest_message` is refused, and breaks a stream it is announced
/// in.
#[derive(Debug)]
pub struct Channel {
    /// Bytes.
    longest_message: usize,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Messages,
    Stream(MessageCutter),
    Smux(Box<Smux>),
}

#[derive(Debug)]
struct Smux {
    session: smux::Session,
    cutter: MessageCutter,
    /// Pieces of frames that KCP has no room for.
    unwritten: VecDeque<Vec<u8>>,
}

impl Channel {
    pub fn new(settings: &KcpSettings, role: Role) -> Self {
        let longest_message = match settings.smux {
            Some(_) => MAX_MESSAGE,
            None => LongestMessage::of(settings).bytes(),
        };
        let cutter = MessageCutter::new(longest_message);
        let kind = match settings.smux {
            Some(version) => Kind::Smux(Box::new(Smux {
                session: smux::Session::new(role, version),
                cutter,
                unwritten: VecDeque::new(),
            })),
            None if settings.stream => Kind::Stream(cutter),
            None => Kind::Messages,
        };
        Self { longest_message, kind }
    }

    pub fn send(&mut self, driver: &mut dyn Driver, engine: &mut Engine, message: &[u8]) -> Sent {
        let accepted = message.len() <= self.longest_message
            && match &mut self.kind {
                Kind::Messages => driver.write(engine, message).is_ok(),
                Kind::Stream(_) => driver.write(engine, &with_prefix(message)).is_ok(),
                Kind::Smux(smux) => smux.session.write(&with_prefix(message)),
            };
        self.write_waiting(driver, engine);
        if accepted { Sent::Accepted } else { Sent::Refused }
    }

    /// Takes what KCP has received; what that completes is delivered.
    pub fn read(&mut self, bytes: Vec<u8>, delivered: &mut VecDeque<Vec<u8>>) {
        let cutter = match &mut self.kind {
            Kind::Messages => {
                delivered.push_back(bytes);
                return;
            }
            Kind::Stream(cutter) => {
                cutter.push(&bytes);
                cutter
            }
            Kind::Smux(smux) => {
                smux.session.read(&bytes, |bytes| smux.cutter.push(bytes));
                &mut smux.cutter
            }
        };
        delivered.extend(std::iter::from_fn(|| cutter.pop()));
    }

    /// Gives KCP what waits for it, as far as it has room.
    pub fn write_waiting(&mut self, driver: &mut dyn Driver, engine: &mut Engine) {
        let Kind::Smux(smux) = &mut self.kind else { return };
        let piece_len = SEGMENTS_A_WRITE * engine.settings.segment_len();
        while let Some(piece) = smux.next_piece(piece_len) {
            if driver.write(engine, &piece).is_err() {
                smux.unwritten.push_front(piece);
                break;
            }
        }
    }

    /// When `update` has something to do.
    pub fn wake(&self) -> Option<Instant> {
        match &self.kind {
            Kind::Messages | Kind::Stream(_) => None,
            Kind::Smux(smux) => smux.session.wake(),
        }
    }

    /// Lets the timers fire that are due.
    pub fn update(&mut self, now: Instant) {
        if let Kind::Smux(smux) = &mut self.kind {
            smux.session.update(now);
        }
    }

    pub fn state(&self) -> State {
        match &self.kind {
            Kind::Messages => State::Established,
            Kind::Stream(cutter) => stream_state(cutter),
            Kind::Smux(smux) => match smux.session.end() {
                Some(end) => State::Closed(end.to_string()),
                None if smux.session.is_open() => stream_state(&smux.cutter),
                None => State::Connecting,
            },
        }
    }
}

impl Smux {
    fn next_piece(&mut self, piece_len: usize) -> Option<Vec<u8>> {
        if self.unwritten.is_empty() {
            let frame = self.session.transmit()?;
            self.unwritten.extend(frame.chunks(piece_len).map(<[u8]>::to_vec));
        }
        self.unwritten.pop_front()
    }
}

fn stream_state(cutter: &MessageCutter) -> State {
    if cutter.is_broken() {
        State::Closed("a forged message length broke the KCP stream".to_owned())
    } else {
        State::Established
    }
}
