//! Queue disciplines of a link: the root and one behind it, set, changed in place, read back,
//! removed. Knows what netem and tbf are called, not what their options mean.

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
        let purpose = format!("set {} on {link}", qdisc.kind);
        let result = self.request_root(link, purpose, NLM_F_CREATE | NLM_F_REPLACE, |mut root| {
            root.attributes = described(qdisc);
            RouteNetlinkMessage::NewQueueDiscipline(root)
        });
        result.map_err(|error| lacking(error, qdisc.kind))
    }

    /// A connection for changes to the queue disciplines inside that have to be made on time.
    pub fn shaper(&self) -> Result<Shaper, QdiscError> {
        let opened = self.run(|| Connection::from_here(self.name()))?;
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
    /// What packets pass behind it, if it is of a kind that can have a child (netem); `None` leaves
    /// alone what is there. There is no way to take a child away that does not lose the packets in
    /// it: give it options under which nothing waits.
    pub child: Option<&'a Encoded>,
}

/// What the kernel holds after a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// The root queue discipline of the link.
    pub root: Qdisc,
    /// The one behind it, if it was set.
    pub child: Option<Qdisc>,
}

impl Shaper {
    /// Sets all of them with one send, in this order, each root followed by its child, and reads
    /// back what the kernel then holds: as many as were set, in the same order. What this shaper,
    /// or another one, set before is changed in place, and has to be of the same kind; any other
    /// root is replaced. After a refusal the others may have been set.
    pub fn set(&mut self, roots: &[Root<'_>]) -> Result<Vec<Held>, QdiscError> {
        let changes: Vec<Change<'_>> = roots.iter().flat_map(changes).collect();
        let mut batch = Batch::default();
        for change in &changes {
            let flags = NLM_F_CREATE | NLM_F_REPLACE | NLM_F_ECHO;
            let message = RouteNetlinkMessage::NewQueueDiscipline(change.message.clone());
            batch.push(change.purpose.clone(), flags, message);
        }
        let told = self.connection.ask(&batch).map_err(|source| refused(&changes, source))?;
        let mut told = told.into_iter().filter_map(new_qdisc);
        let namespace = self.connection.namespace();
        roots.iter().map(|root| held(root, &mut told, namespace)).collect()
    }
}

/// One request of a shaper.
struct Change<'a> {
    qdisc: &'a Encoded,
    purpose: String,
    message: TcMessage,
}

/// The handle of every root that a shaper sets, so that a child's parent is known before the kernel
/// has told anything.
const ROOT_HANDLE: u32 = 1 << 16;

fn changes<'a>(root: &Root<'a>) -> impl Iterator<Item = Change<'a>> {
    let Root { link, name, qdisc, child } = *root;
    let message = move |parent, qdisc| {
        let mut message = TcMessage::with_index(link.cast_signed());
        message.header.parent = parent;
        message.attributes = described(qdisc);
        message
    };
    let mut own = message(TcHandle::ROOT, qdisc);
    own.header.handle = TcHandle::from(ROOT_HANDLE);
    let purpose = format!("set {} on {name}", qdisc.kind);
    let behind = child.map(|child| Change {
        qdisc: child,
        purpose: format!("set {} behind {} on {name}", child.kind, qdisc.kind),
        message: message(TcHandle::from(ROOT_HANDLE | FIRST_CLASS), child),
    });
    std::iter::once(Change { qdisc, purpose, message: own }).chain(behind)
}

/// Which kind of queue discipline the kernel does not know, if that is why.
fn refused(changes: &[Change<'_>], source: NetlinkError) -> QdiscError {
    let kind = match &source {
        NetlinkError::Refused { purpose, .. } => {
            let change = changes.iter().find(|change| change.purpose == *purpose);
            change.map_or("", |change| change.qdisc.kind)
        }
        _ => "",
    };
    lacking(QdiscError::Netlink(source), kind)
}

/// What the kernel told of a root, and of its child if that was set.
fn held(
    root: &Root<'_>,
    told: &mut impl Iterator<Item = Qdisc>,
    namespace: &str,
) -> Result<Held, QdiscError> {
    let mut next = |is_root: bool, kind: &str| {
        let told = told.next();
        told.filter(|it| it.link == root.link && it.root == is_root && it.kind == kind).ok_or_else(
            || QdiscError::Untold { link: root.name.to_owned(), namespace: namespace.to_owned() },
        )
    };
    let own = next(true, root.qdisc.kind)?;
    let child = root.child.map(|child| next(false, child.kind)).transpose()?;
    Ok(Held { root: own, child })
}

fn new_qdisc(message: RouteNetlinkMessage) -> Option<Qdisc> {
    match message {
        RouteNetlinkMessage::NewQueueDiscipline(message) => Some(qdisc(message)),
        _ => None,
    }
}

/// The only class of a netem, behind its handle.
const FIRST_CLASS: u32 = 1;

fn described(qdisc: &Encoded) -> Vec<TcAttribute> {
    vec![
        TcAttribute::Kind(qdisc.kind.to_owned()),
        TcAttribute::Other(DefaultNla::new(TCA_OPTIONS, qdisc.options.clone())),
    ]
}

/// A kind of queue discipline that the kernel does not know is said to be missing.
fn lacking(error: QdiscError, kind: &str) -> QdiscError {
    match error {
        QdiscError::Netlink(NetlinkError::Refused { errno: Errno::ENOENT, .. }) => {
            QdiscError::KernelLacks(format!("sch_{kind}"))
        }
        error => error,
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
