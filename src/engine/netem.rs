//! The kernel's own netem, told the same settings as the link model.

pub mod options;
