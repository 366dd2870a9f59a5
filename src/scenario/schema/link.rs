//! Paths and the settings of a link.

use serde_json::{Map, Value, json};

use super::{exactly_one, mapping, name, reference, scalars};
use crate::scenario::limits;

/// A path: a profile, settings for both directions, and for each.
pub fn path() -> Value {
    let mut schema = settings();
    schema["type"] = json!(["object", "null"]);
    schema["properties"]["profile"] = name();
    schema["properties"]["ip"] = scalars::one_of(&[4, 6]);
    schema["properties"]["up"] = reference("settings");
    schema["properties"]["down"] = reference("settings");
    schema
}

pub fn definitions() -> Map<String, Value> {
    [
        ("settings", settings()),
        ("loss", loss()),
        ("chance", chance(&[])),
        ("distribution", distribution()),
    ]
    .map(|(name, schema)| (name.to_owned(), schema))
    .into_iter()
    .collect()
}

fn settings() -> Value {
    mapping(
        &[],
        &[
            ("delay", reference("duration")),
            ("jitter", reference("duration")),
            ("correlation", reference("probability")),
            ("distribution", reference("distribution")),
            ("order", json!({ "enum": ["keep", "by-time"] })),
            ("loss", reference("loss")),
            ("duplicate", reference("chance")),
            ("corrupt", reference("chance")),
            ("reorder", any_of(&[none(), chance(&[("gap", count())])])),
            ("rate", rate()),
            ("queue", count()),
            ("slot", slot()),
            ("ecn", scalars::flag()),
        ],
    )
}

fn any_of(schemas: &[Value]) -> Value {
    json!({ "anyOf": schemas })
}

fn none() -> Value {
    json!({ "const": "none" })
}

/// Packets.
fn count() -> Value {
    scalars::whole(1, limits::QUEUE)
}

fn chance(more: &[(&str, Value)]) -> Value {
    let probability = || reference("probability");
    let keys = [&[("probability", probability()), ("correlation", probability())], more].concat();
    any_of(&[probability(), mapping(&["probability"], &keys)])
}

fn distribution() -> Value {
    let words = json!({ "enum": ["uniform", "normal", "pareto", "paretonormal"] });
    let tables = ["table", "samples"].map(|key| mapping(&[key], &[(key, scalars::text())]));
    any_of(&[&[words], &tables[..]].concat())
}

fn loss() -> Value {
    let keys = |names: &[&'static str]| -> Vec<(&'static str, Value)> {
        names.iter().map(|name| (*name, reference("probability"))).collect()
    };
    let random = mapping(&["random"], &keys(&["random", "correlation"]));
    let chains = exactly_one(&[
        ("gilbert-elliott", mapping(&["p"], &keys(&["p", "r", "1-h", "1-k"]))),
        ("4-state", mapping(&["p13"], &keys(&["p13", "p31", "p32", "p23", "p14"]))),
    ]);
    any_of(&[reference("probability"), random, chains])
}

fn rate() -> Value {
    let bits = || reference("bit-rate");
    let line = mapping(
        &["rate"],
        &[
            ("rate", bits()),
            ("overhead", reference("signed-size")),
            ("cell", reference("size")),
            ("cell-overhead", reference("signed-size")),
        ],
    );
    let bucket = mapping(
        &["rate", "burst"],
        &[("rate", bits()), ("burst", reference("size")), ("queue", reference("size"))],
    );
    any_of(&[none(), bits(), line, bucket])
}

fn slot() -> Value {
    let limits = [("packets", count()), ("bytes", reference("size"))];
    let between = [("min", reference("duration")), ("max", reference("duration"))];
    let distributed = [
        ("delay", reference("duration")),
        ("jitter", reference("duration")),
        ("distribution", reference("distribution")),
    ];
    any_of(&[
        none(),
        mapping(&["min"], &[&between[..], &limits[..]].concat()),
        mapping(&["delay"], &[&distributed[..], &limits[..]].concat()),
    ])
}
