//! What the kernel holds in a namespace, read back: links and queue disciplines.

use std::io;

use futures_util::{Stream, TryStreamExt};
use netlink_packet_core::Nla;
use netlink_packet_route::link::{LinkAttribute, LinkFlags, LinkMessage};
use netlink_packet_route::tc::{TcAttribute, TcHandle, TcMessage, TcOption, TcStats2};
use rtnetlink::Handle;
use thiserror::Error;

use crate::address::MacAddress;
use crate::namespace::{Namespace, NamespaceError};

/// A link as the kernel describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// The interface index.
    pub index: u32,
    /// The interface name.
    pub name: String,
    /// Its Ethernet address, if it has one.
    pub mac: Option<MacAddress>,
    /// The largest packet in bytes.
    pub mtu: u32,
    /// The group number.
    pub group: u32,
    /// Whether it was brought up.
    pub up: bool,
    /// Packets that went out over it since it was made.
    pub packets_sent: u64,
    /// Packets that came in over it since it was made.
    pub packets_received: u64,
}

/// A queue discipline as the kernel describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Qdisc {
    /// The interface index of its link.
    pub link: u32,
    /// Such as `netem`.
    pub kind: String,
    /// Its number, by which a child names its parent.
    pub handle: u32,
    /// Whether it is the root of its link.
    pub root: bool,
    /// The bytes of `TCA_OPTIONS`, for [`crate::netem::Options::parse`].
    pub options: Vec<u8>,
    /// What it has done so far.
    pub counters: Counters,
}

/// What a queue discipline has done so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters {
    /// Bytes sent.
    pub bytes: u64,
    /// Packets sent.
    pub packets: u32,
    /// Packets dropped.
    pub drops: u32,
    /// Packets that had to wait for the limit of the rate.
    pub overlimits: u32,
    /// Packets held now.
    pub queued: u32,
    /// Bytes of the packets held now.
    pub queued_bytes: u32,
    /// Packets put back, or (netem) put in front of the others.
    pub requeues: u32,
}

/// The kernel's tables could not be read.
#[derive(Debug, Error)]
pub enum DumpError {
    /// No connection to rtnetlink.
    #[error("cannot open rtnetlink in network namespace {namespace}: {source}")]
    Open {
        /// The namespace asked about.
        namespace: String,
        /// What the kernel said.
        source: io::Error,
    },
    /// The kernel refused, or its answer was not understood.
    #[error("cannot list {what} in network namespace {namespace}: {source}")]
    List {
        /// `links` or `queue disciplines`.
        what: &'static str,
        /// The namespace asked about.
        namespace: String,
        /// What was wrong.
        source: rtnetlink::Error,
    },
    /// The namespace could not be entered.
    #[error(transparent)]
    Namespace(#[from] NamespaceError),
}

impl Namespace {
    /// Every link, loopback included.
    pub fn links(&self) -> Result<Vec<Link>, DumpError> {
        let links = self.dump("links", |handle| handle.link().get().execute())?;
        Ok(links.into_iter().map(link).collect())
    }

    /// The queue discipline of every link; several where one holds others.
    pub fn qdiscs(&self) -> Result<Vec<Qdisc>, DumpError> {
        let qdiscs = self.dump("queue disciplines", |handle| handle.qdisc().get().execute())?;
        Ok(qdiscs.into_iter().map(qdisc).collect())
    }

    /// Asks on a runtime of its own: the socket has to be opened by a thread inside.
    fn dump<T, S>(
        &self,
        what: &'static str,
        request: impl FnOnce(&Handle) -> S + Send,
    ) -> Result<Vec<T>, DumpError>
    where
        T: Send,
        S: Stream<Item = Result<T, rtnetlink::Error>>,
    {
        let open_error = |source| DumpError::Open { namespace: self.name().to_owned(), source };
        self.run(|| {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_io()
                .build()
                .map_err(open_error)?;
            runtime.block_on(async {
                let (connection, handle, _) = rtnetlink::new_connection().map_err(open_error)?;
                tokio::spawn(connection);
                request(&handle).try_collect().await.map_err(|source| DumpError::List {
                    what,
                    namespace: self.name().to_owned(),
                    source,
                })
            })
        })?
    }
}

fn link(message: LinkMessage) -> Link {
    let mut link = Link {
        index: message.header.index,
        name: String::new(),
        mac: None,
        mtu: 0,
        group: 0,
        up: message.header.flags.contains(LinkFlags::Up),
        packets_sent: 0,
        packets_received: 0,
    };
    for attribute in message.attributes {
        match attribute {
            LinkAttribute::IfName(name) => link.name = name,
            LinkAttribute::Address(bytes) => link.mac = bytes.try_into().ok().map(MacAddress),
            LinkAttribute::Mtu(mtu) => link.mtu = mtu,
            LinkAttribute::Group(group) => link.group = group,
            LinkAttribute::Stats64(stats) => {
                link.packets_sent = stats.tx_packets;
                link.packets_received = stats.rx_packets;
            }
            _ => {}
        }
    }
    link
}

pub(crate) fn qdisc(message: TcMessage) -> Qdisc {
    let mut qdisc = Qdisc {
        link: message.header.index.unsigned_abs(),
        kind: String::new(),
        handle: message.header.handle.into(),
        root: message.header.parent == TcHandle::ROOT,
        options: Vec::new(),
        counters: Counters::default(),
    };
    for attribute in message.attributes {
        match attribute {
            TcAttribute::Kind(kind) => qdisc.kind = kind,
            TcAttribute::Options(options) => qdisc.options = raw(&options),
            TcAttribute::Stats2(stats) => {
                stats.iter().for_each(|stats| qdisc.counters.add(stats));
            }
            _ => {}
        }
    }
    qdisc
}

/// The options of kinds that `netlink-packet-route` does not know come as one attribute that holds
/// all of the bytes.
fn raw(options: &[TcOption]) -> Vec<u8> {
    let [TcOption::Other(attribute)] = options else { return Vec::new() };
    let mut bytes = vec![0; attribute.value_len()];
    attribute.emit_value(&mut bytes);
    bytes
}

impl Counters {
    fn add(&mut self, stats: &TcStats2) {
        match stats {
            TcStats2::Basic(basic) => {
                self.bytes = basic.bytes;
                self.packets = basic.packets;
            }
            TcStats2::Queue(queue) => {
                self.drops = queue.drops;
                self.overlimits = queue.overlimits;
                self.queued = queue.qlen;
                self.queued_bytes = queue.backlog;
                self.requeues = queue.requeues;
            }
            _ => {}
        }
    }
}
