//! The links of one path in virtual time: clean ones while the connection is set up, then those of
//! the plan.

use crate::engine::outcome::link_count;
use crate::engine::{ETHERNET_HEADER, Trial, clean_profile};
use crate::link::{BitFlip, Link, Packet};
use crate::protocol::{Datagram, Ecn};
use crate::recording::{LinkCount, WireCount};
use crate::timeline::Change;
use crate::units::{Direction, Instant, IpVersion, PathId};

/// One direction of one path.
pub(super) struct OneWay {
    ip: IpVersion,
    /// Used until the workload starts; what it then still holds is delivered.
    clean: Link<Datagram>,
    live: Option<Link<Datagram>>,
    /// Of the live link.
    changes: usize,
    handshake: WireCount,
}

impl OneWay {
    pub(super) fn new(ip: IpVersion) -> Self {
        let clean = Link::new(&clean_profile(), 0);
        Self { ip, clean, live: None, changes: 0, handshake: WireCount::default() }
    }

    pub(super) fn go_live(&mut self, trial: &Trial, path: PathId, direction: Direction) {
        let plan = &trial.plan.paths[path.index()];
        let profile = match direction {
            Direction::Up => &plan.up,
            Direction::Down => &plan.down,
        };
        self.live = Some(Link::new(profile, trial.link_seed(path, direction, 0)));
    }

    /// A change of this direction of this path.
    pub(super) fn change(&mut self, now: Instant, trial: &Trial, change: &Change) {
        if let Some(live) = &mut self.live {
            self.changes += 1;
            let seed = trial.link_seed(change.path, change.direction, self.changes);
            live.set_profile(now, &change.profile, seed);
        }
    }

    pub(super) fn push(&mut self, now: Instant, datagram: Datagram) {
        let ip_length = datagram.payload.len() as u32 + self.ip.udp_headers();
        let ecn_capable = datagram.ecn != Ecn::NotCapable;
        let mut packet = Packet::new(ip_length + ETHERNET_HEADER, datagram);
        packet.ecn_capable = ecn_capable;
        match &mut self.live {
            Some(live) => {
                let _ = live.push(now, packet);
            }
            None => {
                self.handshake.packets += 1;
                self.handshake.bytes += u64::from(ip_length);
                let _ = self.clean.push(now, packet);
            }
        }
    }

    /// The next datagram that reaches the other side by now, intact.
    pub(super) fn pop(&mut self, now: Instant) -> Option<Datagram> {
        loop {
            let live = self.live.as_mut();
            let departed = self.clean.pop(now).or_else(|| live?.pop(now))?;
            if let Some(datagram) = arrived(departed.packet) {
                return Some(datagram);
            }
        }
    }

    pub(super) fn next_wakeup(&self) -> Option<Instant> {
        let live = self.live.as_ref().and_then(Link::next_wakeup);
        self.clean.next_wakeup().into_iter().chain(live).min()
    }

    pub(super) fn handshake(&self) -> WireCount {
        self.handshake
    }

    pub(super) fn count(&self) -> LinkCount {
        self.live.as_ref().map(|live| link_count(live.counters())).unwrap_or_default()
    }
}

/// What the receiving host makes of a packet. One flipped bit is caught by the check of the
/// destination address, the type or a checksum, but for two places: nobody looks at the Ethernet
/// source address, and the lowest bit of the first byte makes a multicast frame of it, which Linux
/// takes in.
fn arrived(packet: Packet<Datagram>) -> Option<Datagram> {
    const SOURCE_ADDRESS: std::ops::Range<u32> = 6..12;
    const MULTICAST: BitFlip = BitFlip { offset: 0, bit: 0 };
    let harmless = |flip: BitFlip| flip == MULTICAST || SOURCE_ADDRESS.contains(&flip.offset);
    if packet.corrupted.is_some_and(|flip| !harmless(flip)) {
        return None;
    }
    let mut datagram = packet.payload;
    if packet.marked {
        datagram.ecn = Ecn::CongestionExperienced;
    }
    Some(datagram)
}
