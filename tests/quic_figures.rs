//! x
#[test]
fn nothing() {}
