//! A mapping that is taken apart key by key. Every key that is asked for becomes a known one, and
//! those that are left at the end are mistakes: so nothing in a file is ever ignored, and the list
//! of known keys cannot fall behind.

use super::diagnostic::Mistakes;
use super::file::Place;
use super::limits;
use super::mistake::Mistake;
use super::nearest::nearest;
use super::quantity::QuantityError;
use super::tree::{Key, Node, Value};

pub struct Fields<'n> {
    /// What the mapping describes, with its article: "a path".
    holder: &'static str,
    /// Where something that is missing would have to be.
    place: &'n Place,
    entries: usize,
    left: Vec<&'n (Key, Node)>,
    known: Vec<&'static str>,
    pub mistakes: &'n Mistakes,
}

impl<'n> Fields<'n> {
    /// The mapping at `node`. Nothing at all counts as a mapping without keys where `place` is that
    /// of a key.
    pub fn of(
        node: &'n Node,
        holder: &'static str,
        place: &'n Place,
        mistakes: &'n Mistakes,
    ) -> Option<Self> {
        let left: Vec<_> = entries(node, holder, mistakes)?.iter().collect();
        let entries = left.len();
        Some(Self { holder, place, entries, left, known: Vec::new(), mistakes })
    }

    /// Where something that is missing would have to be.
    pub fn place(&self) -> &'n Place {
        self.place
    }

    pub fn take(&mut self, key: &'static str) -> Option<&'n Node> {
        self.take_entry(key).map(|(_, node)| node)
    }

    pub fn take_entry(&mut self, key: &'static str) -> Option<&'n (Key, Node)> {
        self.known.push(key);
        let index = self.position(key)?;
        Some(self.left.remove(index))
    }

    /// What is at a key that was not taken yet; it stays there.
    pub fn peek(&self, key: &str) -> Option<&'n (Key, Node)> {
        self.position(key).map(|index| self.left[index])
    }

    fn position(&self, key: &str) -> Option<usize> {
        self.left.iter().position(|(present, _)| present.name == key)
    }

    /// As `take`, but a mistake if the key is not there.
    pub fn require(&mut self, key: &'static str, example: &'static str) -> Option<&'n Node> {
        let taken = self.take(key);
        if taken.is_none() {
            let holder = self.holder;
            self.mistakes.push(self.place.clone(), Mistake::MissingKey { key, holder, example });
        }
        taken
    }

    /// A single value, read by `parse`.
    pub fn scalar<T>(
        &mut self,
        key: &'static str,
        parse: impl FnOnce(&str) -> Result<T, QuantityError>,
    ) -> Option<T> {
        let node = self.take(key)?;
        scalar(node, key, parse, self.mistakes)
    }

    /// A single value, as it is written, and where.
    pub fn text(&mut self, key: &'static str) -> Option<(&'n str, &'n Place)> {
        let node = self.take(key)?;
        Some((text(node, key, self.mistakes)?, &node.place))
    }

    /// One of some words.
    pub fn word<T: Clone>(&mut self, key: &'static str, words: &[(&str, T)]) -> Option<T> {
        let (written, place) = self.text(key)?;
        word(written, place, key, words, self.mistakes)
    }

    pub fn whole_number(&mut self, key: &'static str, min: u64, max: u64) -> Option<u64> {
        let node = self.take(key)?;
        whole_number(node, key, min, max, self.mistakes)
    }

    pub fn flag(&mut self, key: &'static str) -> Option<bool> {
        self.word(key, &[("true", true), ("false", false), ("1", true), ("0", false)])
    }

    /// Text for people, within [`limits::TEXT_LENGTH`].
    pub fn prose(&mut self, key: &'static str) -> Option<String> {
        let (written, place) = self.text(key)?;
        prose(written, place, self.mistakes)
    }

    /// Reports the keys of later versions, which are not merely unknown. Whether there were any.
    pub fn later(&mut self, keys: &[&str]) -> bool {
        let before = self.left.len();
        self.left.retain(|(key, _)| {
            let later = keys.contains(&key.name.as_str());
            if later {
                self.mistakes.push(key.place.clone(), Mistake::NotYet { key: key.name.clone() });
            }
            !later
        });
        self.left.len() < before
    }

    /// Whether the mapping has no key at all.
    pub fn is_empty(&self) -> bool {
        self.entries == 0
    }

    /// Whether the key is there and was not taken yet.
    pub fn has(&self, key: &str) -> bool {
        self.peek(key).is_some()
    }

    /// Where the value of a key is that was not taken yet.
    pub fn place_of(&self, key: &str) -> Option<&'n Place> {
        self.peek(key).map(|(_, node)| &node.place)
    }

    /// Judges none of the keys that are left: the mapping as a whole is a mistake.
    pub fn leave(&mut self) {
        self.left.clear();
    }

    /// Reports every key that was not asked for.
    pub fn finish(self) {
        for (key, _) in self.left {
            let mistake = Mistake::UnknownKey {
                key: key.name.clone(),
                holder: self.holder,
                suggestion: nearest(&key.name, self.known.iter().copied()),
                known: self.known.join(", "),
            };
            self.mistakes.push(key.place.clone(), mistake);
        }
    }
}

