//! The command line as typed: flags, their help and nothing else.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::report::Order;

const EXIT_CODES: &str = "\
Exit codes:
    0  done
    1  a trial could not be run, or results could not be read
    2  the command line or a scenario is wrong, the scenario cannot be read, or the engine that was
       asked for cannot run it on any machine
    3  this machine lacks what the engine or a sender needs (see `impairlab doctor`)
    4  the results, or what is printed, could not be written
    5  the host spoilt a result (run --strict), or disturbed a run where the engines do not agree
       or the runs are too few to say (agree)
    6  the engines disagree (agree)
    7  too few runs to say whether the engines agree (agree)
    8  the impairment was not what was asked for (run)
  130  stopped by Ctrl-C; what was measured until then is kept and marked";

const EXEC_HELP: &str = "\
The program is root in the guest; its folder, arguments and environment are those outside, its
standard input is empty. It may change every file it sees: the changes are lost with the guest, but
for those in --output folders. Changes are kept in memory, half of --memory at most. It has a
network of its own, with nothing but loopback.
Time passes while the program sleeps or waits, and at once: computing takes none, and reading a
clock 256 ns. So a program that waits in a loop without sleeping or reading a clock waits for ever.
From outside it looks like one that computes for long, so it is named only when --timeout is over.

    impairlab exec -- sleep 3600                      # an hour, at once
    impairlab exec -- sh -c 'tc qdisc add dev lo root netem delay 50ms; ping -c 10 127.0.0.1'

Exit codes:
     the program's own, or 128 and the number of the signal that ended it
  2  the command line is wrong
  3  there is no User-Mode Linux kernel that can serve (see `impairlab doctor`)
124  the time is up
125  the guest could not be made, or did not end well, or what it prints could not be written
126  the program cannot be run
127  there is no such program
130  stopped by Ctrl-C
141  nobody reads what the program prints any more, so it was ended (as by SIGPIPE)";

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
        /// List the senders by this: of a figure the best first, and last those that are not ranked
        #[arg(long, value_enum, value_name = "FIGURE", default_value_t = Order::Scenario)]
        sort: Order,
    },
    /// List the senders that can be compared, or describe some with every option
    Senders {
        /// Those to describe (default: all, in short)
        #[arg(value_name = "NAME")]
        names: Vec<String>,
        /// Print JSON, every option included
        #[arg(long, conflicts_with = "markdown")]
        json: bool,
        /// Print the tables of the documentation
        #[arg(long)]
        markdown: bool,
    },
    /// Print the JSON Schema of scenario files, for editors
    Schema,
    /// Run a scenario on several engines, and say whether they agree
    #[command(after_help = EXIT_CODES)]
    Agree(AgreeArgs),
    /// Run a program in virtual time, as root of a Linux kernel of its own that sees these files
    #[command(after_help = EXEC_HELP)]
    Exec(ExecArgs),
    /// Say what this machine can do, and how to get what is missing
    Doctor {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// What guests are made of; for this program's own use
    #[command(hide = true)]
    Guest {
        #[command(subcommand)]
        part: GuestPart,
    },
}

/// Processes that this program starts itself.
#[derive(Debug, Subcommand)]
pub enum GuestPart {
    /// Become a guest's kernel
    Launch {
        parent: i32,
        processor: usize,
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
        command: Vec<OsString>,
    },
    /// Remove a guest's folder when standard input ends
    Remove { folder: PathBuf },
}

#[derive(Debug, Args)]
pub struct ExecArgs {
    /// Where the program runs
    #[arg(long, value_enum, default_value_t = ExecEngine::Uml)]
    pub engine: ExecEngine,
    /// End it after this much real time; `0s` for never
    #[arg(long, value_name = "TIME", default_value = "10m",
          value_parser = humantime::parse_duration)]
    pub timeout: Duration,
    /// Of the guest's random numbers: the same seed, the same run
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    pub seed: u64,
    /// The guest's memory in MiB
    #[arg(long, value_name = "MIB", default_value_t = 1024,
          value_parser = clap::value_parser!(u64).range(128..=262_144))]
    pub memory: u64,
    /// A folder whose files are written through to this machine; made if it is not there (may be
    /// given several times)
    #[arg(long = "output", value_name = "FOLDER")]
    pub outputs: Vec<PathBuf>,
    #[arg(
        value_name = "PROGRAM",
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    pub command: Vec<OsString>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExecEngine {
    /// User-Mode Linux, in virtual time
    Uml,
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
    /// Only these senders: names with commas between them
    #[arg(long = "sender", value_name = "NAMES", value_delimiter = ',')]
    pub senders: Vec<String>,
    /// All senders but these: names with commas between them
    #[arg(long, value_name = "NAMES", value_delimiter = ',', conflicts_with = "senders")]
    pub without: Vec<String>,
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
    /// List the senders by this: of a figure the best first, and last those that are not ranked
    #[arg(long, value_enum, value_name = "FIGURE", default_value_t = Order::Scenario)]
    pub sort: Order,
    /// End with exit code 5 if the host spoilt a result
    #[arg(long)]
    pub strict: bool,
    /// Log each QUIC connection in qlog's format, into the folder `qlog` of the results
    #[arg(long)]
    pub qlog: bool,
}

#[derive(Debug, Args)]
pub struct AgreeArgs {
    #[command(flatten)]
    pub what: What,
    /// The engines, two or more: each of the others is held against the first
    #[arg(long, value_enum, value_delimiter = ',', default_value = "sim,relay")]
    pub engines: Vec<EngineChoice>,
    /// Print figures, intervals and verdicts as JSON instead of the tables
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum EngineChoice {
    /// netem where the kernel has all of it, else relay where namespaces can be made, else sim
    Auto,
    /// Virtual time: seconds instead of minutes, exact and repeatable
    Sim,
    /// Real time, in network namespaces, impaired by a user-space relay
    Relay,
    /// Real time, in network namespaces, impaired by the kernel's own netem
    Netem,
    /// Virtual time, in a Linux kernel of its own (User-Mode Linux), impaired by its netem
    Uml,
}
