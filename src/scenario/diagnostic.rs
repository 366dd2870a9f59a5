//! Mistakes with their places, collected while a file is read, and printed with the line and a caret under it.

use std::cell::RefCell;
use std::fmt;
use std::path::{Path, PathBuf};

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Element, Group, Level, Origin, Renderer, Snippet};

use super::file::{File, Place};
use super::limits;
use super::mistake::Mistake;

/// All that is wrong with a scenario: why there is no plan.
#[derive(Debug)]
pub struct Diagnostics {
    list: Vec<Diagnostic>,
}

impl std::error::Error for Diagnostics {}

#[derive(Debug)]
pub struct Diagnostic {
    pub mistake: Mistake,
    pub origin: Place,
    /// Another place that has to do with it, and what that is.
    pub related: Option<(Place, &'static str)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    Never,
    Always,
}

impl Diagnostics {
    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.list.iter()
    }

    pub fn count(&self) -> usize {
        self.list.len()
    }

    /// A file that could not even be read.
    pub(super) fn unreadable(path: PathBuf, mistake: Mistake) -> Self {
        let origin = File::new(path, "").start();
        Self { list: vec![Diagnostic { mistake, origin, related: None }] }
    }

    /// Every mistake with its line and a caret: at most [`limits::PRINTED_MISTAKES`], and how many more there are.
    pub fn render(&self, colour: Colour) -> String {
        let renderer = match colour {
            Colour::Never => Renderer::plain(),
            Colour::Always => Renderer::styled(),
        };
        let renderer = renderer.decor_style(DecorStyle::Ascii);
        let printed = self.list.iter().take(limits::PRINTED_MISTAKES);
        let mut texts: Vec<String> =
            printed.map(|diagnostic| renderer.render(&[diagnostic.group()])).collect();
        if let Some(more @ 1..) = self.list.len().checked_sub(limits::PRINTED_MISTAKES) {
            texts.push(format!("… and {more} more"));
        }
        texts.join("\n\n")
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(Colour::Never))
    }
}

impl Diagnostic {
    fn position(&self) -> (&Path, usize) {
        (&self.origin.file.path, self.origin.span.start)
    }

    fn group(&self) -> Group<'_> {
        let title = Level::ERROR.primary_title(self.mistake.to_string());
        let help = self.mistake.help().map(|help| Level::HELP.message(help));
        title.elements(self.places()).elements(help)
    }

    fn places(&self) -> Vec<Element<'_>> {
        let file = &self.origin.file;
        let path = file.path.to_string_lossy();
        if file.text.is_empty() {
            return vec![Origin::path(path).into()];
        }
        let primary = AnnotationKind::Primary.span(self.origin.span.clone());
        let snippet = Snippet::source(&file.text).path(path).annotation(primary);
        match &self.related {
            Some((place, label)) if place.file == *file => {
                let context = AnnotationKind::Context.span(place.span.clone()).label(*label);
                vec![snippet.annotation(context).into()]
            }
            Some((place, label)) => vec![snippet.into(), elsewhere(place, label)],
            None => vec![snippet.into()],
        }
    }
}

fn elsewhere<'a>(place: &'a Place, label: &'a str) -> Element<'a> {
    let annotation = AnnotationKind::Context.span(place.span.clone()).label(label);
    Snippet::source(&place.file.text)
        .path(place.file.path.to_string_lossy())
        .annotation(annotation)
        .into()
}

/// Collects mistakes while a file is read. Shared by everything that reads, so that one mistake does not hide another.
#[derive(Debug, Default)]
pub struct Mistakes {
    list: RefCell<Vec<Diagnostic>>,
}

impl Mistakes {
    pub fn push(&self, origin: Place, mistake: Mistake) {
        self.list.borrow_mut().push(Diagnostic { mistake, origin, related: None });
    }

    pub fn push_with(&self, origin: Place, mistake: Mistake, related: (Place, &'static str)) {
        self.list.borrow_mut().push(Diagnostic { mistake, origin, related: Some(related) });
    }

    /// What was read, if all of it was right.
    pub fn conclude<T>(self, read: Option<T>) -> Result<T, Diagnostics> {
        let mut list = self.list.into_inner();
        match read {
            Some(value) if list.is_empty() => Ok(value),
            _ => {
                assert!(!list.is_empty(), "nothing is left out without a mistake that says why");
                list.sort_by(|a, b| a.position().cmp(&b.position()));
                Err(Diagnostics { list })
            }
        }
    }
}
