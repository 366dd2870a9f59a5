//! The kernel's counts of a network namespace, as its table has them.

use std::fs;

/// Of the namespace of the calling thread; empty where the kernel does not say.
pub fn read() -> String {
    fs::read_to_string("/proc/thread-self/net/snmp").unwrap_or_default()
}

/// The sum of these counts of a protocol: their names are in one line and the values in the next,
/// both beginning with the protocol. What the kernel does not tell is zero.
pub fn sum(table: &str, protocol: &str, wanted: &[&str]) -> u64 {
    let lines = table.lines().filter_map(|line| line.split_once(": "));
    let mut lines = lines.filter(|(name, _)| *name == protocol).map(|(_, fields)| fields);
    let Some((names, values)) = lines.next().zip(lines.next()) else { return 0 };
    let fields = names.split_whitespace().zip(values.split_whitespace());
    let found = fields.filter(|(name, _)| wanted.contains(name));
    found.map(|(_, value)| value.parse().unwrap_or(0)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "Ip: Forwarding\nIp: 1\nTcp: RtoAlgorithm RcvbufErrors RetransSegs OutRsts\n\
        Tcp: 1 9 17 3\n\
        Udp: InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors InCsumErrors MemErrors\n\
        Udp: 10 0 12 10 6 5 1\nUdpLite: RcvbufErrors\nUdpLite: 3\n";

    #[test]
    fn the_counts_of_one_protocol_are_found() {
        assert_eq!(sum(TABLE, "Udp", &["RcvbufErrors", "MemErrors"]), 7);
        assert_eq!(sum(TABLE, "Tcp", &["RetransSegs"]), 17);
        assert_eq!(sum(TABLE, "Tcp", &["MemErrors"]), 0);
        assert_eq!(sum("", "Tcp", &["RetransSegs"]), 0);
    }

    #[test]
    fn this_kernel_tells() {
        let table = read();
        assert!(table.contains("RcvbufErrors") && table.contains("RetransSegs"), "{table}");
    }
}
