//! What may be written as the value of an option: for people, in words, and for editors, as JSON
//! Schema (draft 2020-12). How it is read is not known here.

use std::time::Duration;

use serde_json::{Value, json};

use crate::scenario::quantity::{Limits, print_duration, print_size};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Form {
    Flag,
    Words(Vec<&'static str>),
    Whole {
        min: u64,
        max: u64,
    },
    Duration {
        limits: Limits<Duration>,
        whole_milliseconds: bool,
    },
    Size(Limits<u64>),
    /// A text, described in words.
    Text(&'static str),
    /// A mapping that has each of these keys.
    Mapping(Vec<(&'static str, Form)>),
    /// One of several forms.
    Either(Vec<Form>),
}

impl Form {
    /// What to write, in one line.
    pub fn words(&self) -> String {
        match self {
            Self::Flag => "true or false".to_owned(),
            Self::Words(words) => words.join(", "),
            Self::Whole { min, max } => format!("{min} to {max}"),
            Self::Duration { limits, whole_milliseconds } => {
                let range = range(limits, |duration| print_duration(*duration));
                range + if *whole_milliseconds { ", whole milliseconds" } else { "" }
            }
            Self::Size(limits) => range(limits, |bytes| print_size(*bytes)),
            Self::Text(about) => (*about).to_owned(),
            Self::Mapping(keys) => {
                let key = |(key, form): &(&str, Self)| format!("{key}: {}", form.words());
                format!("{{ {} }}", keys.iter().map(key).collect::<Vec<_>>().join(", "))
            }
            Self::Either(forms) => forms.iter().map(Self::words).collect::<Vec<_>>().join(" or "),
        }
    }

    /// The values as a part of the schema of a scenario, whose definitions of quantities it refers
    /// to.
    pub fn schema(&self) -> Value {
        match self {
            Self::Flag => json!({ "enum": [true, false, 0, 1] }),
            Self::Words(words) => json!({ "enum": words }),
            Self::Whole { min, max } => {
                json!({ "type": "integer", "minimum": min, "maximum": max })
            }
            Self::Duration { .. } => json!({ "$ref": "#/$defs/duration" }),
            Self::Size(_) => json!({ "$ref": "#/$defs/size" }),
            Self::Text(_) => json!({ "type": "string" }),
            Self::Mapping(keys) => mapping(keys),
            Self::Either(forms) => {
                json!({ "anyOf": forms.iter().map(Self::schema).collect::<Vec<_>>() })
            }
        }
    }
}

fn mapping(keys: &[(&'static str, Form)]) -> Value {
    let properties: serde_json::Map<_, _> =
        keys.iter().map(|(key, form)| ((*key).to_owned(), form.schema())).collect();
    let required: Vec<&str> = keys.iter().map(|(key, _)| *key).collect();
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

fn range<T>(limits: &Limits<T>, print: impl Fn(&T) -> String) -> String {
    format!("{} to {}", print(&limits.min), print(&limits.max))
}
