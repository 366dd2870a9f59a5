//! `senders`: what is compared. Each has a name and exactly one protocol.

use super::names::Names;
use crate::protocol::ProtocolSettings;
use crate::protocol::framing::MAX_MESSAGE;
use crate::protocol::settings::{Copy, MpquicStack, QuicMode, ReplicateSettings};
use crate::scenario::diagnostic::Mistakes;
use crate::scenario::fields::{self, Fields};
use crate::scenario::limits;
use crate::scenario::mistake::Mistake;
use crate::scenario::plan::{PathPlan, SenderPlan};
use crate::scenario::senders::{self, PathChoice};
use crate::scenario::tree::{Key, Node};
use crate::units::IpVersion;
use crate::workload::Workload;

/// The names of the senders, and the senders if all are right.
pub fn senders(
    scenario: &mut Fields,
    paths: &Names,
    plans: Option<&[PathPlan]>,
    workload: Option<&Workload>,
) -> (Names, Option<Vec<SenderPlan>>) {
    let mistakes = scenario.mistakes;
    let list = scenario
        .require("senders", "senders: { kcp: { kcp: {} } }")
        .and_then(|node| fields::named(node, "senders", limits::SENDERS, mistakes));
    let Some(list) = list else { return (Names(None), None) };
    let names = list.iter().map(|(key, _)| key.name.clone()).collect();
    let plans: Vec<Option<SenderPlan>> =
        list.iter().map(|entry| sender(entry, paths, plans, workload, scenario)).collect();
    (Names(Some(names)), plans.into_iter().collect())
}

fn sender(
    (key, node): &(Key, Node),
    paths: &Names,
    plans: Option<&[PathPlan]>,
    workload: Option<&Workload>,
    scenario: &Fields,
) -> Option<SenderPlan> {
    let mistakes = scenario.mistakes;
    let name = fields::name(&key.name, &key.place, mistakes);
    let mut fields = Fields::of(node, "a sender", &key.place, mistakes)?;
    let protocol = senders::exactly_one(&mut fields, PathChoice::Own(paths));
    fields.finish();
    let protocol = protocol?;
    if let Some(workload) = workload {
        check_message_size(&protocol, workload, key, scenario);
        check_ipv6(&protocol, workload, plans.unwrap_or_default(), key, mistakes);
    }
    check_same_ip(&protocol, plans.unwrap_or_default(), key, mistakes);
    Some(SenderPlan { name: name?, protocol })
}

fn check_message_size(
    protocol: &ProtocolSettings,
    workload: &Workload,
    key: &Key,
    scenario: &Fields,
) {
    let (request, response) = workload.payload_per_message();
    let size = request.max(response);
    match message_limit(protocol) {
        Some((limit, reason)) if u64::from(size) > limit => {
            let protocol = protocol.keyword();
            let mistake = Mistake::MessageTooLarge { protocol, size, limit, reason };
            scenario.mistakes.push(key.place.clone(), mistake);
        }
        _ => {}
    }
}

/// Over IPv4 the limits of each protocol see to it; over IPv6 less fits.
fn check_ipv6(
    protocol: &ProtocolSettings,
    workload: &Workload,
    paths: &[PathPlan],
    key: &Key,
    mistakes: &Mistakes,
) {
    let (request, response) = workload.payload_per_message();
    let Some(bytes) = largest_datagram(protocol, request.max(response)) else { return };
    let used = protocol.paths();
    let mut used = used.iter().filter_map(|path| paths.get(path.index()));
    let narrow = used.find(|path| path.ip == IpVersion::V6 && bytes > limits::IPV6_DATAGRAM);
    if let Some(path) = narrow {
        let (protocol, limit) = (protocol.keyword(), limits::IPV6_DATAGRAM);
        let path = path.name.clone();
        mistakes.push(key.place.clone(), Mistake::TooLargeForIpv6 { protocol, bytes, path, limit });
    }
}

