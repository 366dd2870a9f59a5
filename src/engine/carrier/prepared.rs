//! Both sides of a sender, with their sockets open and their programs running: from here on each
//! belongs to the thread of its endpoint.

use super::{Carrier, Stream, datagrams::Datagrams};
use crate::engine::kernel_socket::{self, KernelSocketError};
use crate::engine::lab::Lab;
use crate::engine::udp_socket::PathSocket;
use crate::engine::{EngineError, Trial};
use crate::protocol::{BuildError, ProtocolSettings, Role, build};

/// One side.
pub enum Prepared {
    /// A protocol does not leave the thread it was built on, so it is built there.
    Datagrams {
        protocol: ProtocolSettings,
        role: Role,
        seed: u64,
        sockets: Vec<PathSocket>,
    },
    Stream(Stream),
}

impl Prepared {
    /// The vehicle's side and the cloud's.
    pub fn both(trial: &Trial, lab: &Lab) -> Result<[Self; 2], EngineError> {
        let protocol = &trial.sender().protocol;
        let streams = match protocol {
            ProtocolSettings::Tcp(settings) => kernel_socket::tcp(lab, settings),
            ProtocolSettings::Mptcp(settings) => kernel_socket::mptcp(lab, settings),
            ProtocolSettings::Kcptun(settings) => kernel_socket::kcptun(lab, settings),
            _ => {
                let seed = trial.protocol_seed();
                return Self::datagrams(lab, protocol, seed);
            }
        };
        let failed = |source: KernelSocketError| {
            let sender = trial.sender().name.clone();
            EngineError::KernelSocket { sender, source: Box::new(source) }
        };
        Ok(streams.map_err(failed)?.map(Self::Stream))
    }

    fn datagrams(
        lab: &Lab,
        protocol: &ProtocolSettings,
        seed: u64,
    ) -> Result<[Self; 2], EngineError> {
        let side = |role| {
            let (protocol, sockets) = (protocol.clone(), lab.endpoint_sockets(role)?);
            Ok::<_, EngineError>(Self::Datagrams { protocol, role, seed, sockets })
        };
        Ok([side(Role::Client)?, side(Role::Server)?])
    }

    pub fn carrier(self) -> Result<Box<dyn Carrier>, BuildError> {
        Ok(match self {
            Self::Datagrams { protocol, role, seed, sockets } => {
                Box::new(Datagrams::new(build(&protocol, role, seed)?, sockets))
            }
            Self::Stream(stream) => Box::new(stream),
        })
    }
}
