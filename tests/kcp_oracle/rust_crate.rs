//! Crate `kcp` 0.6: a Rust port of the C code with conservative fast acknowledgements.

use std::cell::RefCell;
use std::io::{self, Write};
use std::rc::Rc;

use impairlab::protocol::kcp::Origin;

use crate::peer::Peer;
use crate::scenario::{CONV, Scenario};

pub struct RustCrate {
    kcp: kcp::Kcp<Collector>,
    datagrams: Rc<RefCell<Vec<Vec<u8>>>>,
    buffer: Vec<u8>,
}

/// Each write is a datagram.
struct Collector(Rc<RefCell<Vec<Vec<u8>>>>);

impl Write for Collector {
    fn write(&mut self, datagram: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().push(datagram.to_vec());
        Ok(datagram.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl RustCrate {
    pub fn new(scenario: &Scenario) -> Self {
        let settings = &scenario.settings;
        let datagrams = Rc::default();
        let output = Collector(Rc::clone(&datagrams));
        let mut kcp = if settings.stream {
            kcp::Kcp::new_stream(CONV, output)
        } else {
            kcp::Kcp::new(CONV, output)
        };
        kcp.set_mtu(settings.mtu as usize).expect("a possible MTU");
        kcp.set_wndsize(settings.send_window as u16, settings.receive_window as u16);
        let interval_ms = settings.interval.as_millis() as i32;
        kcp.set_nodelay(settings.nodelay > 0, interval_ms, settings.resend as i32, settings.nc);
        Self { kcp, datagrams, buffer: vec![0; 1 << 20] }
    }
}

impl Peer for RustCrate {
    fn update(&mut self, now_ms: u32) {
        self.kcp.update(now_ms).expect("the collector takes everything");
    }

    /// An error: not updated yet, so that nothing is flushed.
    fn flush(&mut self) {
        let _ = self.kcp.flush();
    }

    fn send(&mut self, message: &[u8]) -> bool {
        self.kcp.send(message).is_ok()
    }

    fn receive(&mut self) -> Option<Vec<u8>> {
        let length = self.kcp.recv(&mut self.buffer).ok()?;
        Some(self.buffer[..length].to_vec())
    }

    fn input(&mut self, datagram: &[u8], _origin: Origin) -> bool {
        self.kcp.input(datagram).is_ok()
    }

    fn datagrams(&mut self) -> Vec<Vec<u8>> {
        self.datagrams.take()
    }

    fn is_dead_link(&self) -> bool {
        self.kcp.is_dead_link()
    }
}
