//! Our KCP engine against two published implementations: fed the same messages and datagrams at the
//! same times, it must answer with the same datagrams, byte for byte, and deliver the same
//! messages, over random scenarios with loss, reordering, duplicates, outages, forged segments,
//! closed windows and every setting.

mod c_code;
mod peer;
mod rust_crate;
mod scenario;
mod trial;

use std::cell::RefCell;

use impairlab::protocol::kcp::{Behaviour, TimeoutThreshold};
use impairlab::protocol::settings::KcpSettings;
use proptest::strategy::Strategy;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};

use c_code::CCode;
use peer::Peer;
use rust_crate::RustCrate;
use scenario::{Scenario, scenarios};
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

/// The scenarios are wide enough: a behaviour that is wrong in one respect only is found out.
#[test]
fn each_way_in_which_behaviours_differ_shows() {
    let right =
        Behaviour { smallest_receive_window: BUNDLED_RECEIVE_WINDOW, ..Behaviour::IKCP_1_7 };
    let wrong = [
        Behaviour { fast_ack: Behaviour::IKCP_2_1_1.fast_ack, ..right },
        Behaviour { timeout_threshold: Behaviour::IKCP_2_1_1.timeout_threshold, ..right },
        Behaviour { first_probe_ms: Behaviour::IKCP_2_1_1.first_probe_ms, ..right },
        Behaviour { smallest_receive_window: 128, ..right },
    ];
    for behaviour in wrong {
        let outcome = compare(scenarios(), |scenario| (CCode::new(scenario), behaviour));
        assert!(outcome.is_err(), "{behaviour:?} cannot be told from {right:?}");
    }
}

/// 1.7 as bundled: other than published only where the larger smallest window shows.
fn bundled_c_code(scenario: &Scenario) -> Behaviour {
    let shows = scenario.settings.receive_window < BUNDLED_RECEIVE_WINDOW
        || scenario.settings.send_window > 128;
    if shows {
        Behaviour { smallest_receive_window: BUNDLED_RECEIVE_WINDOW, ..Behaviour::IKCP_1_7 }
    } else {
        Behaviour::IKCP_1_7
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
fn compare<P: Peer>(
    scenarios: impl Strategy<Value = Scenario>,
    oracle: impl Fn(&Scenario) -> (P, Behaviour),
) -> Result<Seen, String> {
    let seen = RefCell::new(Seen::default());
    let config = Config {
        cases: SCENARIOS,
        failure_persistence: None,
        max_shrink_iters: 200,
        ..Config::default()
    };
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let outcome = TestRunner::new_with_rng(config, rng).run(&scenarios, |scenario| {
        run(&scenario, &oracle, &mut seen.borrow_mut()).map_err(TestCaseError::fail)
    });
    outcome.map_err(|difference| difference.to_string())?;
    Ok(seen.into_inner())
}
