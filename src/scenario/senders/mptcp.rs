//! `mptcp`. What is not written is as in [`MptcpSettings::new`].

use super::option::{self, SenderOption};
use super::paths::{self, PathChoice, PathKeys};
use super::tcp::kernels_name;
use super::{Engines, Sender};
use crate::protocol::ProtocolSettings;
use crate::protocol::settings::MptcpSettings;
use crate::scenario::fields::Fields;

pub const SENDER: Sender = Sender {
    keyword: "mptcp",
    about: "Multipath TCP of the kernel: one connection, a subflow a path, one ordered stream",
    source: "Linux; RFC 8684",
    engines: Engines::WithKernel,
    paths: PathKeys::Several { least: LEAST_PATHS },
    replicable: false,
    options: || option::texts(options(), &MptcpSettings::new(Vec::new())),
    read,
};

const LEAST_PATHS: usize = 2;
const NOT_REPLICABLE: &str = "it has paths of its own, and its connection is the kernel's";

type MptcpOption = SenderOption<MptcpSettings>;

pub fn options() -> Vec<MptcpOption> {
    vec![
        kernels_name("congestion", |mptcp: &mut MptcpSettings| &mut mptcp.congestion)
            .about("congestion control, of each subflow by itself"),
        MptcpOption::flag("nodelay", |mptcp| &mut mptcp.nodelay)
            .about("no message waits for the acknowledgement of the one before (TCP_NODELAY)"),
        kernels_name("scheduler", |mptcp: &mut MptcpSettings| &mut mptcp.scheduler)
            .about("which subflow sends next (net.mptcp.available_schedulers)"),
    ]
}

fn read(fields: &mut Fields, choice: PathChoice) -> Option<ProtocolSettings> {
    let names = choice.own(fields, "mptcp", NOT_REPLICABLE)?;
    let paths = paths::several(fields, "mptcp", LEAST_PATHS, names);
    let mut settings = MptcpSettings::new(Vec::new());
    option::read(&options(), fields, &mut settings);
    Some(ProtocolSettings::Mptcp(MptcpSettings { paths: paths?, ..settings }))
}
