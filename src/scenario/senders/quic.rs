//! `quic`. What is not written is as in [`QuicSettings::new`]. What quinn and noq have alike is here
//! once, for both.

use std::time::Duration;

use super::form::Form;
use super::option::{self, SenderOption};
use super::paths::{PathChoice, PathKeys};
use super::{Engines, Sender};
use crate::protocol::ProtocolSettings;
use crate::protocol::settings::{QuicCongestion, QuicMode, QuicSettings, QuicTransport};
use crate::scenario::diagnostic::Mistakes;
use crate::scenario::fields::{self, Fields};
use crate::scenario::mistake::Mistake;
use crate::scenario::quantity::{self, Limits, print_size};
use crate::scenario::tree::{Key, Node, Value};
use crate::units::PathId;

pub const SENDER: Sender = Sender {
    keyword: "quic",
    about: "QUIC on one path: one stream, a stream per message, or datagrams",
    source: "quinn-proto; RFC 9000, 9002 and 9221, draft-ietf-quic-ack-frequency-04",
    engines: Engines::All,
    paths: PathKeys::One,
    replicable: true,
    options: || option::texts(options(), &QuicSettings::new(PathId(0))),
    read,
};

/// Bytes: from two full packets, the least RFC 9002 has, to more than any path here can hold.
const WINDOW: Limits<u64> = Limits { min: 2_400, max: 1 << 30 };
pub const INITIAL_RTT: Limits<Duration> =
    Limits { min: Duration::from_millis(1), max: Duration::from_secs(10) };
/// The protocol holds it in 14 bits of milliseconds (RFC 9000, section 18.2).
const ACK_DELAY: Limits<Duration> =
    Limits { min: Duration::ZERO, max: Duration::from_millis((1 << 14) - 1) };
const PACKETS: Limits<u64> = Limits { min: 0, max: 1_000 };
const AT_LEAST_ONE: Limits<u64> = Limits { min: 1, max: 1_000 };
/// Round-trip times.
const TIME_THRESHOLD: Limits<u32> = Limits { min: 1, max: 8 };

const CONGESTION: [(&str, QuicCongestion); 3] = [
    ("cubic", QuicCongestion::Cubic),
    ("newreno", QuicCongestion::NewReno),
    ("bbr", QuicCongestion::Bbr),
];

/// Settings that a [`QuicTransport`] is part of.
pub trait HasTransport: Clone + 'static {
    fn mode(&mut self) -> &mut QuicMode;
    fn transport(&mut self) -> &mut QuicTransport;
    /// The fixed window, if that is the congestion control.
    fn fixed_window(&self) -> Option<u64>;
    fn usual_initial_window(&self) -> u64;
}

impl HasTransport for QuicSettings {
    fn mode(&mut self) -> &mut QuicMode {
        &mut self.mode
    }

    fn transport(&mut self) -> &mut QuicTransport {
        &mut self.transport
    }

    fn fixed_window(&self) -> Option<u64> {
        window_of(&self.congestion)
    }

    fn usual_initial_window(&self) -> u64 {
        self.congestion.usual_initial_window()
    }
}

pub fn options() -> Vec<SenderOption<QuicSettings>> {
    let congestion = congestion(
        &CONGESTION,
        QuicCongestion::FixedWindow,
        window_of,
        |quic: &mut QuicSettings| &mut quic.congestion,
    );
    let congestion = congestion.about("congestion control; `fixed-window`: one that never changes");
    [congestion].into_iter().chain(transport_options()).collect()
}

fn window_of(congestion: &QuicCongestion) -> Option<u64> {
    match congestion {
        QuicCongestion::FixedWindow(bytes) => Some(*bytes),
        _ => None,
    }
}

fn read(fields: &mut Fields, choice: PathChoice) -> Option<ProtocolSettings> {
    let path = choice.path(fields, "`quic`");
    let mut settings = QuicSettings::new(path.unwrap_or(PathId(0)));
    read_options(&options(), fields, &mut settings);
    path.map(|_| ProtocolSettings::Quic(settings))
}

/// The window to begin with depends on the controller; a fixed one has no other.
pub fn read_options<S: HasTransport>(
    options: &[SenderOption<S>],
    fields: &mut Fields,
    settings: &mut S,
) {
    let written = fields.peek("initial-window");
    option::read(options, fields, settings);
    let Some((key, _)) = written else {
        settings.transport().initial_window = settings.usual_initial_window();
        return;
    };
    let begins = settings.transport().initial_window;
    if settings.fixed_window().is_some_and(|fixed| fixed != begins) {
        fields.mistakes.push(key.place.clone(), Mistake::InitialOfFixedWindow);
    }
}

