//! How messages travel on a connection: on one ordered stream, on a stream each, or in datagrams.
//! Knows nothing of packets, timers or the handshake, and the library as `super::proto`: quinn's
//! and noq's streams are alike, and this file is compiled for each.

use std::collections::BTreeMap;
use std::collections::VecDeque;

use bytes::{Buf, Bytes};
use thiserror::Error;

use super::proto::{Connection, Dir, ReadError, ReadableError, StreamEvent, StreamId, WriteError};
use crate::protocol::Sent;
use crate::protocol::framing::{self, Deframer, FramingError, MAX_MESSAGE};
use crate::protocol::settings::QuicMode;

/// What the peer did that no message can be made of: the connection is closed with it.
#[derive(Debug, Error)]
pub enum MessageError {
    #[error(transparent)]
    Framing(#[from] FramingError),
    #[error("the peer sent a stream longer than the {MAX_MESSAGE} bytes a message may have")]
    TooLong,
}

#[derive(Debug)]
pub struct Messages {
    mode: QuicMode,
    /// The open stream that the next message goes on.
    stream: Option<StreamId>,
    /// The end of a message that began in front of a send window too short for it.
    unwritten: Bytes,
    incoming: BTreeMap<StreamId, Incoming>,
    received: VecDeque<Vec<u8>>,
}

/// What has arrived of a stream.
#[derive(Debug)]
enum Incoming {
    Framed(Deframer),
    /// A single message, complete when the stream ends.
    Whole(Vec<u8>),
}

impl Messages {
    pub fn new(mode: QuicMode) -> Self {
        Self {
            mode,
            stream: None,
            unwritten: Bytes::new(),
            incoming: BTreeMap::new(),
            received: VecDeque::new(),
        }
    }

    /// Refused: too long for the mode, or the send buffer is full.
    pub fn send(&mut self, connection: &mut Connection, message: &[u8]) -> Sent {
        let accepted = match self.mode {
            QuicMode::Stream | QuicMode::StreamPerMessage => {
                self.send_on_stream(connection, message)
            }
            QuicMode::Datagram => {
                connection.datagrams().send(Bytes::copy_from_slice(message), false).is_ok()
            }
        };
        if accepted { Sent::Accepted } else { Sent::Refused }
    }

    pub fn next(&mut self) -> Option<Vec<u8>> {
        self.received.pop_front()
    }

    fn send_on_stream(&mut self, connection: &mut Connection, message: &[u8]) -> bool {
        if message.len() > MAX_MESSAGE || !self.unwritten.is_empty() {
            return false;
        }
        if self.stream.is_none() {
            self.stream = connection.streams().open(Dir::Uni);
        }
        let Some(stream) = self.stream else { return false };
        let bytes = match self.mode {
            QuicMode::Stream => framing::frame(message),
            _ => Bytes::copy_from_slice(message),
        };
        match connection.send_stream(stream).write(&bytes) {
            Ok(written) => self.unwritten = bytes.slice(written..),
            Err(WriteError::Blocked) => return false,
            Err(WriteError::Stopped(_) | WriteError::ClosedStream) => {
                self.stream = None;
                return false;
            }
        }
        self.finish(connection);
        true
    }

    /// Ends the stream of a message that is written whole, if it has one of its own.
    fn finish(&mut self, connection: &mut Connection) {
        if self.mode == QuicMode::StreamPerMessage
            && self.unwritten.is_empty()
            && let Some(stream) = self.stream.take()
        {
            // It fails only if the peer stopped the stream: then there is nothing to end.
            let _ = connection.send_stream(stream).finish();
        }
    }

    /// Writes on once the window has opened.
    pub fn resume(&mut self, connection: &mut Connection) {
        let Some(stream) = self.stream else { return };
        if self.unwritten.is_empty() {
            return;
        }
        match connection.send_stream(stream).write(&self.unwritten) {
            Ok(written) => self.unwritten.advance(written),
            Err(WriteError::Blocked) => {}
            Err(_) => self.unwritten.clear(),
        }
        self.finish(connection);
    }

    pub fn on_stream_event(
        &mut self,
        connection: &mut Connection,
        event: StreamEvent,
    ) -> Result<(), MessageError> {
        match event {
            StreamEvent::Opened { dir } => {
                while let Some(stream) = connection.streams().accept(dir) {
                    self.incoming.insert(stream, self.expected());
                    self.read(connection, stream)?;
                }
                Ok(())
            }
            StreamEvent::Readable { id } => self.read(connection, id),
            StreamEvent::Writable { .. }
            | StreamEvent::Finished { .. }
            | StreamEvent::Stopped { .. }
            | StreamEvent::Available { .. } => Ok(()),
        }
    }

    pub fn on_datagrams(&mut self, connection: &mut Connection) {
        while let Some(datagram) = connection.datagrams().recv() {
            self.received.push_back(datagram.into());
        }
    }

    fn expected(&self) -> Incoming {
        match self.mode {
            QuicMode::Stream => Incoming::Framed(Deframer::default()),
            _ => Incoming::Whole(Vec::new()),
        }
    }

    fn read(&mut self, connection: &mut Connection, id: StreamId) -> Result<(), MessageError> {
        let Some(incoming) = self.incoming.get_mut(&id) else { return Ok(()) };
        let mut stream = connection.recv_stream(id);
        let mut chunks = match stream.read(true) {
            Ok(chunks) => chunks,
            Err(ReadableError::ClosedStream | ReadableError::IllegalOrderedRead) => return Ok(()),
        };
        let end = loop {
            match chunks.next(usize::MAX) {
                Ok(Some(chunk)) => incoming.push(&chunk.bytes, &mut self.received)?,
                Ok(None) => break End::Finished,
                Err(ReadError::Blocked) => break End::NotYet,
                Err(ReadError::Reset(_)) => break End::Reset,
            }
        };
        // Whether there is now a window update to send shows when the connection is polled, which
        // follows anyway.
        let _ = chunks.finalize();
        if end == End::NotYet {
            return Ok(());
        }
        if let Some(Incoming::Whole(message)) = self.incoming.remove(&id)
            && end == End::Finished
        {
            self.received.push_back(message);
        }
        Ok(())
    }
}

#[derive(PartialEq, Eq)]
enum End {
    NotYet,
    Finished,
    Reset,
}

impl Incoming {
    fn push(&mut self, bytes: &[u8], received: &mut VecDeque<Vec<u8>>) -> Result<(), MessageError> {
        match self {
            Incoming::Framed(deframer) => {
                Ok(deframer.push(bytes, |message| received.push_back(message))?)
            }
            Incoming::Whole(message) if message.len() + bytes.len() > MAX_MESSAGE => {
                Err(MessageError::TooLong)
            }
            Incoming::Whole(message) => {
                message.extend_from_slice(bytes);
                Ok(())
            }
        }
    }
}
