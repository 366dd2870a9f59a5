//! Parse, run, print the error, exit code.

use std::process::ExitCode;

use clap::Parser;
use impairlab::cli::{Cli, Command, EngineChoice};
use impairlab::commands::{CommandError, Ending, agree, check, doctor, report, run, show};

fn main() -> ExitCode {
    let cli = Cli::parse();
    if may_make_namespaces(&cli.command) {
        netns::become_root_if_needed();
    }
    match dispatch(&cli.command) {
        Ok(ending) => ending.exit_code(),
        Err(error) => {
            eprintln!("{error}");
            error.exit_code()
        }
    }
}

fn may_make_namespaces(command: &Command) -> bool {
    match command {
        Command::Run(args) => args.engine != EngineChoice::Sim,
        Command::Agree(_) | Command::Doctor { .. } => true,
        Command::Check { .. } | Command::Show { .. } | Command::Report { .. } => false,
    }
}

fn dispatch(command: &Command) -> Result<Ending, CommandError> {
    let out = &mut std::io::stdout().lock();
    match command {
        Command::Run(args) => run::run(args, out),
        Command::Check { files } => check::run(files, out),
        Command::Show { file, json } => show::run(file, *json, out),
        Command::Report { folder, json } => report::run(folder, *json, out),
        Command::Agree(args) => agree::run(args, out),
        Command::Doctor { json } => doctor::run(*json, out),
    }
}
