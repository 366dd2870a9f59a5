//! TCP, multipath TCP and kcptun, in namespaces in real time and in a guest in virtual time: what
//! arrives, what the kernel says it did, and whether the wire agrees. How soon something arrives is
//! asserted in virtual time only.

mod counts;
mod dying;
#[path = "../namespaces/mod.rs"]
mod namespaces;
mod refused;
mod rootless;
mod trials;

use std::collections::BTreeSet;
use std::time::Duration;

use impairlab::engine::{Engine, Trial};
use impairlab::protocol::ProtocolSettings;
use impairlab::protocol::kcptun::fec::GroupSizes;
use impairlab::protocol::settings::{KcptunMode, KcptunSettings, MptcpSettings, TcpSettings};
use impairlab::recording::{Recording, Status};
use impairlab::units::PathId;
use trials::{
    FIRST, SECOND, SIZE, assert_all_arrived, dark, dark_paths, has_kcptun, latencies_ms, messages,
    over_ipv6, over_paths, relay, run, sockets, trial, uml, with_answers,
};

fn tcp(congestion: &str) -> ProtocolSettings {
    let congestion = congestion.to_owned();
    ProtocolSettings::Tcp(TcpSettings { congestion, ..TcpSettings::new(FIRST) })
}

fn mptcp() -> ProtocolSettings {
    ProtocolSettings::Mptcp(MptcpSettings::new(vec![FIRST, SECOND]))
}

fn kcptun() -> ProtocolSettings {
    let fec = GroupSizes::new(3, 2).ok();
    ProtocolSettings::Kcptun(KcptunSettings {
        mode: KcptunMode::Fast3,
        fec,
        ..KcptunSettings::new(FIRST)
    })
}

fn recorded(engine: &dyn Engine, trial: &Trial) -> Recording {
    run(engine, trial).unwrap_or_else(|error| panic!("the trial does not run: {error}"))
}

/// What a socket says it did is what the namespace counts and what was on the wire.
fn assert_tcp_books_agree(recording: &Recording) {
    let [vehicle, cloud] = sockets(recording);
    let (up, down) = (recording.wire[0].up, recording.wire[0].down);
    let handshake = recording.handshake;
    let (sender, receiver) = (vehicle.connections[0], cloud.connections[0]);
    assert_eq!(sender.retransmitted, vehicle.retransmitted_in_namespace);
    assert_eq!(receiver.retransmitted, cloud.retransmitted_in_namespace);
    assert_eq!(recording.statistics.retransmissions, Some(sender.retransmitted));
    // After the sockets were asked, an acknowledgement may still go out.
    let near = |wire: u64, socket: u64| wire.abs_diff(socket) <= 3;
    let (sent, answered) =
        (handshake.up.packets + up.offered.packets, handshake.down.packets + down.offered.packets);
    assert!(near(sent, sender.segments_sent), "{sent} sent, {sender:?}");
    assert!(near(answered, receiver.segments_sent), "{answered} answered, {receiver:?}");
    assert!(near(handshake.up.packets + up.delivered, receiver.segments_received), "{receiver:?}");
    // Headers of IPv4 (20 bytes) and TCP with timestamps (32), eight more in the SYN. The receiver
    // also says which segments it has; the sender receives nothing but the greeting.
    let payload = handshake.up.bytes + up.offered.bytes - 52 * sent - 8;
    assert_eq!(payload, sender.bytes_sent, "{sender:?}");
    // Each message behind its length, and the greeting.
    let distinct = messages(recording).len() as u64 * u64::from(SIZE + 4) + 4;
    assert_eq!(sender.bytes_sent - sender.bytes_retransmitted, distinct, "{sender:?}");
    assert_eq!(receiver.bytes_received, distinct, "{receiver:?}");
}

fn assert_tcp_recovers(engine: &dyn Engine) -> Recording {
    let recording = recorded(engine, &trial(tcp("cubic"), 0.05, 6));
    assert_all_arrived(&recording);
    assert_tcp_books_agree(&recording);
    assert_eq!(sockets(&recording)[0].congestion, "cubic");
    let sender = sockets(&recording)[0].connections[0];
    // That of the path, and not of a shorter one on which it was connected.
    let least = sender.min_rtt_us.is_some_and(|us| us >= 80_000);
    assert!(sender.retransmitted > 0 && least, "{sender:?}");
    recording
}

