//! A published comparison of KCP and multipath QUIC, run again with the programs that it used: the
//! real kcptun through the kernel's netem, in namespaces. `scripts/published-comparison` does all
//! of it, in virtual time; `docs/findings/published-comparison.md` says what came out.
//!
//! ```text
//! published_comparison run --set main > results.jsonl      (needs root, and netem in the kernel)
//! published_comparison report results.jsonl
//! ```

use std::error::Error;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use clock::Clock;
use record::{Environment, Line};
use setup::{Set, Setup};

mod claims;
mod clock;
mod figures;
mod lab;
mod readings;
mod record;
mod report;
mod setup;
mod sockperf;
mod table;
mod traffic;
mod trial;
mod tunnel;

#[derive(Parser)]
#[command(about = "A published comparison, run again with the programs that it used")]
struct Arguments {
    #[command(subcommand)]
    command: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Run, and print one line of JSON for each run.
    Run {
        /// What is run.
        #[arg(long, value_enum)]
        set: Set,
        /// Runs of each setup, with the seeds 1, 2, …
        #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=100))]
        seeds: u64,
        /// Measured seconds of a run.
        #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=3600))]
        seconds: u64,
        /// Only setups whose description contains this.
        #[arg(long, default_value = "")]
        only: String,
    },
    /// Print the tables that the results of such runs make.
    Report {
        /// What `run` printed.
        #[arg(required = true)]
        files: Vec<PathBuf>,
    },
}

fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        Task::Run { set, seeds, seconds, only } => run(set, seeds, seconds, &only),
        Task::Report { files } => report::print(&files),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(set: Set, seeds: u64, seconds: u64, only: &str) -> Result<(), Box<dyn Error>> {
    let chosen: Vec<Setup> =
        set.setups().into_iter().filter(|setup| setup.to_string().contains(only)).collect();
    if chosen.is_empty() {
        let setups: Vec<String> = set.setups().iter().map(Setup::to_string).collect();
        return Err(format!("--only {only} leaves nothing of:\n{}", setups.join("\n")).into());
    }
    let environment = Environment {
        kernel: netns::probe().kernel,
        kcptun: tunnel::kcptun_version()?,
        impairlab: env!("CARGO_PKG_VERSION").to_owned(),
    };
    print_line(&Line::Environment(environment))?;
    // 50 µs by default, by which each sleep would be late.
    nix::sys::prctl::set_timerslack(1)?;
    let clock = Clock::start();
    // Seed by seed, so that a run that is ended early has something of each setup.
    for (seed, setup) in (1..=seeds).flat_map(|seed| chosen.iter().map(move |setup| (seed, setup)))
    {
        let run = trial::run(*setup, seed, seconds, clock)
            .map_err(|error| format!("{setup}, seed {seed}: {error}"))?;
        eprintln!("{setup}, seed {seed}: done");
        print_line(&Line::Run(Box::new(run)))?;
    }
    Ok(())
}

fn print_line(line: &Line) -> Result<(), Box<dyn Error>> {
    let mut out = io::stdout().lock();
    writeln!(out, "{}", serde_json::to_string(line)?)?;
    Ok(out.flush()?)
}
