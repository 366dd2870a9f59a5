//! The command line as typed: flags, their help and nothing else.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

const EXIT_CODES: &str = "\
Exit codes:
    0  done
    1  a trial could not be run, or results could not be read
    2  the command line or a scenario is wrong, or the scenario cannot be read
    3  this machine cannot run the engine that was asked for (see `impairlab doctor`)
    4  the results could not be written
    5  the host spoilt a result (run --strict, agree)
    6  the engines disagree (agree)
    7  too few runs to say whether the engines agree (agree)
  130  stopped by Ctrl-C; what was measured until then is kept and marked";

/// One scenario, several transports, honest latency: runs senders through impaired networks side by
/// side.
#[derive(Debug, Parser)]
#[command(version, after_help = EXIT_CODES)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a scenario and write its table, charts and recordings
    #[command(after_help = EXIT_CODES)]
    Run(RunArgs),
    /// Read scenario files and report every mistake, without running them
    Check {
        #[arg(required = true, value_name = "SCENARIO")]
        files: Vec<PathBuf>,
    },
    /// Print a scenario as it will be run, with every default filled in
    Show {
        #[arg(value_name = "SCENARIO")]
        file: PathBuf,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Draw table and charts again from the recordings in a results folder
    Report {
        #[arg(value_name = "RESULTS")]
        folder: PathBuf,
        /// Print the summary as JSON instead of the table
        #[arg(long)]
        json: bool,
    },
    /// Run a scenario on several engines, and say whether they agree
    #[command(after_help = EXIT_CODES)]
    Agree(AgreeArgs),
    /// Say what this machine can do, and how to get what is missing
    Doctor {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

/// What is run.
#[derive(Debug, Args)]
pub struct What {
    #[arg(value_name = "SCENARIO")]
    pub scenario: PathBuf,
    /// Run each sender this often, with new seeds (default: as the scenario says)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub repeat: Option<u32>,
    /// Another seed than the scenario's
    #[arg(long, value_name = "SEED")]
    pub seed: Option<u64>,
    /// Only these senders (may be given several times)
    #[arg(long = "sender", value_name = "NAME")]
    pub senders: Vec<String>,
    /// No progress display
    #[arg(long, short)]
    pub quiet: bool,
}

#[derive(Debug, Args)]
pub struct RunArgs {
    #[command(flatten)]
    pub what: What,
    /// Where the trials run
    #[arg(long, value_enum, default_value_t = EngineChoice::Auto)]
    pub engine: EngineChoice,
    /// Trials side by side (default: as many as this machine runs without spoiling them)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64))]
    pub jobs: Option<u16>,
    /// Folder that results go to
    #[arg(long, value_name = "FOLDER", default_value = "results")]
    pub results: PathBuf,
    /// Print the summary as JSON instead of the table
    #[arg(long)]
    pub json: bool,
    /// End with exit code 5 if the host spoilt a result
    #[arg(long)]
    pub strict: bool,
}

#[derive(Debug, Args)]
pub struct AgreeArgs {
    #[command(flatten)]
    pub what: What,
    /// The engines, two or more: each of the others is held against the first
    #[arg(long, value_enum, value_delimiter = ',', default_value = "sim,relay")]
    pub engines: Vec<EngineChoice>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum EngineChoice {
    /// relay where namespaces can be made, else sim
    Auto,
    /// Virtual time: seconds instead of minutes, exact and repeatable
    Sim,
    /// Real time, in network namespaces, impaired by a user-space relay
    Relay,
}
