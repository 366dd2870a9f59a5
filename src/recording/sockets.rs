//! What the kernel told of its own senders at the end of a trial.

use serde::{Deserialize, Serialize};

use crate::units::PathId;

/// One side's end of a TCP or multipath TCP connection, from its handshake on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndSockets {
    /// The congestion control that the kernel says it used.
    pub congestion: String,
    /// One, or one a subflow that is still there, in the order in which they were made.
    pub connections: Vec<TcpFigures>,
    /// `None`: plain TCP.
    pub mptcp: Option<MptcpFigures>,
    /// `TcpRetransSegs` of the namespace: the same retransmissions, counted at another place, those
    /// of subflows that have gone included.
    pub retransmitted_in_namespace: u64,
}

/// `struct tcp_info` (`linux/tcp.h`). Segments of every kind are counted, pure acknowledgements
/// too, unless they are called data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TcpFigures {
    /// `None`: the address is none of the lab's.
    pub path: Option<PathId>,
    pub segments_sent: u64,
    pub segments_received: u64,
    pub data_segments_sent: u64,
    pub data_segments_received: u64,
    /// Data segments that were sent again.
    pub retransmitted: u64,
    /// Payload, that which was sent again included.
    pub bytes_sent: u64,
    pub bytes_retransmitted: u64,
    /// Given to the connection and not sent yet, at the end. Recordings made before it was kept have
    /// none.
    #[serde(default)]
    pub bytes_unsent: u64,
    pub bytes_acknowledged: u64,
    pub bytes_received: u64,
    /// Of what was sent again, the peer said that it had it already (D-SACK, RFC 2883).
    pub spurious: u64,
    /// Retransmission timeouts; `None`: a kernel before 6.7 does not count them.
    pub timeouts: Option<u64>,
    /// Smoothed, at the end.
    pub rtt_us: u64,
    pub rtt_variation_us: u64,
    /// The shortest of all, or of those that the kernel remembers (five minutes); `None`: none was
    /// measured.
    pub min_rtt_us: Option<u64>,
    /// The retransmission timeout at the end.
    pub rto_us: u64,
    /// Segments, at the end.
    pub congestion_window: u64,
    /// Payload bytes of a full segment.
    pub segment_size: u64,
}

/// `struct mptcp_info` (`linux/mptcp.h`). What is `None` a kernel before 6.5 does not tell, nor do
/// recordings made before it was kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct MptcpFigures {
    /// At the end, the first included.
    pub subflows: u64,
    /// It had become plain TCP.
    pub fallback: bool,
    /// Payload that was given to a subflow, each byte once.
    #[serde(default)]
    pub bytes_sent: Option<u64>,
    /// Payload that arrived, each byte once.
    #[serde(default)]
    pub bytes_received: Option<u64>,
    /// Payload that was given to a further subflow though one had it already: what all subflows were
    /// given, without their own retransmissions, less `bytes_sent`. The kernel has no such count
    /// (`mptcpi_bytes_retrans` leaves out what is sent again when a subflow is found stale). Also
    /// `None` where a subflow has gone, and its counts with it.
    #[serde(default)]
    pub reinjected_bytes: Option<u64>,
}

impl EndSockets {
    /// Segments that were sent again, on all subflows.
    pub fn retransmissions(&self) -> u64 {
        self.connections.iter().map(|connection| connection.retransmitted).sum()
    }
}
