//! One option of a sender: its key, what may be written there, and where it is in the settings. All
//! that is ever done with an option (read it, write it, list it) comes from this one place.

use std::borrow::Cow;
use std::time::Duration;

use super::form::Form;
use crate::scenario::diagnostic::Mistakes;
use crate::scenario::fields::{self, Fields};
use crate::scenario::quantity::{self, Limits, QuantityError, print_duration, print_size};
use crate::scenario::tree::{Key, Node};

/// An option of the settings `S`.
pub struct SenderOption<S> {
    key: &'static str,
    about: &'static str,
    form: Form,
    read: Read<S>,
    write: Box<dyn Fn(&S) -> String>,
}

type Read<S> = Box<dyn Fn(&(Key, Node), &Mistakes, &mut S)>;

/// Where a value is in the settings.
type Field<S, T> = fn(&mut S) -> &mut T;

/// An option as people read about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OptionText {
    pub key: &'static str,
    pub about: Cow<'static, str>,
    pub form: Form,
    /// As it would be written; a sentence where there is no such text.
    pub default: String,
}

impl<S: Clone + 'static> SenderOption<S> {
    /// `true` or `false`.
    pub fn flag(key: &'static str, field: Field<S, bool>) -> Self {
        let words = vec![("true", true), ("false", false), ("1", true), ("0", false)];
        Self { form: Form::Flag, ..Self::word(key, words, field) }
    }

    /// A flag that its field writes as 1 or 0.
    pub fn bit(key: &'static str, field: Field<S, bool>) -> Self {
        let words = vec![("1", true), ("0", false), ("true", true), ("false", false)];
        Self { form: Form::Flag, ..Self::word(key, words, field) }
    }

    /// One of some words; the first of those with a value is how it is written.
    pub fn word<T: Clone + PartialEq + 'static>(
        key: &'static str,
        words: Vec<(&'static str, T)>,
        field: Field<S, T>,
    ) -> Self {
        let form = Form::Words(words.iter().map(|(word, _)| *word).collect());
        let known = words.clone();
        let read = move |(_, node): &(Key, Node), mistakes: &Mistakes| {
            let text = fields::text(node, key, mistakes)?;
            fields::word(text, &node.place, key, &known, mistakes)
        };
        let write = move |value: &T| {
            let same = words.iter().find(|(_, known)| known == value);
            same.map_or_else(String::new, |(word, _)| (*word).to_owned())
        };
        Self::custom(key, form, read, write, field)
    }

    /// A word that stands for several fields at once: options behind it go above it. The first word
    /// means that the fields are as they are.
    pub fn preset<T: Copy + PartialEq + 'static>(
        key: &'static str,
        words: Vec<(&'static str, Option<T>)>,
        put: fn(&mut S, T),
        present: fn(&S) -> Option<T>,
    ) -> Self {
        let form = Form::Words(words.iter().map(|(word, _)| *word).collect());
        let known = words.clone();
        let read = move |(_, node): &(Key, Node), mistakes: &Mistakes, settings: &mut S| {
            let word = fields::text(node, key, mistakes)
                .and_then(|text| fields::word(text, &node.place, key, &known, mistakes));
            if let Some(Some(preset)) = word {
                put(settings, preset);
            }
        };
        let write = move |settings: &S| {
            let same = words.iter().find(|(_, known)| *known == present(settings));
            same.map_or_else(String::new, |(word, _)| (*word).to_owned())
        };
        Self { key, about: "", form, read: Box::new(read), write: Box::new(write) }
    }

    /// A whole number without a unit.
    pub fn whole<T: TryFrom<u64> + Into<u64> + Copy + 'static>(
        key: &'static str,
        limits: Limits<u64>,
        field: Field<S, T>,
    ) -> Self {
        let Limits { min, max } = limits;
        let read = move |(_, node): &(Key, Node), mistakes: &Mistakes| {
            let number = fields::whole_number(node, key, min, max, mistakes)?;
            let fits = T::try_from(number);
            Some(fits.unwrap_or_else(|_| unreachable!("{key}: {max} fits its type")))
        };
        let write = |value: &T| -> String { Into::<u64>::into(*value).to_string() };
        Self::custom(key, Form::Whole { min, max }, read, write, field)
    }

    pub fn duration(
        key: &'static str,
        limits: Limits<Duration>,
        field: Field<S, Duration>,
    ) -> Self {
        let form = Form::Duration { limits, whole_milliseconds: false };
        let read = scalar(key, move |text| quantity::duration(text, limits));
        Self::custom(key, form, read, |value| print_duration(*value), field)
    }

    /// A duration where nothing finer than a millisecond can be held.
    pub fn milliseconds(
        key: &'static str,
        limits: Limits<Duration>,
        field: Field<S, Duration>,
    ) -> Self {
        let form = Form::Duration { limits, whole_milliseconds: true };
        let read = scalar(key, move |text| whole_milliseconds(text, limits));
        Self::custom(key, form, read, |value| print_duration(*value), field)
    }

    /// The same, or a word for none.
    pub fn milliseconds_or(
        key: &'static str,
        word: &'static str,
        limits: Limits<Duration>,
        field: Field<S, Option<Duration>>,
    ) -> Self {
        let duration = Form::Duration { limits, whole_milliseconds: true };
        let form = Form::Either(vec![Form::Words(vec![word]), duration]);
        let read = move |(_, node): &(Key, Node), mistakes: &Mistakes| {
            let text = fields::text(node, key, mistakes)?;
            if text.starts_with(char::is_alphabetic) {
                let duration = Some("500ms");
                return fields::word_or(
                    text,
                    &node.place,
                    key,
                    &[(word, None)],
                    duration,
                    mistakes,
                );
            }
            let parse = |text: &str| whole_milliseconds(text, limits);
            fields::scalar(node, key, parse, mistakes).map(Some)
        };
        let write =
            move |value: &Option<Duration>| value.map_or_else(|| word.to_owned(), print_duration);
        Self::custom(key, form, read, write, field)
    }

    /// Bytes.
    pub fn size<T: TryFrom<u64> + Into<u64> + Copy + 'static>(
        key: &'static str,
        limits: Limits<u64>,
        field: Field<S, T>,
    ) -> Self {
        let read = scalar(key, move |text| {
            let size = T::try_from(quantity::size(text, limits)?);
            Ok(size.unwrap_or_else(|_| unreachable!("{key}: its limit fits its type")))
        });
        let write = |value: &T| print_size((*value).into());
        Self::custom(key, Form::Size(limits), read, write, field)
    }

    /// Anything else: how it is read and written is given.
    pub fn custom<T: 'static>(
        key: &'static str,
        form: Form,
        read: impl Fn(&(Key, Node), &Mistakes) -> Option<T> + 'static,
        write: impl Fn(&T) -> String + 'static,
        field: Field<S, T>,
    ) -> Self {
        let read = move |entry: &(Key, Node), mistakes: &Mistakes, settings: &mut S| {
            if let Some(value) = read(entry, mistakes) {
                *field(settings) = value;
            }
        };
        // A field that can be written can be read; the copy is what it costs to name it once.
        let write = move |settings: &S| write(field(&mut settings.clone()));
        Self { key, about: "", form, read: Box::new(read), write: Box::new(write) }
    }

    /// What it does, in a line: for people.
    pub fn about(self, about: &'static str) -> Self {
        Self { about, ..self }
    }
}

