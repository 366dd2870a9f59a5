//! `kcp`. What is not written is as in [`KcpSettings::new`].

mod layers;

pub use layers::fec;

use std::time::Duration;

use super::option::{self, SenderOption};
use super::paths::{PathChoice, PathKeys};
use super::{Engines, Sender};
use crate::protocol::ProtocolSettings;
use crate::protocol::settings::{KcpBehaviour, KcpPreset, KcpSettings};
use crate::scenario::fields::Fields;
use crate::scenario::mistake::Mistake;
use crate::scenario::quantity::Limits;
use crate::units::PathId;

pub const SENDER: Sender = Sender {
    keyword: "kcp",
    about: "One ordered conversation over UDP, made for low latency",
    source: "our engine, equal packet for packet to the C code of versions 1.7 and 2.1.1, and to kcp-go 5.6.1",
    engines: Engines::All,
    paths: PathKeys::One,
    replicable: true,
    options: || option::texts(options(), &KcpSettings::new(PathId(0))),
    read,
};

const NODELAY: Limits<u64> = Limits { min: 0, max: 2 };
const RESEND: Limits<u64> = Limits { min: 0, max: 1000 };
const SEND_WINDOW: Limits<u64> = Limits { min: 1, max: 32_768 };
/// ikcp raises smaller receive windows to 128 without a word.
const RECEIVE_WINDOW: Limits<u64> = Limits { min: 128, max: 32_768 };
/// ikcp refuses less; more does not fit a packet of 1,500 bytes.
const MTU: Limits<u64> = Limits { min: 50, max: 1472 };
const INTERVAL: Limits<Duration> =
    Limits { min: Duration::from_millis(10), max: Duration::from_secs(5) };
const UPDATE_INTERVAL: Limits<Duration> =
    Limits { min: Duration::from_millis(1), max: Duration::from_secs(5) };

type KcpOption = SenderOption<KcpSettings>;

pub fn options() -> Vec<KcpOption> {
    let behaviours = vec![
        ("ikcp-2.1.1", KcpBehaviour::Ikcp211),
        ("ikcp-1.7", KcpBehaviour::Ikcp17),
        ("kcp-go-5.6", KcpBehaviour::KcpGo56),
    ];
    let mut options = vec![
        KcpOption::word("behaviour", behaviours, |kcp| &mut kcp.behaviour).about(
            "whose rules: the C code of 2024, that of 2017, which counts skipped packets differently, \
             or what kcptun runs",
        ),
        KcpOption::preset("preset", presets(), KcpSettings::fill, KcpSettings::present_preset)
            .about("the four options below where they are not written, by kcptun's modes; `default`: as KCP is when told nothing"),
        KcpOption::whole("nodelay", NODELAY, |kcp| &mut kcp.nodelay)
            .about("minimum RTO 100 ms (0) or 30 ms (1, 2), and how it grows"),
        KcpOption::milliseconds("interval", INTERVAL, |kcp| &mut kcp.interval).about("flush clock"),
        KcpOption::whole("resend", RESEND, |kcp| &mut kcp.resend)
            .about("fast resend after so many later ACKs; 0: never"),
        KcpOption::bit("nc", |kcp| &mut kcp.nc).about("1: no congestion control"),
        KcpOption::whole("send-window", SEND_WINDOW, |kcp| &mut kcp.send_window).about("segments"),
        KcpOption::whole("receive-window", RECEIVE_WINDOW, |kcp| &mut kcp.receive_window)
            .about("segments (ikcp raises less than 128 to 128)"),
        KcpOption::size("mtu", MTU, |kcp| &mut kcp.mtu).about("UDP payload of a datagram, with what is around it"),
        KcpOption::flag("stream", |kcp| &mut kcp.stream).about("merge messages into full segments"),
        KcpOption::flag("flush-at-once", |kcp| &mut kcp.flush_at_once)
            .about("ikcp only: flush on send and on input, not only on the clock"),
        KcpOption::milliseconds("update-interval", UPDATE_INTERVAL, |kcp| &mut kcp.update_interval)
            .about("ikcp only: how often the clock is looked at"),
        KcpOption::flag("ack-nodelay", |kcp| &mut kcp.ack_nodelay)
            .about("kcp-go only: acknowledgements leave at once"),
        KcpOption::flag("write-delay", |kcp| &mut kcp.write_delay)
            .about("kcp-go only: what is written waits for the next flush"),
    ];
    options.extend(layers::options());
    options
}

fn presets() -> Vec<(&'static str, Option<KcpPreset>)> {
    let named = KcpPreset::ALL.map(|preset| (preset.name(), Some(preset)));
    [("none", None)].into_iter().chain(named).collect()
}

/// An option that this behaviour does not have, but for values that change nothing.
fn without_effect(kcp: &KcpSettings) -> Option<&'static str> {
    let usual = KcpSettings::new(kcp.path);
    let set = match kcp.behaviour {
        KcpBehaviour::Ikcp17 | KcpBehaviour::Ikcp211 => {
            [(kcp.ack_nodelay, "ack-nodelay"), (kcp.write_delay, "write-delay")]
        }
        KcpBehaviour::KcpGo56 => [
            (kcp.flush_at_once, "flush-at-once"),
            (kcp.update_interval != usual.update_interval, "update-interval"),
        ],
    };
    set.into_iter().find_map(|(set, key)| set.then_some(key))
}

fn read(fields: &mut Fields, choice: PathChoice) -> Option<ProtocolSettings> {
    let path = choice.path(fields, "`kcp`");
    let mut settings = KcpSettings::new(path.unwrap_or(PathId(0)));
    let places = layers::Places::of(fields);
    option::read(&options(), fields, &mut settings);
    places.check(&settings, fields.mistakes);
    let idle = without_effect(&settings).and_then(|key| Some((key, places.of_key(key)?)));
    if let Some((key, place)) = idle {
        fields.mistakes.push(place.clone(), Mistake::WithoutEffect { key });
    }
    path.map(|_| ProtocolSettings::Kcp(settings))
}
