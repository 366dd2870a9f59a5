//! Made-up recordings for tests, close to what real senders do: six of them through one outage of
//! the first path. From a seed, so that every snapshot of them stays as it is.

use std::time::Duration;

use super::EngineKind;
use super::receipt::law::DelayLaw;
use super::receipt::{Delays, Overtaking, PathReceipts, Receipt, Tally};
use super::{
    FORMAT, Fidelity, Handshake, LinkCount, Message, Messages, PathWire, Recording, Status, Volume,
    WireCount,
};
use crate::link::profile::{Correlated, Distribution, LinkProfile, Loss};
use crate::protocol::settings::{
    Copy, MpquicCongestion, MpquicStack, QuicTransport, TquicSettings,
};
use crate::protocol::settings::{KcpSettings, MpquicSettings, UdpSettings};
use crate::protocol::settings::{QuicCongestion, QuicMode, QuicSettings, ReplicateSettings};
use crate::protocol::{Delivery, ProtocolSettings, ProtocolStatistics};
use crate::scenario::plan::{Claim, PathPlan, Plan, SenderPlan};
use crate::timeline::{Outage, Timeline};
use crate::units::{IpVersion, PathId, Probability};
use crate::workload::{Keep, Periodic, Workload};

pub const SENDERS: [&str; 6] = ["udp", "kcp", "quic", "mpquic", "kcp-both", "quic-both"];

const MILLISECOND: u64 = 1_000_000;
const SECOND: u64 = 1000 * MILLISECOND;
const BOTH: [PathId; 2] = [PathId(0), PathId(1)];

pub fn plan(repeat: u32) -> Plan {
    let sender = |name: &&str| SenderPlan { name: name.to_string(), protocol: protocol(name) };
    let path = |name: &str| PathPlan {
        name: name.to_owned(),
        profile: None,
        sources: Vec::new(),
        ip: IpVersion::V4,
        up: Default::default(),
        down: Default::default(),
    };
    Plan {
        name: "handover-5s".to_owned(),
        about: "The 4G path goes dark for 5 s".to_owned(),
        paths: vec![path("4g"), path("5g")],
        timeline: Timeline { changes: Vec::new(), outages: outages() },
        workload: workload(),
        vehicles: 1,
        senders: SENDERS.iter().map(sender).collect(),
        repeat,
        seed: 1,
        claims: vec![claim("kcp", 72, 103, 1.7), claim("mpquic", 46, 52, 2.0)],
    }
}

fn claim(sender: &str, p50: u64, p99: u64, amplification: f64) -> Claim {
    Claim {
        source: "A made-up article, table 2".to_owned(),
        sender: sender.to_owned(),
        p50: Some(Duration::from_millis(p50)),
        p99: Some(Duration::from_millis(p99)),
        p999: Some(Duration::from_millis(2 * p99)),
        amplification: Some(amplification),
        longest_gap: None,
        mean: None,
        worst: None,
    }
}

/// Every sender and repetition of [`plan`].
pub fn recordings(repeat: u32) -> Vec<Recording> {
    let all = SENDERS.iter().flat_map(|sender| (0..repeat).map(move |run| (sender, run)));
    all.map(|(sender, run)| recording(sender, run)).collect()
}

pub fn recording(sender: &str, repetition: u32) -> Recording {
    let protocol = protocol(sender);
    let ordered = !matches!(protocol, ProtocolSettings::Udp(_));
    let both = protocol.paths().len() == 2;
    let wire = |path: u8, used: bool, bytes: u64| PathWire {
        path: PathId(path),
        up: link(if used { bytes } else { 0 }),
        down: link(if used && ordered { bytes / 6 } else { 0 }),
        kernel: None,
    };
    let bytes = character(sender).bytes;
    Recording {
        format: FORMAT,
        scenario: "handover-5s".to_owned(),
        sender: sender.to_owned(),
        delivery: Delivery { ordered, reliable: ordered },
        repetition,
        engine: EngineKind::Sim,
        seed: 1,
        workload: workload(),
        outages: outages(),
        path_names: vec!["4g".to_owned(), "5g".to_owned()],
        status: Status::Complete,
        handshake: Handshake {
            duration: Duration::from_millis(84),
            up: count(1500),
            down: count(2700),
        },
        accepted: 3000,
        messages: Messages::Each(messages(&character(sender), both, u64::from(repetition))),
        wire: vec![wire(0, true, bytes), wire(1, both, bytes)],
        receipts: vec![receipts(0, true, ordered, bytes), receipts(1, both, ordered, bytes)],
        volumes: vec![volume(sender)],
        statistics: ProtocolStatistics { retransmissions: ordered.then_some(87), discarded: 0 },
        error_correction: None,
        kernel_sockets: None,
        fidelity: None,
        vehicle: 0,
        others: Vec::new(),
        receipts_of_others: Vec::new(),
        cost: None,
        protocol,
    }
}

