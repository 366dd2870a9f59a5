//! What each subcommand does: one file each.

pub mod check;
pub mod show;
