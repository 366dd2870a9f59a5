//! Profiles: link settings with a name and a source, in files of their own. They are looked up in the folder `profiles`
//! beside the scenario first, then among those built into the program.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

use super::path::Layer;
use crate::scenario::diagnostic::Mistakes;
use crate::scenario::fields::{self, Fields};
use crate::scenario::file::{File, Place};
use crate::scenario::mistake::Mistake;
use crate::scenario::nearest::nearest;
use crate::scenario::tree::{self, Value};
use crate::scenario::{limits, shipped};

/// A profile with those it is based on.
#[derive(Debug, Default)]
pub struct Profile {
    /// The one that everything is based on comes first.
    pub layers: Vec<Layer>,
    pub sources: Vec<String>,
}

pub struct Profiles<'m> {
    folder: PathBuf,
    /// Read once, so that its mistakes are told once. `None`: it has some.
    read: RefCell<HashMap<String, Option<Rc<Profile>>>>,
    mistakes: &'m Mistakes,
}

impl<'m> Profiles<'m> {
    pub fn beside(scenario: &File, mistakes: &'m Mistakes) -> Self {
        let folder = scenario.folder().join("profiles");
        Self { folder, read: RefCell::default(), mistakes }
    }

    /// The profile of that name; `place` is where it is asked for.
    pub fn find(&self, name: &str, place: &Place) -> Option<Rc<Profile>> {
        self.find_in_chain(name, place, &[])
    }

    fn find_in_chain(&self, name: &str, place: &Place, chain: &[String]) -> Option<Rc<Profile>> {
        if chain.iter().any(|earlier| earlier == name) {
            let chain = [chain, &[name.to_owned()]].concat().join(" → ");
            self.mistakes.push(place.clone(), Mistake::ProfileCycle { chain });
            return None;
        }
        if chain.len() >= limits::PROFILE_CHAIN {
            let mistake = Mistake::ProfileChain { count: chain.len() + 1 };
            self.mistakes.push(place.clone(), mistake);
            return None;
        }
        let known = self.read.borrow().get(name).cloned();
        known.unwrap_or_else(|| {
            let profile = self.read(name, place, chain).map(Rc::new);
            self.read.borrow_mut().insert(name.to_owned(), profile.clone());
            profile
        })
    }

    fn read(&self, name: &str, place: &Place, chain: &[String]) -> Option<Profile> {
        let name = fields::name(name, place, self.mistakes)?;
        let file = self.open(&name, place)?;
        let root = tree::parse(&file, self.mistakes)?;
        let start = file.start();
        let mut fields = Fields::of(&root, "a profile", &start, self.mistakes)?;
        fields.prose("about");
        let base = fields.text("based-on");
        let own_sources = sources(&mut fields);
        let own_layer = Layer::read(&mut fields);
        fields.finish();
        let chain = [chain, &[name]].concat();
        let base = match base {
            Some((base, place)) => Some(self.find_in_chain(base, place, &chain)?),
            None => None,
        };
        let (mut layers, mut sources) = match base {
            Some(base) => (base.layers.clone(), base.sources.clone()),
            None => Default::default(),
        };
        layers.push(own_layer);
        sources.extend(own_sources.into_iter().flatten());
        Some(Profile { layers, sources })
    }

    fn open(&self, name: &str, place: &Place) -> Option<Arc<File>> {
        let path = self.folder.join(format!("{name}.yaml"));
        if path.exists() {
            return File::read(&path)
                .map_err(|mistake| self.mistakes.push(File::new(&path, "").start(), mistake))
                .ok();
        }
        let shipped = shipped::PROFILES.iter().find(|(shipped, _)| *shipped == name);
        if shipped.is_none() {
            let mistake = Mistake::UnknownProfile {
                name: name.to_owned(),
                suggestion: nearest(name, self.known().iter().map(String::as_str)),
                searched: format!("{}, and among the built-in ones", path.display()),
            };
            self.mistakes.push(place.clone(), mistake);
        }
        shipped.map(|(name, text)| File::new(format!("(built in) profiles/{name}.yaml"), *text))
    }

    /// The names that could have been meant.
    fn known(&self) -> Vec<String> {
        let beside = std::fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let stems = beside.filter_map(|entry| {
            let file_name = entry.file_name().into_string().ok()?;
            file_name.strip_suffix(".yaml").map(str::to_owned)
        });
        let shipped = shipped::PROFILES.iter().map(|(name, _)| (*name).to_owned());
        shipped.chain(stems.take(limits::NODES)).collect()
    }
}

/// `source`: one text or a list of them, at least one.
fn sources(fields: &mut Fields) -> Option<Vec<String>> {
    let node = fields.require("source", "source: [ … ]")?;
    let mistakes = fields.mistakes;
    let items = match &node.value {
        Value::Scalar(_) => std::slice::from_ref(node),
        _ => fields::items(node, "`source`", limits::SOURCES, mistakes)?,
    };
    if items.is_empty() {
        mistakes.push(node.place.clone(), Mistake::NoSource);
    }
    let source = |item| {
        let text = fields::text(item, "source", mistakes)?;
        fields::prose(text, &item.place, mistakes)
    };
    items.iter().map(source).collect()
}
