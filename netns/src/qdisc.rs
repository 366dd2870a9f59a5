//! Queue disciplines of a link: the root and one behind it, set, changed in place, read back,
//! removed. Knows what netem and tbf are called, not what their options mean.

use std::io;

use netlink_packet_core::{DefaultNla, NLM_F_CREATE, NLM_F_ECHO, NLM_F_REPLACE};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::tc::{TcAttribute, TcHandle, TcMessage};
use nix::errno::Errno;
use nix::net::if_::if_nametoindex;
use thiserror::Error;

use crate::dump::{DumpError, Qdisc, qdisc};
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
    /// What the link has could not be read.
    #[error(transparent)]
    Dump(#[from] DumpError),
    /// Somebody else removed it.
    #[error("the queue discipline just set on {link} is gone: something else changes this link")]
    Vanished {
        /// Where it was set.
        link: String,
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
        lacking(result, qdisc.kind)
    }

    /// A connection for changes to the queue disciplines inside that have to be made on time.
    pub fn shaper(&self) -> Result<Shaper, QdiscError> {
        let opened = self.run(|| Connection::from_here(self.name()))?;
        Ok(Shaper { connection: opened.map_err(QdiscError::Netlink)? })
    }

    /// Sets the root queue discipline of a link, which has to be of a kind that can have a child
    /// (netem), and the one that packets pass behind it. What is there already of the same kind is
    /// changed in place, both with one send, so that packets stay in both; the root keeps its child
    /// when it is changed alone.
    ///
    /// There is no way to take a child away that does not lose the packets in it: give it options
    /// under which nothing waits.
    pub fn set_root_and_child_qdisc(
        &self,
        link: &str,
        root: &Encoded,
        child: &Encoded,
    ) -> Result<(), QdiscError> {
        let parent = match self.root_handle(link, root)? {
            Some(handle) => handle,
            None => {
                self.set_root_qdisc(link, root)?;
                let set = self.root_handle(link, root)?;
                set.ok_or_else(|| QdiscError::Vanished { link: link.to_owned() })?
            }
        };
        let result = self.run(|| {
            let mut batch = Batch::default();
            let flags = NLM_F_CREATE | NLM_F_REPLACE;
            let mut message = root_of(self.name(), link)?;
            message.attributes = described(root);
            let changed = RouteNetlinkMessage::NewQueueDiscipline(message.clone());
            batch.push(format!("set {} on {link}", root.kind), flags, changed);
            message.header.parent = TcHandle::from(parent | FIRST_CLASS);
            message.attributes = described(child);
            let behind = RouteNetlinkMessage::NewQueueDiscipline(message);
            batch.push(format!("set {} behind {} on {link}", child.kind, root.kind), flags, behind);
            batch.send_from_here(self.name()).map_err(QdiscError::Netlink)
        })?;
        lacking(result, child.kind)
    }

    /// The handle of the root if it is of this kind.
    fn root_handle(&self, link: &str, root: &Encoded) -> Result<Option<u32>, QdiscError> {
        let index = self.run(|| root_of(self.name(), link))??.header.index.cast_unsigned();
        let held = self.qdiscs()?;
        let own = held.iter().find(|it| it.root && it.link == index && it.kind == root.kind);
        Ok(own.map(|root| root.handle))
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
    pub fn set(&mut self, roots: &[Root<'_>]) -> Result<Vec<Qdisc>, QdiscError> {
        let mut batch = Batch::default();
        for root in roots {
            let purpose = format!("set {} on {}", root.qdisc.kind, root.name);
            let mut message = TcMessage::with_index(root.link.cast_signed());
            message.header.parent = TcHandle::ROOT;
            message.attributes = described(root.qdisc);
            let message = RouteNetlinkMessage::NewQueueDiscipline(message);
            batch.push(purpose, NLM_F_CREATE | NLM_F_REPLACE | NLM_F_ECHO, message);
        }
        let kind = roots.first().map_or("", |root| root.qdisc.kind);
        let told = lacking(self.connection.ask(&batch).map_err(QdiscError::Netlink), kind)?;
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

/// The only class of a netem, behind its handle.
const FIRST_CLASS: u32 = 1;

fn described(qdisc: &Encoded) -> Vec<TcAttribute> {
    vec![
        TcAttribute::Kind(qdisc.kind.to_owned()),
        TcAttribute::Other(DefaultNla::new(TCA_OPTIONS, qdisc.options.clone())),
    ]
}

/// A kind of queue discipline that the kernel does not know is said to be missing.
fn lacking<T>(result: Result<T, QdiscError>, kind: &str) -> Result<T, QdiscError> {
    match result {
        Err(QdiscError::Netlink(NetlinkError::Refused { errno: Errno::ENOENT, .. })) => {
            Err(QdiscError::KernelLacks(format!("sch_{kind}")))
        }
        result => result,
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
