//! `quic` and `mpquic`. What is not written is as in [`QuicSettings::new`]; `mpquic` is redundant,
//! with Cubic.

use std::time::Duration;

use super::{PathChoice, path, paths};
use crate::protocol::ProtocolSettings;
use crate::protocol::settings::{
    MpquicCongestion, MpquicScheduler, MpquicSettings, QuicCongestion, QuicMode, QuicSettings,
};
use crate::scenario::fields::{self, Fields};
use crate::scenario::mistake::Mistake;
use crate::scenario::quantity::{self, Limits, QuantityError};
use crate::scenario::tree::Value;
use crate::units::PathId;

/// Bytes: from two full packets to more than any path here can hold.
const FIXED_WINDOW: Limits<u64> = Limits { min: 2_400, max: 1 << 30 };

const CONGESTION: [(&str, QuicCongestion); 3] = [
    ("cubic", QuicCongestion::Cubic),
    ("newreno", QuicCongestion::NewReno),
    ("bbr", QuicCongestion::Bbr),
];
const MODES: [(&str, QuicMode); 3] = [
    ("stream", QuicMode::Stream),
    ("stream-per-message", QuicMode::StreamPerMessage),
    ("datagram", QuicMode::Datagram),
];
const SCHEDULERS: [(&str, MpquicScheduler); 3] = [
    ("redundant", MpquicScheduler::Redundant),
    ("minrtt", MpquicScheduler::MinRtt),
    ("round-robin", MpquicScheduler::RoundRobin),
];
const MULTIPATH_CONGESTION: [(&str, MpquicCongestion); 4] = [
    ("cubic", MpquicCongestion::Cubic),
    ("bbr", MpquicCongestion::Bbr),
    ("bbr3", MpquicCongestion::Bbr3),
    ("copa", MpquicCongestion::Copa),
];

pub fn quic(fields: &mut Fields, choice: PathChoice) -> Option<ProtocolSettings> {
    let path = path(fields, "`quic`", choice);
    let usual = QuicSettings::new(path.unwrap_or(PathId(0)));
    let settings = QuicSettings {
        congestion: congestion(fields).unwrap_or(usual.congestion),
        mode: fields.word("mode", &MODES).unwrap_or(usual.mode),
        initial_rtt: fields.scalar("initial-rtt", initial_rtt).unwrap_or(usual.initial_rtt),
        max_ack_delay: fields.scalar("max-ack-delay", ack_delay).unwrap_or(usual.max_ack_delay),
        ..usual
    };
    path.map(|_| ProtocolSettings::Quic(settings))
}

pub fn mpquic(fields: &mut Fields, choice: PathChoice) -> Option<ProtocolSettings> {
    let PathChoice::Own(names) = choice else {
        let reason = "it has paths of its own, and its scheduler `redundant` does the same";
        let mistake = Mistake::CannotReplicate { protocol: "mpquic", reason };
        fields.mistakes.push(fields.place().clone(), mistake);
        fields.leave();
        return None;
    };
    let paths = paths(fields, "mpquic", 1, names);
    let scheduler = fields.word("scheduler", &SCHEDULERS).unwrap_or(MpquicScheduler::Redundant);
    let congestion =
        fields.word("congestion", &MULTIPATH_CONGESTION).unwrap_or(MpquicCongestion::Cubic);
    let paths = paths?;
    Some(ProtocolSettings::Mpquic(MpquicSettings { paths, scheduler, congestion }))
}

/// A word, or `{ fixed-window: 64KiB }`.
fn congestion(fields: &mut Fields) -> Option<QuicCongestion> {
    let (key, node) = fields.take_entry("congestion")?;
    if !matches!(node.value, Value::Map(_)) {
        let text = fields::text(node, "congestion", fields.mistakes)?;
        return fields::word(text, &node.place, "congestion", &CONGESTION, fields.mistakes);
    }
    let mut inner = Fields::of(node, "a congestion control", &key.place, fields.mistakes)?;
    let window = inner.require("fixed-window", "fixed-window: 64KiB");
    inner.finish();
    let bytes = |text: &str| quantity::size(text, FIXED_WINDOW);
    fields::scalar(window?, "fixed-window", bytes, fields.mistakes).map(QuicCongestion::FixedWindow)
}

fn initial_rtt(text: &str) -> Result<Duration, QuantityError> {
    let limits = Limits { min: Duration::from_millis(1), max: Duration::from_secs(10) };
    quantity::duration(text, limits)
}

/// The protocol holds it in 14 bits of milliseconds (RFC 9000, section 18.2).
fn ack_delay(text: &str) -> Result<Duration, QuantityError> {
    let limits = Limits { min: Duration::ZERO, max: Duration::from_millis((1 << 14) - 1) };
    let duration = quantity::duration(text, limits)?;
    if duration.subsec_nanos() % 1_000_000 != 0 {
        return Err(QuantityError::NotWhole { text: text.to_owned(), base: "milliseconds" });
    }
    Ok(duration)
}
