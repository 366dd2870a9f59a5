//! A scenario file, read once and turned into a [`plan::Plan`]: after that, no default is missing and no range is
//! checked again. Knows the files and the YAML; runs nothing.

pub mod plan;
