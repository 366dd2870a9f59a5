//! From the `--engine` flag to an engine that works on this machine, or to what it lacks.

use std::sync::Arc;

use thiserror::Error;

use crate::cli::EngineChoice;
use crate::engine::Engine;
use crate::engine::sim::Sim;

pub struct Chosen {
    pub engine: Arc<dyn Engine + Send>,
    /// A line for the user where the choice is not the obvious one.
    pub notice: Option<String>,
}

#[derive(Debug, Error)]
pub enum Unavailable {
    #[error(
        "engine relay cannot run here: {missing}\n\
         Run as root, allow user namespaces, or use `--engine sim`, which needs neither (see `impairlab doctor`)."
    )]
    Relay { missing: String },
}

pub fn choose(choice: EngineChoice) -> Result<Chosen, Unavailable> {
    match choice {
        EngineChoice::Sim => Ok(Chosen::new(Sim)),
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
    Err("x".into())
}

impl Chosen {
    fn new(engine: impl Engine + Send + 'static) -> Self {
        Self { engine: Arc::new(engine), notice: None }
    }
}
