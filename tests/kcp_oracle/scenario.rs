//! Random scenarios: the settings of both sides, what the network does, and what the applications
//! do.

use std::ops::Range;
use std::time::Duration;

use impairlab::protocol::settings::{KcpBehaviour, KcpSettings};
use impairlab::units::PathId;
use proptest::prelude::*;

pub const CONV: u32 = 0x1a2b_3c4d;

#[derive(Debug, Clone)]
pub struct Scenario {
    /// Of everything that is drawn while it runs.
    pub seed: u64,
    /// What both clocks show at the start; they may wrap.
    pub start_ms: u32,
    /// The behaviour in here does not count: it is the oracle's.
    pub settings: KcpSettings,
    /// The driver updates before each input, as it should; if not, round trips are measured against
    /// a stale clock.
    pub update_before_input: bool,
    /// Of the datagrams that arrive, as if error correction had recovered them.
    pub recovered_percent: u32,
    pub network: Network,
    pub traffic: Traffic,
}

#[derive(Debug, Clone)]
pub struct Network {
    pub loss_percent: u32,
    pub duplicate_percent: u32,
    pub delay_ms: u32,
    /// Drawn for each datagram, so that they overtake each other.
    pub jitter_ms: u32,
    /// Nothing gets through.
    pub outage: Range<u32>,
    /// Chance of a forged datagram each millisecond, towards each side.
    pub forged_per_mille: u32,
}

#[derive(Debug, Clone)]
pub struct Traffic {
    pub length_ms: u32,
    /// An application sends up to so many messages at once,
    pub burst: u32,
    pub send_every_ms: u32,
    pub sends_until_ms: u32,
    /// of up to so many full segments (and a byte).
    pub largest_segments: u32,
    /// Meanwhile the applications take no messages, so that windows close.
    pub pause: Range<u32>,
}

impl Traffic {
    /// A part of a stream that is too long is refused after some of it was taken, in the C code and
    /// in kcp-go. Ours takes all or nothing, so there are none.
    fn limited(self, settings: &KcpSettings) -> Self {
        let longest = if settings.stream { 100 } else { u32::MAX };
        Self { largest_segments: self.largest_segments.min(longest), ..self }
    }
}

impl Scenario {
    /// Whether some side may ever hear of a window of 0.
    pub fn can_close_window(&self) -> bool {
        !self.traffic.pause.is_empty() || self.network.forged_per_mille > 0
    }
}

pub fn scenarios() -> impl Strategy<Value = Scenario> {
    let start_ms =
        prop_oneof![4 => Just(0), 1 => Just(u32::MAX - 1_500), 1 => Just(u32::MAX / 2 - 1_500)];
    let driver = (prop::bool::weighted(0.8), one_of([0, 0, 5, 50]));
    let parts = (any::<u64>(), start_ms, settings(), driver, network(), traffic());
    parts.prop_map(|(seed, start_ms, settings, driver, network, traffic)| Scenario {
        seed,
        start_ms,
        update_before_input: driver.0,
        recovered_percent: driver.1,
        network,
        traffic: traffic.limited(&settings),
        settings,
    })
}

fn settings() -> impl Strategy<Value = KcpSettings> {
    let pace = (0..=2_u8, one_of([10, 10, 17, 40, 100]), 0..=3_u32, any::<bool>());
    let windows = (one_of([1, 2, 5, 32, 128, 300]), one_of([1, 16, 128, 200, 256, 300]));
    let rest = (one_of([50, 51, 200, 576, 1400]), any::<bool>(), one_of([1, 1, 3, 10, 45]));
    let flushes = (any::<bool>(), prop::bool::weighted(0.3), prop::bool::weighted(0.3));
    (pace, windows, rest, flushes).prop_map(|(pace, windows, (mtu, stream, update_ms), flushes)| {
        KcpSettings {
            behaviour: KcpBehaviour::Ikcp17,
            nodelay: pace.0,
            interval: Duration::from_millis(pace.1.into()),
            resend: pace.2,
            nc: pace.3,
            send_window: windows.0,
            receive_window: windows.1,
            mtu,
            stream,
            flush_at_once: flushes.0,
            update_interval: Duration::from_millis(update_ms.into()),
            ack_nodelay: flushes.1,
            write_delay: flushes.2,
            ..KcpSettings::new(PathId(0))
        }
    })
}

fn network() -> impl Strategy<Value = Network> {
    let span = (0..2_000_u32, 0..20_000_u32).prop_map(|(start, length)| start..start + length);
    let outage = prop_oneof![2 => Just(0..0), 1 => span];
    (0..30_u32, 0..10_u32, 0..120_u32, 0..60_u32, outage, one_of([0, 0, 2, 50])).prop_map(
        |(loss_percent, duplicate_percent, delay_ms, jitter_ms, outage, forged_per_mille)| {
            Network {
                loss_percent,
                duplicate_percent,
                delay_ms,
                jitter_ms,
                outage,
                forged_per_mille,
            }
        },
    )
}

fn traffic() -> impl Strategy<Value = Traffic> {
    let pause =
        prop_oneof![1 => Just(0..0), 1 => (0..500_u32, 0..30_000_u32).prop_map(|(s, l)| s..s + l)];
    (
        1_000..40_000_u32,
        one_of([1, 1, 3, 20]),
        one_of([1, 5, 20, 100]),
        one_of([1, 1, 1, 3, 3, 100, 300]),
        pause,
    )
        .prop_map(|(length_ms, burst, send_every_ms, largest_segments, pause)| Traffic {
            length_ms,
            burst,
            send_every_ms,
            // Keeps the queue, and so the time a scenario takes, within bounds.
            sends_until_ms: length_ms.min(send_every_ms * 3_000 / (burst * largest_segments)),
            largest_segments,
            pause,
        })
}

fn one_of<const N: usize>(choices: [u32; N]) -> impl Strategy<Value = u32> {
    prop::sample::select(choices.to_vec())
}
