//! Both sides of a sender, with their sockets open and their programs running: from here on each
//! belongs to the thread of its endpoint.

use super::{Carrier, Stream, datagrams::Datagrams};
use crate::engine::kernel_socket::{self, KernelSocketError};
use crate::engine::lab::Lab;
use crate::engine::udp_socket::PathSocket;
use crate::engine::{EngineError, Trial};
use crate::protocol::{BuildError, ProtocolSettings, QlogBook, Role, build};

/// One side.
pub enum Prepared {
    /// A protocol does not leave the thread it was built on, so it is built there.
    Datagrams {
        protocol: ProtocolSettings,
        role: Role,
        seed: u64,
        /// Where its connections are logged, if that is asked for.
        qlog: Option<QlogBook>,
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
            _ => return Self::datagrams(lab, trial),
        };
        let failed = |source: KernelSocketError| {
            let sender = trial.sender().name.clone();
            EngineError::KernelSocket { sender, source: Box::new(source) }
        };
        Ok(streams.map_err(failed)?.map(Self::Stream))
    }

    fn datagrams(lab: &Lab, trial: &Trial) -> Result<[Self; 2], EngineError> {
        let side = |role| {
            Ok::<_, EngineError>(Self::Datagrams {
                protocol: trial.sender().protocol.clone(),
                role,
                seed: trial.protocol_seed(),
                qlog: trial.qlog.clone(),
                sockets: lab.endpoint_sockets(role)?,
            })
        };
        Ok([side(Role::Client)?, side(Role::Server)?])
    }

    pub fn carrier(self) -> Result<Box<dyn Carrier>, BuildError> {
        Ok(match self {
            Self::Datagrams { protocol, role, seed, qlog, sockets } => {
                let mut protocol = build(&protocol, role, seed)?;
                qlog.iter().for_each(|book| protocol.log_in(book));
                Box::new(Datagrams::new(protocol, sockets))
            }
            Self::Stream(stream) => Box::new(stream),
        })
    }
}
