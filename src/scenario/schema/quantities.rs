//! Quantities: texts with a unit.

use serde_json::{Map, Value, json};

use crate::scenario::quantity::{DURATION, Kind, MESSAGE_RATE, PROBABILITY, RATE, SIZE};

pub fn definitions() -> Map<String, Value> {
    let quantities = [
        ("duration", &DURATION, "a duration with its unit: 40ms"),
        ("size", &SIZE, "bytes with their unit: 600B"),
        ("signed-size", &SIZE, "bytes with their unit, which may be negative: -14B"),
        ("bit-rate", &RATE, "a data rate with its unit: 40Mbit/s"),
        ("probability", &PROBABILITY, "a probability in percent: 1.5%"),
        ("message-rate", &MESSAGE_RATE, "messages per second: 50/s"),
    ];
    let definition = |(name, kind, about): (&str, &Kind, &str)| {
        let sign = if name == "signed-size" { "[-+]?" } else { "\\+?" };
        let units = kind.spellings().collect::<Vec<_>>().join("|");
        let pattern = format!("^\\s*{sign}[0-9]+(\\.[0-9]+)?\\s*({units})\\s*$");
        let schema = json!({ "type": "string", "pattern": pattern, "description": about });
        (name.to_owned(), schema)
    };
    quantities.into_iter().map(definition).collect()
}
