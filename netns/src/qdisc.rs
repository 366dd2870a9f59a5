//! The root queue discipline of a link: set, changed in place, removed. Knows what netem and tbf
//! are called, not what their options mean.

use std::io;

use netlink_packet_core::{DefaultNla, NLM_F_CREATE, NLM_F_REPLACE};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::tc::{TcAttribute, TcHandle, TcMessage};
use nix::errno::Errno;
use nix::net::if_::if_nametoindex;
use thiserror::Error;

use crate::namespace::{Namespace, NamespaceError};
use crate::netlink::{Batch, NetlinkError};

/// A queue discipline ready to be sent: what [`crate::netem::Options::encode`] and
/// [`crate::tbf::Options::encode`] make.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Encoded {
    pub(crate) kind: &'static str,
    pub(crate) options: Vec<u8>,
}

impl Encoded {
    /// The kernel's name for the kind, such as `netem`.
    pub fn kind(&self) -> &'static str {
        self.kind
    }

    /// The bytes of `TCA_OPTIONS`.
    pub fn options(&self) -> &[u8] {
        &self.options
    }
}

/// A queue discipline could not be set or removed.
#[derive(Debug, Error)]
pub enum QdiscError {
    /// The kernel has no such queue discipline, built in or as a module that it could load.
    #[error(
        "this kernel lacks {0} (as root: modprobe {0}, or install the rest of the kernel's modules)"
    )]
    KernelLacks(String),
    /// There is no such link.
    #[error("there is no link {link} in network namespace {namespace}: {source}")]
    NoSuchLink {
        /// The name looked for.
        link: String,
        /// Where it was looked for.
        namespace: String,
        /// What the kernel said.
        source: io::Error,
    },
    /// The kernel refused it.
    #[error(transparent)]
    Netlink(NetlinkError),
    /// The namespace could not be entered.
    #[error(transparent)]
    Namespace(#[from] NamespaceError),
}

/// The attribute that holds the options. Sent as plain bytes, because netem's are not a list of
/// attributes.
const TCA_OPTIONS: u16 = 2;

impl Namespace {
    /// Sets the root queue discipline of a link. One of the same kind is changed in place, so that
    /// packets in it stay and there is no moment without it; one of another kind is replaced.
    pub fn set_root_qdisc(&self, link: &str, qdisc: &Encoded) -> Result<(), QdiscError> {
        let kind = qdisc.kind;
        let purpose = format!("set {kind} on {link}");
        let result = self.request_root(link, purpose, NLM_F_CREATE | NLM_F_REPLACE, |mut root| {
            root.attributes = vec![
                TcAttribute::Kind(kind.to_owned()),
                TcAttribute::Other(DefaultNla::new(TCA_OPTIONS, qdisc.options.clone())),
            ];
            RouteNetlinkMessage::NewQueueDiscipline(root)
        });
        match result {
            Err(QdiscError::Netlink(NetlinkError::Refused { errno: Errno::ENOENT, .. })) => {
                Err(QdiscError::KernelLacks(format!("sch_{kind}")))
            }
            result => result,
        }
    }

    /// Removes the root queue discipline of a link; the kernel puts its default one back.
    pub fn remove_root_qdisc(&self, link: &str) -> Result<(), QdiscError> {
        let purpose = format!("remove the queue discipline of {link}");
        self.request_root(link, purpose, 0, RouteNetlinkMessage::DelQueueDiscipline)
    }

    fn request_root(
        &self,
        link: &str,
        purpose: String,
        flags: u16,
        request: impl FnOnce(TcMessage) -> RouteNetlinkMessage + Send,
    ) -> Result<(), QdiscError> {
        self.run(|| {
            let mut batch = Batch::default();
            batch.push(purpose, flags, request(root_of(self.name(), link)?));
            batch.send_from_here(self.name()).map_err(QdiscError::Netlink)
        })?
    }
}

/// In the namespace that the calling thread is in.
fn root_of(namespace: &str, link: &str) -> Result<TcMessage, QdiscError> {
    let index = if_nametoindex(link).map_err(|errno| QdiscError::NoSuchLink {
        link: link.to_owned(),
        namespace: namespace.to_owned(),
        source: errno.into(),
    })?;
    let mut message = TcMessage::with_index(index.cast_signed());
    message.header.parent = TcHandle::ROOT;
    Ok(message)
}