/// Takes each option out of the mapping that is there; the others stay as they are.
pub fn read<S>(options: &[SenderOption<S>], fields: &mut Fields, settings: &mut S) {
    for option in options {
        if let Some(entry) = fields.take_entry(option.key) {
            (option.read)(entry, fields.mistakes, settings);
        }
    }
}

pub fn written<S>(options: &[SenderOption<S>], settings: &S) -> Vec<(&'static str, String)> {
    options.iter().map(|option| (option.key, (option.write)(settings))).collect()
}

/// The options as people read about them, with what is taken where nothing is written.
pub fn texts<S>(options: Vec<SenderOption<S>>, usual: &S) -> Vec<OptionText> {
    let text = |option: SenderOption<S>| OptionText {
        default: (option.write)(usual),
        key: option.key,
        about: option.about.into(),
        form: option.form,
    };
    options.into_iter().map(text).collect()
}

/// A single value, read by `parse`.
pub fn scalar<T>(
    key: &'static str,
    parse: impl Fn(&str) -> Result<T, QuantityError>,
) -> impl Fn(&(Key, Node), &Mistakes) -> Option<T> {
    move |(_, node), mistakes| fields::scalar(node, key, &parse, mistakes)
}

fn whole_milliseconds(text: &str, limits: Limits<Duration>) -> Result<Duration, QuantityError> {
    let duration = quantity::duration(text, limits)?;
    if !duration.subsec_nanos().is_multiple_of(1_000_000) {
        return Err(QuantityError::NotWhole { text: text.to_owned(), base: "milliseconds" });
    }
    Ok(duration)
}
