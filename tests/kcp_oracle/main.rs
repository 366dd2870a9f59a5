//! Our KCP engine against three published implementations: fed the same messages and datagrams at the
//! same times, it must answer with the same datagrams, byte for byte, and deliver the same
//! messages, over random scenarios with loss, reordering, duplicates, outages, forged segments,
//! closed windows and every setting.

mod c_code;
mod kcp_go;
mod peer;
mod random;
mod rust_crate;
mod scenario;
mod session;
mod trial;

use std::cell::RefCell;

use impairlab::protocol::kcp::{Behaviour, FastAckRule, ReceiveWindowRule, TimeoutThreshold};
use impairlab::protocol::settings::{KcpBehaviour, KcpSettings};
use proptest::strategy::Strategy;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};

use c_code::CCode;
use kcp_go::{KcpGoSide, Part, kcp_go};
use peer::Oracle;
use rust_crate::RustCrate;
use scenario::{Scenario, scenarios};
use session::SessionsSeen;
use trial::{Seen, run};

/// Scenarios for each behaviour; always the same ones.
const SCENARIOS: u32 = 600;

/// The smallest receive window of the C code that crate `kcp-rs` bundles; the published 1.7 has
/// 128.
const BUNDLED_RECEIVE_WINDOW: u32 = 256;

#[test]
fn ikcp_1_7_is_the_bundled_c_code_packet_for_packet() {
    let pair = |scenario: &Scenario| (CCode::new(scenario), bundled_c_code(scenario));
    let seen = compare(scenarios(), pair).unwrap_or_else(|difference| panic!("{difference}"));
    seen.assert_complete();
    assert!(seen.dead_links > 0, "{seen:?}");
}

/// Faults of crate `kcp` 0.6: it has no nodelay 2, and with overflow checks its clock cannot cross
/// 2³¹. Without nodelay 2 no segment is sent twenty times within the scenarios' length, so that no
/// link is dead.
#[test]
fn ikcp_2_1_1_is_the_rust_crate_packet_for_packet() {
    let possible = scenarios().prop_map(|scenario| Scenario {
        settings: KcpSettings { nodelay: scenario.settings.nodelay.min(1), ..scenario.settings },
        start_ms: 0,
        ..scenario
    });
    let pair = |scenario: &Scenario| (RustCrate::new(scenario), rust_crate(scenario));
    let seen = compare(possible, pair).unwrap_or_else(|difference| panic!("{difference}"));
    seen.assert_complete();
}

#[test]
fn kcp_go_5_6_is_the_package_packet_for_packet() {
    let Some(program) = kcp_go() else { return };
    let pair = |scenario: &Scenario| {
        let side = KcpGoSide::new(&program, Part::Engine, &scenario.settings);
        (side, Behaviour::KCP_GO_5_6)
    };
    let seen = compare(scenarios(), pair).unwrap_or_else(|difference| panic!("{difference}"));
    seen.assert_complete();
    assert!(seen.dead_links > 0, "{seen:?}");
}

/// Faults of kcp-go, none of which a session can come to: what a part of a stream that is too long
/// leaves behind, and a fragment number of 255, after which it does not wait for the fragments (none
/// is drawn). A datagram of more than 1,500 bytes makes it panic.
#[test]
fn its_session_is_that_of_the_package_packet_for_packet() {
    let Some(program) = kcp_go() else { return };
    let seen = RefCell::new(SessionsSeen::default());
    let outcome = each_of(scenarios(), Shrink::Yes, |scenario| {
        let settings =
            KcpSettings { behaviour: KcpBehaviour::KcpGo56, ..scenario.settings.clone() };
        let oracle = || KcpGoSide::new(&program, Part::Session, &settings);
        session::run(scenario, &settings, oracle, &mut seen.borrow_mut())
    });
    outcome.unwrap_or_else(|difference| panic!("{difference}"));
    let seen = seen.into_inner();
    assert!(seen.datagrams > 100_000 && seen.messages > 100_000, "{seen:?}");
    assert!(seen.retransmissions > 10_000 && seen.waited > 10_000, "{seen:?}");
}

/// Each with what makes it hard, in a tenth of them at least.
#[test]
fn the_scenarios_have_every_kind_of_trouble() {
    type Kind = fn(&Scenario) -> bool;
    let count = |kind: Kind| {
        let found = RefCell::new(0);
        let outcome = each_of(scenarios(), Shrink::No, |scenario| {
            *found.borrow_mut() += u32::from(kind(scenario));
            Ok(())
        });
        outcome.expect("nothing fails");
        found.into_inner()
    };
    let kinds: [(&str, Kind); 12] = [
        ("loss", |scenario| scenario.network.loss_percent > 5),
        ("reordering", |scenario| scenario.network.jitter_ms > 10),
        ("duplicates", |scenario| scenario.network.duplicate_percent > 0),
        ("an outage", |scenario| scenario.network.outage.len() > 1_000),
        ("forged datagrams", |scenario| scenario.network.forged_per_mille > 0),
        ("fragments", |scenario| scenario.traffic.largest_segments > 1),
        ("a stream", |scenario| scenario.settings.stream),
        ("closed windows", |scenario| scenario.traffic.pause.len() > 1_000),
        ("congestion control", |scenario| !scenario.settings.nc),
        ("nodelay 0", |scenario| scenario.settings.nodelay == 0),
        ("nodelay 1", |scenario| scenario.settings.nodelay == 1),
        ("nodelay 2", |scenario| scenario.settings.nodelay == 2),
    ];
    for (name, kind) in kinds {
        assert!(count(kind) >= SCENARIOS / 10, "{name}: {}", count(kind));
    }
}

