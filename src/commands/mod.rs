//! What each subcommand does: one file each.

pub mod report;
