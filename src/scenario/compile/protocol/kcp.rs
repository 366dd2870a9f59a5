//! `kcp`. The defaults are its well-known fast settings, on the current ikcp: nodelay 1, interval 10 ms, resend 2, nc 1.

use std::time::Duration;

use super::{PathChoice, path};
use crate::protocol::ProtocolSettings;
use crate::protocol::settings::{KcpBehaviour, KcpSettings};
use crate::scenario::fields::Fields;
use crate::scenario::quantity::{self, Limits, QuantityError};

const BEHAVIOURS: [(&str, KcpBehaviour); 2] =
    [("ikcp-2.1.1", KcpBehaviour::Ikcp211), ("ikcp-1.7", KcpBehaviour::Ikcp17)];
/// ikcp raises smaller receive windows to this without a word.
const LEAST_RECEIVE_WINDOW: u64 = 128;
const MOST_WINDOW: u64 = 32_768;
/// ikcp refuses less; more does not fit a packet of 1,500 bytes.
const MTU: Limits<u64> = Limits { min: 50, max: 1472 };

pub fn kcp(fields: &mut Fields, choice: PathChoice) -> Option<ProtocolSettings> {
    let path = path(fields, "`kcp`", choice);
    let settings = KcpSettings {
        path: path.unwrap_or(crate::units::PathId(0)),
        behaviour: fields.word("behaviour", &BEHAVIOURS).unwrap_or(KcpBehaviour::Ikcp211),
        nodelay: whole(fields, "nodelay", 0, 2, 1),
        interval: fields.scalar("interval", interval).unwrap_or(Duration::from_millis(10)),
        resend: whole(fields, "resend", 0, 1000, 2),
        nc: fields.flag("nc").unwrap_or(true),
        send_window: whole(fields, "send-window", 1, MOST_WINDOW, 128),
        receive_window: whole(fields, "receive-window", LEAST_RECEIVE_WINDOW, MOST_WINDOW, 128),
        mtu: fields.scalar("mtu", mtu).unwrap_or(1400),
        stream: fields.flag("stream").unwrap_or(false),
        flush_at_once: fields.flag("flush-at-once").unwrap_or(false),
        update_interval: fields
            .scalar("update-interval", update_interval)
            .unwrap_or(Duration::from_millis(1)),
    };
    path.map(|_| ProtocolSettings::Kcp(settings))
}

fn whole<T: TryFrom<u64>>(
    fields: &mut Fields,
    key: &'static str,
    min: u64,
    max: u64,
    default: u64,
) -> T {
    let number = fields.whole_number(key, min, max).unwrap_or(default);
    T::try_from(number).unwrap_or_else(|_| unreachable!("{key}: {max} fits its type"))
}

fn interval(text: &str) -> Result<Duration, QuantityError> {
    let limits = Limits { min: Duration::from_millis(10), max: Duration::from_secs(5) };
    whole_milliseconds(text, limits)
}

fn update_interval(text: &str) -> Result<Duration, QuantityError> {
    let limits = Limits { min: Duration::from_millis(1), max: Duration::from_secs(5) };
    whole_milliseconds(text, limits)
}

/// KCP's clock has no finer unit.
fn whole_milliseconds(text: &str, limits: Limits<Duration>) -> Result<Duration, QuantityError> {
    let duration = quantity::duration(text, limits)?;
    if duration.subsec_nanos() % 1_000_000 != 0 {
        return Err(QuantityError::NotWhole { text: text.to_owned(), base: "milliseconds" });
    }
    Ok(duration)
}

fn mtu(text: &str) -> Result<u32, QuantityError> {
    quantity::size(text, MTU).map(|size| u32::try_from(size).expect("within MTU"))
}
