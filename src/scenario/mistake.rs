//! Everything that can be wrong with a scenario file, and what to do about each. Where it is wrong
//! is told by the diagnostic that carries the mistake.

use std::borrow::Cow;
use std::io;
use std::time::Duration;

use thiserror::Error;

use super::limits;
use super::quantity::{QuantityError, print_duration};
use crate::link::table::TableError;
use crate::protocol::kcptun::fec::GroupSizesError;

#[derive(Debug, Error)]
pub enum Mistake {
    // The file as a whole.
    #[error("cannot read the file: {error}")]
    Unreadable { error: io::Error },
    #[error("this is not a file")]
    NotAFile,
    #[error("the file has {bytes} bytes, and at most {} are read", limits::FILE_BYTES)]
    FileTooLarge { bytes: u64 },
    #[error("this is a binary file, not a text file")]
    Binary,
    #[error("the file is not UTF-8 text: byte {offset} is none of a character")]
    NotUtf8 { offset: usize },
    #[error("there is nothing in this file")]
    Empty,
    #[error("{reason}")]
    Yaml { reason: String },
    #[error("the file has too many values, too many inside one another, or too many aliases")]
    TooComplex,
    #[error("the file has several documents, and a scenario is one")]
    SeveralDocuments,
    #[error("an alias stands inside of what it stands for")]
    InsideItself,
    #[error("a key has to be a single value")]
    KeyNotAScalar,
    #[error("merge keys (`<<`) cannot be used here")]
    MergeKey,

