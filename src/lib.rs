//! impairlab: one scenario, one timeline, the same senders and the same link model, on several
//! engines.
//!
//! The modules in reading order; the layers below never see those above them:
//!
//! ```text
//! commands   what each subcommand does
//! report     recordings → table, charts, JSON, CSV            sees recordings only
//! recording  the facts of one trial, and their summary        pure, but for its format
//! statistics quantiles and their intervals                    pure
//! engine     runs one trial: sim and uml (virtual time), relay and netem (real time)
//! scenario   a YAML file → a Plan                             pure, but for reading the files
//! timeline   every change of every path, sorted               pure
//! workload   what is sent when                                pure
//! protocol   the senders under test, without I/O              pure
//! link       one direction of one path, netem's meaning       pure
//! splitmix   random numbers from a seed
//! sum        counts added up field by field
//! units      Instant, Rate, Size, Probability, PathId
//! ```
//!
//! "Pure" means: no I/O, no clock, no randomness but from a seed that is passed in.

pub mod commands;
pub mod engine;
pub mod link;
pub mod progress;
pub mod protocol;
pub mod recording;
pub mod report;
pub mod scenario;
pub mod splitmix;
pub mod statistics;
mod sum;
pub mod timeline;
pub mod units;
pub mod workload;

pub mod cli;
