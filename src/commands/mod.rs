//! What each subcommand does: one file each. They read and write files and the terminal, and hold
//! no measurement.

pub mod agree;
pub mod check;
mod dispatch;
pub mod doctor;
pub mod engine_choice;
pub mod error;
pub mod exec;
mod reader;
pub mod report;
pub mod run;
mod selection;
pub mod senders;
pub mod show;
pub mod trials;

pub use dispatch::{dispatch, error_colour, hear_of_full_files, may_make_namespaces};
pub use error::{CommandError, Ending, OutputError};
