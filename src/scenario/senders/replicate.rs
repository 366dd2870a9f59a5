//! `replicate`: another protocol, over several paths at once.

use super::option::{self, SenderOption};
use super::paths::{self, PathChoice, PathKeys};
use super::{Engines, Sender, exactly_one};
use crate::protocol::ProtocolSettings;
use crate::protocol::settings::{Copy, ReplicateSettings, UdpSettings};
use crate::scenario::fields::Fields;
use crate::scenario::limits;
use crate::scenario::mistake::Mistake;
use crate::units::PathId;

pub const SENDER: Sender = Sender {
    keyword: "replicate",
    about: "Another sender over several paths at once; the first copy that arrives counts",
    source: "impairlab's own; a copied datagram has its number, 4 bytes, before it",
    engines: Engines::All,
    paths: PathKeys::Several { least: LEAST_PATHS },
    replicable: false,
    options: || {
        option::texts(options(), &of(ProtocolSettings::Udp(UdpSettings { path: PathId(0) })))
    },
    read,
};

const LEAST_PATHS: usize = 2;
const NOT_REPLICABLE: &str = "copies of copies would go the same ways; list all paths in one";

type ReplicateOption = SenderOption<ReplicateSettings>;

pub fn options() -> Vec<ReplicateOption> {
    let copies = vec![("datagram", Copy::Datagram), ("message", Copy::Message)];
    vec![ReplicateOption::word("copy", copies, |replicate| &mut replicate.copy).about(
        "one connection, each of its datagrams on every path; or a connection a path, each message on every connection",
    )]
}

fn of(protocol: ProtocolSettings) -> ReplicateSettings {
    ReplicateSettings { paths: Vec::new(), copy: Copy::Datagram, protocol: Box::new(protocol) }
}

fn read(fields: &mut Fields, choice: PathChoice) -> Option<ProtocolSettings> {
    let names = choice.own(fields, "replicate", NOT_REPLICABLE)?;
    let paths = paths::several(fields, "replicate", LEAST_PATHS, names);
    let mut copies = of(ProtocolSettings::Udp(UdpSettings { path: PathId(0) }));
    option::read(&options(), fields, &mut copies);
    let protocol = exactly_one(fields, PathChoice::Given);
    let (paths, protocol) = (paths?, protocol?);
    check_mtu(&protocol, copies.copy, fields);
    let protocol = Box::new(protocol.on_path(paths[0]));
    Some(ProtocolSettings::Replicate(ReplicateSettings { paths, protocol, ..copies }))
}

/// A copy of a datagram is a little longer than the datagram.
fn check_mtu(protocol: &ProtocolSettings, copy: Copy, fields: &Fields) {
    let limit = limits::UDP_MESSAGE - limits::COPY_HEADER;
    match protocol {
        ProtocolSettings::Kcp(kcp) if copy == Copy::Datagram && kcp.mtu > limit => {
            let mistake = Mistake::MtuTooLargeToCopy { mtu: kcp.mtu, limit };
            fields.mistakes.push(fields.place().clone(), mistake);
        }
        _ => {}
    }
}
