//! From the `--engine` flag to an engine that works on this machine, or to what it lacks.

use std::env;
use std::io;
use std::sync::Arc;

use netns::{Availability, Capabilities};
use thiserror::Error;

use crate::cli::EngineChoice;
use crate::engine::Engine;
use crate::engine::relay::Relay;
use crate::engine::sim::Sim;
use crate::engine::uml::{Kernel, KernelError, Uml};

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
        "engine relay cannot run here: {missing}\n\
         Run as root, allow user namespaces, or use `--engine sim`, which needs neither (see `impairlab doctor`)."
    )]
    Relay { missing: String },
}

pub fn choose(choice: EngineChoice) -> Result<Chosen, Unavailable> {
    match choice {
        EngineChoice::Sim => Ok(Chosen::new(Sim)),
        EngineChoice::Uml => uml(),
        EngineChoice::Relay => relay().map_err(|missing| Unavailable::Relay { missing }),
        EngineChoice::Auto => Ok(relay().unwrap_or_else(|missing| Chosen {
            engine: Arc::new(Sim),
            notice: Some(format!(
                "Engine sim (virtual time), since relay cannot run here: {missing}"
            )),
        })),
    }
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

/// The first thing the relay needs and this machine does not have, in one line.
pub fn relay_lacks(capabilities: &Capabilities) -> Option<String> {
    let needed = [
        ("network namespaces", &capabilities.network_namespaces),
        ("veth pairs", &capabilities.veth),
        ("packet sockets", &capabilities.packet_sockets),
        ("packet sockets with offload headers", &capabilities.packet_vnet_header),
    ];
    needed.into_iter().find_map(|(name, availability)| match availability {
        Availability::Available => None,
        Availability::Missing { reason, .. } => Some(format!("no {name} ({reason})")),
    })
}

impl Chosen {
    fn new(engine: impl Engine + Send + 'static) -> Self {
        Self { engine: Arc::new(engine), notice: None }
    }
}