/// The kernel opens no IPv6 subflow of an IPv4 connection.
fn check_same_ip(protocol: &ProtocolSettings, paths: &[PathPlan], key: &Key, mistakes: &Mistakes) {
    let ProtocolSettings::Mptcp(mptcp) = protocol else { return };
    let mut versions = mptcp.paths.iter().filter_map(|path| Some(paths.get(path.index())?.ip));
    let first = versions.next();
    if versions.any(|version| Some(version) != first) {
        mistakes.push(key.place.clone(), Mistake::MixedIp { protocol: protocol.keyword() });
    }
}

/// What a protocol sends at most at once, for messages of this size; `None` where it finds out by
/// itself what fits.
fn largest_datagram(protocol: &ProtocolSettings, message: u32) -> Option<u32> {
    match protocol {
        ProtocolSettings::Udp(_) => Some(message),
        ProtocolSettings::UdpArq(_) => Some(message + limits::ARQ_HEADER),
        ProtocolSettings::Kcp(kcp) => Some(kcp.mtu),
        ProtocolSettings::Replicate(replicate) => {
            let header = if replicate.copy == Copy::Datagram { limits::COPY_HEADER } else { 0 };
            Some(largest_datagram(&replicate.protocol, message)? + header)
        }
        ProtocolSettings::Kcptun(kcptun) => Some(kcptun.mtu),
        ProtocolSettings::Quic(_)
        | ProtocolSettings::Mpquic(_)
        | ProtocolSettings::Tcp(_)
        | ProtocolSettings::Mptcp(_) => None,
    }
}

/// The largest message a protocol can carry, and why; `None`: any that a workload can have.
fn message_limit(protocol: &ProtocolSettings) -> Option<(u64, &'static str)> {
    match protocol {
        ProtocolSettings::Udp(_) => {
            Some((limits::UDP_MESSAGE.into(), "each has to fit a packet of 1500 bytes"))
        }
        ProtocolSettings::UdpArq(_) => {
            let limit = limits::UDP_MESSAGE - limits::ARQ_HEADER;
            Some((limit.into(), "each has to fit a packet of 1500 bytes, behind its number"))
        }
        ProtocolSettings::Kcp(kcp) if kcp.smux.is_some() => {
            Some((MAX_MESSAGE as u64, "more is not put on a stream"))
        }
        ProtocolSettings::Kcp(kcp) => {
            let overhead = limits::KCP_OVERHEAD + kcp.wrapping_overhead() as u32;
            // One that leaves nothing is refused where it is read.
            let segment = kcp.mtu.checked_sub(overhead).filter(|segment| *segment > 0)?;
            let length_prefix = 4;
            let limit = u64::from(segment * limits::KCP_FRAGMENTS) - length_prefix;
            Some((limit, "ikcp takes at most 127 segments a message, which the mtu makes as large"))
        }
        ProtocolSettings::Quic(quic) => datagram_limit(quic.mode),
        ProtocolSettings::Mpquic(mpquic) => match &mpquic.stack {
            MpquicStack::Tquic(_) => None,
            MpquicStack::Noq(noq) => datagram_limit(noq.mode),
        },
        ProtocolSettings::Replicate(replicate) => copied_message_limit(replicate),
        ProtocolSettings::Tcp(_) | ProtocolSettings::Mptcp(_) | ProtocolSettings::Kcptun(_) => None,
    }
}

fn datagram_limit(mode: QuicMode) -> Option<(u64, &'static str)> {
    let reason = "each has to fit a DATAGRAM frame in a packet of 1200 bytes";
    (mode == QuicMode::Datagram).then(|| (limits::QUIC_DATAGRAM_MESSAGE.into(), reason))
}

/// Only `udp` and `udp-arq` have no room to spare in their packets: the mtu of `kcp` is checked
/// where it is read, and QUIC's packets are small.
fn copied_message_limit(replicate: &ReplicateSettings) -> Option<(u64, &'static str)> {
    let (limit, reason) = message_limit(&replicate.protocol)?;
    match (&*replicate.protocol, replicate.copy) {
        (ProtocolSettings::Udp(_) | ProtocolSettings::UdpArq(_), Copy::Datagram) => Some((
            limit - u64::from(limits::COPY_HEADER),
            "each has to fit a packet of 1500 bytes, behind its number",
        )),
        _ => Some((limit, reason)),
    }
}
