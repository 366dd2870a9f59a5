//! The settings of a protocol as they are written.

use super::Item;
use crate::protocol::ProtocolSettings;
use crate::protocol::settings::{
    Copy, KcpBehaviour, KcpSettings, MpquicCongestion, MpquicScheduler, MpquicSettings,
    QuicCongestion, QuicMode, QuicSettings, ReplicateSettings,
};
use crate::scenario::plan::Plan;
use crate::scenario::quantity::{print_duration, print_size};
use crate::units::PathId;

pub fn protocol(settings: &ProtocolSettings, plan: &Plan) -> Item {
    let path = |path: PathId| Item::value("path", plan.path_name(path));
    let below = match settings {
        ProtocolSettings::Udp(udp) => vec![path(udp.path)],
        ProtocolSettings::Mpquic(mpquic) => multipath(mpquic, plan),
        ProtocolSettings::Replicate(outer) => replicate(outer, plan),
        ProtocolSettings::Kcp(inner) => with(path(inner.path), kcp(inner)),
        ProtocolSettings::Quic(inner) => with(path(inner.path), quic(inner)),
    };
    Item::nested(settings.keyword(), below)
}

fn with(first: Item, mut rest: Vec<Item>) -> Vec<Item> {
    rest.insert(0, first);
    rest
}

fn kcp(kcp: &KcpSettings) -> Vec<Item> {
    let behaviour = match kcp.behaviour {
        KcpBehaviour::Ikcp17 => "ikcp-1.7",
        KcpBehaviour::Ikcp211 => "ikcp-2.1.1",
        KcpBehaviour::KcpGo56 => "kcp-go-5.6",
    };
    vec![
        Item::value("behaviour", behaviour),
        Item::value("nodelay", kcp.nodelay),
        Item::value("interval", print_duration(kcp.interval)),
        Item::value("resend", kcp.resend),
        Item::value("nc", u8::from(kcp.nc)),
        Item::value("send-window", kcp.send_window),
        Item::value("receive-window", kcp.receive_window),
        Item::value("mtu", print_size(kcp.mtu.into())),
        Item::value("stream", kcp.stream),
        Item::value("flush-at-once", kcp.flush_at_once),
        Item::value("update-interval", print_duration(kcp.update_interval)),
    ]
}

fn quic(quic: &QuicSettings) -> Vec<Item> {
    let congestion = match quic.congestion {
        QuicCongestion::Cubic => "cubic".to_owned(),
        QuicCongestion::NewReno => "newreno".to_owned(),
        QuicCongestion::Bbr => "bbr".to_owned(),
        QuicCongestion::FixedWindow(bytes) => {
            format!("{{ fixed-window: {} }}", print_size(bytes))
        }
    };
    let mode = match quic.mode {
        QuicMode::Stream => "stream",
        QuicMode::StreamPerMessage => "stream-per-message",
        QuicMode::Datagram => "datagram",
    };
    vec![
        Item::value("congestion", congestion),
        Item::value("mode", mode),
        Item::value("initial-rtt", print_duration(quic.initial_rtt)),
        Item::value("max-ack-delay", print_duration(quic.max_ack_delay)),
    ]
}

fn multipath(mpquic: &MpquicSettings, plan: &Plan) -> Vec<Item> {
    let scheduler = match mpquic.scheduler {
        MpquicScheduler::Redundant => "redundant",
        MpquicScheduler::MinRtt => "minrtt",
        MpquicScheduler::RoundRobin => "round-robin",
    };
    let congestion = match mpquic.congestion {
        MpquicCongestion::Cubic => "cubic",
        MpquicCongestion::Bbr => "bbr",
        MpquicCongestion::Bbr3 => "bbr3",
        MpquicCongestion::Copa => "copa",
    };
    vec![
        paths(&mpquic.paths, plan),
        Item::value("scheduler", scheduler),
        Item::value("congestion", congestion),
    ]
}

fn replicate(replicate: &ReplicateSettings, plan: &Plan) -> Vec<Item> {
    let copy = match replicate.copy {
        Copy::Datagram => "datagram",
        Copy::Message => "message",
    };
    let mut inner = protocol(&replicate.protocol, plan);
    // Its path is one of those of `replicate`, and may not be written again.
    inner.below.retain(|item| !item.line.starts_with("path:"));
    vec![paths(&replicate.paths, plan), Item::value("copy", copy), inner]
}

fn paths(paths: &[PathId], plan: &Plan) -> Item {
    let names: Vec<&str> = paths.iter().map(|path| plan.path_name(*path)).collect();
    Item::value("paths", format!("[{}]", names.join(", ")))
}
