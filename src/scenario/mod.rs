//! A scenario file, read once and turned into a [`plan::Plan`]: after that, no default is missing
//! and no range is checked again. Knows the files and the YAML; runs nothing.
//!
//! In reading order: `load` is the way in; `file` reads text and `tree` its YAML; `compile` turns
//! the tree into the plan, with `fields` to take mappings apart, `quantity` to read values
//! and `senders`, the table of what can be compared;
//! whatever is wrong becomes a `mistake`, and all of them together the [`Diagnostics`] that are
//! printed. `limits` has every limit of a file.

mod compile;
mod diagnostic;
mod fields;
mod file;
pub mod limits;
mod load;
mod mistake;
mod nearest;
pub mod plan;
pub mod quantity;
pub mod schema;
pub mod senders;
mod shipped;
mod tree;
pub mod written;

pub use diagnostic::{Colour, Diagnostic, Diagnostics};
pub use file::{File, Place};
pub use load::{load, load_str, load_with_text};
pub use mistake::Mistake;
