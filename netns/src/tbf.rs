//! The token bucket filter, as `sch_tbf` reads it (`linux/pkt_sched.h`). Pure: options to bytes.

use crate::attributes::Attributes;
use crate::qdisc::Encoded;

/// A rate, with the burst that may pass at once and the bytes that may wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Bytes per second, Ethernet headers included; at least 1.
    pub rate: u64,
    /// Bytes that may pass at once after silence; at least one packet with its Ethernet header, or
    /// nothing passes.
    pub burst: u32,
    /// Bytes that may wait; more are dropped.
    pub limit: u32,
    /// How fast a burst itself may pass.
    pub peak: Option<Peak>,
}

/// A second bucket, which bounds the rate within a burst.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peak {
    /// Bytes per second, more than the rate itself.
    pub rate: u64,
    /// Bytes that may pass at once; the size of a packet with its Ethernet header.
    pub burst: u32,
}

const TCA_TBF_PARMS: u16 = 1;
const TCA_TBF_RATE64: u16 = 4;
const TCA_TBF_PRATE64: u16 = 5;
const TCA_TBF_BURST: u16 = 6;
const TCA_TBF_PBURST: u16 = 7;

/// Ethernet: the kernel works out times from the rate itself and wants no table of them.
const TC_LINKLAYER_ETHERNET: u8 = 1;
/// The unit of times in `struct tc_tbf_qopt`.
const NANOSECONDS_PER_TICK: u64 = 64;

impl Options {
    /// Ready to be set on a link.
    pub fn encode(&self) -> Encoded {
        let mut attributes = Attributes::default();
        attributes.add(TCA_TBF_PARMS, &self.parameters());
        attributes.add(TCA_TBF_BURST, &self.burst.to_ne_bytes());
        attributes.add(TCA_TBF_RATE64, &self.rate.to_ne_bytes());
        if let Some(peak) = self.peak {
            attributes.add(TCA_TBF_PBURST, &peak.burst.to_ne_bytes());
            attributes.add(TCA_TBF_PRATE64, &peak.rate.to_ne_bytes());
        }
        Encoded { kind: "tbf", options: attributes.into_bytes() }
    }

    /// `struct tc_tbf_qopt`. The attributes beside it carry what does not fit in here, and take
    /// precedence.
    fn parameters(&self) -> Vec<u8> {
        let peak = self.peak.unwrap_or(Peak { rate: 0, burst: 0 });
        let mut bytes = Vec::with_capacity(36);
        bytes.extend(rate_specification(self.rate));
        bytes.extend(rate_specification(peak.rate));
        bytes.extend(self.limit.to_ne_bytes());
        bytes.extend(ticks(self.burst, self.rate).to_ne_bytes());
        bytes.extend(ticks(peak.burst, peak.rate).to_ne_bytes());
        bytes
    }
}

/// `struct tc_ratespec`: cell_log, link layer, overhead, cell_align, mpu, rate.
fn rate_specification(rate: u64) -> [u8; 12] {
    let mut bytes = [0; 12];
    bytes[1] = TC_LINKLAYER_ETHERNET;
    bytes[8..].copy_from_slice(&u32::try_from(rate).unwrap_or(u32::MAX).to_ne_bytes());
    bytes
}

/// The time that `bytes` take at `rate`, 0 at no rate.
fn ticks(bytes: u32, rate: u64) -> u32 {
    let nanoseconds = u64::from(bytes) * 1_000_000_000;
    let ticks = nanoseconds.checked_div(rate).unwrap_or(0) / NANOSECONDS_PER_TICK;
    u32::try_from(ticks).unwrap_or(u32::MAX)
}
