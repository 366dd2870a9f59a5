//! The link model against the kernel's netem, packet for packet. Both get the same seed and the
//! same packets at the same instants; each packet has to meet the same fate in both, and to leave
//! at the same time.
//!
//! The kernel is a User-Mode Linux in virtual time: this program starts itself inside of it, as
//! root, makes two namespaces with a veth pair, and sends numbered frames at chosen instants. In
//! virtual time computing takes none: only reading the clock does, 256 ns each time, which is also
//! the clock's step. So a frame enters netem at the instant that the clock showed just before it
//! was sent, without any doubt, and what netem has is on time to the step of that clock: see
//! `compare`.
//!
//! ```text
//! profiles   the links that are tried
//! traffic    what is sent over them, and when
//! guest      sends and receives it, inside of the guest
//! model      what the link model makes of it
//! compare    both, packet by packet
//! flips      the bits that the kernel corrupts
//! ```

mod compare;
mod flips;
mod guest;
mod model;
mod profiles;
mod traffic;

use std::process::{Command, ExitCode};

/// Tells the process that it is the one inside of the guest.
const INSIDE: &str = "--inside";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // The test runners' way of asking what there is to run.
    if arguments.iter().any(|argument| argument == "--list") {
        println!("link_and_kernel_agree_on_every_packet: test");
        return ExitCode::SUCCESS;
    }
    if arguments.iter().any(|argument| argument == INSIDE) {
        return compare::every_profile();
    }
    in_a_guest()
}

fn in_a_guest() -> ExitCode {
    let own = std::env::current_exe().expect("a program knows where it is");
    let mut guest = Command::new(env!("CARGO_BIN_EXE_impairlab"));
    guest.args(["exec", "--engine", "uml", "--"]).arg(own).arg(INSIDE);
    match guest.status() {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        Ok(status) => {
            eprintln!(
                "the guest ended with {status}; without a User-Mode Linux kernel nothing can be \
                 compared: scripts/build-uml makes one"
            );
            ExitCode::FAILURE
        }
        Err(error) => panic!("cannot start {guest:?}: {error}"),
    }
}
