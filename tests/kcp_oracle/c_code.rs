//! The C code (1.7) that crate `kcp-rs` bundles, called directly: the crate's own wrapper knows no
//! nodelay 2 and flushes once, by the real clock, before it can be configured.
#![expect(unsafe_code, reason = "foreign functions of the C code")]

use std::ffi::{c_char, c_int, c_void};
use std::slice;

use ikcp_c::protocol::{
    IKCPCB, ikcp_create, ikcp_flush, ikcp_input, ikcp_nodelay, ikcp_recv, ikcp_release, ikcp_send,
    ikcp_setmtu, ikcp_setoutput, ikcp_update, ikcp_wndsize,
};

use impairlab::protocol::kcp::Origin;

use crate::peer::Peer;
use crate::scenario::{CONV, Scenario};

/// Both pointers are owned: made in `new`, released in `drop`, used through `&mut self` only.
pub struct CCode {
    kcp: *mut IKCPCB,
    datagrams: *mut Vec<Vec<u8>>,
    buffer: Vec<u8>,
}

/// SAFETY: called by the C code with the bytes of a datagram and the pointer that was given to
/// `ikcp_create`.
unsafe extern "C" fn collect(
    bytes: *const c_char,
    length: c_int,
    _kcp: *mut IKCPCB,
    datagrams: *mut c_void,
) -> c_int {
    // SAFETY: see above; the vector lives as long as the control block, and nobody else is looking
    // at it meanwhile.
    let (bytes, datagrams) = unsafe {
        let bytes = slice::from_raw_parts(bytes.cast::<u8>(), length as usize);
        (bytes, &mut *datagrams.cast::<Vec<Vec<u8>>>())
    };
    datagrams.push(bytes.to_vec());
    0
}

impl CCode {
    pub fn new(scenario: &Scenario) -> Self {
        let settings = &scenario.settings;
        let datagrams: *mut Vec<Vec<u8>> = Box::into_raw(Box::default());
        // SAFETY: the control block is fresh and valid; the vector outlives it.
        let kcp = unsafe {
            let kcp = ikcp_create(CONV, datagrams.cast());
            ikcp_setoutput(kcp, Some(collect));
            ikcp_setmtu(kcp, settings.mtu as c_int);
            ikcp_wndsize(kcp, settings.send_window as c_int, settings.receive_window as c_int);
            ikcp_nodelay(
                kcp,
                c_int::from(settings.nodelay),
                settings.interval.as_millis() as c_int,
                settings.resend as c_int,
                c_int::from(settings.nc),
            );
            (*kcp).stream = c_int::from(settings.stream);
            kcp
        };
        Self { kcp, datagrams, buffer: vec![0; 1 << 20] }
    }
}

impl Drop for CCode {
    fn drop(&mut self) {
        // SAFETY: both were made in `new` and are not used again.
        unsafe {
            ikcp_release(self.kcp);
            drop(Box::from_raw(self.datagrams));
        }
    }
}

impl Peer for CCode {
    fn update(&mut self, now_ms: u32) {
        // SAFETY: the control block is valid.
        unsafe { ikcp_update(self.kcp, now_ms) }
    }

    fn flush(&mut self) {
        // SAFETY: the control block is valid.
        unsafe { ikcp_flush(self.kcp) }
    }

    fn send(&mut self, message: &[u8]) -> bool {
        // SAFETY: the control block is valid, and so many bytes can be read.
        unsafe { ikcp_send(self.kcp, message.as_ptr().cast(), message.len() as c_int) >= 0 }
    }

    fn receive(&mut self) -> Option<Vec<u8>> {
        let room = self.buffer.len() as c_int;
        // SAFETY: the control block is valid, and so many bytes can be written.
        let length = unsafe { ikcp_recv(self.kcp, self.buffer.as_mut_ptr().cast(), room) };
        let length = usize::try_from(length).ok()?;
        Some(self.buffer[..length].to_vec())
    }

    fn input(&mut self, datagram: &[u8], _origin: Origin) -> bool {
        // SAFETY: the control block is valid, and so many bytes can be read.
        unsafe { ikcp_input(self.kcp, datagram.as_ptr().cast(), datagram.len() as _) == 0 }
    }

    fn datagrams(&mut self) -> Vec<Vec<u8>> {
        // SAFETY: the vector is valid, and the C code is not running.
        unsafe { std::mem::take(&mut *self.datagrams) }
    }

    fn is_dead_link(&self) -> bool {
        // SAFETY: the control block is valid.
        unsafe { (*self.kcp).state == u32::MAX }
    }
}
