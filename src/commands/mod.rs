//! What each subcommand does: one file each. They read and write files and the terminal, and hold no measurement.

pub mod engine_choice;
pub mod error;
pub mod run;
pub mod trials;

pub use error::{CommandError, Ending};