pub fn fidelity() -> Fidelity {
    Fidelity {
        virtual_time: false,
        lateness_p50_us: Some(12.5),
        lateness_p99_us: Some(48.0),
        lateness_max_us: Some(310.0),
        change_lateness_max_us: 140.0,
        send_lateness_p99_us: 35.0,
        send_lateness_max_us: 120.0,
        read_lateness_p99_us: 60.0,
        read_lateness_max_us: 210.0,
        stalls: 0,
        longest_stall_us: 0.0,
        realtime: true,
        damaged_packets: 0,
        vehicle_cpu_us: 54_000.0,
        cloud_cpu_us: 21_000.0,
        limitations: Vec::new(),
        spoilt: None,
    }
}

pub fn workload() -> Workload {
    Workload::Control(Periodic {
        rate: 50.0,
        size: 600,
        duration: Duration::from_secs(60),
        deadline: Duration::from_millis(250),
        keep: Keep::Messages,
        phase: None,
    })
}

fn outages() -> Vec<Outage> {
    vec![Outage { path: PathId(0), from: Duration::from_secs(20), until: Duration::from_secs(25) }]
}

fn protocol(sender: &str) -> ProtocolSettings {
    let path = PathId(0);
    let kcp = ProtocolSettings::Kcp(KcpSettings { flush_at_once: true, ..KcpSettings::new(path) });
    let quic = ProtocolSettings::Quic(QuicSettings {
        path,
        congestion: QuicCongestion::Bbr,
        mode: QuicMode::Stream,
        transport: QuicTransport::new(QuicCongestion::Bbr.usual_initial_window()),
    });
    let both = |protocol| {
        let protocol = Box::new(protocol);
        let paths = BOTH.to_vec();
        ProtocolSettings::Replicate(ReplicateSettings { paths, copy: Copy::Datagram, protocol })
    };
    match sender {
        "kcp" => kcp,
        "quic" => quic,
        "kcp-both" => both(kcp),
        "quic-both" => both(quic),
        "mpquic" => ProtocolSettings::Mpquic(MpquicSettings {
            paths: BOTH.to_vec(),
            stack: MpquicStack::Tquic(TquicSettings {
                congestion: MpquicCongestion::Bbr,
                ..TquicSettings::new()
            }),
        }),
        _ => ProtocolSettings::Udp(UdpSettings { path }),
    }
}

/// What tells one sender from another.
struct Character {
    reliable: bool,
    /// How long it takes to send again what was lost.
    repair: u64,
    /// When it notices that the outage is over.
    awake: u64,
    /// On the wire of each path, up.
    bytes: u64,
}

fn character(sender: &str) -> Character {
    let reliable = true;
    match sender {
        "kcp" | "kcp-both" => Character {
            reliable,
            repair: 100 * MILLISECOND,
            awake: 25_400 * MILLISECOND,
            bytes: 2_030_000,
        },
        "quic" | "quic-both" => Character {
            reliable,
            repair: 135 * MILLISECOND,
            awake: 26_800 * MILLISECOND,
            bytes: 2_047_000,
        },
        "mpquic" => Character {
            reliable,
            repair: 120 * MILLISECOND,
            awake: 26_000 * MILLISECOND,
            bytes: 2_130_000,
        },
        _ => Character { reliable: false, repair: 0, awake: 0, bytes: 1_884_000 },
    }
}

fn count(bytes: u64) -> WireCount {
    WireCount { packets: bytes.div_ceil(1200), bytes }
}

fn link(bytes: u64) -> LinkCount {
    let offered = WireCount { packets: bytes / 650, bytes };
    LinkCount { offered, delivered: offered.packets, ..LinkCount::default() }
}

