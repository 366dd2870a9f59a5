//! The links of one path in virtual time: clean ones while the connection is set up, then those of
//! the plan.

use crate::engine::outcome::link_count;
use crate::engine::witness::{Ticket, Witness};
use crate::engine::{CLEAN_DELAY, ETHERNET_HEADER, Trial, clean_profile};
use crate::link::{BitFlip, Departed, Link, Packet, Pushed};
use crate::protocol::{Datagram, Ecn};
use crate::recording::receipt::Receipt;
use crate::recording::{LinkCount, Volume, WireCount};
use crate::timeline::Change;
use crate::units::{Direction, Instant, IpVersion, PathId};

/// One direction of one path.
pub(super) struct OneWay {
    ip: IpVersion,
    /// Used until the workload starts; what it then still holds is delivered.
    clean: Link<Datagram>,
    live: Option<Live>,
    /// Of the live link.
    changes: usize,
    handshake: WireCount,
}

/// The link of the plan, and who watches it.
struct Live {
    link: Link<(Ticket, Datagram)>,
    witness: Witness,
    start: Instant,
    volume: Option<Volume>,
}

impl OneWay {
    pub(super) fn new(ip: IpVersion) -> Self {
        let clean = Link::new(&clean_profile(CLEAN_DELAY), 0);
        Self { ip, clean, live: None, changes: 0, handshake: WireCount::default() }
    }

    pub(super) fn go_live(
        &mut self,
        start: Instant,
        trial: &Trial,
        path: PathId,
        direction: Direction,
    ) {
        let profile = trial.plan.paths[path.index()].profile(direction);
        let link = Link::new(profile, trial.link_seed(path, direction, 0));
        let (witness, volume) = (Witness::new(profile), trial.volume(path, direction));
        self.live = Some(Live { link, witness, start, volume });
    }

    /// A change of this direction of this path.
    pub(super) fn change(&mut self, now: Instant, trial: &Trial, change: &Change) {
        if let Some(live) = &mut self.live {
            self.changes += 1;
            let seed = trial.link_seed(change.path, change.direction, self.changes);
            live.link.set_profile(now, &change.profile, seed);
            live.witness.change(&change.profile);
        }
    }

    pub(super) fn push(&mut self, now: Instant, datagram: Datagram) {
        let ip_length = datagram.payload.len() as u32 + self.ip.udp_headers();
        let ecn_capable = datagram.ecn != Ecn::NotCapable;
        let length = ip_length + ETHERNET_HEADER;
        match &mut self.live {
            Some(live) => live.push(now, length, ecn_capable, datagram),
            None => {
                self.handshake.packets += 1;
                self.handshake.bytes += u64::from(ip_length);
                let _ = self.clean.push(now, Packet::new(length, datagram));
            }
        }
    }

    /// The next datagram that reaches the other side by now, intact.
    pub(super) fn pop(&mut self, now: Instant) -> Option<Datagram> {
        loop {
            let live = self.live.as_mut();
            let clean = self.clean.pop(now).map(|departed| departed.packet);
            let packet = clean.or_else(|| live?.pop(now))?;
            if let Some(datagram) = arrived(packet) {
                return Some(datagram);
            }
        }
    }

    pub(super) fn next_wakeup(&self) -> Option<Instant> {
        let live = self.live.as_ref().and_then(|live| live.link.next_wakeup());
        self.clean.next_wakeup().into_iter().chain(live).min()
    }

    pub(super) fn handshake(&self) -> WireCount {
        self.handshake
    }

    pub(super) fn count(&self) -> LinkCount {
        self.live.as_ref().map(|live| link_count(live.link.counters())).unwrap_or_default()
    }

    pub(super) fn take_volume(&mut self) -> Option<Volume> {
        self.live.as_mut()?.volume.take()
    }

    pub(super) fn take_receipts(&mut self) -> Vec<Receipt> {
        self.live.take().map_or_else(Vec::new, |live| live.witness.finish())
    }
}

impl Live {
    fn push(&mut self, now: Instant, length: u32, ecn_capable: bool, datagram: Datagram) {
        let ticket = self.witness.entered(now, length);
        if let Some(volume) = &mut self.volume {
            volume.add(now.saturating_since(self.start), length - ETHERNET_HEADER);
        }
        let mut packet = Packet::new(length, (ticket, datagram));
        packet.ecn_capable = ecn_capable;
        match self.link.push(now, packet) {
            Pushed::Queued => {}
            Pushed::Lost => self.witness.lost(ticket),
            Pushed::Overflowed => self.witness.overflowed(ticket),
        }
    }

    fn pop(&mut self, now: Instant) -> Option<Packet<Datagram>> {
        let departed = self.link.pop(now);
        while let Some(refused) = self.link.pop_refused() {
            self.witness.overflowed(refused.payload.0);
        }
        let Departed { due, packet } = departed?;
        let (ticket, datagram) = packet.payload;
        if packet.marked {
            self.witness.marked(ticket);
        }
        if packet.corrupted.is_some() {
            self.witness.corrupted(ticket);
        }
        self.witness.left(ticket, due);
        let Packet { length, ecn_capable, marked, corrupted, .. } = packet;
        Some(Packet { length, ecn_capable, marked, corrupted, payload: datagram })
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