#[test]
fn tcp_sends_again_what_the_relay_loses_and_all_books_agree() {
    let Some(relay) = relay() else { return };
    assert_tcp_recovers(&relay);
}

#[test]
fn tcp_sends_again_what_netem_loses_and_all_books_agree() {
    let Some(uml) = uml() else { return };
    let recording = assert_tcp_recovers(&uml);
    let (median, worst, _) = latencies_ms(&recording);
    // A lost segment is sent again a round trip after it was lost, at the soonest, and those
    // behind it wait.
    assert!((40.0..60.0).contains(&median) && worst > 120.0, "{median} ms, {worst} ms");
    let again = recorded(&uml, &trial(tcp("cubic"), 0.05, 6));
    assert_eq!(messages(&again), messages(&recording), "one seed, one recording");
}

/// Nothing is lost: the delay of the path and nothing else, whatever controls congestion, in IPv6,
/// and with answers.
#[test]
fn tcp_adds_nothing_where_nothing_is_lost() {
    let Some(uml) = uml() else { return };
    for congestion in ["cubic", "reno", "bbr", "westwood", "vegas", "dctcp"] {
        let recording = recorded(&uml, &trial(tcp(congestion), 0.0, 4));
        assert_all_arrived(&recording);
        assert_tcp_books_agree(&recording);
        let (median, worst, _) = latencies_ms(&recording);
        assert!((40.0..40.1).contains(&median), "{congestion}: {median} ms");
        assert!(worst < 130.0, "{congestion}: {worst} ms");
        assert_eq!(sockets(&recording)[0].congestion, congestion);
        assert_eq!(sockets(&recording)[0].connections[0].retransmitted, 0, "{congestion}");
    }
    assert_all_arrived(&recorded(&uml, &over_ipv6(trial(tcp("cubic"), 0.0, 2))));
    let recording = recorded(&uml, &with_answers(trial(tcp("cubic"), 0.0, 2), 100));
    assert!((80.0..80.1).contains(&latencies_ms(&recording).0), "{:?}", latencies_ms(&recording));
}

#[test]
fn tcp_is_given_up_when_its_user_timeout_is_over() {
    let Some(uml) = uml() else { return };
    let settings =
        TcpSettings { user_timeout: Some(Duration::from_secs(1)), ..TcpSettings::new(FIRST) };
    let seconds = Duration::from_secs;
    let trial = dark(trial(ProtocolSettings::Tcp(settings), 0.0, 6), seconds(1), seconds(6));
    let recording = recorded(&uml, &trial);
    let Status::Closed { reason } = &recording.status else { panic!("{:?}", recording.status) };
    assert!(reason.contains("timed out"), "{reason}");
    let refused = messages(&recording).iter().filter(|message| message.sent.is_none()).count();
    // From between one and some seconds after the outage began.
    assert!((100..=200).contains(&refused), "{refused} refused");
}

fn assert_mptcp_is_whole(recording: &Recording) {
    assert_all_arrived(recording);
    let all = recording.protocol.paths();
    for end in sockets(recording) {
        let mptcp = end.mptcp.expect("multipath TCP");
        assert_eq!((mptcp.subflows, mptcp.fallback), (all.len() as u64, false), "{end:?}");
        let paths: BTreeSet<_> = end.connections.iter().filter_map(|tcp| tcp.path).collect();
        assert_eq!(paths, all.iter().copied().collect(), "{end:?}");
    }
}

fn outage_of_the_first_path(protocol: ProtocolSettings) -> Trial {
    let seconds = Duration::from_secs;
    dark(trial(protocol, 0.0, 8), seconds(2), seconds(5))
}

#[test]
fn mptcp_delivers_though_a_path_is_dark_on_the_relay() {
    let Some(relay) = relay() else { return };
    let recording = recorded(&relay, &outage_of_the_first_path(mptcp()));
    assert_mptcp_is_whole(&recording);
    assert!(recording.wire[1].up.offered.bytes > 3 * 50 * u64::from(SIZE) / 2, "{recording:?}");
}

