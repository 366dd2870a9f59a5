//! How many datagrams the kernel had no room for in any UDP socket of a namespace. A socket's own
//! count of drops would not do: it also has those that came with a wrong checksum, which is what
//! becomes of a packet that a link has corrupted.

use std::fs;

use super::snmp;

/// The buffer of the socket was full, or all that UDP may have.
const NO_ROOM: [&str; 2] = ["RcvbufErrors", "MemErrors"];
const BLANK: fn(char) -> bool = char::is_whitespace;

/// In the namespace of the calling thread, since it was made; none where the kernel does not say.
pub fn udp_overflows() -> u64 {
    let list = fs::read_to_string("/proc/thread-self/net/snmp6").unwrap_or_default();
    snmp::sum(&snmp::read(), "Udp", &NO_ROOM) + in_list(&list)
}

/// A name and its value in each line.
fn in_list(snmp6: &str) -> u64 {
    let lines = snmp6.lines().filter_map(|line| line.strip_prefix("Udp6")?.split_once(BLANK));
    lines
        .filter(|(name, _)| NO_ROOM.contains(name))
        .map(|(_, value)| value.trim().parse().unwrap_or(0))
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_version_6_is_read() {
        let snmp6 = "Udp6InErrors                    \t4\nUdp6RcvbufErrors                \t3\n";
        assert_eq!((in_list(snmp6), in_list("")), (3, 0));
    }
}
