//! What carries the messages of one side of a trial, sockets included: a protocol of our own on UDP
//! sockets, or a stream that the kernel or a program keeps. An endpoint drives either by the same
//! few calls. Knows nothing of the workload.

mod datagrams;
mod prepared;
mod stream;

use std::time::Duration;

use nix::poll::PollFd;

use super::fidelity::{Damage, Lateness, Stalls};
use super::watch::Watch;
use crate::protocol::{Delivery, ProtocolStatistics, Sent, ShardCounts, State};
use crate::recording::EndSockets;
use crate::units::Instant;

pub use self::prepared::Prepared;
pub use self::stream::{Readiness, Stream, Underlay};

/// The endpoint waits for the sources, calls `receive` for each that is ready, and after that, and
/// after each `send`, calls `poll` until it says [`Step::Wait`].
pub trait Carrier {
    /// What to wait for. May differ after every other call.
    fn sources(&self) -> Vec<PollFd<'_>>;

    /// Takes what has come in at one of the sources; whether anything has. Never blocks.
    fn receive(&mut self, source: usize, watch: &Watch) -> bool;

    /// Takes a message; nothing of it goes out before the next `poll`. So whoever sends it can first
    /// say that it is sent.
    fn send(&mut self, message: &[u8], watch: &Watch) -> Sent;

    fn poll(&mut self, watch: &Watch) -> Step;

    fn state(&self) -> State;

    fn delivery(&self) -> Delivery;

    /// Processor time that was used for it outside of the endpoint's thread.
    fn cpu_time(&self) -> Duration {
        Duration::ZERO
    }

    fn finish(self: Box<Self>) -> Carried;
}

/// What `poll` has done, or asks to be done.
#[derive(Debug, PartialEq, Eq)]
pub enum Step {
    /// Something; there may be more to do.
    Done,
    /// Hand this whole message to the application.
    Deliver(Vec<u8>),
    /// There is nothing to do before this instant (`None`: before a source is ready).
    Wait(Option<Instant>),
}

/// What is known of a carrier when its endpoint has ended.
pub struct Carried {
    pub delivery: Delivery,
    pub statistics: ProtocolStatistics,
    /// Of this end.
    pub error_correction: Option<ShardCounts>,
    /// How long datagrams waited to be read.
    pub reads: Lateness,
    pub stalls: Stalls,
    pub damage: Damage,
    /// Of senders that live in the kernel.
    pub sockets: Option<EndSockets>,
    /// Open for as long as packets may be on their way: one that came to a closed socket would be
    /// answered with an error, which is nothing that a sender sent.
    pub kept: Box<dyn Send>,
}
