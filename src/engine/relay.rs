//! Real time without netem: the sim engine's link model, run by a thread between network
//! namespaces. Works on any kernel with namespaces and veth, as root or in a user namespace.

mod arrivals;
mod middle;
mod one_way;
mod wire;

use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use self::middle::{Middle, Relayed};
pub use self::wire::{Wire, WirePlan, WireReport};
use super::bounds::Bounds;
use super::conductor::{Conducted, Conductor};
use super::fidelity::Timekeeping;
use super::lab::{Joint, Lab};
use super::outcome::Between;
use super::pace::Pace;
use super::packet_socket::PacketSocket;
use super::side_by_side::side_by_side;
use super::{Engine, EngineError, EngineKind, Event, Outcome, Trial, kernel_socket};
use crate::protocol::Role;
use crate::recording::Recording;
use crate::scenario::plan::Plan;
use crate::units::IpVersion;

#[derive(Debug, Clone, Copy, Default)]
pub struct Relay;

impl Relay {
    /// Whether a trial could be run here: builds the network of one, and takes it down.
    pub fn probe() -> Result<(), EngineError> {
        let lab = Lab::build(&[IpVersion::V4], Joint::Relay)?;
        lab.relay_sockets()?;
        lab.endpoint_sockets(Role::Client)?;
        Ok(())
    }
}

impl Engine for Relay {
    fn kind(&self) -> EngineKind {
        EngineKind::Relay
    }

    fn admit(&self, plan: &Plan) -> Result<(), EngineError> {
        kernel_socket::admit(&plan.senders)
    }

    fn side_by_side(&self, plan: &Plan) -> usize {
        side_by_side(plan)
    }

    fn run(
        &self,
        trial: &Trial,
        events: &mut dyn FnMut(Event) -> ControlFlow<()>,
    ) -> Result<Recording, EngineError> {
        let lab = Lab::of(&trial.plan.paths, Joint::Relay)?;
        let bounds = Arc::new(Bounds::new(Pace::Real));
        let relay = start(trial.clone(), lab.relay_sockets()?, Arc::clone(&bounds))?;
        let conducted = Conductor::new(trial, &lab, bounds)?.conduct(events);
        // If the relay failed, that is why the endpoints did.
        let relayed = relay.end()?;
        let conducted = conducted?;
        Ok(Recording::new(trial, EngineKind::Relay, outcome(conducted, relayed)))
    }
}

fn start(
    trial: Trial,
    sockets: Vec<(PacketSocket, PacketSocket)>,
    bounds: Arc<Bounds>,
) -> Result<Running, EngineError> {
    Running::start(Arc::clone(&bounds), move || Middle::of_trial(&trial, sockets, bounds))
}

/// The relay's thread. However a trial ends, it is told to stop and waited for.
struct Running {
    bounds: Arc<Bounds>,
    thread: Option<JoinHandle<io::Result<Relayed>>>,
}

impl Running {
    /// `middle` makes the relay on its own thread.
    fn start(
        bounds: Arc<Bounds>,
        middle: impl FnOnce() -> Middle + Send + 'static,
    ) -> Result<Self, EngineError> {
        let for_all = Arc::clone(&bounds);
        let body = move || {
            let relayed = middle().run();
            for_all.end();
            relayed
        };
        let thread = thread::Builder::new().name("relay".to_owned());
        let thread = thread.spawn(body).map_err(EngineError::Thread)?;
        Ok(Self { bounds, thread: Some(thread) })
    }

    fn end(mut self) -> Result<Relayed, EngineError> {
        let result = self.join().ok_or(EngineError::RelayCrashed)?;
        result.map_err(EngineError::Relay)
    }

    /// `None` if the thread panicked.
    fn join(&mut self) -> Option<io::Result<Relayed>> {
        self.bounds.end();
        self.thread.take()?.join().ok()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.join();
    }
}

fn outcome(conducted: Conducted, relayed: Relayed) -> Outcome {
    let timekeeping = Timekeeping {
        packets: relayed.packets,
        stamps: relayed.stamps,
        changes: relayed.changes,
        stalls: relayed.stalls,
        realtime: relayed.realtime,
        damage: relayed.damage,
        ..Timekeeping::default()
    };
    let between = Between {
        handshake: [relayed.handshake_up, relayed.handshake_down],
        wire: relayed.wire,
        receipts: relayed.receipts,
        volumes: relayed.volumes,
        timekeeping,
    };
    Outcome::of(conducted, between)
}
