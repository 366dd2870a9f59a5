//! The witness beside the real link: no false alarms where the link does what it is asked, alarms
//! where it does something else, and intervals that cover what was asked as often as they say.

mod host;
mod order;
mod power;
mod profiles;

use super::*;
use crate::link::{Link, Packet, Pushed};
use crate::recording::receipt::judge::{Judged, Verdict, What, judge};

/// Bytes of every packet.
const LENGTH: u32 = 642;

/// A witness that was told `asked` watches a link that does `done`.
fn watch(
    asked: &LinkProfile,
    done: &LinkProfile,
    packets: u64,
    spacing: Duration,
    seed: u64,
) -> Receipt {
    let mut witness = Witness::new(asked);
    let mut link = Link::new(done, seed);
    let mut now = Instant::from_nanos(1_000_000_000);
    for _ in 0..packets {
        take_all(&mut link, &mut witness, now);
        let ticket = witness.entered(now, LENGTH);
        let mut packet = Packet::new(LENGTH, ticket);
        packet.ecn_capable = true;
        match link.push(now, packet) {
            Pushed::Queued => {}
            Pushed::Lost => witness.lost(ticket),
            Pushed::Overflowed => witness.overflowed(ticket),
        }
        now = now + spacing;
    }
    take_all(&mut link, &mut witness, now + Duration::from_secs(100));
    witness.finish().remove(0)
}

fn take_all(link: &mut Link<Ticket>, witness: &mut Witness, now: Instant) {
    while let Some(departed) = link.pop(now) {
        let ticket = departed.packet.payload;
        if departed.packet.marked {
            witness.marked(ticket);
        }
        if departed.packet.corrupted.is_some() {
            witness.corrupted(ticket);
        }
        witness.left(ticket, departed.due);
    }
}

fn figure(figures: &[Judged], what: What) -> &Judged {
    figures.iter().find(|figure| figure.what == what).expect("a figure of each kind")
}

fn disagrees(figures: &[Judged]) -> Vec<What> {
    let wrong = figures.iter().filter(|figure| figure.verdict == Verdict::Disagrees);
    wrong.map(|figure| figure.what).collect()
}
