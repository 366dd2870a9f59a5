//! The fuzz targets, briefly and always with the same inputs. (`fuzz/` runs them for long, guided by
//! what they reach.)

#[path = "../fuzz/src/lib.rs"]
mod targets;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{RngSeed, TestRunner};

/// Bytes of an input.
const LONGEST: usize = 2_000;

fn run(target: fn(&[u8])) {
    let config = ProptestConfig {
        cases: 500,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(1),
        ..ProptestConfig::default()
    };
    // Few different values, too: what is near to what was sent before reaches further.
    let bytes = prop_oneof![vec(any::<u8>(), 0..LONGEST), vec(0..6_u8, 0..LONGEST)];
    let check = |data: Vec<u8>| {
        target(&data);
        Ok(())
    };
    TestRunner::new(config).run(&bytes, check).expect("no input breaks it");
}

#[test]
fn kcp_input() {
    run(targets::kcp_input);
}

#[test]
fn fec_decoder() {
    run(targets::fec_decoder);
}

#[test]
fn smux_reader() {
    run(targets::smux_reader);
}

#[test]
fn crypt_envelope() {
    run(targets::crypt_envelope);
}
