//! Messages of 600 bytes over one TCP connection, echoed at the other end, with three times each on
//! the one clock: due, arrived on the cloud, returned to the vehicle.

use std::error::Error;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use impairlab::splitmix::{SplitMix64, mix};
use netns::Namespace;

use crate::clock::Clock;
use crate::setup::{GAP, MESSAGE_BYTES};
use crate::tunnel::ECHO_PORT;

/// How long is waited for what has not returned after the last message.
const PATIENCE: Duration = Duration::from_secs(30);

#[derive(Debug, Clone, Copy, Default)]
pub struct Message {
    /// In nanoseconds, as all times here: when it was to be sent, or was, if it had to wait for
    /// the answer to the one before.
    pub due: u64,
    pub arrived: Option<u64>,
    pub returned: Option<u64>,
}

/// All messages by number, written by both ends.
#[derive(Debug, Clone, Default)]
pub struct Log(Arc<Mutex<Vec<Message>>>);

impl Log {
    fn edit<T>(&self, edit: impl FnOnce(&mut Vec<Message>) -> T) -> T {
        edit(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn push(&self, due: u64) -> u64 {
        self.edit(|messages| {
            messages.push(Message { due, ..Message::default() });
            messages.len() as u64 - 1
        })
    }

    fn set(&self, number: u64, time: impl FnOnce(&mut Message)) -> io::Result<()> {
        let at = usize::try_from(number).unwrap_or(usize::MAX);
        let found = self.edit(|messages| messages.get_mut(at).map(time));
        found.ok_or_else(|| io::Error::other(format!("message {number} was never sent")))
    }

    pub fn messages(&self) -> Vec<Message> {
        self.edit(|messages| messages.clone())
    }
}

/// Starts the cloud's end: echoes the one connection that comes.
pub fn echo(cloud: &Namespace, at: std::net::SocketAddr, log: Log, clock: Clock) -> Started {
    let listener = cloud.run(|| TcpListener::bind(at))?.map_err(|error| {
        format!("cannot listen on port {ECHO_PORT} in the namespace of the cloud: {error}")
    })?;
    cloud.spawn("echo", move || -> io::Result<()> {
        let (mut stream, _) = listener.accept()?;
        stream.set_nodelay(true)?;
        let mut message = [0; MESSAGE_BYTES];
        while read_message(&mut stream, &mut message)? {
            let now = clock.now();
            log.set(number_in(&message), |message| message.arrived = Some(now))?;
            stream.write_all(&message)?;
        }
        Ok(())
    })?;
    Ok(())
}

type Started = Result<(), Box<dyn Error>>;

/// `count` messages, one every 20 ms, each due at its instant whatever has become of the others;
/// `before` sees the number of each just before it is sent.
pub fn open_loop(
    stream: &TcpStream,
    log: &Log,
    clock: Clock,
    count: u64,
    mut before: impl FnMut(u64) -> Result<(), Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    let begin = clock.now() + GAP.as_nanos() as u64;
    thread::scope(|scope| {
        let (finished, all_returned) = mpsc::channel();
        let mut answers = stream.try_clone()?;
        scope.spawn({
            let log = log.clone();
            move || drop(finished.send(take_answers(&mut answers, &log, clock, count)))
        });
        let sent: Result<(), Box<dyn Error>> = (0..count).try_for_each(|number| {
            let due = begin + number * GAP.as_nanos() as u64;
            clock.sleep_until(due);
            before(number)?;
            log.push(due);
            Ok((&*stream).write_all(&message(number))?)
        });
        let patience = if sent.is_ok() { PATIENCE } else { Duration::ZERO };
        let returned = all_returned.recv_timeout(patience);
        // Ends the other thread, should it still wait.
        let _ = stream.shutdown(Shutdown::Both);
        sent?;
        // Not all have returned: what is missing counts as lost.
        returned.unwrap_or(Ok(())).map_err(Into::into)
    })
}

fn take_answers(stream: &mut TcpStream, log: &Log, clock: Clock, count: u64) -> io::Result<()> {
    (0..count).try_for_each(|_| take_answer(stream, log, clock).map(drop))
}

/// The next message when the last has returned, until `until`.
pub fn ping_pong(
    stream: &mut TcpStream,
    log: &Log,
    clock: Clock,
    until: u64,
) -> Result<(), Box<dyn Error>> {
    stream.set_read_timeout(Some(PATIENCE))?;
    while clock.now() < until {
        let number = log.push(clock.now());
        stream.write_all(&message(number))?;
        let returned = take_answer(stream, log, clock)?;
        if returned != number {
            return Err(format!("message {returned} came back in place of {number}").into());
        }
    }
    Ok(())
}

/// The number of the message that has come back, which must be what was sent, byte for byte.
fn take_answer(stream: &mut TcpStream, log: &Log, clock: Clock) -> io::Result<u64> {
    let mut answer = [0; MESSAGE_BYTES];
    stream.read_exact(&mut answer)?;
    let (now, number) = (clock.now(), number_in(&answer));
    if answer != message(number) {
        return Err(io::Error::other(format!("message {number} came back with other bytes")));
    }
    log.set(number, |message| message.returned = Some(now))?;
    Ok(number)
}

/// Its number, then bytes that cannot be compressed.
fn message(number: u64) -> [u8; MESSAGE_BYTES] {
    let mut random = SplitMix64::new(mix(number));
    let mut message = [0; MESSAGE_BYTES];
    for chunk in message.chunks_exact_mut(8) {
        chunk.copy_from_slice(&random.next().to_le_bytes());
    }
    message[..8].copy_from_slice(&number.to_le_bytes());
    message
}

fn number_in(message: &[u8; MESSAGE_BYTES]) -> u64 {
    let (number, _) = message.split_first_chunk().expect("a message has more than eight bytes");
    u64::from_le_bytes(*number)
}

/// False at the end of the stream.
fn read_message(stream: &mut TcpStream, message: &mut [u8]) -> io::Result<bool> {
    match stream.read_exact(message) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) if error.kind() == io::ErrorKind::ConnectionReset => Ok(false),
        result => result.map(|()| true),
    }
}
