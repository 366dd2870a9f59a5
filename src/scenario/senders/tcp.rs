//! `tcp`. What is not written is as in [`TcpSettings::new`].

use std::time::Duration;

use super::form::Form;
use super::option::{self, SenderOption};
use super::paths::{PathChoice, PathKeys};
use super::{Engines, Sender};
use crate::protocol::ProtocolSettings;
use crate::protocol::settings::TcpSettings;
use crate::scenario::diagnostic::Mistakes;
use crate::scenario::fields::{self, Fields};
use crate::scenario::limits;
use crate::scenario::mistake::Mistake;
use crate::scenario::quantity::Limits;
use crate::scenario::tree::{Key, Node};
use crate::units::PathId;

pub const SENDER: Sender = Sender {
    keyword: "tcp",
    about: "TCP of the kernel: one connection on one path, one ordered stream",
    source: "Linux; RFC 9293, 9438 (cubic), 5482 (user timeout)",
    engines: Engines::WithKernel,
    paths: PathKeys::One,
    replicable: false,
    options: || option::texts(options(), &TcpSettings::new(PathId(0))),
    read,
};

const NOT_REPLICABLE: &str = "its connection is the kernel's, which copies nothing; `mptcp` has \
    several paths";
/// The kernel takes milliseconds in 32 bits; a trial has less.
const USER_TIMEOUT: Limits<Duration> =
    Limits { min: Duration::from_millis(1), max: Duration::from_secs(24 * 3600) };
const SYSTEM: &str = "system";

type TcpOption = SenderOption<TcpSettings>;

pub fn options() -> Vec<TcpOption> {
    vec![
        kernels_name("congestion", |tcp: &mut TcpSettings| &mut tcp.congestion)
            .about("congestion control: cubic, reno, bbr or any other that the kernel has"),
        TcpOption::flag("nodelay", |tcp| &mut tcp.nodelay)
            .about("no message waits for the acknowledgement of the one before (TCP_NODELAY)"),
        TcpOption::milliseconds_or("user-timeout", SYSTEM, USER_TIMEOUT, |tcp| {
            &mut tcp.user_timeout
        })
        .about("how long something may be unacknowledged before the connection is given up"),
    ]
}

fn read(fields: &mut Fields, choice: PathChoice) -> Option<ProtocolSettings> {
    choice.own(fields, "tcp", NOT_REPLICABLE)?;
    let path = choice.path(fields, "`tcp`");
    let mut settings = TcpSettings::new(path.unwrap_or(PathId(0)));
    option::read(&options(), fields, &mut settings);
    path.map(|_| ProtocolSettings::Tcp(settings))
}

/// What the kernel has by name; whether it has one is known once a kernel is asked.
pub fn kernels_name<S: Clone + 'static>(
    key: &'static str,
    field: fn(&mut S) -> &mut String,
) -> SenderOption<S> {
    let read = move |(_, node): &(Key, Node), mistakes: &Mistakes| {
        let text = fields::text(node, key, mistakes)?;
        if !could_be_kernels(text) {
            let text = fields::shortened(text);
            mistakes.push(node.place.clone(), Mistake::KernelName { text });
            return None;
        }
        Some(text.to_owned())
    };
    SenderOption::custom(key, Form::Text("the kernel's name for one"), read, String::clone, field)
}

fn could_be_kernels(text: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    (1..=limits::KERNEL_NAME).contains(&text.len()) && text.chars().all(allowed)
}
