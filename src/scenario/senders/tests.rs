use std::path::Path;

use super::*;
use crate::protocol::kcptun::crypt::Crypt;
use crate::protocol::kcptun::fec::GroupSizes;
use crate::protocol::kcptun::smux::Version;
use crate::protocol::settings::{
    Copy, KcpBehaviour, KcpSettings, KcptunSettings, MpquicSettings, MpquicStack, MptcpSettings,
    NoqSettings, QuicCongestion, QuicSettings, ReplicateSettings, TcpSettings, UdpArqSettings,
    UdpSettings,
};
use crate::scenario::load_str;
use crate::units::PathId;

const PATH: PathId = PathId(0);

/// One of each: a new protocol has to be added here.
fn each() -> Vec<ProtocolSettings> {
    let inner = Box::new(ProtocolSettings::Udp(UdpSettings { path: PATH }));
    vec![
        ProtocolSettings::Udp(UdpSettings { path: PATH }),
        ProtocolSettings::UdpArq(UdpArqSettings::new(PATH)),
        ProtocolSettings::Kcp(KcpSettings::new(PATH)),
        ProtocolSettings::Quic(QuicSettings::new(PATH)),
        ProtocolSettings::Mpquic(MpquicSettings::new(vec![PATH])),
        ProtocolSettings::Tcp(TcpSettings::new(PATH)),
        ProtocolSettings::Mptcp(MptcpSettings::new(vec![PATH, PathId(1)])),
        ProtocolSettings::Kcptun(KcptunSettings::new(PATH)),
        ProtocolSettings::Replicate(ReplicateSettings {
            paths: vec![PATH],
            copy: Copy::Datagram,
            protocol: inner,
        }),
    ]
}

/// What is not the default of its protocol, but has options of its own.
fn others() -> Vec<ProtocolSettings> {
    let noq = MpquicStack::Noq(NoqSettings::new());
    let mut narrow = QuicSettings::new(PATH);
    narrow.congestion = QuicCongestion::FixedWindow(65_536);
    narrow.transport.initial_window = 65_536;
    vec![
        ProtocolSettings::Mpquic(MpquicSettings { paths: vec![PATH], stack: noq }),
        ProtocolSettings::Quic(narrow),
    ]
}

#[test]
fn every_protocol_has_its_line_and_every_line_its_protocol() {
    let keywords: Vec<_> = each().iter().map(|settings| Sender::of(settings).keyword).collect();
    assert_eq!(keywords, SENDERS.map(|sender| sender.keyword));
}

/// Two places say it: the table, for people, and the settings, for the engines.
#[test]
fn the_table_says_which_senders_need_a_kernel() {
    for settings in each() {
        let in_table = Sender::of(&settings).engines == Engines::WithKernel;
        assert_eq!(in_table, settings.needs_a_kernel(), "{}", settings.keyword());
    }
}

#[test]
fn what_is_listed_is_what_is_written_and_the_defaults_are_the_same() {
    for settings in each() {
        let written = written(&settings);
        let listed = (Sender::of(&settings).options)();
        if let ProtocolSettings::Mpquic(_) = settings {
            // Listed are the options of both stacks, written those of one.
            continue;
        }
        let listed: Vec<_> =
            listed.into_iter().map(|option| (option.key, option.default)).collect();
        assert_eq!(listed, written, "{}", settings.keyword());
    }
}

/// A default that were out of its own range, or written in no form that is read, would be found.
#[test]
fn every_default_can_be_written_and_is_read_as_the_same() {
    for settings in each().into_iter().chain(others()) {
        if !matches!(settings, ProtocolSettings::Replicate(_)) {
            assert_eq!(read_back(&settings), settings);
        }
    }
}

