//! `quic`. What is not written is as in [`QuicSettings::new`].

use std::time::Duration;

use super::form::Form;
use super::option::{self, SenderOption};
use super::paths::{PathChoice, PathKeys};
use super::{Engines, Sender};
use crate::protocol::ProtocolSettings;
use crate::protocol::settings::{QuicCongestion, QuicMode, QuicSettings};
use crate::scenario::diagnostic::Mistakes;
use crate::scenario::fields::{self, Fields};
use crate::scenario::quantity::{self, Limits, print_size};
use crate::scenario::tree::{Key, Node, Value};
use crate::units::PathId;

pub const SENDER: Sender = Sender {
    keyword: "quic",
    about: "QUIC on one path: one stream, a stream per message, or datagrams",
    source: "quinn-proto; RFC 9000, 9002 and 9221",
    engines: Engines::All,
    paths: PathKeys::One,
    replicable: true,
    options: || option::texts(options(), &QuicSettings::new(PathId(0))),
    read,
};

/// Bytes: from two full packets to more than any path here can hold.
const FIXED_WINDOW: Limits<u64> = Limits { min: 2_400, max: 1 << 30 };
const INITIAL_RTT: Limits<Duration> =
    Limits { min: Duration::from_millis(1), max: Duration::from_secs(10) };
/// The protocol holds it in 14 bits of milliseconds (RFC 9000, section 18.2).
const ACK_DELAY: Limits<Duration> =
    Limits { min: Duration::ZERO, max: Duration::from_millis((1 << 14) - 1) };

const CONGESTION: [(&str, QuicCongestion); 3] = [
    ("cubic", QuicCongestion::Cubic),
    ("newreno", QuicCongestion::NewReno),
    ("bbr", QuicCongestion::Bbr),
];

type QuicOption = SenderOption<QuicSettings>;

pub fn options() -> Vec<QuicOption> {
    let modes = vec![
        ("stream", QuicMode::Stream),
        ("stream-per-message", QuicMode::StreamPerMessage),
        ("datagram", QuicMode::Datagram),
    ];
    vec![
        congestion().about("congestion control; `fixed-window`: one that never changes"),
        QuicOption::word("mode", modes, |quic| &mut quic.mode)
            .about("one ordered stream, a stream per message, or unreliable datagrams (at most 1,140 bytes)"),
        QuicOption::duration("initial-rtt", INITIAL_RTT, |quic| &mut quic.initial_rtt)
            .about("taken until one is measured (RFC 9002)"),
        QuicOption::milliseconds("max-ack-delay", ACK_DELAY, |quic| &mut quic.max_ack_delay)
            .about("how long an ACK may be held back (RFC 9000)"),
    ]
}

fn read(fields: &mut Fields, choice: PathChoice) -> Option<ProtocolSettings> {
    let path = choice.path(fields, "`quic`");
    let mut settings = QuicSettings::new(path.unwrap_or(PathId(0)));
    option::read(&options(), fields, &mut settings);
    path.map(|_| ProtocolSettings::Quic(settings))
}

/// A word, or `{ fixed-window: 64KiB }`.
fn congestion() -> QuicOption {
    let words = Form::Words(CONGESTION.iter().map(|(word, _)| *word).collect());
    let window = Form::Mapping(vec![("fixed-window", Form::Size(FIXED_WINDOW))]);
    let form = Form::Either(vec![words, window]);
    let write = |congestion: &QuicCongestion| match congestion {
        QuicCongestion::FixedWindow(bytes) => {
            format!("{{ fixed-window: {} }}", print_size(*bytes))
        }
        word => CONGESTION
            .iter()
            .find(|(_, known)| known == word)
            .map_or_else(String::new, |(word, _)| (*word).to_owned()),
    };
    QuicOption::custom("congestion", form, read_congestion, write, |quic| &mut quic.congestion)
}

fn read_congestion((key, node): &(Key, Node), mistakes: &Mistakes) -> Option<QuicCongestion> {
    if !matches!(node.value, Value::Map(_)) {
        let text = fields::text(node, "congestion", mistakes)?;
        return fields::word(text, &node.place, "congestion", &CONGESTION, mistakes);
    }
    let mut inner = Fields::of(node, "a congestion control", &key.place, mistakes)?;
    let window = inner.require("fixed-window", "fixed-window: 64KiB");
    inner.finish();
    let bytes = |text: &str| quantity::size(text, FIXED_WINDOW);
    fields::scalar(window?, "fixed-window", bytes, mistakes).map(QuicCongestion::FixedWindow)
}
