//! From what was typed to the command that does it.

use std::io::Write;
use std::path::{Path, PathBuf};

use nix::sys::signal::{SigSet, Signal};

use super::reader::WhileRead;
use super::{
    CommandError, Ending, OutputError, agree, check, doctor, exec, report, run, senders, show,
};
use crate::cli::{Cli, Command, EngineChoice, GuestPart};
use crate::engine::uml;
use crate::report::terminal::{Style, may_colour};
use crate::scenario::{Colour, schema};

/// Whether a command may make namespaces, and so wants the rights for it before any thread is
/// started.
pub fn may_make_namespaces(cli: &Cli) -> bool {
    match &cli.command {
        Command::Run(args) => !matches!(args.engine, EngineChoice::Sim | EngineChoice::Uml),
        Command::Agree(_) | Command::Doctor { .. } => true,
        Command::Check { .. }
        | Command::Show { .. }
        | Command::Report { .. }
        | Command::Senders { .. }
        | Command::Schema
        | Command::Exec(_)
        | Command::Guest { .. } => false,
    }
}

/// Makes a file that grows past its limit (`ulimit -f`) an error of the write, with a message and an
/// exit code, instead of a signal that ends this program without a word. To be called before any
/// thread is started.
pub fn hear_of_full_files() {
    let mut file_size = SigSet::empty();
    file_size.add(Signal::SIGXFSZ);
    // It cannot fail; if it did, all would be as it was.
    let _ = file_size.thread_block();
}

pub fn dispatch(cli: &Cli, out: &mut dyn Write) -> Result<Ending, CommandError> {
    let out = &mut WhileRead::new(out);
    match &cli.command {
        Command::Run(args) => run::run(args, out),
        Command::Check { files } => check(files, out),
        Command::Show { file, json } => show(file, *json, out),
        Command::Report { folder, json, sort } => {
            let options = report::Options { json: *json, order: *sort, style: Style::detect() };
            report::run(folder, &options, out)?;
            Ok(Ending::Done)
        }
        Command::Senders { names, json, markdown } => {
            let format = match (json, markdown) {
                (true, _) => senders::Format::Json,
                (_, true) => senders::Format::Markdown,
                _ => senders::Format::Text,
            };
            senders::run(names, format, out)?;
            Ok(Ending::Done)
        }
        Command::Schema => done(writeln!(out, "{:#}", schema::schema())),
        Command::Agree(args) => agree::run(args, out),
        Command::Exec(args) => Ok(exec::run(args, out.unguarded())?),
        Command::Doctor { json } => done(doctor::run(*json, out)),
        Command::Guest { part } => guest(part),
    }
}

/// Colours for the terminal that standard error may be, unless the user asked for none.
pub fn error_colour() -> Colour {
    if may_colour(&std::io::stderr()) { Colour::Always } else { Colour::Never }
}

fn check(files: &[PathBuf], out: &mut dyn Write) -> Result<Ending, CommandError> {
    let colour = if Style::detect().colour { Colour::Always } else { Colour::Never };
    let wrong = check::run(files, colour, out).map_err(OutputError)?;
    Ok(if wrong == 0 { Ending::Done } else { Ending::WrongScenario })
}

fn show(file: &Path, json: bool, out: &mut dyn Write) -> Result<Ending, CommandError> {
    let format = if json { show::Format::Json } else { show::Format::Yaml };
    show::run(file, format, out)?;
    Ok(Ending::Done)
}

fn done(result: std::io::Result<()>) -> Result<Ending, CommandError> {
    Ok(result.map(|()| Ending::Done).map_err(OutputError)?)
}

fn guest(part: &GuestPart) -> Result<Ending, CommandError> {
    match part {
        GuestPart::Launch { parent, processor, command } => {
            Err(CommandError::Launch(uml::launch::launch(*parent, *processor, command)))
        }
        GuestPart::Remove { folder } => {
            uml::remove_when_orphaned(folder);
            Ok(Ending::Done)
        }
    }
}
