//! What one sender put on the wire on two engines, each direction by itself, and whether that
//! agrees.

use super::pair::{Pair, Value};
use super::{Agrees, runs_of};
use crate::protocol::ProtocolSettings;
use crate::recording::{AmplificationFigure, Recording};
use crate::report::table::Cell;

/// How far a direction may lie apart, as a share of the reference.
pub const TOLERANCE: f64 = 0.05;
/// … and so far in any case, in bytes for a byte of payload: a direction in which next to nothing is
/// sent does not have to agree to a twentieth of that.
pub const TOLERANCE_BYTES: f64 = 0.01;
/// How far that of two single runs may lie apart by chance. Over 60 seeds of a minute it scatters by
/// at most 1.6 % with medium or heavy loss, and by up to 10 % in an outage (QUIC on one path): three
/// standard deviations of a difference are 7 and 42 %.
const NOISE: f64 = 0.3;

pub(super) const HEADINGS: [&str; 8] =
    ["sender", "amp. up", "other", "apart", "down", "other", "apart", "agrees"];

/// Bytes for a byte of payload.
#[derive(Debug, Clone, Copy)]
pub(super) struct Amplifications {
    pub(super) up: Pair,
    pub(super) down: Pair,
    pub(super) runs: usize,
    /// The kernel's TCP acknowledges.
    by_tcp: bool,
}

impl Amplifications {
    /// `None`: one of both did not run it, or it took no message there.
    pub(super) fn of(sender: &str, reference: &[Recording], other: &[Recording]) -> Option<Self> {
        let of = |recordings: &[Recording]| {
            let runs = recordings.iter().filter(|one| one.sender == sender);
            AmplificationFigure::of(&runs.collect::<Vec<_>>())
        };
        let protocol = &reference.iter().find(|one| one.sender == sender)?.protocol;
        let by_tcp = matches!(protocol, ProtocolSettings::Tcp(_) | ProtocolSettings::Mptcp(_));
        let runs = runs_of(sender, reference, other);
        let (reference, other) = (of(reference)?, of(other)?);
        let pair = |value: fn(AmplificationFigure) -> Value| Pair {
            reference: value(reference),
            other: value(other),
        };
        Some(Self {
            up: pair(|of| Value { value: of.value.up, interval: of.up }),
            down: pair(|of| Value { value: of.value.down, interval: of.down }),
            runs,
            by_tcp,
        })
    }

    /// What TCP of the kernel may do otherwise because something was late once.
    pub(super) fn acknowledges_otherwise(&self) -> bool {
        self.by_tcp && self.verdict_on(self.down) != Agrees::Yes
    }

    pub(super) fn verdict(&self) -> Agrees {
        self.verdict_on(self.up).max(self.verdict_on(self.down))
    }

    /// One direction.
    pub(super) fn verdict_on(&self, pair: Pair) -> Agrees {
        let (apart, reference) = (pair.apart().abs(), pair.reference.value);
        match apart <= TOLERANCE_BYTES.max(TOLERANCE * reference) {
            true => Agrees::Yes,
            false => pair.beyond_tolerance(self.runs, apart < NOISE * reference),
        }
    }

    /// As many as [`HEADINGS`], the sender's name and the verdict left out.
    pub(super) fn cells(&self) -> Vec<Cell> {
        let number = |value: f64| Cell::new(format!("{value:.3}"));
        let cells = |pair: Pair| {
            let apart = Cell::new(format!("{:+.3}", pair.apart()));
            [number(pair.reference.value), number(pair.other.value), apart]
        };
        [self.up, self.down].into_iter().flat_map(cells).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::settings::TcpSettings;
    use crate::recording::{LinkCount, sample};
    use crate::units::PathId;

    /// Runs of the sample's kcp with so many bytes up and down.
    fn runs(bytes: &[[u64; 2]]) -> Vec<Recording> {
        let run = |(repetition, [up, down]): (u32, &[u64; 2])| {
            let mut recording = sample::recording("kcp", repetition);
            recording.wire.truncate(1);
            let link = |bytes: u64| {
                let mut count = LinkCount::default();
                count.offered.bytes = bytes;
                count
            };
            (recording.wire[0].up, recording.wire[0].down) = (link(*up), link(*down));
            recording
        };
        (0..).zip(bytes).map(run).collect()
    }

    fn verdict(reference: &[[u64; 2]], other: &[[u64; 2]]) -> Agrees {
        let found = Amplifications::of("kcp", &runs(reference), &runs(other));
        found.expect("both took messages").verdict()
    }

    /// The sample takes 3,000 messages of 600 bytes: 18,000 bytes are a hundredth.
    #[test]
    fn each_direction_has_to_agree_and_one_run_does_not_tell_noise_from_a_small_difference() {
        let (up, down) = (2_000_000, 72_000);
        let of_one = |up, down| verdict(&[[2_000_000, 72_000]], &[[up, down]]);
        assert_eq!(of_one(up, down), Agrees::Yes);
        assert_eq!(of_one(2_099_000, down), Agrees::Yes);
        assert_eq!(of_one(2_101_000, down), Agrees::TooFewRuns);
        assert_eq!(of_one(2_601_000, down), Agrees::No);
        assert_eq!(of_one(up, 89_000), Agrees::Yes);
        // 0.04 and 0.09: an acknowledgement for two messages, and one for each.
        assert_eq!(of_one(up, 162_000), Agrees::No);
        assert_eq!(of_one(up, 0), Agrees::No);
    }

    #[test]
    fn tcp_may_acknowledge_otherwise_and_others_may_not() {
        let otherwise = |protocol: Option<ProtocolSettings>, down: u64| {
            let mut reference = runs(&[[2_000_000, 72_000]]);
            reference[0].protocol = protocol.unwrap_or_else(|| reference[0].protocol.clone());
            let found = Amplifications::of("kcp", &reference, &runs(&[[2_000_000, down]]));
            found.expect("both took messages").acknowledges_otherwise()
        };
        let tcp = || Some(ProtocolSettings::Tcp(TcpSettings::new(PathId(0))));
        assert!(otherwise(tcp(), 162_000));
        assert!(!otherwise(tcp(), 72_000));
        assert!(!otherwise(None, 162_000));
    }

    #[test]
    fn five_runs_tell_how_far_they_scatter_and_not_whether_a_small_difference_is_one() {
        let wide = [1_700_000, 1_800_000, 2_000_000, 2_200_000, 2_300_000].map(|up| [up, 0]);
        let more = [1_900_000, 2_000_000, 2_200_000, 2_400_000, 2_500_000].map(|up| [up, 0]);
        let [narrow, less] = [[[1_700_000, 0]; 20], [[1_600_000, 0]; 20]];
        assert_eq!(verdict(&wide, &more), Agrees::WithinNoise);
        assert_eq!(verdict(&less[..5], &more), Agrees::No);
        assert_eq!(verdict(&narrow[..5], &more), Agrees::TooFewRuns);
        assert_eq!(verdict(&narrow[..19], &less[..19]), Agrees::TooFewRuns);
        assert_eq!(verdict(&narrow, &less), Agrees::No);
    }

    #[test]
    fn where_one_engine_took_no_message_there_is_nothing_to_agree() {
        let mut idle = runs(&[[0, 0]]);
        idle[0].accepted = 0;
        assert!(Amplifications::of("kcp", &runs(&[[1, 1]]), &idle).is_none());
        assert!(Amplifications::of("kcp", &[], &runs(&[[1, 1]])).is_none());
    }
}