/// The entries of a mapping; nothing at all counts as one without entries.
pub fn entries<'n>(
    node: &'n Node,
    holder: &'static str,
    mistakes: &Mistakes,
) -> Option<&'n [(Key, Node)]> {
    match &node.value {
        Value::Map(entries) => Some(entries),
        Value::Null => Some(&[]),
        other => {
            let mistake = Mistake::NotAMapping { holder, found: other.noun() };
            mistakes.push(node.place.clone(), mistake);
            None
        }
    }
}

/// The items of a list, at most `limit` of them.
pub fn items<'n>(
    node: &'n Node,
    holder: &'static str,
    limit: usize,
    mistakes: &Mistakes,
) -> Option<&'n [Node]> {
    let Value::List(items) = &node.value else {
        let mistake = Mistake::NotAList { holder, found: node.value.noun() };
        mistakes.push(node.place.clone(), mistake);
        return None;
    };
    if items.len() > limit {
        let mistake = Mistake::TooMany { things: "entries", count: items.len(), limit };
        mistakes.push(node.place.clone(), mistake);
        return None;
    }
    Some(items)
}

pub fn text<'n>(node: &'n Node, key: &'static str, mistakes: &Mistakes) -> Option<&'n str> {
    match &node.value {
        Value::Scalar(text) => Some(text.trim()),
        other => {
            let mistake = Mistake::NotAScalar { key, found: other.noun() };
            mistakes.push(node.place.clone(), mistake);
            None
        }
    }
}

pub fn scalar<T>(
    node: &Node,
    key: &'static str,
    parse: impl FnOnce(&str) -> Result<T, QuantityError>,
    mistakes: &Mistakes,
) -> Option<T> {
    let written = text(node, key, mistakes)?;
    parse(written).map_err(|error| mistakes.push(node.place.clone(), error.into())).ok()
}

pub fn whole_number(
    node: &Node,
    key: &'static str,
    min: u64,
    max: u64,
    mistakes: &Mistakes,
) -> Option<u64> {
    let written = text(node, key, mistakes)?;
    let number = written.parse().ok().filter(|number| (min..=max).contains(number));
    if number.is_none() {
        let min = i64::try_from(min).unwrap_or(i64::MAX);
        let mistake = Mistake::NotWholeNumber { text: written.to_owned(), min, max };
        mistakes.push(node.place.clone(), mistake);
    }
    number
}

pub fn word<T: Clone>(
    written: &str,
    place: &Place,
    key: &'static str,
    words: &[(&str, T)],
    mistakes: &Mistakes,
) -> Option<T> {
    word_or(written, place, key, words, None, mistakes)
}

/// As `word`, where what is no word can be written too: `other` is an example of that.
pub fn word_or<T: Clone>(
    written: &str,
    place: &Place,
    key: &'static str,
    words: &[(&str, T)],
    other: Option<&str>,
    mistakes: &Mistakes,
) -> Option<T> {
    let found = words.iter().find(|(word, _)| *word == written);
    if found.is_none() {
        let names = words.iter().map(|(word, _)| *word);
        let mistake = Mistake::UnknownWord {
            key,
            word: written.to_owned(),
            suggestion: nearest(written, names.clone()),
            known: names.chain(other).collect::<Vec<_>>().join(", "),
        };
        mistakes.push(place.clone(), mistake);
    }
    found.map(|(_, value)| value.clone())
}

/// Text for people, in one line.
pub fn prose(written: &str, place: &Place, mistakes: &Mistakes) -> Option<String> {
    let length = written.chars().count();
    if length > limits::TEXT_LENGTH {
        let limit = limits::TEXT_LENGTH;
        mistakes.push(place.clone(), Mistake::TextTooLong { length, limit });
        return None;
    }
    // It is printed on terminals, where control characters are commands.
    let text = written.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.contains(char::is_control) {
        mistakes.push(place.clone(), Mistake::ControlCharacters);
        return None;
    }
    Some(text)
}

/// A name: lower-case letters, digits and dashes, so that it can be a folder and a column.
pub fn name(written: &str, place: &Place, mistakes: &Mistakes) -> Option<String> {
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let right = (1..=limits::NAME_LENGTH).contains(&written.len())
        && written.chars().all(allowed)
        && !written.starts_with('-');
    if !right {
        mistakes.push(place.clone(), Mistake::BadName { name: shortened(written) });
    }
    right.then(|| written.to_owned())
}

/// For a message.
pub fn shortened(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// A mapping of names to things: at least one of them, at most `limit`.
pub fn named<'n>(
    node: &'n Node,
    things: &'static str,
    limit: usize,
    mistakes: &Mistakes,
) -> Option<&'n [(Key, Node)]> {
    let entries = entries(node, things, mistakes)?;
    let count = entries.len();
    if count == 0 {
        mistakes.push(node.place.clone(), Mistake::None { things });
    } else if count > limit {
        mistakes.push(node.place.clone(), Mistake::TooMany { things, count, limit });
    }
    (1..=limit).contains(&count).then_some(entries)
}