/// The scenarios are wide enough: a behaviour that is wrong in one respect only is found out.
#[test]
fn each_way_in_which_behaviours_differ_shows() {
    let right = with_larger_windows(Behaviour::IKCP_1_7);
    let wrong = [
        Behaviour { fast_ack: Behaviour::IKCP_2_1_1.fast_ack, ..right },
        Behaviour { timeout_threshold: Behaviour::IKCP_2_1_1.timeout_threshold, ..right },
        Behaviour { first_probe_ms: Behaviour::IKCP_2_1_1.first_probe_ms, ..right },
        Behaviour { receive_window: Behaviour::IKCP_1_7.receive_window, ..right },
        Behaviour { assumed_window: Behaviour::IKCP_1_7.assumed_window, ..right },
        Behaviour { fragment_limit: Behaviour::IKCP_1_7.fragment_limit, ..right },
    ];
    for behaviour in wrong {
        assert_differs(behaviour, CCode::new);
    }
}

#[test]
fn each_way_in_which_kcp_go_differs_shows() {
    let Some(program) = kcp_go() else { return };
    let (right, c_code) = (Behaviour::KCP_GO_5_6, Behaviour::IKCP_2_1_1);
    let wrong = [
        Behaviour { flush: c_code.flush, ..right },
        Behaviour { acknowledgements: c_code.acknowledgements, ..right },
        Behaviour { acknowledged: c_code.acknowledged, ..right },
        Behaviour { fast_ack: c_code.fast_ack, ..right },
        Behaviour { fast_ack: FastAckRule::Highest, ..right },
        Behaviour { resend: c_code.resend, ..right },
        Behaviour { round_trip: c_code.round_trip, ..right },
        Behaviour { timeout_threshold: c_code.timeout_threshold, ..right },
        Behaviour { first_probe_ms: c_code.first_probe_ms, ..right },
        Behaviour { receive_window: c_code.receive_window, ..right },
        Behaviour { assumed_window: c_code.assumed_window, ..right },
        Behaviour { fragment_limit: c_code.fragment_limit, ..right },
        Behaviour { empty_message: c_code.empty_message, ..right },
    ];
    for behaviour in wrong {
        assert_differs(behaviour, |scenario| {
            KcpGoSide::new(&program, Part::Engine, &scenario.settings)
        });
    }
}

fn assert_differs<O: Oracle>(behaviour: Behaviour, oracle: impl Fn(&Scenario) -> O) {
    let outcome = each_of(scenarios(), Shrink::No, |scenario| {
        let pair = |scenario: &Scenario| (oracle(scenario), behaviour);
        run(scenario, pair, &mut Seen::default())
    });
    assert!(outcome.is_err(), "{behaviour:?} cannot be told from the right one");
}

/// 1.7 as bundled: other than published only where the larger smallest window shows.
fn bundled_c_code(scenario: &Scenario) -> Behaviour {
    let shows = scenario.settings.receive_window < BUNDLED_RECEIVE_WINDOW
        || scenario.settings.send_window > 128
        || scenario.traffic.largest_segments >= 128;
    if shows { with_larger_windows(Behaviour::IKCP_1_7) } else { Behaviour::IKCP_1_7 }
}

fn with_larger_windows(behaviour: Behaviour) -> Behaviour {
    Behaviour {
        receive_window: ReceiveWindowRule::AtLeast(BUNDLED_RECEIVE_WINDOW),
        assumed_window: BUNDLED_RECEIVE_WINDOW,
        fragment_limit: BUNDLED_RECEIVE_WINDOW,
        ..behaviour
    }
}

/// 2.1.1 as crate `kcp` 0.6 has it: the first window probe after 7 s (C: 5 s), and with congestion
/// control the threshold after a timeout as in 1.7. Neither shows without closed windows and
/// without congestion control.
fn rust_crate(scenario: &Scenario) -> Behaviour {
    let plain = Behaviour::IKCP_2_1_1;
    Behaviour {
        first_probe_ms: if scenario.can_close_window() { 7_000 } else { plain.first_probe_ms },
        timeout_threshold: if scenario.settings.nc {
            plain.timeout_threshold
        } else {
            TimeoutThreshold::WindowInForce
        },
        ..plain
    }
}

/// What was seen, or the first scenario in which the two differ.
fn compare<O: Oracle>(
    scenarios: impl Strategy<Value = Scenario>,
    oracle: impl Fn(&Scenario) -> (O, Behaviour),
) -> Result<Seen, String> {
    let seen = RefCell::new(Seen::default());
    each_of(scenarios, Shrink::Yes, |scenario| run(scenario, &oracle, &mut seen.borrow_mut()))?;
    Ok(seen.into_inner())
}

/// Whether a failing scenario is made simpler.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shrink {
    Yes,
    No,
}

fn each_of(
    scenarios: impl Strategy<Value = Scenario>,
    shrink: Shrink,
    test: impl Fn(&Scenario) -> Result<(), String>,
) -> Result<(), String> {
    let config = Config {
        cases: SCENARIOS,
        failure_persistence: None,
        max_shrink_iters: if shrink == Shrink::Yes { 200 } else { 0 },
        ..Config::default()
    };
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let outcome = TestRunner::new_with_rng(config, rng)
        .run(&scenarios, |scenario| test(&scenario).map_err(TestCaseError::fail));
    outcome.map_err(|difference| difference.to_string())
}
