//! One direction of one path, with the meaning Linux's netem gives its settings.

pub mod overrides;
pub mod profile;
pub mod table;
