//! Whether the kernel has freed every network namespace that was made here. It keeps a count of
//! them for each user namespace, and tells it by refusing one more than is allowed.

use std::fs;
use std::io::ErrorKind;
use std::thread::sleep;
use std::time::Duration;

use netns::{Namespace, NamespaceError};

/// That of the user namespace that the program is in, and of no other.
const LIMIT: &str = "/proc/sys/user/max_net_namespaces";
const PLENTY: u32 = 100_000;
const PAUSE: Duration = Duration::from_micros(500);
/// A minute.
const ATTEMPTS: u32 = 120_000;

/// The program's own, and one to try.
const TWO: u32 = 2;

/// There is room for one more once all but the program's own are gone.
pub fn wait_until_all_are_gone() {
    set_limit(TWO);
    let gone = (0..ATTEMPTS).any(|_| match Namespace::new("probe") {
        Ok(_) => true,
        Err(NamespaceError::Create { source, .. }) if source.kind() == ErrorKind::StorageFull => {
            sleep(PAUSE);
            false
        }
        Err(error) => panic!("{error}"),
    });
    assert!(gone, "the kernel has not freed the namespaces within a minute");
    set_limit(PLENTY);
}

fn set_limit(namespaces: u32) {
    fs::write(LIMIT, namespaces.to_string()).expect("root in this user namespace");
}
