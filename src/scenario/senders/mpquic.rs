//! `mpquic`. What is not written is as in [`MpquicSettings::new`].

use super::option::{self, SenderOption};
use super::paths::{self, PathChoice, PathKeys};
use super::{Engines, Sender};
use crate::protocol::ProtocolSettings;
use crate::protocol::settings::{MpquicCongestion, MpquicScheduler, MpquicSettings};
use crate::scenario::fields::Fields;

pub const SENDER: Sender = Sender {
    keyword: "mpquic",
    about: "Multipath QUIC: one connection over all its paths, one ordered stream",
    source: "tquic; draft-ietf-quic-multipath-05",
    engines: Engines::All,
    paths: PathKeys::Several { least: LEAST_PATHS },
    replicable: false,
    options: || option::texts(options(), &MpquicSettings::new(Vec::new())),
    read,
};

const LEAST_PATHS: usize = 1;
const NOT_REPLICABLE: &str = "it has paths of its own, and its scheduler `redundant` does the same";

type MpquicOption = SenderOption<MpquicSettings>;

pub fn options() -> Vec<MpquicOption> {
    let schedulers = vec![
        ("redundant", MpquicScheduler::Redundant),
        ("minrtt", MpquicScheduler::MinRtt),
        ("round-robin", MpquicScheduler::RoundRobin),
    ];
    let congestion = vec![
        ("cubic", MpquicCongestion::Cubic),
        ("bbr", MpquicCongestion::Bbr),
        ("bbr3", MpquicCongestion::Bbr3),
        ("copa", MpquicCongestion::Copa),
    ];
    vec![
        MpquicOption::word("scheduler", schedulers, |mpquic| &mut mpquic.scheduler)
            .about("every packet on every path, on the path of the lowest RTT, or in turns"),
        MpquicOption::word("congestion", congestion, |mpquic| &mut mpquic.congestion)
            .about("congestion control, on each path"),
    ]
}

fn read(fields: &mut Fields, choice: PathChoice) -> Option<ProtocolSettings> {
    let names = choice.own(fields, "mpquic", NOT_REPLICABLE)?;
    let paths = paths::several(fields, "mpquic", LEAST_PATHS, names);
    let mut settings = MpquicSettings::new(Vec::new());
    option::read(&options(), fields, &mut settings);
    Some(ProtocolSettings::Mpquic(MpquicSettings { paths: paths?, ..settings }))
}
