//! Messages on a byte stream that somebody else carries: TCP and multipath TCP of the kernel, or a
//! program that is reached over loopback. Each message goes behind its length; an empty one each
//! way, while the links are still clean, proves that the stream is open from end to end.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use nix::poll::{PollFd, PollFlags};

use super::{Carried, Carrier, Step};
use crate::engine::fidelity::{Damage, Lateness, Stalls};
use crate::engine::watch::Watch;
use crate::protocol::framing::{Deframer, MAX_MESSAGE, frame};
use crate::protocol::{Delivery, ProtocolStatistics, Sent, State};
use crate::recording::EndSockets;
use crate::units::Instant;

/// Bytes that may wait for room in the socket's own buffer: a message beyond them is refused.
const SEND_BUFFER: usize = 4 << 20;
/// Bytes that are read at once.
const READ_BUFFER: usize = 64 << 10;
/// How often is looked whether what is under the stream is ready, until it is.
const LOOK: Duration = Duration::from_millis(1);
const GREETING: &[u8] = &[];

pub struct Stream {
    stage: Stage,
    /// Kept though it accepts nothing more: the kernel takes further subflows by it.
    listener: Option<TcpListener>,
    under: Box<dyn Underlay>,
    state: State,
    failed: Option<Failed>,
    /// Whether it answers the other side's greeting, or was the first to greet.
    answers: bool,
    /// Whether the other side's greeting has come.
    greeted: bool,
    deframer: Deframer,
    arrived: VecDeque<Vec<u8>>,
    unsent: VecDeque<u8>,
    /// Something was added to it that nobody has tried to send.
    untried: bool,
    buffer: Vec<u8>,
}

/// How far the socket is.
enum Stage {
    Listening(TcpListener),
    Connecting(TcpStream),
    Connected(TcpStream),
    /// The socket is kept until the end, for what it can tell.
    Ended(Option<TcpStream>),
}

/// A connection that failed, for a reason that what is under it may know better.
struct Failed {
    error: String,
    at: Instant,
}

/// What a stream runs on.
pub trait Underlay: Send {
    /// Sets on a connection that was accepted what the kernel did not take over from the listener.
    fn furnish(&self, socket: &TcpStream) -> io::Result<()>;

    /// Asked once the other side has answered.
    fn readiness(&mut self, _socket: BorrowedFd<'_>, _watch: &Watch) -> Readiness {
        Readiness::Ready
    }

    /// Why it cannot go on, if it cannot and the socket does not tell.
    fn fault(&mut self) -> Option<String> {
        None
    }

    /// How long after its socket failed it may take until `fault` knows.
    fn hindsight(&self) -> Duration {
        Duration::ZERO
    }

    /// Has it send nothing any more, and take what comes.
    fn hush(&mut self) {}

    /// Processor time that it used, other than the endpoint's.
    fn cpu_time(&self) -> Duration {
        Duration::ZERO
    }

    /// What the kernel tells of the connection.
    fn figures(&self, _socket: BorrowedFd<'_>) -> Option<EndSockets> {
        None
    }
}

#[derive(Debug, PartialEq, Eq)]
pub enum Readiness {
    Ready,
    NotYet,
    Never(String),
}

impl Stream {
    /// The vehicle's side: `socket` is about to connect, or is connected.
    pub fn connecting(socket: TcpStream, under: Box<dyn Underlay>) -> Self {
        Self::new(Stage::Connecting(socket), false, under)
    }

    /// The cloud's side: takes the first connection that comes.
    pub fn listening(listener: TcpListener, under: Box<dyn Underlay>) -> Self {
        Self::new(Stage::Listening(listener), true, under)
    }

    fn new(stage: Stage, answers: bool, under: Box<dyn Underlay>) -> Self {
        Self {
            stage,
            listener: None,
            under,
            state: State::Connecting,
            failed: None,
            answers,
            greeted: false,
            deframer: Deframer::default(),
            arrived: VecDeque::new(),
            unsent: VecDeque::new(),
            untried: false,
            buffer: vec![0; READ_BUFFER],
        }
    }

