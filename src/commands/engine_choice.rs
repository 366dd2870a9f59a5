//! From the `--engine` flag to an engine that works on this machine, or to what it lacks.

use std::env;
use std::io;
use std::sync::Arc;

use clap::ValueEnum;
use netns::{Availability, Capabilities};
use thiserror::Error;

use super::CommandError;
use crate::cli::EngineChoice;
use crate::engine::netem::Netem;
use crate::engine::relay::Relay;
use crate::engine::sim::Sim;
use crate::engine::uml::{Kernel, KernelError, Uml};
use crate::engine::{Engine, Pace};
use crate::scenario::plan::Plan;

pub struct Chosen {
    pub engine: Arc<dyn Engine + Send>,
    /// A line for the user where the choice is not the obvious one.
    pub notice: Option<String>,
}

#[derive(Debug, Error)]
pub enum Unavailable {
    #[error("engine uml cannot run here: {0}")]
    Uml(#[from] KernelError),
    #[error("engine uml cannot run here: this program does not find itself: {0}")]
    Program(io::Error),
    #[error(
        "a sender of this scenario needs an engine with a kernel, and none can run here.\n\
         relay: {missing}\numl: {no_guest}"
    )]
    NoKernel { missing: String, no_guest: String },
    #[error(
        "engine relay cannot run here: {missing}\n\
         Run as root, allow user namespaces, or use `--engine sim`, which needs neither (see `impairlab doctor`)."
    )]
    Relay { missing: String },
    #[error(
        "engine netem cannot run here: {missing}\n\
         Load or install the module sch_netem (see `impairlab doctor`), or use `--engine relay`, \
         which impairs packets itself, or `--engine sim`."
    )]
    Netem { missing: String },
}

/// For a plan of several vehicles only `sim`.
pub fn choose_for(plan: &Plan, choice: EngineChoice) -> Result<Chosen, CommandError> {
    match (choice, plan.vehicles) {
        (_, 1) | (EngineChoice::Sim, _) => Ok(choose(choice, plan.needs_a_kernel())?),
        (EngineChoice::Auto, vehicles) => {
            let notice =
                format!("Engine sim (virtual time), since the others run no {vehicles} vehicles");
            Ok(Chosen { notice: Some(notice), ..Chosen::new(Sim) })
        }
        (other, vehicles) => {
            let name = other.to_possible_value().map(|value| value.get_name().to_owned());
            Err(CommandError::ManyVehicles { vehicles, engine: name.unwrap_or_default() })
        }
    }
}

/// `needs_kernel`: a sender of the plan does, so that `auto` has no use for an engine without one.
pub fn choose(choice: EngineChoice, needs_kernel: bool) -> Result<Chosen, Unavailable> {
    match choice {
        EngineChoice::Sim => Ok(Chosen::new(Sim)),
        EngineChoice::Uml => uml(),
        EngineChoice::Relay => relay().map_err(|missing| Unavailable::Relay { missing }),
        EngineChoice::Netem => netem().map_err(|missing| Unavailable::Netem { missing }),
        EngineChoice::Auto => best(needs_kernel),
    }
}

/// The kernel's own netem if it is complete; else the link model in real time; else in virtual
/// time, for senders that need a kernel in a guest.
fn best(needs_kernel: bool) -> Result<Chosen, Unavailable> {
    let capabilities = netns::probe();
    let Some(no_netem) = netem_lacks(&capabilities) else { return Ok(Chosen::new(netem_here())) };
    let Some(missing) = relay_lacks(&capabilities) else {
        let reason = format!("Engine relay, since netem cannot run here: {no_netem}");
        return Ok(Chosen { notice: Some(reason), ..Chosen::new(Relay) });
    };
    let (chosen, name) = if needs_kernel {
        let guest = uml().map_err(|error| Unavailable::NoKernel {
            missing: missing.clone(),
            no_guest: error.to_string(),
        });
        (guest?, "uml")
    } else {
        (Chosen::new(Sim), "sim")
    };
    let reason = format!("Engine {name} (virtual time), since relay cannot run here: {missing}");
    Ok(Chosen { notice: Some(reason), ..chosen })
}

fn netem() -> Result<Chosen, String> {
    match netem_lacks(&netns::probe()) {
        None => Ok(Chosen::new(netem_here())),
        Some(missing) => Err(missing),
    }
}

fn netem_here() -> Netem {
    Netem::new(Pace::of_this_kernel())
}

fn relay() -> Result<Chosen, String> {
    match relay_lacks(&netns::probe()) {
        None => Ok(Chosen::new(Relay)),
        Some(missing) => Err(missing),
    }
}

fn uml() -> Result<Chosen, Unavailable> {
    let kernel = Kernel::find()?;
    let notice = kernel.lacks_seeder();
    let impairlab = env::current_exe().map_err(Unavailable::Program)?;
    Ok(Chosen { notice, ..Chosen::new(Uml::new(kernel, impairlab)) })
}

/// What the engine netem needs and this machine does not have, in one line: found out by building
/// the network of a trial and setting all that netem can do.
pub fn netem_lacks(capabilities: &Capabilities) -> Option<String> {
    let needed = [
        ("network namespaces", &capabilities.network_namespaces),
        ("veth pairs", &capabilities.veth),
        ("packet sockets", &capabilities.packet_sockets),
        ("netem", &capabilities.netem),
    ];
    first_missing(&needed).or_else(|| Netem::probe().err().map(|error| error.to_string()))
}

/// The first thing the relay needs and this machine does not have, in one line.
pub fn relay_lacks(capabilities: &Capabilities) -> Option<String> {
    let needed = [
        ("network namespaces", &capabilities.network_namespaces),
        ("veth pairs", &capabilities.veth),
        ("packet sockets", &capabilities.packet_sockets),
        ("packet sockets with offload headers", &capabilities.packet_vnet_header),
    ];
    first_missing(&needed)
}

fn first_missing(needed: &[(&str, &Availability)]) -> Option<String> {
    needed.iter().find_map(|(name, availability)| match availability {
        Availability::Available => None,
        Availability::Missing { reason, .. } => Some(format!("no {name} ({reason})")),
    })
}

impl Chosen {
    fn new(engine: impl Engine + Send + 'static) -> Self {
        Self { engine: Arc::new(engine), notice: None }
    }
}
