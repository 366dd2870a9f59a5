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
use super::fidelity::{Damage, Lateness, Stalls, Timekeeping};
use super::lab::Lab;
use super::packet_socket::PacketSocket;
use super::{Engine, EngineError, EngineKind, Event, Outcome, Trial};
use crate::protocol::Role;
use crate::recording::{Handshake, Recording};
use crate::scenario::plan::Plan;

#[derive(Debug, Clone, Copy, Default)]
pub struct Relay;

impl Relay {
    /// Whether a trial could be run here: builds the network of one, and takes it down.
    pub fn probe() -> Result<(), EngineError> {
        let lab = Lab::build(1)?;
        lab.relay_sockets()?;
        lab.endpoint_sockets(Role::Client)?;
        Ok(())
    }
}

impl Engine for Relay {
    fn kind(&self) -> EngineKind {
        EngineKind::Relay
    }

    fn side_by_side(&self, plan: &Plan) -> usize {
        let processors = thread::available_parallelism().map_or(1, usize::from);
        side_by_side(processors, plan)
    }

    fn run(
        &self,
        trial: &Trial,
        events: &mut dyn FnMut(Event) -> ControlFlow<()>,
    ) -> Result<Recording, EngineError> {
        let lab = Lab::build(trial.plan.paths.len() as u8)?;
        let bounds = Arc::new(Bounds::new());
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
    let Conducted { connecting, accepted, messages, status, vehicle, cloud } = conducted;
    let timekeeping = Timekeeping {
        packets: relayed.packets,
        stamps: relayed.stamps,
        changes: relayed.changes,
        reads: Lateness::sum([&vehicle.reads, &cloud.reads]),
        stalls: Stalls::sum([relayed.stalls, vehicle.stalls, cloud.stalls]),
        realtime: relayed.realtime && vehicle.realtime && cloud.realtime,
        damage: Damage::sum([relayed.damage, vehicle.damage, cloud.damage]),
        sends: vehicle.sends,
        vehicle_cpu: vehicle.cpu,
        cloud_cpu: cloud.cpu,
    };
    Outcome {
        handshake: Handshake {
            duration: connecting,
            up: relayed.handshake_up,
            down: relayed.handshake_down,
        },
        delivery: vehicle.delivery,
        statistics: vehicle.statistics,
        wire: relayed.wire,
        accepted,
        messages,
        status,
        fidelity: Some(timekeeping.fidelity()),
    }
}

/// A trial has three threads that must be on time, each of them awake for a small part of it: so
/// several share a processor, up to a number of packets a second at which they begin to stand in
/// each other's way. Twelve trials of 50 messages a second on two busy processors, or four of
/// 1,000, had 99th percentiles of lateness around 0.2 ms.
fn side_by_side(processors: usize, plan: &Plan) -> usize {
    const TRIALS: usize = 6;
    const PACKETS_PER_SECOND: f64 = 2000.0;
    let (_, answer) = plan.workload.payload_per_message();
    let ways = if answer > 0 { 2.0 } else { 1.0 };
    let packets = plan.workload.periodic().rate * ways * plan.paths.len() as f64;
    let by_rate = (PACKETS_PER_SECOND * processors as f64 / packets) as usize;
    by_rate.clamp(1, processors * TRIALS)
}

#[cfg(test)]
mod tests;