    fn accept(&mut self) -> io::Result<bool> {
        let Stage::Listening(listener) = &self.stage else { return Ok(false) };
        let Some((socket, _)) = unless_blocked(listener.accept())? else { return Ok(false) };
        socket.set_nonblocking(true)?;
        self.under.furnish(&socket)?;
        if let Stage::Listening(listener) =
            std::mem::replace(&mut self.stage, Stage::Connected(socket))
        {
            self.listener = Some(listener);
        }
        Ok(true)
    }

    /// The vehicle greets first.
    fn finish_connecting(&mut self) -> io::Result<bool> {
        let Stage::Connecting(socket) = &self.stage else { return Ok(false) };
        if let Some(error) = socket.take_error()? {
            return Err(error);
        }
        if socket.peer_addr().is_err() {
            return Ok(false);
        }
        let Stage::Connecting(socket) = std::mem::replace(&mut self.stage, Stage::Ended(None))
        else {
            unreachable!("it was connecting just now")
        };
        self.stage = Stage::Connected(socket);
        self.queue(GREETING);
        Ok(true)
    }

    /// Reads all that is there, but not for ever.
    fn read(&mut self) -> io::Result<bool> {
        const READS_AT_ONCE: usize = 16;
        let Stage::Connected(socket) = &mut self.stage else { return Ok(false) };
        for round in 0..READS_AT_ONCE {
            let Some(length) = unless_blocked(socket.read(&mut self.buffer))? else {
                return Ok(round > 0);
            };
            if length == 0 {
                return Err(self.end_of_stream());
            }
            let deliver = |message| self.arrived.push_back(message);
            let taken = self.deframer.push(&self.buffer[..length], deliver);
            taken.map_err(|error| io::Error::new(ErrorKind::InvalidData, error))?;
        }
        Ok(true)
    }

    fn end_of_stream(&self) -> io::Error {
        let ended = "the other side ended it";
        let ended = self.deframer.incomplete().map_or_else(
            || ended.to_owned(),
            |incomplete| format!("{ended} within a message: {incomplete}"),
        );
        io::Error::new(ErrorKind::UnexpectedEof, ended)
    }

    /// Goes out with the next poll.
    fn queue(&mut self, message: &[u8]) {
        self.unsent.extend(frame(message));
        self.untried = true;
    }

    fn flush(&mut self) -> io::Result<()> {
        let Stage::Connected(socket) = &mut self.stage else { return Ok(()) };
        while !self.unsent.is_empty() {
            let Some(written) = unless_blocked(socket.write(self.unsent.as_slices().0))? else {
                return Ok(());
            };
            self.unsent.drain(..written);
        }
        Ok(())
    }

    fn close(&mut self, reason: String) {
        if matches!(self.state, State::Closed(_)) {
            return;
        }
        self.end_stage();
        self.state = State::Closed(reason);
    }

    fn end_stage(&mut self) {
        let stage = std::mem::replace(&mut self.stage, Stage::Ended(None));
        self.stage = match stage {
            Stage::Connecting(socket) | Stage::Connected(socket) => Stage::Ended(Some(socket)),
            Stage::Ended(socket) => Stage::Ended(socket),
            Stage::Listening(_) => Stage::Ended(None),
        };
    }

    /// Nothing passes any more. A program that dies is why its socket failed and says more, but the
    /// kernel closes its sockets before it tells that it has ended.
    fn fail(&mut self, error: &io::Error, watch: &Watch) {
        self.end_stage();
        self.failed = Some(Failed { error: format!("the connection: {error}"), at: watch.now() });
        self.look_why(watch);
    }

    fn look_why(&mut self, watch: &Watch) {
        if let Some(reason) = self.under.fault() {
            return self.close(reason);
        }
        let Some(Failed { error, at }) = &self.failed else { return };
        if watch.now().saturating_since(*at) >= self.under.hindsight() {
            self.close(error.clone());
        }
    }

    /// What the other side's greeting is for: the cloud answers it, and both look whether they are
    /// ready.
    fn greet(&mut self, watch: &Watch) {
        if self.answers && !self.greeted {
            self.queue(GREETING);
        }
        self.greeted = true;
        self.look_whether_ready(watch);
    }

