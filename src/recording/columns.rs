//! Messages as three columns of differences instead of one object each: a tenth of the size, and
//! still JSON.
//!
//! ```json
//! {"scheduled_after_previous": [0, 20000000],
//!  "sent_after_scheduled": [0, null],
//!  "latency": [41327113, null]}
//! ```
//! All in nanoseconds. `null` in the second column: refused; in the third: lost. For use with
//! `#[serde(with)]`.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Message;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Columns {
    scheduled_after_previous: Vec<i64>,
    sent_after_scheduled: Vec<Option<i64>>,
    latency: Vec<Option<i64>>,
}

pub fn serialize<S: Serializer>(messages: &[Message], serializer: S) -> Result<S::Ok, S::Error> {
    let previous = std::iter::once(0).chain(messages.iter().map(|message| message.scheduled));
    let columns = Columns {
        scheduled_after_previous: messages
            .iter()
            .zip(previous)
            .map(|(message, previous)| after(previous, message.scheduled))
            .collect(),
        sent_after_scheduled: messages
            .iter()
            .map(|message| message.sent.map(|sent| after(message.scheduled, sent)))
            .collect(),
        latency: messages
            .iter()
            .map(|message| message.delivered.map(|at| after(message.scheduled, at)))
            .collect(),
    };
    columns.serialize(serializer)
}

pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Message>, D::Error> {
    let columns = Columns::deserialize(deserializer)?;
    let rows = columns.scheduled_after_previous.len();
    if columns.sent_after_scheduled.len() != rows || columns.latency.len() != rows {
        return Err(D::Error::custom("the columns of the messages differ in length"));
    }
    if columns.scheduled_after_previous.iter().any(|step| *step < 0) {
        return Err(D::Error::custom("the messages are not in the order they were scheduled"));
    }
    let mut scheduled = 0;
    let times = columns.sent_after_scheduled.into_iter().zip(columns.latency);
    let rows = columns.scheduled_after_previous.into_iter().zip(times);
    Ok(rows
        .map(|(step, (sent, latency))| {
            scheduled = later(scheduled, step);
            Message {
                scheduled,
                sent: sent.map(|sent| later(scheduled, sent)),
                delivered: latency.map(|latency| later(scheduled, latency)),
            }
        })
        .collect())
}

/// The difference, wrapped: [`later`] takes it back exactly, whatever the two times are.
fn after(from: u64, to: u64) -> i64 {
    to.wrapping_sub(from).cast_signed()
}

fn later(from: u64, difference: i64) -> u64 {
    from.wrapping_add_signed(difference)
}
