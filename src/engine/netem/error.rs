//! Why netem could not do what a plan asks for.

use std::time::Duration;

use netns::QdiscError;
use netns::netem::{EncodeError, Options, ParseError};
use netns::tbf;
use thiserror::Error;

use super::options::OptionsError;
use crate::engine::LabError;
use crate::units::Direction;

#[derive(Debug, Error)]
pub enum NetemError {
    #[error(transparent)]
    Lab(#[from] LabError),
    #[error("path {path}, {direction}: {source}")]
    Impossible { path: String, direction: Direction, source: OptionsError },
    #[error("path {path}, {direction}: {source}")]
    Unencodable { path: String, direction: Direction, source: EncodeError },
    #[error("path {path}, the change {at}: {source}")]
    Refused { path: String, at: String, source: Box<QdiscError> },
    #[error("path {path}, {direction}, the change {at}: {source}")]
    Unreadable { path: String, direction: Direction, at: String, source: ParseError },
    #[error(
        "path {path}, {direction}, the change {at}: the kernel's netem did not take over {option}: \
         {asked} was asked for, and it holds {held} (see `impairlab doctor`; a newer kernel, or \
         the engine relay or sim, can do it)"
    )]
    NotHeld {
        path: String,
        direction: Direction,
        at: String,
        option: &'static str,
        asked: String,
        held: String,
    },
    #[error(
        "path {path}, {direction}, the change {at}: the kernel's tbf did not take over {option} of \
         {asked:?} (a newer kernel, or the engine relay or sim, can do it)"
    )]
    BucketNotHeld {
        path: String,
        direction: Direction,
        at: String,
        option: &'static str,
        asked: tbf::Options,
    },
    #[error("cannot observe the paths: {0}")]
    Tap(std::io::Error),
    #[error("the thread that {0} crashed")]
    Crashed(&'static str),
}

/// As the end of "the change …".
pub(super) fn when(at: Option<Duration>) -> String {
    match at {
        None => "before the workload".to_owned(),
        Some(at) => format!("at {} s of the workload", at.as_secs_f64()),
    }
}

/// The value of an option, by the name that `Options::differences` gives it.
pub(super) fn value(option: &str, options: &Options) -> String {
    match option {
        "delay" => format!("{:?}", options.delay),
        "jitter" => format!("{:?}", options.jitter),
        "delay_correlation" => format!("{:?}", options.delay_correlation),
        "limit" => options.limit.to_string(),
        "loss" => format!("{:?}", options.loss),
        "duplicate" => format!("{:?}", options.duplicate),
        "corrupt" => format!("{:?}", options.corrupt),
        "reorder" => format!("{:?}", options.reorder),
        "gap" => options.gap.to_string(),
        "rate" => format!("{:?}", options.rate),
        "slot" => format!("{:?}", options.slot),
        "ecn" => options.ecn.to_string(),
        "seed" => format!("{:?}", options.seed),
        _ => "something else".to_owned(),
    }
}