/// What kcptun's modes are (`mode` in its client/main.go), and that what is written goes above them.
#[test]
fn a_preset_of_kcp_fills_what_is_not_written() {
    let numbers = |options: &str| {
        let text = format!(
            "version: 1\nname: one\npaths: {{ a: {{ delay: 1ms }} }}\n\
             workload: {{ control: {{ rate: 1/s, size: 100B, duration: 1s, deadline: 1s }} }}\n\
             senders: {{ it: {{ kcp: {{ {options} }} }} }}\n"
        );
        let plan = load_str(Path::new("one.yaml"), &text);
        let plan = plan.unwrap_or_else(|diagnostics| panic!("{diagnostics}"));
        let ProtocolSettings::Kcp(kcp) = &plan.senders[0].protocol else { panic!("{plan:?}") };
        (kcp.nodelay, kcp.interval.as_millis(), kcp.resend, kcp.nc)
    };
    assert_eq!(numbers("preset: default"), (0, 100, 0, false));
    assert_eq!(numbers("preset: normal"), (0, 40, 2, true));
    assert_eq!(numbers("preset: fast"), (0, 30, 2, true));
    assert_eq!(numbers("preset: fast2"), (1, 20, 2, true));
    assert_eq!(numbers("preset: fast3"), (1, 10, 2, true));
    assert_eq!(numbers("resend: 3, preset: normal"), (0, 40, 3, true));
    assert_eq!(numbers("preset: none"), numbers(""));
}

#[test]
fn what_kcptun_puts_around_kcp_is_read_as_it_is_written() {
    for (crypt, smux) in [(Crypt::None, Version::One), (Crypt::Aes128, Version::Two)] {
        let settings = ProtocolSettings::Kcp(KcpSettings {
            behaviour: KcpBehaviour::KcpGo56,
            mtu: 1350,
            fec: Some(GroupSizes::new(10, 3).expect("a group")),
            crypt: Some(crypt),
            smux: Some(smux),
            ..KcpSettings::new(PATH)
        });
        assert_eq!(read_back(&settings), settings);
    }
}

/// Written as an option of a scenario, and read.
fn read_back(settings: &ProtocolSettings) -> ProtocolSettings {
    let options: Vec<String> =
        written(settings).into_iter().map(|(key, value)| format!("{key}: {value}")).collect();
    let paths = match Sender::of(settings).paths {
        PathKeys::One => "path: a, ".to_owned(),
        PathKeys::Several { .. } => match settings.paths().len() {
            1 => "paths: [a], ".to_owned(),
            _ => "paths: [a, b], ".to_owned(),
        },
    };
    let keyword = settings.keyword();
    let text = format!(
        "version: 1\nname: one\npaths: {{ a: {{ delay: 1ms }}, b: {{ delay: 1ms }} }}\n\
         workload: {{ control: {{ rate: 1/s, size: 100B, duration: 1s, deadline: 1s }} }}\n\
         senders: {{ it: {{ {keyword}: {{ {paths}{} }} }} }}\n",
        options.join(", ")
    );
    let plan = load_str(Path::new("one.yaml"), &text);
    let plan = plan.unwrap_or_else(|diagnostics| panic!("{diagnostics}"));
    plan.senders[0].protocol.clone()
}

#[test]
fn every_option_of_either_stack_is_listed_and_none_twice() {
    let mut listed: Vec<_> = (mpquic::SENDER.options)().iter().map(|option| option.key).collect();
    let mpquic = |settings: &ProtocolSettings| matches!(settings, ProtocolSettings::Mpquic(_));
    for settings in each().into_iter().chain(others()).filter(mpquic) {
        assert!(written(&settings).iter().all(|(key, _)| listed.contains(key)));
    }
    let count = listed.len();
    listed.sort_unstable();
    listed.dedup();
    assert_eq!(listed.len(), count);
}

#[test]
fn every_option_says_what_it_does() {
    for sender in SENDERS {
        assert!(!sender.about.is_empty() && !sender.source.is_empty());
        for option in (sender.options)() {
            assert!(!option.about.is_empty(), "{}: {}", sender.keyword, option.key);
        }
    }
}
