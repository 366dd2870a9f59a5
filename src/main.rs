//! Parse, run, print the error, exit code.

use std::process::ExitCode;

use clap::Parser;
use impairlab::cli::{Cli, Command};
use impairlab::commands::{self, CommandError, Ending};

fn main() -> ExitCode {
    let cli = Cli::parse();
    match run(&cli.command) {
        Ok(ending) => ending.exit_code(),
        Err(error) => {
            eprintln!("{error}");
            error.exit_code()
        }
    }
}

fn run(command: &Command) -> Result<Ending, CommandError> {
    let out = &mut std::io::stdout();
    match command {
        Command::Run(args) => commands::run::run(args, out),
        _ => todo!(),
    }
}
