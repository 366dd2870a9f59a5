//! Memory shared with the kernel into which it puts the frames of a packet socket, so that they are
//! read without a system call (PACKET_RX_RING: Linux, `Documentation/networking/packet_mmap.rst`).
//! Version 2 of it, in which each frame can be read as soon as it is there; in version 3 it would
//! wait for a block to be full, or for a timer.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU32, Ordering};

use super::{set_option, set_option_bytes};
use crate::engine::frame::VNET_HEADER_LEN;

/// Bytes of a slot: a frame of a path with an MTU of 1,500 bytes, and what the kernel puts before
/// it.
pub const SLOT: usize = 2048;
/// Bytes that the kernel takes in one piece.
const BLOCK: usize = 1 << 16;
const SLOTS_IN_BLOCK: usize = BLOCK / SLOT;

pub struct ReceiveRing {
    memory: NonNull<u8>,
    slots: usize,
    /// The slot that is filled next, if none waits, or else the first that waits.
    next: usize,
}

// SAFETY: the memory is the ring's own, but for the kernel, which does not care about threads.
unsafe impl Send for ReceiveRing {}

/// A frame in its slot, which the kernel may use again when this is dropped.
pub struct RingFrame<'a> {
    ring: &'a mut ReceiveRing,
    header: libc::tpacket2_hdr,
}

impl ReceiveRing {
    /// Gives a packet socket that is not bound yet a ring of about so many slots. What does not fit
    /// into a slot goes to the socket's queue as well.
    pub fn new(socket: BorrowedFd<'_>, slots: usize) -> io::Result<Self> {
        let blocks = slots.div_ceil(SLOTS_IN_BLOCK).max(1);
        let slots = blocks * SLOTS_IN_BLOCK;
        let version = libc::tpacket_versions::TPACKET_V2 as libc::c_int;
        set_option(socket, libc::SOL_PACKET, libc::PACKET_VERSION, version)?;
        set_option(socket, libc::SOL_PACKET, libc::PACKET_COPY_THRESH, 1)?;
        let request = libc::tpacket_req {
            tp_block_size: BLOCK as libc::c_uint,
            tp_block_nr: blocks as libc::c_uint,
            tp_frame_size: SLOT as libc::c_uint,
            tp_frame_nr: slots as libc::c_uint,
        };
        set_option_bytes(socket, libc::SOL_PACKET, libc::PACKET_RX_RING, &request)?;
        // SAFETY: a new mapping at a place of the kernel's choice, which touches no other memory.
        let memory = unsafe {
            libc::mmap(
                ptr::null_mut(),
                slots * SLOT,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                socket.as_raw_fd(),
                0,
            )
        };
        if memory == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let memory = NonNull::new(memory.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { memory, slots, next: 0 })
    }

    /// How many frames wait, as far as there are no more than `most`.
    pub fn waiting(&self, most: usize) -> usize {
        let waits = |ahead: &usize| self.status(self.next + ahead) & libc::TP_STATUS_USER != 0;
        (0..most.min(self.slots)).take_while(waits).count()
    }

    /// The first frame that waits, in order of arrival.
    pub fn receive(&mut self) -> Option<RingFrame<'_>> {
        if self.waiting(1) == 0 {
            return None;
        }
        // SAFETY: the slot is the process's until its status is set back, its beginning is aligned
        // for a header, and the kernel has written one there.
        let header = unsafe { ptr::read(self.slot(self.next).cast()) };
        Some(RingFrame { ring: self, header })
    }

    fn status(&self, slot: usize) -> u32 {
        // Acquire: what the kernel wrote before is seen too.
        self.status_word(slot).load(Ordering::Acquire)
    }

    fn status_word(&self, slot: usize) -> &AtomicU32 {
        const { assert!(std::mem::offset_of!(libc::tpacket2_hdr, tp_status) == 0) };
        // SAFETY: the slot begins with the status, aligned, and lives as long as the ring; the
        // kernel, too, reads and writes it as one word.
        unsafe { AtomicU32::from_ptr(self.slot(slot).cast()) }
    }

    /// The beginning of a slot, counted round the ring.
    fn slot(&self, slot: usize) -> *mut u8 {
        let slot = if slot < self.slots { slot } else { slot - self.slots };
        assert!(slot < self.slots, "less than once round the ring");
        // SAFETY: it lies within the mapping.
        unsafe { self.memory.as_ptr().add(slot * SLOT) }
    }
}

impl RingFrame<'_> {
    /// Bytes of the frame with its virtio-net header, also of one that did not fit.
    pub fn length(&self) -> usize {
        VNET_HEADER_LEN + self.header.tp_len as usize
    }

    /// The frame behind its virtio-net header, or as much of it as there was room for.
    pub fn bytes(&self) -> &[u8] {
        let frame = usize::from(self.header.tp_mac);
        let end = frame + self.header.tp_snaplen as usize;
        assert!(VNET_HEADER_LEN <= frame && end <= SLOT, "the kernel keeps within a slot");
        let length = end - frame + VNET_HEADER_LEN;
        let start = self.ring.slot(self.ring.next);
        // SAFETY: it lies within the slot, into which nobody writes until this is dropped.
        unsafe { std::slice::from_raw_parts(start.add(frame - VNET_HEADER_LEN), length) }
    }

    /// It did not fit, and is the next one in the socket's queue.
    pub fn is_queued(&self) -> bool {
        self.header.tp_status & libc::TP_STATUS_COPY != 0
    }

    /// CLOCK_REALTIME in nanoseconds when the kernel took the frame in.
    pub fn stamp(&self) -> u64 {
        u64::from(self.header.tp_sec) * 1_000_000_000 + u64::from(self.header.tp_nsec)
    }
}

impl Drop for RingFrame<'_> {
    fn drop(&mut self) {
        let ring = &mut *self.ring;
        // Release: all has been read by then.
        ring.status_word(ring.next).store(libc::TP_STATUS_KERNEL, Ordering::Release);
        ring.next = if ring.next + 1 < ring.slots { ring.next + 1 } else { 0 };
    }
}

impl Drop for ReceiveRing {
    fn drop(&mut self) {
        // SAFETY: the mapping is this ring's own, and nothing that borrows it is left.
        unsafe { libc::munmap(self.memory.as_ptr().cast(), self.slots * SLOT) };
    }
}
