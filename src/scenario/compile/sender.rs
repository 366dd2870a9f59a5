//! `senders`: what is compared. Each has a name and exactly one protocol.

use std::borrow::Cow;

use super::names::Names;
use crate::protocol::ProtocolSettings;
use crate::protocol::framing::MAX_MESSAGE;
use crate::protocol::kcp::{Bound, LongestMessage};
use crate::protocol::settings::{
    Copy, KcpBehaviour, KcpSettings, MpquicStack, QuicMode, ReplicateSettings,
};
use crate::scenario::diagnostic::Mistakes;
use crate::scenario::fields::{self, Fields};
use crate::scenario::limits;
use crate::scenario::mistake::Mistake;
use crate::scenario::plan::{PathPlan, SenderPlan};
use crate::scenario::senders::{self, PathChoice};
use crate::scenario::tree::{Key, Node};
use crate::units::IpVersion;
use crate::workload::Workload;

/// What is around the senders in a scenario; each as far as it could be read.
pub struct Around<'a> {
    pub names: &'a Names,
    pub paths: Option<&'a [PathPlan]>,
    pub workload: Option<&'a Workload>,
    pub vehicles: u64,
}

/// The names of the senders, and the senders if all are right.
pub fn senders(scenario: &mut Fields, around: &Around) -> (Names, Option<Vec<SenderPlan>>) {
    let mistakes = scenario.mistakes;
    let list = scenario
        .require("senders", "senders: { kcp: { kcp: {} } }")
        .and_then(|node| fields::named(node, "senders", limits::SENDERS, mistakes));
    let Some(list) = list else { return (Names(None), None) };
    let names = list.iter().map(|(key, _)| key.name.clone()).collect();
    let plans: Vec<Option<SenderPlan>> =
        list.iter().map(|entry| sender(entry, around, mistakes)).collect();
    (Names(Some(names)), plans.into_iter().collect())
}

fn sender((key, node): &(Key, Node), around: &Around, mistakes: &Mistakes) -> Option<SenderPlan> {
    let name = fields::name(&key.name, &key.place, mistakes);
    let mut fields = Fields::of(node, "a sender", &key.place, mistakes)?;
    let protocol = senders::exactly_one(&mut fields, PathChoice::Own(around.names));
    fields.finish();
    let protocol = protocol?;
    let paths = around.paths.unwrap_or_default();
    if let Some(workload) = around.workload {
        check_message_size(&protocol, workload, key, mistakes);
        check_ipv6(&protocol, workload, paths, key, mistakes);
    }
    check_same_ip(&protocol, paths, key, mistakes);
    check_vehicles(&protocol, around.vehicles, key, mistakes);
    Some(SenderPlan { name: name?, protocol })
}

fn check_message_size(
    protocol: &ProtocolSettings,
    workload: &Workload,
    key: &Key,
    mistakes: &Mistakes,
) {
    let (request, response) = workload.payload_per_message();
    let size = request.max(response);
    match message_limit(protocol) {
        Some((limit, reason)) if u64::from(size) > limit => {
            let protocol = protocol.keyword();
            let mistake = Mistake::MessageTooLarge { protocol, size, limit, reason };
            mistakes.push(key.place.clone(), mistake);
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

/// Several vehicles take an engine without a kernel, and such a sender takes one with it.
fn check_vehicles(protocol: &ProtocolSettings, vehicles: u64, key: &Key, mistakes: &Mistakes) {
    if vehicles > 1 && protocol.needs_a_kernel() {
        let protocol = protocol.keyword();
        mistakes.push(key.place.clone(), Mistake::VehiclesWithKernel { protocol, vehicles });
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

/// Bytes, and why no more.
type MessageLimit = (u64, Cow<'static, str>);

const BEHIND_ITS_NUMBER: &str = "each has to fit a packet of 1500 bytes, behind its number";

/// The largest message a protocol can carry; `None`: any that a workload can have.
fn message_limit(protocol: &ProtocolSettings) -> Option<MessageLimit> {
    match protocol {
        ProtocolSettings::Udp(_) => {
            Some((limits::UDP_MESSAGE.into(), "each has to fit a packet of 1500 bytes".into()))
        }
        ProtocolSettings::UdpArq(_) => {
            let limit = limits::UDP_MESSAGE - limits::ARQ_HEADER;
            Some((limit.into(), BEHIND_ITS_NUMBER.into()))
        }
        ProtocolSettings::Kcp(kcp) => kcp_limit(kcp),
        ProtocolSettings::Quic(quic) => datagram_limit(quic.mode),
        ProtocolSettings::Mpquic(mpquic) => match &mpquic.stack {
            MpquicStack::Tquic(_) => None,
            MpquicStack::Noq(noq) => datagram_limit(noq.mode),
        },
        ProtocolSettings::Replicate(replicate) => copied_message_limit(replicate),
        ProtocolSettings::Tcp(_) | ProtocolSettings::Mptcp(_) | ProtocolSettings::Kcptun(_) => None,
    }
}

/// An mtu without room for what goes around is reported itself, and says nothing of messages.
fn kcp_limit(kcp: &KcpSettings) -> Option<MessageLimit> {
    if kcp.mtu < kcp.least_mtu() {
        return None;
    }
    if kcp.smux.is_some() {
        return Some((MAX_MESSAGE as u64, "more is not put on a stream".into()));
    }
    let longest = LongestMessage::of(kcp);
    let (segments, bytes) = (longest.segments, longest.segment_len);
    let bound = match longest.bound {
        Bound::ReceiveWindow => {
            format!("each has to fit the {segments} segments of the `receive-window`")
        }
        Bound::Code(KcpBehaviour::KcpGo56) => {
            format!("kcp-go takes at most {segments} segments a message")
        }
        Bound::Code(_) => format!("ikcp takes at most {segments} segments a message"),
    };
    let prefix = match longest.prefix_len {
        0 => String::new(),
        bytes => format!(", and in a stream {bytes} bytes go before it"),
    };
    let reason = format!("{bound}, of {bytes} bytes each with this `mtu`{prefix}");
    Some((longest.bytes() as u64, reason.into()))
}

fn datagram_limit(mode: QuicMode) -> Option<MessageLimit> {
    let reason = "each has to fit a DATAGRAM frame in a packet of 1200 bytes";
    (mode == QuicMode::Datagram).then(|| (limits::QUIC_DATAGRAM_MESSAGE.into(), reason.into()))
}

/// Only `udp` and `udp-arq` have no room to spare in their packets: the mtu of `kcp` is checked
/// where it is read, and QUIC's packets are small.
fn copied_message_limit(replicate: &ReplicateSettings) -> Option<MessageLimit> {
    let (limit, reason) = message_limit(&replicate.protocol)?;
    match (&*replicate.protocol, replicate.copy) {
        (ProtocolSettings::Udp(_) | ProtocolSettings::UdpArq(_), Copy::Datagram) => {
            Some((limit - u64::from(limits::COPY_HEADER), BEHIND_ITS_NUMBER.into()))
        }
        _ => Some((limit, reason)),
    }
}
