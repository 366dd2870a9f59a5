//! The datagrams of one `recvmmsg`, in buffers that are used again for the next.

use std::io;
use std::os::fd::BorrowedFd;

use super::syscalls::{BATCH, Received, Receiver};

pub struct ReceiveBatch {
    buffers: Vec<u8>,
    buffer_len: usize,
    receiver: Receiver,
}

impl ReceiveBatch {
    pub fn new(buffer_len: usize) -> Self {
        Self { buffers: vec![0; BATCH * buffer_len], buffer_len, receiver: Receiver::new() }
    }

    /// Takes what waits on a socket, at most [`BATCH`] datagrams, and says how many; never blocks.
    pub fn receive(&mut self, socket: BorrowedFd<'_>) -> io::Result<usize> {
        let buffers = self.buffers.chunks_exact_mut(self.buffer_len);
        self.receiver.receive(socket, buffers)
    }

    /// The datagrams of the last call, in the order of their arrival.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], &Received)> {
        let buffers = self.buffers.chunks_exact(self.buffer_len);
        let received = self.receiver.received();
        buffers.zip(received).map(|(buffer, received)| (&buffer[..received.length], received))
    }
}