/// A packet a message on the path that goes dark; from then on none until the sender uses it again.
fn volume(sender: &str) -> Volume {
    let mut volume = Volume::new(BOTH[0], workload().periodic());
    let dark = 20 * SECOND..character(sender).awake;
    let due = (0..3000).map(|message| message * 20 * MILLISECOND);
    due.filter(|at| !dark.contains(at)).for_each(|at| volume.add(Duration::from_nanos(at), 650));
    volume
}

/// What the links of a path did: all that they were asked to, to the packet.
fn receipts(path: u8, used: bool, both_ways: bool, bytes: u64) -> PathReceipts {
    let delay = if path == 0 { 40 } else { 25 };
    let profile = LinkProfile {
        delay: Duration::from_millis(delay),
        jitter: Duration::from_millis(delay / 4),
        distribution: Distribution::Normal,
        loss: random_loss(0.02),
        ..LinkProfile::default()
    };
    let dark = LinkProfile { loss: random_loss(1.0), ..profile.clone() };
    let way = |packets: u64| match (packets, path) {
        (0, _) => Vec::new(),
        (_, 0) => vec![receipt(&profile, packets * 11 / 12), receipt(&dark, packets / 12)],
        _ => vec![receipt(&profile, packets)],
    };
    let packets = if used { bytes / 650 } else { 0 };
    let down = if both_ways { packets / 6 } else { 0 };
    PathReceipts { path: PathId(path), up: way(packets), down: way(down) }
}

fn random_loss(probability: f64) -> Loss {
    let probability = Probability::new(probability).expect("between 0 and 1");
    Loss::Random(Correlated { probability, ..Correlated::default() })
}

/// The receipt of a link without rate or order that does exactly as it is asked.
pub fn receipt(profile: &LinkProfile, packets: u64) -> Receipt {
    let law = DelayLaw::of(profile).expect("a plain profile");
    let Loss::Random(Correlated { probability, .. }) = profile.loss else { panic!("random loss") };
    let probability = probability.as_f64();
    let lost = (packets as f64 * probability).round() as u64;
    let bursts = (lost as f64 * (1.0 - probability)).ceil() as u64;
    let (count, expected) = (packets - lost, law.free());
    let sum = |each: f64| count as f64 * each;
    let late = expected.mean - law.mean();
    let delay = Delays {
        count,
        sum: sum(late),
        squares: sum(expected.variance + late * late),
        beyond_squares: sum(expected.variance),
        variance: sum(expected.variance),
        square_variance: sum(expected.square_variance),
        ..Delays::default()
    };
    let overtaking = Overtaking { count: count / 50, expected: sum(0.02) };
    let tally = Tally {
        entered: packets,
        spells: 1,
        settled: packets,
        lost,
        bursts,
        left: count,
        delay,
        overtaking,
        ..Tally::default()
    };
    Receipt { asked: Some(profile.clone()), did: tally, unseen: Vec::new(), slack_ns: 1 }
}

/// 2 % loss on each path; the first is dark from 20 to 25 s. A reliable sender keeps the order.
fn messages(character: &Character, both: bool, seed: u64) -> Vec<Message> {
    let mut random = Random(seed + 1);
    let mut ready = 0;
    (0..3000u64)
        .map(|id| {
            let scheduled = id * 20 * MILLISECOND;
            let dark = (20 * SECOND..25 * SECOND).contains(&scheduled);
            let first = one_path(scheduled, 40, dark, character, &mut random);
            let second = one_path(scheduled, 25, false, character, &mut random).filter(|_| both);
            let mut delivered = [first, second].into_iter().flatten().min();
            if character.reliable {
                delivered = delivered.map(|at| at.max(ready));
                ready = delivered.unwrap_or(ready);
            }
            Message { scheduled, sent: Some(scheduled), delivered }
        })
        .collect()
}

fn one_path(
    scheduled: u64,
    delay_ms: u64,
    dark: bool,
    character: &Character,
    random: &mut Random,
) -> Option<u64> {
    let arrival = scheduled + delay_ms * MILLISECOND + random.below(20 * MILLISECOND);
    let again = match (dark, random.below(100) < 2) {
        (false, false) => return Some(arrival),
        (false, true) => arrival + character.repair,
        (true, _) => arrival.max(character.awake + random.below(MILLISECOND)),
    };
    character.reliable.then_some(again)
}

/// Knuth's MMIX generator: good enough to look like a network.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((u128::from(self.0) * u128::from(limit)) >> 64) as u64
    }
}
