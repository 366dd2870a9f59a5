//! The format of a scenario as a JSON Schema (draft 2020-12), by which editors complete keys and
//! mark mistakes. It knows keys, words and units; ranges of quantities, and what depends on other
//! parts of the file, are for `impairlab check`, which everything has to pass. The senders come from
//! their table.

mod link;
mod quantities;
pub mod scalars;

use serde_json::{Map, Value, json};

use super::limits;
use super::senders::{PathKeys, SENDERS, Sender};

const NAME: &str = "^[a-z0-9][a-z0-9-]{0,47}$";

/// The whole schema.
pub fn schema() -> Value {
    let mut definitions = quantities::definitions();
    definitions.extend(link::definitions());
    definitions.insert("path".to_owned(), link::path());
    definitions.insert("sender".to_owned(), sender());
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "impairlab scenario, version 1",
        "type": "object",
        "required": ["version", "name", "paths", "workload", "senders"],
        "additionalProperties": false,
        "properties": {
            "version": scalars::one_of(&[1]),
            "name": name(),
            "about": text(),
            "paths": named(reference("path"), limits::PATHS),
            "timeline": {
                "type": "array", "items": change(), "maxItems": limits::TIMELINE_ENTRIES,
            },
            "workload": workload(),
            "senders": named(reference("sender"), limits::SENDERS),
            "vehicles": scalars::whole(1, limits::VEHICLES),
            "repeat": scalars::whole(1, limits::REPEAT),
            "seed": scalars::whole(0, u64::MAX),
            "claims": { "type": "array", "items": claim(), "maxItems": limits::CLAIMS },
        },
        "$defs": definitions,
    })
}

fn reference(definition: &str) -> Value {
    json!({ "$ref": format!("#/$defs/{definition}") })
}

fn text() -> Value {
    let mut text = scalars::text();
    text["maxLength"] = json!(limits::TEXT_LENGTH);
    text
}

/// One that looks like a number has no sign and no point.
fn name() -> Value {
    json!({ "anyOf": [
        { "type": "string", "pattern": NAME },
        { "type": "integer", "minimum": 0 },
        { "type": "boolean" },
    ] })
}

/// A mapping of names to things.
fn named(thing: Value, most: usize) -> Value {
    json!({
        "type": "object",
        "propertyNames": { "pattern": NAME },
        "additionalProperties": thing,
        "minProperties": 1,
        "maxProperties": most,
    })
}

/// These keys and no others.
pub fn object(required: &[&str], keys: &[(&str, Value)]) -> Value {
    let properties: Map<_, _> =
        keys.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

/// The same, where nothing at all stands for a mapping without keys.
fn mapping(required: &[&str], keys: &[(&str, Value)]) -> Value {
    let mut schema = object(required, keys);
    schema["type"] = json!(["object", "null"]);
    schema
}

fn change() -> Value {
    let duration = || reference("duration");
    mapping(
        &["at"],
        &[
            ("at", duration()),
            ("path", name()),
            ("outage", duration()),
            ("set", reference("settings")),
            ("for", duration()),
            ("direction", json!({ "enum": ["up", "down"] })),
        ],
    )
}

fn workload() -> Value {
    let duration = || reference("duration");
    let periodic = [
        ("rate", reference("message-rate")),
        ("size", reference("size")),
        ("duration", duration()),
        ("deadline", duration()),
        ("keep", json!({ "enum": ["messages", "histogram"] })),
        ("phase", duration()),
    ];
    let required = ["rate", "size", "duration", "deadline"];
    let echo = [&periodic[..], &[("response-size", reference("size"))]].concat();
    exactly_one(&[("control", mapping(&required, &periodic)), ("echo", mapping(&required, &echo))])
}

/// A mapping with one of these keys.
fn exactly_one(keys: &[(&str, Value)]) -> Value {
    let mut schema = object(&[], keys);
    schema["minProperties"] = json!(1);
    schema["maxProperties"] = json!(1);
    schema
}

fn claim() -> Value {
    let duration = || reference("duration");
    mapping(
        &["source", "sender"],
        &[
            ("source", text()),
            ("sender", name()),
            ("p50", duration()),
            ("p99", duration()),
            ("p999", duration()),
            ("mean", duration()),
            ("worst", duration()),
            ("longest-gap", duration()),
            ("amplification", scalars::decimal(json!({ "exclusiveMinimum": 0 }))),
        ],
    )
}

fn sender() -> Value {
    let protocols = SENDERS.map(|sender| (sender.keyword, protocol(&sender)));
    exactly_one(&protocols)
}

fn protocol(sender: &Sender) -> Value {
    let mut schema = settings(sender, true);
    if sender.keyword == "replicate" {
        let copied = SENDERS.into_iter().filter(|sender| sender.replicable);
        for inner in copied {
            schema["properties"][inner.keyword] = settings(&inner, false);
        }
    }
    schema["description"] = json!(sender.about);
    schema
}

/// Its options, and the keys of its paths unless they are given by what is around it.
fn settings(sender: &Sender, with_paths: bool) -> Value {
    let described = |mut schema: Value, about: &str| {
        schema["description"] = json!(about);
        schema
    };
    let options = (sender.options)();
    let mut keys: Vec<(&str, Value)> = options
        .iter()
        .map(|option| (option.key, described(option.form.schema(), &option.about)))
        .collect();
    let mut required = Vec::new();
    match sender.paths {
        _ if !with_paths => {}
        PathKeys::One => keys.push(("path", name())),
        PathKeys::Several { least } => {
            let paths = json!({
                "type": "array", "items": name(), "uniqueItems": true,
                "minItems": least, "maxItems": limits::PATHS,
            });
            keys.push(("paths", paths));
            required.push("paths");
        }
    }
    mapping(&required, &keys)
}
