//! Small trials for the tests of the relay engine.

#[path = "../one_sender/mod.rs"]
mod one_sender;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use impairlab::engine::Trial;
use impairlab::link::profile::LinkProfile;
use impairlab::protocol::ProtocolSettings;
use impairlab::protocol::kcptun::crypt::Crypt;
use impairlab::protocol::kcptun::fec::GroupSizes;
use impairlab::protocol::kcptun::smux::Version;
use impairlab::protocol::settings::{
    Copy, KcpBehaviour, KcpSettings, MpquicCongestion, MpquicSettings, MpquicStack, QuicCongestion,
    QuicMode, QuicSettings, QuicTransport, ReplicateSettings, TquicSettings, UdpSettings,
};
use impairlab::scenario::plan::PathPlan;
use impairlab::units::{IpVersion, PathId, Probability};
use impairlab::workload::{Keep, Periodic, Workload};
use one_sender::path;

pub const PATH: PathId = PathId(0);
const MESSAGE_SIZE: u32 = 200;
/// With the headers of UDP, IPv4 and Ethernet.
pub const FRAME_LENGTH: u32 = MESSAGE_SIZE + 8 + 20 + 14;

/// Leaves the test, saying so, where not even a user namespace is to be had and none is expected.
macro_rules! namespaces_or_skip {
    () => {
        if !$crate::namespaces::are_here() {
            return;
        }
    };
}
pub(crate) use namespaces_or_skip;

pub fn percent(percent: u32) -> Probability {
    Probability::new(f64::from(percent) / 100.0).expect("between 0 and 100")
}

pub fn delayed(ms: u64) -> LinkProfile {
    LinkProfile { delay: Duration::from_millis(ms), ..LinkProfile::default() }
}

/// 300 messages in 1.5 s over plain UDP.
pub fn trial(up: LinkProfile, down: LinkProfile) -> Trial {
    let udp = ProtocolSettings::Udp(UdpSettings { path: PATH });
    of(udp, Workload::Control(periodic()), vec![path("first", up, down)])
}

/// The same over IPv6.
pub fn over_ipv6(mut trial: Trial) -> Trial {
    let plan = Arc::make_mut(&mut trial.plan);
    plan.paths.iter_mut().for_each(|path| path.ip = IpVersion::V6);
    trial
}

/// The same with messages of another size.
pub fn of_size(mut trial: Trial, size: u32) -> Trial {
    let plan = Arc::make_mut(&mut trial.plan);
    plan.workload = Workload::Control(Periodic { size, ..periodic() });
    trial
}

pub fn echo(up: LinkProfile, down: LinkProfile) -> Trial {
    let udp = ProtocolSettings::Udp(UdpSettings { path: PATH });
    let workload = Workload::Echo { request: periodic(), response_size: 100 };
    of(udp, workload, vec![path("first", up, down)])
}

/// UDP copied to two paths.
pub fn second_path(first: LinkProfile, second: LinkProfile) -> Trial {
    let settings = ReplicateSettings {
        paths: vec![PATH, PathId(1)],
        copy: Copy::Message,
        protocol: Box::new(ProtocolSettings::Udp(UdpSettings { path: PATH })),
    };
    let paths = vec![path("first", first.clone(), first), path("second", second.clone(), second)];
    of(ProtocolSettings::Replicate(settings), Workload::Control(periodic()), paths)
}

pub fn quic(up: LinkProfile, down: LinkProfile) -> Trial {
    of(quic_settings(), Workload::Control(periodic()), vec![path("first", up, down)])
}

/// KCP, KCP with all that kcptun adds, QUIC and multipath QUIC, over one or two paths of the same profile.
pub fn reliable(profile: LinkProfile) -> Vec<Trial> {
    let kcp = KcpSettings::new(PATH);
    let kcptun = KcpSettings {
        behaviour: KcpBehaviour::KcpGo56,
        mtu: 1350,
        fec: Some(GroupSizes::new(3, 2).expect("a group")),
        crypt: Some(Crypt::Aes),
        smux: Some(Version::Two),
        ..kcp.clone()
    };
    let mpquic = MpquicSettings {
        paths: vec![PATH, PathId(1)],
        stack: MpquicStack::Tquic(TquicSettings {
            congestion: MpquicCongestion::Bbr,
            ..TquicSettings::new()
        }),
    };
    let senders = [
        ProtocolSettings::Kcp(kcp),
        ProtocolSettings::Kcp(kcptun),
        quic_settings(),
        ProtocolSettings::Mpquic(mpquic),
    ];
    let paths = ["first", "second"].map(|name| path(name, profile.clone(), profile.clone()));
    let trial = |sender| of(sender, Workload::Control(periodic()), paths.to_vec());
    senders.into_iter().map(trial).collect()
}

fn quic_settings() -> ProtocolSettings {
    ProtocolSettings::Quic(QuicSettings {
        path: PATH,
        congestion: QuicCongestion::Bbr,
        mode: QuicMode::Stream,
        transport: QuicTransport::new(QuicCongestion::Bbr.usual_initial_window()),
    })
}

fn periodic() -> Periodic {
    Periodic {
        rate: 200.0,
        size: MESSAGE_SIZE,
        duration: Duration::from_millis(1500),
        deadline: Duration::from_millis(250),
        keep: Keep::Messages,
        phase: None,
    }
}

fn of(protocol: ProtocolSettings, workload: Workload, paths: Vec<PathPlan>) -> Trial {
    one_sender::trial("relay-test", protocol, workload, paths)
}

/// What a trial could leave behind on the host: links, addresses and routes, and the namespace of
/// this process.
pub fn host() -> (BTreeSet<String>, String, String) {
    let read = |path| std::fs::read_to_string(path).expect("/proc can be read");
    let links = read("/proc/self/net/dev");
    let names = links.lines().filter_map(|line| line.split_once(':'));
    let namespace = std::fs::read_link("/proc/self/ns/net").expect("/proc can be read");
    (
        names.map(|(name, _)| name.trim().to_owned()).collect(),
        read("/proc/self/net/fib_trie"),
        namespace.display().to_string(),
    )
}