pub fn transport_options<S: HasTransport>() -> Vec<SenderOption<S>> {
    let modes = vec![
        ("stream", QuicMode::Stream),
        ("stream-per-message", QuicMode::StreamPerMessage),
        ("datagram", QuicMode::Datagram),
    ];
    vec![
        SenderOption::word("mode", modes, S::mode)
            .about("one ordered stream, a stream per message, or unreliable datagrams (at most 1,140 bytes)"),
        SenderOption::duration("initial-rtt", INITIAL_RTT, |s: &mut S| &mut s.transport().initial_rtt)
            .about("taken until one is measured; the first probe is sent after three of it (RFC 9002)"),
        SenderOption::size("initial-window", WINDOW, |s: &mut S| &mut s.transport().initial_window)
            .about("congestion window at the start (RFC 9002: ten packets; quinn's BBR: 240000B; `fixed-window`: itself)"),
        SenderOption::whole("packet-threshold", AT_LEAST_ONE, |s: &mut S| {
            &mut s.transport().packet_threshold
        })
        .about("lost when one sent so many packets later is acknowledged (RFC 9002)"),
        time_threshold().about("or after so many round-trip times (RFC 9002: 9/8)"),
        SenderOption::whole("persistent-congestion-threshold", AT_LEAST_ONE, |s: &mut S| {
            &mut s.transport().persistent_congestion_threshold
        })
        .about("probe timeouts without an ACK after which the window begins anew (RFC 9002)"),
        SenderOption::milliseconds("max-ack-delay", ACK_DELAY, |s: &mut S| {
            &mut s.transport().max_ack_delay
        })
        .about("how long an ACK may be held back (RFC 9000)"),
        SenderOption::whole("ack-threshold", PACKETS, |s: &mut S| &mut s.transport().ack_threshold)
            .about("packets that go without an ACK before one is sent at once; 1: every second (RFC 9000)"),
        SenderOption::whole("reordering-threshold", PACKETS, |s: &mut S| {
            &mut s.transport().reordering_threshold
        })
        .about("how far out of order a packet gets an ACK at once; 0: never for that"),
    ]
}

fn time_threshold<S: HasTransport>() -> SenderOption<S> {
    let read = option::scalar("time-threshold", |text| quantity::factor(text, TIME_THRESHOLD));
    let form = Form::Factor(TIME_THRESHOLD);
    SenderOption::custom("time-threshold", form, read, f64::to_string, |s: &mut S| {
        &mut s.transport().time_threshold
    })
}

/// One of some words, or `{ fixed-window: 64KiB }`.
pub fn congestion<S: Clone + 'static, T: Copy + PartialEq + 'static>(
    words: &'static [(&'static str, T)],
    fixed: fn(u64) -> T,
    window_of: fn(&T) -> Option<u64>,
    field: fn(&mut S) -> &mut T,
) -> SenderOption<S> {
    let names = Form::Words(words.iter().map(|(word, _)| *word).collect());
    let window = Form::Mapping(vec![("fixed-window", Form::Size(WINDOW))]);
    let form = Form::Either(vec![names, window]);
    let write = move |congestion: &T| match window_of(congestion) {
        Some(bytes) => format!("{{ fixed-window: {} }}", print_size(bytes)),
        None => words
            .iter()
            .find(|(_, known)| known == congestion)
            .map_or_else(String::new, |(word, _)| (*word).to_owned()),
    };
    let read = move |entry: &(Key, Node), mistakes: &Mistakes| {
        read_congestion(entry, words, mistakes).map(|read| match read {
            Congestion::Word(congestion) => congestion,
            Congestion::Window(bytes) => fixed(bytes),
        })
    };
    SenderOption::custom("congestion", form, read, write, field)
}

enum Congestion<T> {
    Word(T),
    Window(u64),
}

fn read_congestion<T: Copy>(
    (key, node): &(Key, Node),
    words: &[(&str, T)],
    mistakes: &Mistakes,
) -> Option<Congestion<T>> {
    if !matches!(node.value, Value::Map(_)) {
        let text = fields::text(node, "congestion", mistakes)?;
        let other = Some("{ fixed-window: 64KiB }");
        let word = fields::word_or(text, &node.place, "congestion", words, other, mistakes);
        return word.map(Congestion::Word);
    }
    let mut inner = Fields::of(node, "a congestion control", &key.place, mistakes)?;
    let window = inner.require("fixed-window", "fixed-window: 64KiB");
    inner.finish();
    let bytes = |text: &str| quantity::size(text, WINDOW);
    fields::scalar(window?, "fixed-window", bytes, mistakes).map(Congestion::Window)
}
