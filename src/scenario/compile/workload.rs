//! `workload`: exactly one kind of traffic.

use std::time::Duration;

use crate::scenario::fields::{self, Fields};
use crate::scenario::file::Place;
use crate::scenario::limits;
use crate::scenario::mistake::Mistake;
use crate::scenario::quantity::{self, Limits, QuantityError};
use crate::scenario::tree::{Key, Node};
use crate::workload::{Keep, Periodic, Workload};

const KINDS: &str = "control, echo";
const LATER: [&str; 3] = ["poll", "bulk", "command"];

pub fn workload(scenario: &mut Fields) -> Option<Workload> {
    let node = scenario.require("workload", "workload: { control: { … } }")?;
    let mistakes = scenario.mistakes;
    let mut kinds = Fields::of(node, "`workload`", &node.place, mistakes)?;
    let control = kinds.take_entry("control");
    let echo = kinds.take_entry("echo");
    let later = kinds.later(&LATER);
    let workload = match (control, echo) {
        (Some((key, node)), None) => periodic_of(key, node, scenario).map(Workload::Control),
        (None, Some((key, node))) => echo_of(key, node, scenario),
        (None, None) if later => None,
        _ => {
            let mistake = Mistake::NotExactlyOne { holder: "a workload", known: KINDS.to_owned() };
            mistakes.push(node.place.clone(), mistake);
            None
        }
    };
    kinds.finish();
    workload
}

fn periodic_of(key: &Key, node: &Node, scenario: &Fields) -> Option<Periodic> {
    let mut fields = Fields::of(node, "`control`", &key.place, scenario.mistakes)?;
    let periodic = periodic(&mut fields);
    fields.finish();
    periodic
}

fn echo_of(key: &Key, node: &Node, scenario: &Fields) -> Option<Workload> {
    let mut fields = Fields::of(node, "`echo`", &key.place, scenario.mistakes)?;
    let request = periodic(&mut fields);
    let response_size = fields.scalar("response-size", message_size);
    fields.finish();
    let request = request?;
    Some(Workload::Echo { response_size: response_size.unwrap_or(request.size), request })
}

fn periodic(fields: &mut Fields) -> Option<Periodic> {
    let rate = required(fields, "rate", "rate: 50/s", message_rate);
    let size = required(fields, "size", "size: 600B", message_size);
    let duration = required(fields, "duration", "duration: 60s", run_duration);
    let deadline = required(fields, "deadline", "deadline: 250ms", deadline);
    let keep = fields.word("keep", &[("messages", Keep::Messages), ("histogram", Keep::Histogram)]);
    let phase = fields.scalar("phase", phase);
    let (duration, place) = duration?;
    let periodic = Periodic {
        rate: rate?.0,
        size: size?.0,
        duration,
        deadline: deadline?.0,
        keep: keep.unwrap_or_default(),
        phase,
    };
    check_count(&periodic, place, fields);
    Some(periodic)
}

fn required<'n, T>(
    fields: &mut Fields<'n>,
    key: &'static str,
    example: &'static str,
    parse: impl FnOnce(&str) -> Result<T, QuantityError>,
) -> Option<(T, &'n Place)> {
    let node = fields.require(key, example)?;
    let value = fields::scalar(node, key, parse, fields.mistakes)?;
    Some((value, &node.place))
}

fn message_rate(text: &str) -> Result<f64, QuantityError> {
    quantity::message_rate(text, Limits { min: 0.001, max: limits::MESSAGE_RATE })
}

fn message_size(text: &str) -> Result<u32, QuantityError> {
    let (min, max) = limits::MESSAGE_SIZE.into_inner();
    let size = quantity::size(text, Limits { min, max })?;
    Ok(u32::try_from(size).expect("within limits::MESSAGE_SIZE"))
}

fn run_duration(text: &str) -> Result<Duration, QuantityError> {
    quantity::duration(text, Limits { min: Duration::from_millis(1), max: limits::DURATION })
}

fn deadline(text: &str) -> Result<Duration, QuantityError> {
    quantity::duration(text, Limits { min: Duration::from_micros(1), max: limits::DELAY })
}

fn phase(text: &str) -> Result<Duration, QuantityError> {
    quantity::duration(text, Limits { min: Duration::ZERO, max: Duration::from_secs(1) })
}

fn check_count(periodic: &Periodic, place: &Place, fields: &Fields) {
    let (count, limit) = (periodic.count(), limits::messages(periodic.keep));
    if count > limit {
        let histogram_may = limits::histogram_may_hold(periodic.keep, count);
        let mistake = Mistake::TooManyMessages { count, limit, histogram_may };
        fields.mistakes.push(place.clone(), mistake);
    }
}
