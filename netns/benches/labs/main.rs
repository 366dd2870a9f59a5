//! Builds and removes 100 labs of two paths with this crate, and the same labs with `ip` of
//! iproute2: in batches, which is as quick as it gets, and one command at a time, as most scripts
//! do.
//!
//! ```text
//! cargo bench -p netns --bench labs
//! ```
//!
//! All of it happens in a user, a mount and a network namespace of its own, which the kernel takes
//! down with everything inside when the program ends, however it does; nothing of the machine's own
//! network or files is touched.

use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use table::{Row, Times};

mod iproute2;
mod ours;
mod room;
mod table;

/// Those of one measurement, and of the table.
const LABS: usize = 100;
/// One command at a time is slow enough to be seen with fewer.
const LABS_ONE_AT_A_TIME: usize = 10;
/// Each way is measured as often, in turns.
const ROUNDS: usize = 5;
/// Tells the program that it is inside already.
const INSIDE: &str = "--inside";

/// Builds as many labs and removes them again.
type Way = fn(usize) -> Times;

const WAYS: [(&str, usize, Way); 3] = [
    ("netns", LABS, ours::build_and_remove),
    ("ip -batch", LABS, iproute2::batched),
    ("ip, one at a time", LABS_ONE_AT_A_TIME, iproute2::one_at_a_time),
];

fn main() -> ExitCode {
    if std::env::args().any(|argument| argument == INSIDE) { measure() } else { begin_inside() }
}

fn measure() -> ExitCode {
    let mut measured: [Vec<Times>; WAYS.len()] = Default::default();
    for round in 1..=ROUNDS {
        for ((name, labs, way), times) in WAYS.iter().zip(&mut measured) {
            eprintln!("round {round} of {ROUNDS}: {name}, {labs} labs");
            times.push(way(*labs));
        }
    }
    let rows = WAYS.iter().zip(&measured);
    let rows: Vec<Row> =
        rows.map(|((name, labs, _), times)| Row::new(name, *labs, times)).collect();
    print!("{}", table::text(&rows));
    ExitCode::SUCCESS
}

/// `ip` keeps its names in /run/netns, and returns to the network namespace that it began in: both
/// have to be our own too.
fn begin_inside() -> ExitCode {
    let program = std::env::current_exe().expect("own path");
    let error = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "--net", "sh", "-c"])
        .arg("mount -t tmpfs tmpfs /run && exec \"$0\" \"$1\"")
        .arg(program)
        .arg(INSIDE)
        .exec();
    eprintln!("cannot start unshare (of util-linux): {error}");
    ExitCode::FAILURE
}