    fn look_whether_ready(&mut self, watch: &Watch) {
        let Stage::Connected(socket) = &self.stage else { return };
        match self.under.readiness(socket.as_fd(), watch) {
            Readiness::Ready => self.state = State::Established,
            Readiness::NotYet => {}
            Readiness::Never(reason) => self.close(reason),
        }
    }

    fn is_waiting_to_be_ready(&self) -> bool {
        self.greeted && self.state == State::Connecting && self.failed.is_none()
    }

    fn is_waiting_to_know_why(&self) -> bool {
        self.failed.is_some() && !matches!(self.state, State::Closed(_))
    }
}

impl Carrier for Stream {
    fn sources(&self) -> Vec<PollFd<'_>> {
        let source = |socket, flags| vec![PollFd::new(socket, flags)];
        match &self.stage {
            Stage::Listening(listener) => source(listener.as_fd(), PollFlags::POLLIN),
            Stage::Connecting(socket) => source(socket.as_fd(), PollFlags::POLLOUT),
            Stage::Connected(socket) if self.unsent.is_empty() => {
                source(socket.as_fd(), PollFlags::POLLIN)
            }
            Stage::Connected(socket) => {
                source(socket.as_fd(), PollFlags::POLLIN | PollFlags::POLLOUT)
            }
            // Its socket would be ready for ever, and nothing comes of it any more.
            Stage::Ended(_) => Vec::new(),
        }
    }

    fn receive(&mut self, _source: usize, watch: &Watch) -> bool {
        let received = match &self.stage {
            Stage::Listening(_) => self.accept(),
            Stage::Connecting(_) => self.finish_connecting(),
            Stage::Connected(_) => self.flush().and_then(|()| self.read()),
            Stage::Ended(_) => Ok(false),
        };
        received.unwrap_or_else(|error| {
            self.fail(&error, watch);
            true
        })
    }

    fn send(&mut self, message: &[u8], _watch: &Watch) -> Sent {
        let room = SEND_BUFFER.saturating_sub(self.unsent.len());
        let is_open = self.state == State::Established && self.failed.is_none();
        if !is_open || message.len() > MAX_MESSAGE.min(room) {
            return Sent::Refused;
        }
        self.queue(message);
        Sent::Accepted
    }

    fn poll(&mut self, watch: &Watch) -> Step {
        if std::mem::take(&mut self.untried)
            && let Err(error) = self.flush()
        {
            self.fail(&error, watch);
        }
        match self.arrived.pop_front() {
            Some(message) if message.is_empty() => {
                self.greet(watch);
                return Step::Done;
            }
            Some(message) => return Step::Deliver(message),
            None => {}
        }
        self.look_why(watch);
        if self.is_waiting_to_be_ready() {
            self.look_whether_ready(watch);
        }
        let soon = self.is_waiting_to_be_ready() || self.is_waiting_to_know_why();
        Step::Wait(soon.then(|| watch.now() + LOOK))
    }

    fn state(&self) -> State {
        self.state.clone()
    }

    fn delivery(&self) -> Delivery {
        Delivery { ordered: true, reliable: true }
    }

    fn cpu_time(&self) -> Duration {
        self.under.cpu_time()
    }

    fn finish(mut self: Box<Self>) -> Carried {
        self.under.hush();
        let socket = match &self.stage {
            Stage::Connected(socket) | Stage::Connecting(socket) => Some(socket),
            Stage::Ended(socket) => socket.as_ref(),
            Stage::Listening(_) => None,
        };
        let sockets = socket.and_then(|socket| self.under.figures(socket.as_fd()));
        let retransmissions = sockets.as_ref().map(EndSockets::retransmissions);
        Carried {
            delivery: self.delivery(),
            statistics: ProtocolStatistics { retransmissions, ..ProtocolStatistics::default() },
            error_correction: None,
            reads: Lateness::default(),
            stalls: Stalls::default(),
            damage: Damage::default(),
            sockets,
            kept: Box::new((self.stage, self.listener, self.under)),
        }
    }
}

/// `None`: not now.
fn unless_blocked<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) => match error.kind() {
            ErrorKind::WouldBlock | ErrorKind::Interrupted => Ok(None),
            _ => Err(error),
        },
    }
}

#[cfg(test)]
mod tests;
