//! How many datagrams the kernel had no room for in any UDP socket of a namespace. A socket's own
//! count of drops would not do: it also has those that came with a wrong checksum, which is what
//! becomes of a packet that a link has corrupted.

use std::fs;

/// The buffer of the socket was full, or all that UDP may have.
const NO_ROOM: [&str; 2] = ["RcvbufErrors", "MemErrors"];
const BLANK: fn(char) -> bool = char::is_whitespace;

/// In the namespace of the calling thread, since it was made; none where the kernel does not say.
pub fn udp_overflows() -> u64 {
    let read = |path| fs::read_to_string(path).unwrap_or_default();
    in_table(&read("/proc/thread-self/net/snmp")) + in_list(&read("/proc/thread-self/net/snmp6"))
}

/// Names in one line and their values in the next, both beginning with the protocol.
fn in_table(snmp: &str) -> u64 {
    let mut lines = snmp.lines().filter_map(|line| line.strip_prefix("Udp:"));
    let Some((names, values)) = lines.next().zip(lines.next()) else { return 0 };
    let fields = names.split_whitespace().zip(values.split_whitespace());
    fields.filter(|(name, _)| NO_ROOM.contains(name)).map(|(_, value)| number(value)).sum()
}

/// A name and its value in each line.
fn in_list(snmp6: &str) -> u64 {
    let lines = snmp6.lines().filter_map(|line| line.strip_prefix("Udp6")?.split_once(BLANK));
    lines.filter(|(name, _)| NO_ROOM.contains(name)).map(|(_, value)| number(value)).sum()
}

fn number(text: &str) -> u64 {
    text.trim().parse().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_tables_of_the_kernel_are_read() {
        let snmp = "Tcp: RtoAlgorithm RcvbufErrors\nTcp: 1 9\n\
            Udp: InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors InCsumErrors MemErrors\n\
            Udp: 10 0 12 10 6 5 1\nUdpLite: RcvbufErrors\nUdpLite: 3\n";
        assert_eq!(in_table(snmp), 7);
        let snmp6 = "Udp6InErrors                    \t4\nUdp6RcvbufErrors                \t3\n";
        assert_eq!(in_list(snmp6), 3);
        assert_eq!((in_table(""), in_list("")), (0, 0));
    }

    #[test]
    fn this_kernel_tells() {
        let snmp = fs::read_to_string("/proc/thread-self/net/snmp").expect("Linux has it");
        assert!(snmp.contains("RcvbufErrors"), "{snmp}");
    }
}