    // Its keys.
    #[error("`{key}` is not a key of {holder}")]
    UnknownKey { key: String, holder: &'static str, suggestion: Option<String>, known: String },
    #[error("`{key}` is not available in this version")]
    NotYet { key: String },
    #[error("version `{text}` of the format is not known")]
    UnknownVersion { text: String },
    #[error("`{key}` is given twice")]
    DuplicateKey { key: String },
    #[error("`{key}` is missing in {holder}")]
    MissingKey { key: &'static str, holder: &'static str, example: &'static str },
    #[error("{holder} needs exactly one of {known}")]
    NotExactlyOne { holder: &'static str, known: String },
    #[error("{holder} has to be a mapping, and this is {found}")]
    NotAMapping { holder: &'static str, found: &'static str },
    #[error("{holder} has to be a list, and this is {found}")]
    NotAList { holder: &'static str, found: &'static str },
    #[error("`{key}` has to be a single value, and this is {found}")]
    NotAScalar { key: &'static str, found: &'static str },
    #[error("{count} {things} are too many: {limit} are the most")]
    TooMany { things: &'static str, count: usize, limit: usize },
    #[error("there are no {things}")]
    None { things: &'static str },

    // Its values.
    #[error("{0}")]
    Quantity(#[from] QuantityError),
    #[error("`{word}` is not a value of `{key}`")]
    UnknownWord { key: &'static str, word: String, suggestion: Option<String>, known: String },
    #[error("`{text}` is not a whole number from {min} to {max}")]
    NotWholeNumber { text: String, min: i64, max: u64 },
    #[error("`{text}` is not a positive number")]
    NotPositive { text: String },
    #[error("`{name}` cannot be a name")]
    BadName { name: String },
    #[error("this text has {length} characters, and {limit} are the most")]
    TextTooLong { length: usize, limit: usize },

    // What it refers to.
    #[error("there is no path `{name}`")]
    UnknownPath { name: String, suggestion: Option<String>, known: String },
    #[error("there is no sender `{name}`")]
    UnknownSender { name: String, suggestion: Option<String>, known: String },
    #[error("{holder} needs a `path`, since there are several: {known}")]
    WhichPath { holder: &'static str, known: String },
    #[error("path `{name}` is listed twice")]
    PathTwice { name: String },
    #[error("there is no profile `{name}`")]
    UnknownProfile { name: String, suggestion: Option<String>, searched: String },
    #[error("profiles are based on one another in a circle: {chain}")]
    ProfileCycle { chain: String },
    #[error("{count} profiles are based on one another: {} are the most", limits::PROFILE_CHAIN)]
    ProfileChain { count: usize },
    #[error("cannot use the table `{path}`: {reason}")]
    Table { path: String, reason: String },
    #[error("these are no samples: {error}")]
    Samples { error: TableError },

    // What it asks for.
    #[error("packets cannot be sent ahead of others where there is no delay")]
    ReorderWithoutDelay,
    #[error("there are no cells that could have this overhead")]
    CellOverheadWithoutCell,
    #[error("a rate with a burst counts packets as they are, without overhead or cells")]
    BurstWithOverhead,
    #[error("the shortest time between slots is more than the longest")]
    SlotBackwards,
    #[error("`{a}` and `{b}` together are more than 100%")]
    MoreThanCertain { a: &'static str, b: &'static str },
    #[error("`{protocol}` needs {least} {} or more", if *least == 1 { "path" } else { "paths" })]
    TooFewPaths { protocol: &'static str, least: usize },
    #[error("`{protocol}` needs its paths to be all IPv4 or all IPv6")]
    MixedIp { protocol: &'static str },
    #[error("`{text}` cannot be the name of anything of the kernel's")]
    KernelName { text: String },
    #[error(
        "{} is not before the end of the workload at {}",
        print_duration(*at),
        print_duration(*end)
    )]
    StartsPastTheEnd { at: Duration, end: Duration },
    #[error(
        "this lasts until {}, past the end of the workload at {}",
        print_duration(*until),
        print_duration(*end)
    )]
    EndsPastTheEnd { until: Duration, end: Duration },
    #[error("an outage takes both directions of a path")]
    OutageDirection,
    #[error("an outage says itself how long it takes")]
    OutageFor,
    #[error("this changes nothing")]
    ChangesNothing,
    #[error("this text has control characters")]
    ControlCharacters,
    #[error("this comes to {count} messages, and {limit} are the most that can be kept")]
    TooManyMessages {
        count: u64,
        limit: u64,
        /// Whether they are not too many for a histogram.
        histogram_may: bool,
    },
    #[error(
        "`{protocol}` cannot carry messages of {size} bytes: {limit} are the most, since {reason}"
    )]
    MessageTooLarge { protocol: &'static str, size: u32, limit: u64, reason: Cow<'static, str> },
    #[error(
        "`{protocol}` needs a kernel, and {vehicles} vehicles run on engine sim only, which has \
         none: no engine can run both"
    )]
    VehiclesWithKernel { protocol: &'static str, vehicles: u64 },
    #[error(
        "`{protocol}` sends datagrams of {bytes}B, and over IPv6 (path `{path}`) {limit}B are the \
         most that fit a packet of 1500 bytes"
    )]
    TooLargeForIpv6 { protocol: &'static str, bytes: u32, path: String, limit: u32 },
    #[error("`{protocol}` cannot be replicated: {reason}")]
    CannotReplicate { protocol: &'static str, reason: &'static str },
    #[error("stack `{stack}` has no `{what}`")]
    OtherStack { what: String, stack: &'static str, other: &'static str },
    #[error("a fixed window begins as wide as it stays")]
    InitialOfFixedWindow,
    #[error("with an `mtu` of {mtu}B no copy fits a packet: {limit}B are the most")]
    MtuTooLargeToCopy { mtu: u32, limit: u32 },
    #[error("an `mtu` of {mtu}B has no room for the headers: {least}B are the least with these")]
    MtuTooSmall { mtu: u32, least: u32 },
    #[error("{0}")]
    GroupSizes(#[from] GroupSizesError),
    #[error("`{key}` is part of kcp-go, and this is another behaviour")]
    OnlyKcpGo { key: &'static str },
    #[error("the paths of `replicate` count, and what it replicates has none of its own")]
    InnerPath,
    #[error("`{key}` has no effect with this `behaviour`")]
    WithoutEffect { key: &'static str },
    #[error("this claim has no figure")]
    EmptyClaim,
    #[error("a profile has to say where its figures come from")]
    NoSource,
    #[error("a claim has to say who published it")]
    UnsourcedClaim,
}

impl Mistake {
    /// What to do about it, where the message itself does not say.
    pub fn help(&self) -> Option<String> {
        match self {
            Self::Quantity(error) => error.help(),
            Self::UnknownKey { suggestion, known, .. }
            | Self::UnknownWord { suggestion, known, .. }
            | Self::UnknownPath { suggestion, known, .. }
            | Self::UnknownSender { suggestion, known, .. } => {
                Some(meant(suggestion, &format!("there is: {known}")))
            }
            Self::UnknownProfile { suggestion, searched, .. } => {
                Some(meant(suggestion, &format!("it was looked up as {searched}")))
            }
            Self::OtherStack { other, .. } => Some(format!("stack `{other}` has it")),
            Self::MissingKey { example, .. } => Some(format!("add `{example}`")),
            _ => self.fixed_help().map(str::to_owned),
        }
    }

    fn fixed_help(&self) -> Option<&'static str> {
        match self {
            Self::MergeKey => Some("put what is shared into a profile"),
            Self::UnknownVersion { .. } => Some("write `version: 1`"),
            Self::BadName { .. } => {
                Some("a name has lower-case letters, digits and dashes, at most 48, no dash first")
            }
            Self::KernelName { .. } => {
                Some("such a name has 1 to 15 letters, digits, dashes and underscores")
            }
            Self::CellOverheadWithoutCell => Some("add a `cell` size"),
            Self::BurstWithOverhead => {
                Some("leave out `burst` and `queue`, or `overhead`, `cell` and `cell-overhead`")
            }
            Self::ReorderWithoutDelay => Some("add a `delay`, or write `reorder: none`"),
            Self::OutageDirection => Some("to lose packets one way, write `set: { loss: 100% }`"),
            Self::OutageFor => Some("leave `for` out"),
            Self::OnlyKcpGo { .. } => Some("add `behaviour: kcp-go-5.6`"),
            Self::TooManyMessages { histogram_may: true, .. } => {
                Some("`keep: histogram` needs no memory for each message, and allows more")
            }
            Self::TooManyMessages { .. } => {
                Some("make the rate, the duration or the number of vehicles smaller")
            }
            Self::VehiclesWithKernel { .. } => {
                Some("leave `vehicles` out, or move the sender to a scenario of its own")
            }
            Self::InitialOfFixedWindow => Some("leave `initial-window` out"),
            Self::EmptyClaim => {
                Some("add one of p50, p99, p999, mean, worst, amplification, longest-gap")
            }
            Self::WithoutEffect { .. } => Some(
                "ikcp has `flush-at-once` and `update-interval`; kcp-go `ack-nodelay` and `write-delay`",
            ),
            Self::NoSource => Some("add `source: [ … ]`: papers, data sets, addresses"),
            _ => None,
        }
    }

    /// The YAML reader's own words, but where the lab can say it better.
    pub fn from_yaml(error: &serde_saphyr::Error) -> Self {
        use serde_saphyr::Error;
        match error {
            Error::Budget { .. }
            | Error::AliasReplayCounterOverflow { .. }
            | Error::AliasReplayLimitExceeded { .. }
            | Error::AliasExpansionLimitExceeded { .. }
            | Error::AliasReplayStackDepthExceeded { .. } => Self::TooComplex,
            Error::AliasError { .. } => Self::TooComplex,
            Error::RecursiveReferencesRequireWeakTypes { .. } => Self::InsideItself,
            Error::Unexpected { expected: "string scalar", .. } => Self::KeyNotAScalar,
            Error::MergeKeyNotAllowed { .. } => Self::MergeKey,
            Error::MultipleDocuments { .. } => Self::SeveralDocuments,
            other => Self::Yaml { reason: without_position(&other.to_string()) },
        }
    }
}

fn meant(suggestion: &Option<String>, otherwise: &str) -> String {
    match suggestion {
        Some(name) => format!("did you mean `{name}`?"),
        None => otherwise.to_owned(),
    }
}

/// Line and column are told beside the message already.
fn without_position(text: &str) -> String {
    let first_line = text.lines().next().unwrap_or_default();
    let (reason, _position) = first_line.rsplit_once(" at line ").unwrap_or((first_line, ""));
    reason.to_owned()
}
