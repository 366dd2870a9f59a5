//! The settings of each protocol, with their defaults: one function a protocol, and one table of them all.

mod kcp;
mod quic;
mod replicate;

use super::names::Names;
use crate::protocol::ProtocolSettings;
use crate::protocol::settings::UdpSettings;
use crate::scenario::fields::{self, Fields};
use crate::scenario::limits;
use crate::scenario::mistake::Mistake;
use crate::scenario::tree::{Key, Node};
use crate::units::PathId;

/// Where a protocol of a single path gets it from.
#[derive(Clone, Copy)]
pub enum PathChoice<'n> {
    /// Its own `path`, out of these.
    Own(&'n Names),
    /// From `replicate`, around it.
    Given,
}

type Reader = for<'n> fn(&mut Fields<'n>, PathChoice) -> Option<ProtocolSettings>;

const PROTOCOLS: [(&str, Reader); 5] = [
    ("udp", udp),
    ("kcp", kcp::kcp),
    ("quic", quic::quic),
    ("mpquic", quic::mpquic),
    ("replicate", replicate::replicate),
];

const LATER: [&str; 5] = ["tcp", "mptcp", "kcptun", "program", "socket"];

/// The protocol in a mapping that has exactly one.
pub fn exactly_one(fields: &mut Fields, choice: PathChoice) -> Option<ProtocolSettings> {
    let mut found: Vec<(&(Key, Node), &'static str, Reader)> = Vec::new();
    for (keyword, reader) in PROTOCOLS {
        found.extend(fields.take_entry(keyword).map(|entry| (entry, keyword, reader)));
    }
    let later = fields.later(&LATER);
    match found[..] {
        [((key, node), keyword, reader)] => {
            let mut inner = Fields::of(node, keyword, &key.place, fields.mistakes)?;
            let settings = reader(&mut inner, choice);
            inner.finish();
            settings
        }
        [] if later => None,
        _ => {
            let known = PROTOCOLS.map(|(keyword, _)| keyword).join(", ");
            let mistake = Mistake::NotExactlyOne { holder: "a sender", known };
            fields.mistakes.push(fields.place().clone(), mistake);
            None
        }
    }
}

fn udp(fields: &mut Fields, choice: PathChoice) -> Option<ProtocolSettings> {
    let path = path(fields, "`udp`", choice);
    Some(ProtocolSettings::Udp(UdpSettings { path: path? }))
}

/// The `path` of a protocol that has one.
fn path(fields: &mut Fields, holder: &'static str, choice: PathChoice) -> Option<PathId> {
    let written = fields.text("path");
    match (choice, written) {
        (PathChoice::Own(paths), Some((name, place))) => paths.path(name, place, fields.mistakes),
        (PathChoice::Own(paths), None) => paths.only_path(holder, fields.place(), fields.mistakes),
        (PathChoice::Given, written) => {
            if let Some((_, place)) = written {
                fields.mistakes.push(place.clone(), Mistake::InnerPath);
            }
            // `replicate` puts its own paths here.
            Some(PathId(0))
        }
    }
}

/// The `paths` of a protocol that has several, in the order written, none twice.
fn paths(
    fields: &mut Fields,
    protocol: &'static str,
    least: usize,
    names: &Names,
) -> Option<Vec<PathId>> {
    let node = fields.require("paths", "paths: [a, b]")?;
    let mistakes = fields.mistakes;
    let items = fields::items(node, "`paths`", limits::PATHS, mistakes)?;
    if items.len() < least {
        mistakes.push(node.place.clone(), Mistake::TooFewPaths { protocol, least });
        return None;
    }
    let mut found: Vec<PathId> = Vec::new();
    for item in items {
        let name = fields::text(item, "paths", mistakes)?;
        let path = names.path(name, &item.place, mistakes)?;
        if found.contains(&path) {
            mistakes.push(item.place.clone(), Mistake::PathTwice { name: name.to_owned() });
            return None;
        }
        found.push(path);
    }
    Some(found)
}
