//! The kernel's own senders in `summary.json`.

use serde::Serialize;

use crate::recording::{EndSockets, MptcpFigures, TcpFigures};

/// One side's end of a connection.
#[derive(Debug, Serialize)]
pub struct KernelEnd<'a> {
    /// `vehicle` or `cloud`.
    pub side: &'static str,
    /// The congestion control that the kernel says it used.
    pub congestion: &'a str,
    /// One, or one a subflow.
    pub sockets: Vec<KernelSocket<'a>>,
    /// `null`: plain TCP.
    pub mptcp: Option<&'a MptcpFigures>,
    /// What the kernel counted for the whole of that side: the sockets' sum, and what subflows sent
    /// again that have gone.
    pub retransmitted_in_namespace: u64,
}

#[derive(Debug, Serialize)]
pub struct KernelSocket<'a> {
    pub path: Option<&'a str>,
    /// As the kernel tells them (`struct tcp_info`) at the end of the run.
    pub figures: &'a TcpFigures,
}

/// Vehicle and cloud; nothing for a sender that does not live in the kernel.
pub fn kernel_ends<'a>(
    ends: Option<&'a [EndSockets; 2]>,
    paths: &'a [String],
) -> Vec<KernelEnd<'a>> {
    let socket = |figures: &'a TcpFigures| {
        let path = figures.path.and_then(|path| paths.get(path.index()));
        KernelSocket { path: path.map(String::as_str), figures }
    };
    let end = |(side, end): (&'static str, &'a EndSockets)| KernelEnd {
        side,
        congestion: &end.congestion,
        sockets: end.connections.iter().map(socket).collect(),
        mptcp: end.mptcp.as_ref(),
        retransmitted_in_namespace: end.retransmitted_in_namespace,
    };
    ["vehicle", "cloud"].into_iter().zip(ends.into_iter().flatten()).map(end).collect()
}