#[test]
fn mptcp_survives_the_outage_that_tcp_waits_for() {
    let Some(uml) = uml() else { return };
    let recording = recorded(&uml, &outage_of_the_first_path(mptcp()));
    assert_mptcp_is_whole(&recording);
    let (_, _, with_two) = latencies_ms(&recording);
    let alone = recorded(&uml, &outage_of_the_first_path(tcp("cubic")));
    assert_all_arrived(&alone);
    let (_, _, with_one) = latencies_ms(&alone);
    assert!(with_one > 3_000.0, "TCP alone: {with_one} ms");
    assert!(with_two < 1_500.0, "multipath TCP: {with_two} ms");
    assert_mptcp_is_whole(&recorded(&uml, &over_ipv6(trial(mptcp(), 0.02, 4))));
}

/// Every path has its subflow, and each carries what it is left alone with.
fn assert_mptcp_uses_each_path(engine: &dyn Engine, count: u8) {
    let all: Vec<PathId> = (0..count).map(PathId).collect();
    let protocol = ProtocolSettings::Mptcp(MptcpSettings::new(all.clone()));
    for alone in &all {
        let dark: Vec<PathId> = all.iter().copied().filter(|path| path != alone).collect();
        let trial = over_paths(trial(protocol.clone(), 0.0, 4), count);
        let trial = dark_paths(trial, &dark, Duration::from_secs(1), Duration::from_secs(3));
        let recording = recorded(engine, &trial);
        assert_mptcp_is_whole(&recording);
        let carried = recording.wire[alone.index()].up;
        let payload = carried.offered.bytes.saturating_sub(carried.lost * u64::from(SIZE + 80));
        // Of the two seconds; what came before or after may have gone by the others.
        assert!(payload > 100 * u64::from(SIZE), "{alone:?} of {count}: {:?}", recording.wire);
    }
}

#[test]
fn mptcp_has_a_subflow_on_each_of_three_paths_and_of_four() {
    if let Some(relay) = relay() {
        assert_mptcp_uses_each_path(&relay, 3);
    }
    let Some(uml) = uml() else { return };
    assert_mptcp_uses_each_path(&uml, 3);
    assert_mptcp_uses_each_path(&uml, 4);
}

/// A kernel takes no more; a scenario with one more is refused when it is read.
#[test]
fn mptcp_has_as_many_subflows_as_the_kernel_takes() {
    let all: Vec<PathId> = (0..8).map(PathId).collect();
    let protocol = ProtocolSettings::Mptcp(MptcpSettings::new(all));
    let trial = over_paths(trial(protocol, 0.02, 2), 8);
    if let Some(relay) = relay() {
        assert_mptcp_is_whole(&recorded(&relay, &trial));
    }
    let Some(uml) = uml() else { return };
    assert_mptcp_is_whole(&recorded(&uml, &over_ipv6(trial)));
}

#[test]
fn kcptun_carries_every_message_through_loss_on_the_relay() {
    if !has_kcptun() {
        return;
    }
    let Some(relay) = relay() else { return };
    let recording = recorded(&relay, &trial(kcptun(), 0.05, 4));
    assert_all_arrived(&recording);
    // Forward error correction 3+2 alone is 5/3.
    let payload = messages(&recording).len() as u64 * u64::from(SIZE);
    assert!(recording.wire[0].up.offered.bytes > payload * 3 / 2, "{:?}", recording.wire);
    // Endpoints alone take a hundredth of that.
    let fidelity = recording.fidelity.expect("real time");
    assert!(fidelity.vehicle_cpu_us > 5_000.0, "{fidelity:?}");
}

#[test]
fn kcptun_carries_every_message_through_loss_and_an_outage_in_a_guest() {
    if !has_kcptun() {
        return;
    }
    let Some(uml) = uml() else { return };
    let seconds = Duration::from_secs;
    let recording = recorded(&uml, &dark(trial(kcptun(), 0.02, 6), seconds(2), seconds(3)));
    assert_all_arrived(&recording);
    let (median, _, gap) = latencies_ms(&recording);
    assert!((40.0..70.0).contains(&median) && gap >= 1_000.0, "{median} ms, {gap} ms");
}
