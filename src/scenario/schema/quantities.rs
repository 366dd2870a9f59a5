//! Quantities: texts with a unit.

use serde_json::{Map, Value, json};

pub fn definitions() -> Map<String, Value> {
    let quantities = [
        ("duration", "ns|us|µs|ms|s|min|h", "a duration with its unit: 40ms"),
        ("size", "B|kB|KiB|MB|MiB", "bytes with their unit: 600B"),
        ("signed-size", "B|kB|KiB|MB|MiB", "bytes with their unit, which may be negative: -14B"),
        ("bit-rate", "bit/s|kbit/s|Mbit/s|Gbit/s", "a data rate with its unit: 40Mbit/s"),
        ("probability", "%", "a probability in percent: 1.5%"),
        ("message-rate", "/s", "messages per second: 50/s"),
    ];
    let definition = |(name, units, about): (&str, &str, &str)| {
        let sign = if name == "signed-size" { "[-+]?" } else { "\\+?" };
        let pattern = format!("^{sign}[0-9]+(\\.[0-9]+)?\\s*({units})$");
        let schema = json!({ "type": "string", "pattern": pattern, "description": about });
        (name.to_owned(), schema)
    };
    quantities.into_iter().map(definition).collect()
}
