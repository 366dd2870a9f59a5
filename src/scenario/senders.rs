//! The table of senders: what each is called, what it is, which engines run it and what can be set
//! on it. One table: scenario files are read by it, `show` writes by it, `impairlab senders`, the
//! schema and the documentation are printed from it. A new sender is a file here and a line in
//! [`SENDERS`]; a new option is a line in that file.

mod form;
mod kcp;
mod kcptun;
mod mpquic;
mod mptcp;
mod option;
mod paths;
mod quic;
mod replicate;
mod tcp;
mod udp;
mod udp_arq;

pub use form::Form;
pub use option::OptionText;
pub use paths::{PathChoice, PathKeys};

use super::fields::Fields;
use super::mistake::Mistake;
use super::tree::{Key, Node};
use crate::protocol::ProtocolSettings;

/// A protocol as a scenario names it.
pub struct Sender {
    /// Its key in a scenario.
    pub keyword: &'static str,
    /// A sentence: what it is.
    pub about: &'static str,
    /// The code that runs, and the standard it follows.
    pub source: &'static str,
    pub engines: Engines,
    pub paths: PathKeys,
    /// Whether `replicate` can copy it.
    pub replicable: bool,
    /// What can be set on it, the keys of its paths left out.
    pub options: fn() -> Vec<OptionText>,
    read: Reader,
}

/// The engines a sender can run on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engines {
    /// It has no sockets of its own, and so runs in virtual time as well.
    All,
    /// It lives in a kernel, or is a program that needs one.
    WithKernel,
}

type Reader = for<'n> fn(&mut Fields<'n>, PathChoice) -> Option<ProtocolSettings>;

pub const SENDERS: [Sender; 9] = [
    udp::SENDER,
    udp_arq::SENDER,
    kcp::SENDER,
    quic::SENDER,
    mpquic::SENDER,
    tcp::SENDER,
    mptcp::SENDER,
    kcptun::SENDER,
    replicate::SENDER,
];

const LATER: [&str; 2] = ["program", "socket"];

impl Sender {
    /// The line of the table for a protocol.
    pub fn of(settings: &ProtocolSettings) -> &'static Self {
        const TABLE: &[Sender] = &SENDERS;
        let keyword = settings.keyword();
        let found = TABLE.iter().find(|sender| sender.keyword == keyword);
        found.unwrap_or_else(|| unreachable!("`{keyword}` has a line in the table"))
    }
}

impl Engines {
    /// Their names, as `--engine` takes them.
    pub const fn names(self) -> &'static [&'static str] {
        match self {
            Self::All => &["sim", "relay", "netem", "uml"],
            Self::WithKernel => &["relay", "netem", "uml"],
        }
    }
}

/// The protocol in a mapping that has exactly one.
pub fn exactly_one(fields: &mut Fields, choice: PathChoice) -> Option<ProtocolSettings> {
    let mut found: Vec<(&(Key, Node), Sender)> = Vec::new();
    for sender in SENDERS {
        found.extend(fields.take_entry(sender.keyword).map(|entry| (entry, sender)));
    }
    let later = fields.later(&LATER);
    match &found[..] {
        [((key, node), sender)] => read(sender, key, node, choice, fields),
        [] if later => None,
        _ => {
            let mistake = choice.not_exactly_one();
            fields.mistakes.push(fields.place().clone(), mistake);
            None
        }
    }
}

impl PathChoice<'_> {
    /// Of the protocols that there can be here.
    fn not_exactly_one(self) -> Mistake {
        let (holder, copied) = match self {
            Self::Own(_) => ("a sender", false),
            Self::Given => ("`replicate`", true),
        };
        let known = SENDERS.into_iter().filter(|sender| sender.replicable || !copied);
        let known = known.map(|sender| sender.keyword).collect::<Vec<_>>().join(", ");
        Mistake::NotExactlyOne { holder, known }
    }
}

fn read(
    sender: &Sender,
    key: &Key,
    node: &Node,
    choice: PathChoice,
    fields: &Fields,
) -> Option<ProtocolSettings> {
    let mut inner = Fields::of(node, sender.keyword, &key.place, fields.mistakes)?;
    let settings = (sender.read)(&mut inner, choice);
    inner.finish();
    settings
}

/// Each option of a protocol as it is written in a scenario, the keys of its paths and what it
/// replicates left out.
pub fn written(settings: &ProtocolSettings) -> Vec<(&'static str, String)> {
    match settings {
        ProtocolSettings::Udp(_) => Vec::new(),
        ProtocolSettings::UdpArq(settings) => option::written(&udp_arq::options(), settings),
        ProtocolSettings::Kcp(settings) => option::written(&kcp::options(), settings),
        ProtocolSettings::Quic(settings) => option::written(&quic::options(), settings),
        ProtocolSettings::Mpquic(settings) => mpquic::written(settings),
        ProtocolSettings::Tcp(settings) => option::written(&tcp::options(), settings),
        ProtocolSettings::Mptcp(settings) => option::written(&mptcp::options(), settings),
        ProtocolSettings::Kcptun(settings) => option::written(&kcptun::options(), settings),
        ProtocolSettings::Replicate(settings) => option::written(&replicate::options(), settings),
    }
}

#[cfg(test)]
mod tests;
