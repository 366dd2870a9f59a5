//! Whether there are network namespaces here, for the tests that need some.

use std::fmt::Display;

/// Set where they are expected, so that their absence is a failure.
const REQUIRED: &str = "IMPAIRLAB_NAMESPACE_TESTS";

/// Says so where there are none and none are expected.
pub fn are_here() -> bool {
    let Err(error) = netns::Namespace::new("probe") else { return true };
    skip(&error);
    false
}

/// Fails where they are expected.
pub fn skip(error: &dyn Display) {
    assert!(std::env::var_os(REQUIRED).is_none(), "{error}");
    eprintln!("skipped: no namespaces here: {error}");
}
