//! `udp-arq`.

use std::time::Duration;

use super::option::{self, SenderOption};
use super::paths::{PathChoice, PathKeys};
use super::{Engines, Sender};
use crate::protocol::ProtocolSettings;
use crate::protocol::settings::UdpArqSettings;
use crate::scenario::fields::Fields;
use crate::scenario::quantity::Limits;
use crate::units::PathId;

pub const SENDER: Sender = Sender {
    keyword: "udp-arq",
    about: "A datagram a message, sent again until it is acknowledged, a few times",
    source: "impairlab's own, as applications write it: a number, a timeout, a count",
    engines: Engines::All,
    paths: PathKeys::One,
    replicable: true,
    options: || option::texts(options(), &UdpArqSettings::new(PathId(0))),
    read,
};

/// The last of the retries has to be over before the end of the trial is given up.
const TIMEOUT: Limits<Duration> =
    Limits { min: Duration::from_millis(1), max: Duration::from_secs(10) };
const RETRIES: Limits<u64> = Limits { min: 0, max: 100 };

type UdpArqOption = SenderOption<UdpArqSettings>;

pub fn options() -> Vec<UdpArqOption> {
    vec![
        UdpArqOption::duration("timeout", TIMEOUT, |arq| &mut arq.timeout)
            .about("how long an acknowledgement is waited for, each time"),
        UdpArqOption::whole("retries", RETRIES, |arq| &mut arq.retries)
            .about("how often a message is sent again at most"),
    ]
}

fn read(fields: &mut Fields, choice: PathChoice) -> Option<ProtocolSettings> {
    let path = choice.path(fields, "`udp-arq`");
    let mut settings = UdpArqSettings::new(path.unwrap_or(PathId(0)));
    option::read(&options(), fields, &mut settings);
    path.map(|_| ProtocolSettings::UdpArq(settings))
}
