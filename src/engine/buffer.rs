//! The memory of frames on their way through the relay: buffers that are used again and again, so
//! that a packet costs no allocation, and a limit on how much of it there is. Knows nothing of what
//! the bytes mean.

use std::cell::RefCell;
use std::mem;
use std::ops::{Deref, DerefMut};
use std::rc::Rc;

/// Room for a frame of a path with an MTU of 1,500 bytes, and its headers.
pub const SMALL: usize = 2048;
/// Room for the longest IP packet, and its headers.
pub const LARGE: usize = (1 << 16) + 128;

/// Buffers of two sizes. Clones share them; for one thread.
#[derive(Debug, Clone)]
pub struct Pool(Rc<RefCell<Store>>);

#[derive(Debug)]
struct Store {
    small: Vec<Box<[u8]>>,
    large: Vec<Box<[u8]>>,
    /// Bytes in buffers that are in use.
    used: usize,
    /// Bytes that may be in use at once.
    limit: usize,
}

/// The first [`len`](Buffer::len) bytes of a buffer of a pool, to which it goes back when dropped.
#[derive(Debug)]
pub struct Buffer {
    bytes: Box<[u8]>,
    length: usize,
    home: Pool,
}

impl Pool {
    pub fn new(limit: usize) -> Self {
        Self(Rc::new(RefCell::new(Store { small: vec![], large: vec![], used: 0, limit })))
    }

    /// A buffer for this many bytes, at most [`LARGE`], with anything in them; `None` at the limit.
    pub fn take(&self, length: usize) -> Option<Buffer> {
        let capacity = if length <= SMALL { SMALL } else { LARGE };
        if length > LARGE || self.0.borrow().used + capacity > self.0.borrow().limit {
            return None;
        }
        Some(self.take_anyway(length, capacity))
    }

    fn take_anyway(&self, length: usize, capacity: usize) -> Buffer {
        let mut store = self.0.borrow_mut();
        store.used += capacity;
        let kept = store.of(capacity).pop();
        let bytes = kept.unwrap_or_else(|| vec![0; capacity].into_boxed_slice());
        Buffer { bytes, length, home: self.clone() }
    }
}

impl Store {
    fn of(&mut self, capacity: usize) -> &mut Vec<Box<[u8]>> {
        if capacity == SMALL { &mut self.small } else { &mut self.large }
    }
}

impl Buffer {
    /// # Panics
    /// If the buffer is smaller.
    pub fn set_len(&mut self, length: usize) {
        assert!(length <= self.bytes.len(), "{length} bytes in a buffer of {}", self.bytes.len());
        self.length = length;
    }
}

impl Deref for Buffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[..self.length]
    }
}

impl AsRef<[u8]> for Buffer {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl Clone for Buffer {
    /// Past the limit, if need be: a link makes one copy of a packet at most.
    fn clone(&self) -> Self {
        let mut copy = self.home.take_anyway(self.length, self.bytes.len());
        copy.copy_from_slice(self);
        copy
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let bytes = mem::take(&mut self.bytes);
        let mut store = self.home.0.borrow_mut();
        store.used -= bytes.len();
        store.of(bytes.len()).push(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_that_was_let_go_is_used_again() {
        let pool = Pool::new(usize::MAX);
        let mut buffer = pool.take(3).expect("there is no limit");
        buffer.copy_from_slice(b"abc");
        let place = buffer.as_ptr();
        drop(buffer);
        let again = pool.take(SMALL).expect("there is no limit");
        assert_eq!((again.as_ptr(), again.len(), &again[..3]), (place, SMALL, &b"abc"[..]));
        let copy = again.clone();
        assert_eq!(copy[..], again[..]);
        assert_ne!(copy.as_ptr(), again.as_ptr());
        assert_eq!(pool.take(SMALL + 1).expect("there is no limit").bytes.len(), LARGE);
        assert!(pool.take(LARGE + 1).is_none());
    }

    #[test]
    fn no_more_is_handed_out_than_the_limit_but_for_copies() {
        let pool = Pool::new(2 * SMALL);
        let [first, _second] = [1, SMALL].map(|length| pool.take(length).expect("within it"));
        assert!(pool.take(1).is_none());
        let copy = first.clone();
        drop(first);
        assert!(pool.take(1).is_none());
        drop(copy);
        assert!(pool.take(1).is_some());
    }
}
