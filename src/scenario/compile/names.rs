//! The names that one part of a file gives and others refer to.

use crate::scenario::diagnostic::Mistakes;
use crate::scenario::fields::{self, Fields};
use crate::scenario::file::Place;
use crate::scenario::mistake::Mistake;
use crate::scenario::nearest::nearest;
use crate::units::PathId;

/// In the order of the file. `None` if that part could not be read: what refers to it is then not
/// judged.
#[derive(Debug, Clone)]
pub struct Names(pub Option<Vec<String>>);

#[derive(Debug, Clone, Copy)]
pub enum Named {
    Path,
    Sender,
}

impl Names {
    /// The path that a mapping names, or the only one where it names none.
    pub fn path_in(&self, fields: &mut Fields, holder: &'static str) -> Option<PathId> {
        let Some(node) = fields.take("path") else {
            return self.only_path(holder, fields.place(), fields.mistakes);
        };
        let name = fields::text(node, "path", fields.mistakes)?;
        self.path(name, &node.place, fields.mistakes)
    }

    pub fn path(&self, name: &str, place: &Place, mistakes: &Mistakes) -> Option<PathId> {
        self.find(name, Named::Path, place, mistakes).map(path_id)
    }

    /// The path of something that names none: only where there is no choice.
    fn only_path(
        &self,
        holder: &'static str,
        place: &Place,
        mistakes: &Mistakes,
    ) -> Option<PathId> {
        let names = self.0.as_ref()?;
        if names.len() == 1 {
            return Some(path_id(0));
        }
        let mistake = Mistake::WhichPath { holder, known: names.join(", ") };
        mistakes.push(place.clone(), mistake);
        None
    }

    /// Where `name` is in the list; a mistake if it is not there.
    pub fn find(
        &self,
        name: &str,
        what: Named,
        place: &Place,
        mistakes: &Mistakes,
    ) -> Option<usize> {
        let names = self.0.as_ref()?;
        let found = names.iter().position(|known| known == name);
        if found.is_none() {
            let suggestion = nearest(name, names.iter().map(String::as_str));
            let (name, known) = (name.to_owned(), names.join(", "));
            let mistake = match what {
                Named::Path => Mistake::UnknownPath { name, suggestion, known },
                Named::Sender => Mistake::UnknownSender { name, suggestion, known },
            };
            mistakes.push(place.clone(), mistake);
        }
        found
    }
}

fn path_id(index: usize) -> PathId {
    PathId(u8::try_from(index).expect("within limits::PATHS"))
}
