//! `udp`.

use super::paths::{PathChoice, PathKeys};
use super::{Engines, Sender};
use crate::protocol::ProtocolSettings;
use crate::protocol::settings::UdpSettings;
use crate::scenario::fields::Fields;

pub const SENDER: Sender = Sender {
    keyword: "udp",
    about: "A datagram a message, sent once: what the network itself does",
    source: "RFC 768",
    engines: Engines::All,
    paths: PathKeys::One,
    replicable: true,
    options: Vec::new,
    read,
};

fn read(fields: &mut Fields, choice: PathChoice) -> Option<ProtocolSettings> {
    let path = choice.path(fields, "`udp`")?;
    Some(ProtocolSettings::Udp(UdpSettings { path }))
}
