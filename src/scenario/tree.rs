//! YAML → a tree of nodes that know their places. Reading into a tree first, instead of into structs, is what lets all
//! mistakes of a file be reported at once. Knows nothing of what the keys mean.

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::options::{DuplicateKeyPolicy, MergeKeyPolicy, NonFiniteFloatPolicy};
use serde_saphyr::{Location, Options, Spanned};

use super::file::{File, Place};
use super::limits;
use super::diagnostic::Mistakes;
use super::mistake::Mistake;


#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    pub value: Value,
    pub place: Place,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Null,
    /// Numbers, booleans and text alike, as they were written.
    Scalar(String),
    List(Vec<Node>),
    Map(Vec<(Key, Node)>),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Key {
    pub name: String,
    pub place: Place,
}

impl Value {
    /// The word for it in messages.
    pub fn noun(&self) -> &'static str {
        match self {
            Value::Null => "nothing",
            Value::Scalar(_) => "a single value",
            Value::List(_) => "a list",
            Value::Map(_) => "a mapping",
        }
    }
}

/// Reads a file's YAML. `None` if it cannot be read as YAML at all, which is then one of the mistakes; keys that are
/// there twice are mistakes too, but do not end the reading.
pub fn parse(file: &Arc<File>, mistakes: &Mistakes) -> Option<Node> {
    if file.text.lines().all(|line| line.trim().is_empty() || line.trim().starts_with('#')) {
        mistakes.push(file.start(), Mistake::Empty);
        return None;
    }
    match serde_saphyr::from_str_with_options::<Spanned<Raw>>(&file.text, options()) {
        Ok(raw) => Some(Builder { file, mistakes }.node(raw)),
        Err(error) => {
            let error = error.without_snippet();
            let place = error.location().map_or_else(|| file.start(), |at| place(file, at));
            mistakes.push(place, Mistake::from_yaml(error));
            None
        }
    }
}

fn options() -> Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_depth: limits::NESTING,
            flow_nesting_limit: limits::NESTING,
            max_nodes: limits::NODES,
            max_events: 4 * limits::NODES,
            max_aliases: limits::ALIASES,
            max_documents: 1,
        },
        alias_limits: serde_saphyr::alias_limits! {
            max_total_replayed_events: limits::NODES,
            max_replay_stack_depth: limits::NESTING,
        },
        duplicate_keys: DuplicateKeyPolicy::PassThrough,
        merge_keys: MergeKeyPolicy::Error,
        // Every scalar is kept as it was written: a quantity is more exact than a float, and `no` may be a name.
        strict_booleans: true,
        null_as_string: true,
        underscored_numbers_as_strings: true,
        leading_zero_numbers_as_strings: true,
        non_finite_float_policy: NonFiniteFloatPolicy::AsString,
        reject_unsupported_tags: true,
        with_snippet: false,
    }
}

/// What serde sees of a node.
enum Raw {
    Null,
    Text(String),
    /// A number or a boolean: as serde-saphyr understood it, for where the file's own text cannot be had.
    Typed(String),
    List(Vec<Spanned<Raw>>),
    Map(Vec<(Spanned<String>, Spanned<Raw>)>),
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RawVisitor)
    }
}

struct RawVisitor;

impl<'de> Visitor<'de> for RawVisitor {
    type Value = Raw;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a mapping, a list or a single value")
    }

    fn visit_unit<E>(self) -> Result<Raw, E> {
        Ok(Raw::Null)
    }

    fn visit_none<E>(self) -> Result<Raw, E> {
        Ok(Raw::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Raw, D::Error> {
        Raw::deserialize(deserializer)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Raw, E> {
        Ok(Raw::Typed(value.to_string()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Raw, E> {
        Ok(Raw::Typed(value.to_string()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Raw, E> {
        Ok(Raw::Typed(value.to_string()))
    }

    fn visit_i128<E>(self, value: i128) -> Result<Raw, E> {
        Ok(Raw::Typed(value.to_string()))
    }

    fn visit_u128<E>(self, value: u128) -> Result<Raw, E> {
        Ok(Raw::Typed(value.to_string()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Raw, E> {
        Ok(Raw::Typed(value.to_string()))
    }

    fn visit_str<E>(self, value: &str) -> Result<Raw, E> {
        Ok(Raw::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Raw, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Raw::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Raw, A::Error> {
        let mut map = Vec::new();
        while let Some(entry) = entries.next_entry()? {
            map.push(entry);
        }
        Ok(Raw::Map(map))
    }
}

struct Builder<'a> {
    file: &'a Arc<File>,
    mistakes: &'a Mistakes,
}

impl Builder<'_> {
    fn node(&self, raw: Spanned<Raw>) -> Node {
        let place = place(self.file, raw.defined);
        let value = match raw.value {
            Raw::Null => Value::Null,
            Raw::Text(text) => Value::Scalar(text),
            Raw::Typed(understood) => Value::Scalar(self.as_written(&place, understood)),
            Raw::List(items) => Value::List(items.into_iter().map(|item| self.node(item)).collect()),
            Raw::Map(entries) => Value::Map(self.entries(entries)),
        };
        Node { value, place }
    }

    fn as_written(&self, place: &Place, understood: String) -> String {
        let written = self.file.text.get(place.span.clone()).map(str::trim).unwrap_or_default();
        let plain = !written.is_empty() && !written.contains(['!', '&', '"', '\'']);
        if plain { written.to_owned() } else { understood }
    }

    fn entries(&self, entries: Vec<(Spanned<String>, Spanned<Raw>)>) -> Vec<(Key, Node)> {
        let mut first: HashMap<String, Place> = HashMap::new();
        let mut map = Vec::with_capacity(entries.len());
        for (key, value) in entries {
            let place = place(self.file, key.defined);
            let node = self.node(value);
            match first.get(&key.value) {
                Some(earlier) => self.mistakes.push_with(
                    place,
                    Mistake::DuplicateKey { key: key.value },
                    (earlier.clone(), "first given here"),
                ),
                None => {
                    first.insert(key.value.clone(), place.clone());
                    map.push((Key { name: key.value, place }, node));
                }
            }
        }
        map
    }
}

fn place(file: &Arc<File>, location: Location) -> Place {
    let span = location.span();
    let start = usize::try_from(span.byte_offset().unwrap_or(0)).unwrap_or(0);
    let length = usize::try_from(span.byte_len().unwrap_or(0)).unwrap_or(0);
    Place { file: Arc::clone(file), span: visible(&file.text, start, length) }
}

/// A span that a caret can stand under: inside the text, on character boundaries, of the first line only, not empty.
fn visible(text: &str, start: usize, length: usize) -> Range<usize> {
    let start = text.floor_char_boundary(start.min(text.len()));
    let end = text.floor_char_boundary((start + length).min(text.len()));
    let first_line = text[start..end].lines().next().unwrap_or_default().trim_end();
    match (first_line.is_empty(), text[start..].chars().next()) {
        (true, Some(character)) if character != '\n' => start..start + character.len_utf8(),
        (true, _) => start..start,
        (false, _) => start..start + first_line.len(),
    }
}
