//! Parse, run, print the error, exit code.

use std::process::ExitCode;

use clap::Parser;
use impairlab::cli::Cli;
use impairlab::commands::{dispatch, error_colour, hear_of_full_files, may_make_namespaces};
use impairlab::engine::uml::guest;
use impairlab::progress::warn;

fn main() -> ExitCode {
    if guest::is_init() {
        guest::run()
    }
    hear_of_full_files();
    let cli = Cli::parse();
    if may_make_namespaces(&cli) && !netns::has_network_rights() {
        // Where this is refused, the probe says later what is missing and how to get it.
        let _ = netns::become_root_in_user_namespace();
    }
    match dispatch(&cli, &mut std::io::stdout()) {
        Ok(ending) => ending.exit_code(),
        Err(error) => {
            if !error.is_broken_pipe() {
                warn(&error.render(error_colour()));
            }
            error.exit_code()
        }
    }
}
