//! `kcp`. What is not written is as in [`KcpSettings::new`].

use std::time::Duration;

use super::{PathChoice, path};
use crate::protocol::ProtocolSettings;
use crate::protocol::settings::{KcpBehaviour, KcpSettings};
use crate::scenario::fields::Fields;
use crate::scenario::quantity::{self, Limits, QuantityError};
use crate::units::PathId;

const BEHAVIOURS: [(&str, KcpBehaviour); 2] =
    [("ikcp-2.1.1", KcpBehaviour::Ikcp211), ("ikcp-1.7", KcpBehaviour::Ikcp17)];
/// ikcp raises smaller receive windows to this without a word.
const LEAST_RECEIVE_WINDOW: u64 = 128;
const MOST_WINDOW: u64 = 32_768;
/// ikcp refuses less; more does not fit a packet of 1,500 bytes.
const MTU: Limits<u64> = Limits { min: 50, max: 1472 };

pub fn kcp(fields: &mut Fields, choice: PathChoice) -> Option<ProtocolSettings> {
    let path = path(fields, "`kcp`", choice);
    let usual = KcpSettings::new(path.unwrap_or(PathId(0)));
    let settings = KcpSettings {
        behaviour: fields.word("behaviour", &BEHAVIOURS).unwrap_or(usual.behaviour),
        nodelay: whole(fields, "nodelay", 0, 2).unwrap_or(usual.nodelay),
        interval: fields.scalar("interval", interval).unwrap_or(usual.interval),
        resend: whole(fields, "resend", 0, 1000).unwrap_or(usual.resend),
        nc: fields.flag("nc").unwrap_or(usual.nc),
        send_window: whole(fields, "send-window", 1, MOST_WINDOW).unwrap_or(usual.send_window),
        receive_window: whole(fields, "receive-window", LEAST_RECEIVE_WINDOW, MOST_WINDOW)
            .unwrap_or(usual.receive_window),
        mtu: fields.scalar("mtu", mtu).unwrap_or(usual.mtu),
        stream: fields.flag("stream").unwrap_or(usual.stream),
        flush_at_once: fields.flag("flush-at-once").unwrap_or(usual.flush_at_once),
        update_interval: fields
            .scalar("update-interval", update_interval)
            .unwrap_or(usual.update_interval),
        ..usual
    };
    path.map(|_| ProtocolSettings::Kcp(settings))
}

fn whole<T: TryFrom<u64>>(fields: &mut Fields, key: &'static str, min: u64, max: u64) -> Option<T> {
    let number = fields.whole_number(key, min, max)?;
    Some(T::try_from(number).unwrap_or_else(|_| unreachable!("{key}: {max} fits its type")))
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
