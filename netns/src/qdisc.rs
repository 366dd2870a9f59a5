//! The root queue discipline of a link: set, changed in place, read back, removed. Knows what netem and tbf
//! are called, not what their options mean.

use std::io;

use netlink_packet_core::{DefaultNla, NLM_F_CREATE, NLM_F_ECHO, NLM_F_REPLACE};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::tc::{TcAttribute, TcHandle, TcMessage};
use nix::errno::Errno;
use nix::net::if_::if_nametoindex;
use thiserror::Error;

use crate::dump::{Qdisc, qdisc};
use crate::namespace::{Namespace, NamespaceError};
use crate::netlink::{Batch, Connection, NetlinkError};

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
    /// The kernel said yes, and not what it then held.
    #[error("the kernel did not tell what {link} in network namespace {namespace} holds now")]
    Untold {
        /// The link that was changed.
        link: String,
        /// The namespace it is in.
        namespace: String,
    },
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
            root.attributes = attributes(qdisc);
            RouteNetlinkMessage::NewQueueDiscipline(root)
        });
        result.map_err(|error| match error {
            QdiscError::Netlink(error) => refused(error, kind),
            other => other,
        })
    }

    /// A connection for changes to the queue disciplines inside that have to be made on time.
    pub fn shaper(&self) -> Result<Shaper, QdiscError> {
        let opened = self.run(|| Connection::open_from_here(self.name()))?;
        Ok(Shaper { connection: opened.map_err(QdiscError::Netlink)? })
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

/// Changes queue disciplines over one connection that stays open.
pub struct Shaper {
    connection: Connection,
}

/// The root queue discipline that a link is to have.
#[derive(Debug, Clone, Copy)]
pub struct Root<'a> {
    /// The interface index.
    pub link: u32,
    /// The interface name, for messages.
    pub name: &'a str,
    /// What it is to be.
    pub qdisc: &'a Encoded,
}

impl Shaper {
    /// Sets all of them with one send, in this order, each as [`Namespace::set_root_qdisc`] does,
    /// and reads back what the kernel then holds: as many as were set, in the same order. After a
    /// refusal the others may have been set.
    pub fn set(&self, roots: &[Root<'_>]) -> Result<Vec<Qdisc>, QdiscError> {
        let mut batch = Batch::default();
        for root in roots {
            let purpose = format!("set {} on {}", root.qdisc.kind, root.name);
            let mut message = TcMessage::with_index(root.link.cast_signed());
            message.header.parent = TcHandle::ROOT;
            message.attributes = attributes(root.qdisc);
            let message = RouteNetlinkMessage::NewQueueDiscipline(message);
            batch.push(purpose, NLM_F_CREATE | NLM_F_REPLACE | NLM_F_ECHO, message);
        }
        let kind = roots.first().map_or("", |root| root.qdisc.kind);
        let told = self.connection.ask(&batch).map_err(|error| refused(error, kind))?;
        let held: Vec<Qdisc> = told.into_iter().filter_map(new_qdisc).collect();
        for (index, root) in roots.iter().enumerate() {
            if held.get(index).is_none_or(|held| held.link != root.link) {
                let namespace = self.connection.namespace().to_owned();
                return Err(QdiscError::Untold { link: root.name.to_owned(), namespace });
            }
        }
        Ok(held)
    }
}

fn new_qdisc(message: RouteNetlinkMessage) -> Option<Qdisc> {
    match message {
        RouteNetlinkMessage::NewQueueDiscipline(message) => Some(qdisc(message)),
        _ => None,
    }
}

fn attributes(qdisc: &Encoded) -> Vec<TcAttribute> {
    vec![
        TcAttribute::Kind(qdisc.kind.to_owned()),
        TcAttribute::Other(DefaultNla::new(TCA_OPTIONS, qdisc.options.clone())),
    ]
}

/// A kind of queue discipline that the kernel does not know is said to be missing.
fn refused(error: NetlinkError, kind: &str) -> QdiscError {
    match error {
        NetlinkError::Refused { errno: Errno::ENOENT, .. } => {
            QdiscError::KernelLacks(format!("sch_{kind}"))
        }
        other => QdiscError::Netlink(other),
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
