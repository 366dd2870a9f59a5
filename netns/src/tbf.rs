//! The token bucket filter, as `sch_tbf` reads and reports it (`linux/pkt_sched.h`). Pure: options
//! to bytes, and bytes held against options.

use crate::attributes::{self, Attributes};
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

    /// What the kernel holds otherwise than asked, by the names of the fields; `options` are the
    /// bytes of `TCA_OPTIONS` as it reports them. It tells the burst as a time, in ticks.
    pub fn differences(&self, options: &[u8]) -> Vec<&'static str> {
        let Some(held) = Held::parse(options) else { return vec!["options"] };
        let fields = [
            ("rate", held.rate == self.rate),
            ("limit", held.limit == self.limit),
            ("burst", held.burst_ticks.abs_diff(ticks(self.burst, self.rate)) <= 1),
            ("peak", held.peak == self.peak.map_or(0, |peak| clamped(peak.rate))),
        ];
        fields.into_iter().filter(|(_, same)| !same).map(|(name, _)| name).collect()
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

/// What the kernel reports.
struct Held {
    rate: u64,
    /// As far as 32 bits hold it.
    peak: u32,
    limit: u32,
    burst_ticks: u32,
}

impl Held {
    /// `None` if the bytes are not tbf's options.
    fn parse(options: &[u8]) -> Option<Self> {
        let attributes = attributes::parse(options)?;
        let value = |kind| attributes.iter().find(|it| it.0 == kind).map(|it| it.1);
        let parameters = value(TCA_TBF_PARMS)?;
        let word = |at: usize| {
            let bytes = parameters.get(at..at + 4)?;
            Some(u32::from_ne_bytes(bytes.try_into().ok()?))
        };
        let rate64 = value(TCA_TBF_RATE64).and_then(|bytes| bytes.try_into().ok());
        let rate = rate64.map_or(u64::from(word(8)?), u64::from_ne_bytes);
        Some(Self { rate, peak: word(20)?, limit: word(24)?, burst_ticks: word(28)? })
    }
}

fn clamped(rate: u64) -> u32 {
    u32::try_from(rate).unwrap_or(u32::MAX)
}

/// `struct tc_ratespec`: cell_log, link layer, overhead, cell_align, mpu, rate.
fn rate_specification(rate: u64) -> [u8; 12] {
    let mut bytes = [0; 12];
    bytes[1] = TC_LINKLAYER_ETHERNET;
    bytes[8..].copy_from_slice(&clamped(rate).to_ne_bytes());
    bytes
}

/// The time that `bytes` take at `rate`, 0 at no rate.
fn ticks(bytes: u32, rate: u64) -> u32 {
    let nanoseconds = u64::from(bytes) * 1_000_000_000;
    let ticks = nanoseconds.checked_div(rate).unwrap_or(0) / NANOSECONDS_PER_TICK;
    u32::try_from(ticks).unwrap_or(u32::MAX)
}
