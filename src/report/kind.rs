//! What a comparison of many senders tells them apart by: the family of the protocol, and how it
//! uses more than one path.

use std::fmt;

use crate::protocol::ProtocolSettings;
use crate::protocol::settings::Copy;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kind {
    /// The word for the protocol in a scenario file; for one that is replicated, what is.
    pub family: &'static str,
    pub redundancy: Redundancy,
    /// Whether it sends parity beside the data.
    pub error_correction: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Redundancy {
    OnePath,
    /// Each datagram goes over every path.
    Datagrams,
    /// Each message goes over a connection of every path.
    Messages,
    /// The protocol itself shares its packets out, or copies them.
    OwnPaths,
}

impl Redundancy {
    pub const ALL: [Redundancy; 4] =
        [Self::OnePath, Self::Datagrams, Self::Messages, Self::OwnPaths];
}

impl Kind {
    pub fn of(protocol: &ProtocolSettings) -> Self {
        let (alone, redundancy) = match protocol {
            ProtocolSettings::Replicate(replicate) => {
                let redundancy = match replicate.copy {
                    Copy::Datagram => Redundancy::Datagrams,
                    Copy::Message => Redundancy::Messages,
                };
                (&*replicate.protocol, redundancy)
            }
            other if other.paths().len() > 1 => (other, Redundancy::OwnPaths),
            other => (other, Redundancy::OnePath),
        };
        Self { family: alone.keyword(), redundancy, error_correction: corrects_errors(alone) }
    }
}

fn corrects_errors(protocol: &ProtocolSettings) -> bool {
    match protocol {
        ProtocolSettings::Kcp(kcp) => kcp.fec.is_some(),
        ProtocolSettings::Kcptun(kcptun) => kcptun.fec.is_some(),
        _ => false,
    }
}

impl fmt::Display for Redundancy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OnePath => "one path",
            Self::Datagrams => "datagrams copied",
            Self::Messages => "messages copied",
            Self::OwnPaths => "multipath protocol",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::kcptun::fec::GroupSizes;
    use crate::protocol::settings::{KcpSettings, ReplicateSettings};
    use crate::recording::sample;

    #[test]
    fn what_is_replicated_belongs_to_its_own_family() {
        let plan = sample::plan(1);
        let kinds = plan.senders.iter().map(|sender| {
            let Kind { family, redundancy, .. } = Kind::of(&sender.protocol);
            format!("{}: {family}, {redundancy}", sender.name)
        });
        insta::assert_snapshot!(kinds.collect::<Vec<_>>().join("\n"), @"
        udp: udp, one path
        kcp: kcp, one path
        quic: quic, one path
        mpquic: mpquic, multipath protocol
        kcp-both: kcp, datagrams copied
        quic-both: quic, datagrams copied
        ");
    }

    #[test]
    fn parity_is_seen_in_copies_too() {
        let kcp = |fec| {
            ProtocolSettings::Kcp(KcpSettings { fec, ..KcpSettings::new(crate::units::PathId(0)) })
        };
        let copied = |protocol| {
            let paths = vec![crate::units::PathId(0), crate::units::PathId(1)];
            let protocol = Box::new(protocol);
            ProtocolSettings::Replicate(ReplicateSettings { paths, copy: Copy::Message, protocol })
        };
        let fec = GroupSizes::new(3, 2).ok();
        let corrects = [kcp(None), kcp(fec), copied(kcp(None)), copied(kcp(fec))]
            .map(|protocol| Kind::of(&protocol).error_correction);
        assert_eq!(corrects, [false, true, false, true]);
    }
}
