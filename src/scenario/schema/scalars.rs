//! Single values. YAML's quotes make no difference to the reader of scenarios, which takes every
//! value as the text that it is, so none is made here either: what is a number may stand in quotes,
//! and what is a text may look like a number. The range of a quoted number is left to `check`.

use serde_json::{Value, json};

const QUOTED_WHOLE: &str = r"^\s*\+?[0-9]+\s*$";
const QUOTED_DECIMAL: &str = r"^\s*[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?\s*$";

pub fn whole(min: u64, max: u64) -> Value {
    json!({ "anyOf": [
        { "type": "integer", "minimum": min, "maximum": max },
        { "type": "string", "pattern": QUOTED_WHOLE },
    ] })
}

/// `bounds`: the keywords for its range.
pub fn decimal(mut bounds: Value) -> Value {
    bounds["type"] = json!("number");
    json!({ "anyOf": [bounds, { "type": "string", "pattern": QUOTED_DECIMAL }] })
}

/// One of these numbers.
pub fn one_of(numbers: &[u64]) -> Value {
    let quoted = numbers.iter().map(|number| json!(number.to_string()));
    let plain = numbers.iter().map(|number| json!(number));
    json!({ "enum": plain.chain(quoted).collect::<Vec<_>>() })
}

pub fn flag() -> Value {
    json!({ "enum": [true, false, 0, 1, "true", "false", "0", "1"] })
}

pub fn text() -> Value {
    json!({ "type": ["string", "number", "boolean"] })
}
