//! What may be written as the value of an option: for people, in words, and for editors, as JSON
//! Schema (draft 2020-12). How it is read is not known here.

use std::time::Duration;

use serde_json::{Value, json};

use crate::scenario::quantity::{Limits, print_duration, print_size};
use crate::scenario::schema::{object, scalars};

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
    /// A number without a unit, with decimals or not.
    Factor(Limits<u32>),
    /// A text, described in words.
    Text(&'static str),
    /// A mapping that has each of these keys.
    Mapping(Vec<(&'static str, Form)>),
    /// One of several forms.
    Either(Vec<Form>),
}

impl Form {
    /// This form or the other one; two lists of words are one, and so are durations
    /// that differ in their least step.
    pub fn or(self, other: Self) -> Self {
        match (self, other) {
            (one, other) if one == other => one,
            (Self::Duration { limits, .. }, Self::Duration { limits: same, .. })
                if limits == same =>
            {
                Self::Duration { limits, whole_milliseconds: false }
            }
            (Self::Words(mut words), Self::Words(more)) => {
                let new = more.into_iter().filter(|word| !words.contains(word)).collect::<Vec<_>>();
                words.extend(new);
                Self::Words(words)
            }
            (Self::Words(words), Self::Either(mut forms)) if !forms.is_empty() => {
                let first = Self::Words(words).or(forms.remove(0));
                forms.insert(0, first);
                Self::Either(forms)
            }
            (one, other) => Self::Either(vec![one, other]),
        }
    }

    /// Whether this is one of its words.
    pub fn has_word(&self, word: &str) -> bool {
        match self {
            Self::Words(words) => words.contains(&word),
            Self::Either(forms) => forms.iter().any(|form| form.has_word(word)),
            _ => false,
        }
    }

    /// Whether a mapping can be written.
    pub fn has_mapping(&self) -> bool {
        match self {
            Self::Mapping(_) => true,
            Self::Either(forms) => forms.iter().any(Self::has_mapping),
            _ => false,
        }
    }

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
            Self::Factor(limits) => range(limits, u32::to_string),
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
            Self::Flag => scalars::flag(),
            Self::Words(words) => json!({ "enum": words }),
            Self::Whole { min, max } => scalars::whole(*min, *max),
            Self::Duration { .. } => json!({ "$ref": "#/$defs/duration" }),
            Self::Size(_) => json!({ "$ref": "#/$defs/size" }),
            Self::Factor(Limits { min, max }) => {
                scalars::decimal(json!({ "minimum": min, "maximum": max }))
            }
            Self::Text(_) => scalars::text(),
            Self::Mapping(keys) => mapping(keys),
            Self::Either(forms) => {
                json!({ "anyOf": forms.iter().map(Self::schema).collect::<Vec<_>>() })
            }
        }
    }
}

fn mapping(keys: &[(&'static str, Form)]) -> Value {
    let required: Vec<&str> = keys.iter().map(|(key, _)| *key).collect();
    let keys: Vec<(&str, Value)> = keys.iter().map(|(key, form)| (*key, form.schema())).collect();
    object(&required, &keys)
}

fn range<T>(limits: &Limits<T>, print: impl Fn(&T) -> String) -> String {
    format!("{} to {}", print(&limits.min), print(&limits.max))
}
