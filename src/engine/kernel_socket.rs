//! Senders that are no code of ours: TCP and multipath TCP of the kernel, and kcptun, a program.
//! Each is a byte stream between two sockets, one in either namespace; what is set on them, and
//! what the kernel tells of them, is here.

mod error;
mod kcptun;
mod mptcp;
mod program;
mod socket;
mod tcp;
mod tcp_info;

#[cfg(test)]
pub(super) use self::socket::Options;
use netns::Namespace;

pub use self::error::KernelSocketError;
pub use self::kcptun::Programs;
pub(super) use self::kcptun::kcptun;
pub use self::mptcp::allowed as multipath_allowed;
pub(super) use self::mptcp::mptcp;
pub use self::tcp::available as congestion_controls;
pub(super) use self::tcp::tcp;
use super::EngineError;
use super::lab::LabError;
use crate::protocol::ProtocolSettings;
use crate::scenario::plan::SenderPlan;

/// Whether the kernel, and this machine's programs, have what each of these senders asks for.
pub fn admit(senders: &[SenderPlan]) -> Result<(), EngineError> {
    if !senders.iter().any(|sender| sender.protocol.needs_a_kernel()) {
        return Ok(());
    }
    let scratch = Namespace::new("scratch").map_err(LabError::from)?;
    senders.iter().try_for_each(|sender| named(sender, admit_one(&sender.protocol, &scratch)))
}

/// The same of what can be known outside of the guest in which the senders will run: their programs
/// are this machine's.
pub fn admit_programs(senders: &[SenderPlan]) -> Result<(), EngineError> {
    let needs = |sender: &&SenderPlan| matches!(sender.protocol, ProtocolSettings::Kcptun(_));
    senders
        .iter()
        .filter(needs)
        .try_for_each(|sender| named(sender, Programs::find_for_a_guest().map(drop)))
}

fn admit_one(protocol: &ProtocolSettings, scratch: &Namespace) -> Result<(), KernelSocketError> {
    match protocol {
        ProtocolSettings::Tcp(settings) => tcp::admit(scratch, settings),
        ProtocolSettings::Mptcp(settings) => mptcp::admit(scratch, settings),
        ProtocolSettings::Kcptun(_) => Programs::find().map(drop),
        _ => Ok(()),
    }
}

fn named(sender: &SenderPlan, result: Result<(), KernelSocketError>) -> Result<(), EngineError> {
    result.map_err(|source| EngineError::KernelSocket {
        sender: sender.name.clone(),
        source: Box::new(source),
    })
}
