//! `timeline`: what changes during a run, and when.

use std::time::Duration;

use super::link;
use super::names::Names;
use crate::scenario::fields::{self, Fields};
use crate::scenario::file::Place;
use crate::scenario::limits;
use crate::scenario::mistake::Mistake;
use crate::scenario::quantity::{self, Limits, QuantityError};
use crate::scenario::tree::{Key, Node};
use crate::timeline::{Effect, Entry};
use crate::units::{Direction, PathId};

const LATER: [&str; 6] = ["ramp", "flap", "profile", "address-change", "handover", "trace"];

/// The entries as written; `end` is that of the workload, if that could be read.
pub fn entries(scenario: &mut Fields, paths: &Names, end: Option<Duration>) -> Option<Vec<Entry>> {
    let mistakes = scenario.mistakes;
    let Some(node) = scenario.take("timeline") else { return Some(Vec::new()) };
    let items = fields::items(node, "`timeline`", limits::TIMELINE_ENTRIES, mistakes)?;
    let entry = |item| {
        let fields = Fields::of(item, "a timeline entry", &item.place, mistakes)?;
        EntryReader { fields, paths, end }.read()
    };
    let entries: Vec<Option<Entry>> = items.iter().map(entry).collect();
    entries.into_iter().collect()
}

struct EntryReader<'n> {
    fields: Fields<'n>,
    paths: &'n Names,
    end: Option<Duration>,
}

impl<'n> EntryReader<'n> {
    fn read(mut self) -> Option<Entry> {
        let from = self.from();
        let path = self.path();
        let outage = self.fields.take("outage");
        let set = self.fields.take_entry("set");
        let later = self.fields.later(&LATER);
        let entry = match (outage, set) {
            (Some(node), None) => self.outage(from, path, node),
            (None, Some((key, node))) => self.set(from, path, key, node),
            (None, None) if later => {
                // What would belong to the later key is not judged.
                return None;
            }
            _ => {
                let known = "outage, set".to_owned();
                let holder = "a timeline entry";
                self.mistake(self.fields.place(), Mistake::NotExactlyOne { holder, known });
                None
            }
        };
        self.fields.finish();
        entry
    }

    fn mistake(&self, place: &Place, mistake: Mistake) {
        self.fields.mistakes.push(place.clone(), mistake);
    }

    fn from(&mut self) -> Option<Duration> {
        let node = self.fields.require("at", "at: 20s")?;
        let at = fields::scalar(node, "at", time, self.fields.mistakes)?;
        match self.end {
            Some(end) if at >= end => {
                self.mistake(&node.place, Mistake::StartsPastTheEnd { at, end });
                None
            }
            _ => Some(at),
        }
    }

    fn path(&mut self) -> Option<PathId> {
        self.paths.path_in(&mut self.fields, "a timeline entry")
    }

    fn until(&self, from: Duration, length: Duration, place: &Place) -> Option<Duration> {
        let until = from + length;
        match self.end {
            Some(end) if until > end => {
                self.mistake(place, Mistake::EndsPastTheEnd { until, end });
                None
            }
            _ => Some(until),
        }
    }

    fn outage(
        &mut self,
        from: Option<Duration>,
        path: Option<PathId>,
        node: &Node,
    ) -> Option<Entry> {
        if let Some((_, place)) = self.fields.text("direction") {
            self.mistake(place, Mistake::OutageDirection);
        }
        if let Some((_, place)) = self.fields.text("for") {
            self.mistake(place, Mistake::OutageFor);
        }
        let length = fields::scalar(node, "outage", length, self.fields.mistakes);
        let (from, path) = (from?, path?);
        let until = Some(self.until(from, length?, &node.place)?);
        Some(Entry { path, from, until, effect: Effect::Outage })
    }

    fn set(
        &mut self,
        from: Option<Duration>,
        path: Option<PathId>,
        key: &'n Key,
        node: &'n Node,
    ) -> Option<Entry> {
        let words = [("up", Direction::Up), ("down", Direction::Down)];
        let direction = self.fields.word("direction", &words);
        let length = self.fields.take("for").map(|node| {
            fields::scalar(node, "for", length, self.fields.mistakes).zip(Some(&node.place))
        });
        let mut inner = Fields::of(node, "`set`", &key.place, self.fields.mistakes)?;
        let settings = Box::new(link::settings(&mut inner));
        if inner.is_empty() {
            self.mistake(&key.place, Mistake::ChangesNothing);
        }
        inner.finish();
        let (from, path) = (from?, path?);
        let until = match length {
            Some(length) => {
                let (length, place) = length?;
                Some(self.until(from, length, place)?)
            }
            None => None,
        };
        Some(Entry { path, from, until, effect: Effect::Set { direction, settings } })
    }
}

fn time(text: &str) -> Result<Duration, QuantityError> {
    quantity::duration(text, Limits { min: Duration::ZERO, max: limits::DURATION })
}

fn length(text: &str) -> Result<Duration, QuantityError> {
    quantity::duration(text, Limits { min: Duration::from_nanos(1), max: limits::DURATION })
}
