//! What is printed for each kind of wrong file, word for word.

use super::*;

fn golden(name: &str, printed: &str) {
    insta::assert_snapshot!(name.replace(' ', "-"), printed);
}

fn wrong(name: &str, text: &str) {
    let diagnostics = read(text).expect_err("a wrong scenario");
    golden(name, &diagnostics.to_string());
}

fn wrong_with(name: &str, old: &str, new: &str) {
    wrong(name, &small_with(old, new));
}

/// As `wrong`, for files in a folder of their own, whose name differs from run to run and is taken
/// out.
fn wrong_files(name: &str, files: &[(&str, &[u8])]) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::create_dir(folder.path().join("profiles")).expect("a new folder");
    for (file, bytes) in files {
        fs::write(folder.path().join(file), bytes).expect("a new file");
    }
    let diagnostics = load(&folder.path().join("a.yaml")).expect_err("a wrong scenario");
    let prefix = format!("{}/", folder.path().display());
    golden(name, &diagnostics.to_string().replace(&prefix, ""));
}

#[test]
fn keys() {
    wrong_with("unknown key with a near name", "jitter: 10ms", "jiter: 10ms");
    wrong_with("unknown key without a near name", "jitter: 10ms", "colour: blue");
    wrong_with("unknown key of the scenario", "name: small", "name: small\nsender: {}");
    wrong_with("duplicate key", "jitter: 10ms", "delay: 10ms");
    wrong_with("two paths of one name", "5g: { delay", "4g: { delay");
    wrong_with("two senders of one name", "both:", "kcp:");
    wrong_with("missing keys", "rate: 50/s, size: 600B,", "");
    wrong_with("another version", "version: 1", "version: 2");
    wrong_with("keys of a later version", "outage: 5s", "handover: 5s");
    wrong_with("expect is of a later version", "name: small", "name: small\nexpect: []");
}

/// What is written for the sender `kcp` of the small scenario.
fn wrong_sender(name: &str, sender: &str) {
    wrong_with(name, "kcp: { path: 4g }", sender);
}

#[test]
fn stacks_of_mpquic() {
    let mpquic = |name: &str, options: &str| {
        wrong_sender(name, &format!("mpquic: {{ paths: [4g, 5g], {options} }}"));
    };
    mpquic("redundant on noq", "stack: noq, scheduler: redundant");
    mpquic("bbr on noq", "stack: noq, congestion: bbr");
    mpquic("max-pto on noq", "stack: noq, max-pto: 500ms");
    mpquic("mode on tquic", "mode: datagram, packet-threshold: 5");
    mpquic("fixed window on tquic", "congestion: { fixed-window: 64KiB }");
    mpquic("another stack", "stack: quinn, mode: datagram");
    mpquic("no scheduler of any stack", "scheduler: random");
    mpquic("max-pto too short", "max-pto: 1ms");
    mpquic("max-pto in another word", "max-pto: never");
    wrong_sender("mpquic on no path", "mpquic: { paths: [] }");
}

#[test]
fn recovery_of_quic() {
    let quic = |name: &str, options: &str| {
        wrong_sender(name, &format!("quic: {{ path: 4g, {options} }}"));
    };
    quic("congestion of no stack", "congestion: reno2");
    quic("fixed window without a window", "congestion: fixed-window");
    quic("time threshold below one", "time-threshold: 0.5");
    quic("time threshold that is no number", "time-threshold: fast");
    quic("packet threshold of zero", "packet-threshold: 0");
    quic(
        "initial window of a fixed one",
        "congestion: { fixed-window: 64KiB }, initial-window: 12000B",
    );
}

#[test]
fn values() {
    wrong_with("no unit", "delay: 40ms", "delay: 40");
    wrong_with("wrong unit", "delay: 40ms", "delay: 40msec");
    wrong_with("too many digits", "delay: 40ms", "delay: 1000000000000000000.5ms");
    wrong_with("wrong kind of unit", "size: 600B", "size: 600ms");
    wrong_with("wrong capitals in a unit", "delay: 25ms", "rate: 40mbit/s");
    wrong_with("negative delay", "delay: 40ms", "delay: -40ms");
    wrong_with("delay above its limit", "delay: 40ms", "delay: 2h");
    wrong_with("loss of 120 percent", "loss: 2%", "loss: 120%");
    wrong_with("loss as a fraction", "loss: 2%", "loss: 0.02");
    wrong_with("a list for a value", "loss: 2%", "loss: [2%]");
    wrong_with("a value for a mapping", "{ delay: 25ms }", "fast");
    wrong_with("a mapping for a list", "- { at: 20s, path: 4g, outage: 5s }", "at: 20s");
    wrong_with("no value", "delay: 40ms", "delay: ");
    wrong_with("unknown word", "jitter: 10ms", "distribution: gauss");
    wrong_with("unknown word with a near one", "jitter: 10ms", "distribution: nornal");
    wrong_with("names", "  5g:", "  5G/../x:");
    wrong_with("a number out of range", "kcp: { path: 4g }", "kcp: { path: 4g, nodelay: 3 }");
    wrong_with("a small window", "kcp: { path: 4g }", "kcp: { path: 4g, receive-window: 64 }");
    wrong_with("an option of kcp-go", "kcp: { path: 4g }", "kcp: { path: 4g, ack-nodelay: 1 }");
    wrong_with("half a millisecond of kcp", "path: 4g }", "path: 4g, interval: 10.5ms }");
    wrong_with("repeat above its limit", "name: small", "name: small\nrepeat: 5000");
}

#[test]
fn links() {
    wrong_with("two loss models", "loss: 2%", "loss: { random: 1%, 4-state: { p13: 1% } }");
    let four_state = "loss: { 4-state: { p13: 70%, p14: 40% } }";
    wrong_with("4-state above 100 percent", "loss: 2%", four_state);
    wrong_with("correlation of no random loss", "loss: 2%", "loss: { correlation: 25% }");
    wrong_with("reorder without delay", "{ delay: 25ms }", "{ reorder: 25% }");
    wrong_with("slot backwards", "delay: 25ms", "slot: { min: 20ms, max: 10ms }");
    let cells = "rate: { rate: 1Mbit/s, cell-overhead: 5B }";
    wrong_with("cell overhead without cells", "delay: 25ms", cells);
    let both = "rate: { rate: 1Mbit/s, burst: 10kB, overhead: 5B }";
    wrong_with("burst with overhead", "delay: 25ms", both);
    wrong_with("queue without burst", "delay: 25ms", "rate: { rate: 1Mbit/s, queue: 10kB }");
    let small = "rate: { rate: 1Mbit/s, burst: 1kB }";
    wrong_with("burst shorter than a packet", "delay: 25ms", small);
    wrong_with("slot without its shortest", "delay: 25ms", "slot: { max: 10ms }");
    wrong_with("slot of neither kind", "delay: 25ms", "slot: { packets: 5 }");
    wrong_with("missing table", "delay: 25ms", "distribution: { table: no-such.dist }");
    wrong_with("wrong samples", "delay: 25ms", "distribution: { samples: \"1 x\" }");
    wrong_with("no distribution", "delay: 25ms", "distribution: {}");
}

#[test]
fn timelines() {
    wrong_with("timeline past the end", "at: 20s", "at: 60s");
    wrong_with("outage past the end", "outage: 5s", "outage: 41s");
    wrong_with("timeline on an unknown path", "path: 4g, outage", "path: 4gg, outage");
    wrong_with("timeline on two paths", "path: 4g, outage", "path: [4g, 5g], outage");
    wrong_with("timeline without a path", "path: 4g, outage", "outage");
    wrong_with("outage of one direction", "outage: 5s", "outage: 5s, direction: up");
    wrong_with("outage and set", "outage: 5s", "outage: 5s, set: { delay: 1ms }");
    wrong_with("set that changes nothing", "outage: 5s", "set: {}");
    wrong_with("neither outage nor set", ", outage: 5s", "");
}

#[test]
fn senders() {
    wrong_with("sender on an unknown path", "kcp: { path: 4g }", "kcp: { path: 6g }");
    wrong_with("sender on a list of paths", "kcp: { path: 4g }", "kcp: { path: [4g] }");
    wrong_with("sender without a path", "kcp: { path: 4g }", "kcp: {}");
    wrong_with("unknown protocol", "kcp: { kcp: { path: 4g } }", "kcp: { kpc: { path: 4g } }");
    wrong_with("protocol of a later version", "{ kcp: { path: 4g } }", "{ socket: { path: 4g } }");
    wrong_with("path inside replicate", "mode: datagram", "path: 4g");
    wrong_with("replicate of mpquic", "quic: { mode: datagram }", "mpquic: { paths: [4g, 5g] }");
    let nested = "replicate: { paths: [4g, 5g], udp: {} }";
    wrong_with("replicate of two", "quic: { mode: datagram }", "udp: {}, kcp: {}");
    wrong_with("replicate of replicate", "quic: { mode: datagram }", nested);
    wrong_with("replicate over one path", "[4g, 5g]", "[4g]");
    wrong_with("replicate over one path twice", "[4g, 5g]", "[4g, 4g]");
    wrong_with("message too large for a datagram", "size: 600B", "size: 1200B");
    let udp = small_with("kcp: { kcp:", "udp: { udp:").replace("size: 600B", "size: 1473B");
    wrong("message too large for udp", &udp.replace("mode: datagram", "mode: stream"));
    let copied = small_with("quic: { mode: datagram }", "udp: {}").replace("600B", "1469B");
    wrong("message too large for a copy of udp", &copied);
    let v6 = |yaml: &str| yaml.replace("delay: 25ms", "delay: 25ms, ip: 6");
    let udp_v6 = udp.replace("path: 4g }", "path: 5g }").replace("1473B", "1453B");
    wrong("message too large for udp over ipv6", &v6(&udp_v6.replace("mode: datagram", "")));
    let kcp_v6 = small_with("kcp: { path: 4g }", "kcp: { path: 5g, mtu: 1460B }");
    wrong("mtu too large for ipv6", &v6(&kcp_v6));
    wrong_with("another version of ip", "delay: 25ms", "delay: 25ms, ip: 5");
    let kcp_go = |options: &str| format!("path: 4g, behaviour: kcp-go-5.6, {options} }}");
    for (name, options) in [
        ("error correction without data", "fec: { data: 0, parity: 2 }"),
        ("error correction without parity", "fec: { data: 3, parity: 0 }"),
        ("error correction of 300 shards", "fec: { data: 200, parity: 100 }"),
        ("error correction of half a group", "fec: { data: 3 }"),
        ("error correction in a word", "fec: 3+2"),
        ("unknown cipher", "crypt: null"),
        ("third version of smux", "smux: 3"),
        ("mtu too small for the headers", "mtu: 77B, crypt: none, fec: { data: 3, parity: 2 }"),
    ] {
        wrong_with(name, "path: 4g }", &kcp_go(options));
    }
    let layers = "path: 4g, fec: { data: 3, parity: 2 }, crypt: off, smux: 1 }";
    wrong_with("layers of kcptun on the C code", "path: 4g }", layers);
    let mtu = "kcp: { mtu: 1470B }";
    wrong_with("mtu too large for a copy", "quic: { mode: datagram }", mtu);
}

#[test]
fn senders_with_a_kernel() {
    let kcp = "{ kcp: { path: 4g } }";
    wrong_with("congestion that is no name", kcp, "{ tcp: { path: 4g, congestion: ../cubic } }");
    let long = "{ tcp: { path: 4g, congestion: a-name-that-is-too-long } }";
    wrong_with("congestion of a long name", kcp, long);
    wrong_with("user timeout in another word", kcp, "{ tcp: { path: 4g, user-timeout: none } }");
    wrong_with("user timeout of nothing", kcp, "{ tcp: { path: 4g, user-timeout: 0ms } }");
    wrong_with("mptcp on one path", kcp, "{ mptcp: { paths: [4g] } }");
    let names = (1..=9).map(|path| format!("p{path}")).collect::<Vec<_>>();
    let nine: String = names.iter().map(|name| format!("  {name}: {{}}\n")).collect();
    let mptcp = format!("{{ mptcp: {{ paths: [{}] }} }}", names.join(", "));
    let text = small_with(kcp, &mptcp)
        .replace("  5g: { delay: 25ms }\n", &format!("  5g: {{ delay: 25ms }}\n{nine}"));
    wrong("mptcp on nine paths", &text);
    wrong_with("kcptun without parity", kcp, "{ kcptun: { path: 4g, fec: { data: 3 } } }");
    wrong_with("kcptun with 0+2", kcp, "{ kcptun: { path: 4g, fec: { data: 0, parity: 2 } } }");
    wrong_with(
        "kcptun with 300 shards",
        kcp,
        "{ kcptun: { path: 4g, fec: { data: 300, parity: 2 } } }",
    );
}

#[test]
fn several_vehicles_with_a_kernel() {
    let kcp = "{ kcp: { path: 4g } }";
    let of_a_kernel = [
        ("several vehicles with tcp", "{ tcp: { path: 4g } }"),
        ("several vehicles with mptcp", "{ mptcp: { paths: [4g, 5g] } }"),
        ("several vehicles with kcptun", "{ kcptun: { path: 4g } }"),
    ];
    for (name, sender) in of_a_kernel {
        wrong(name, &small_with(kcp, sender).replace("name: small", "name: small\nvehicles: 3"));
        let alone = small_with(kcp, sender).replace("name: small", "name: small\nvehicles: 1");
        assert!(read(&alone).is_ok(), "{name}");
    }
}

#[test]
fn the_longest_message_of_kcp() {
    // What a message could have then is no matter, and is not told beside it.
    let full = "mtu: 53B, crypt: none, fec: { data: 3, parity: 2 }";
    let options = format!("path: 4g, behaviour: kcp-go-5.6, {full} }}");
    wrong_with("mtu with room for a byte", "path: 4g }", &options);
    let small_mtu = small_with("path: 4g }", "path: 4g, mtu: 50B }");
    let large = small_mtu.replace("size: 600B", "size: 4kB").replace("mode: datagram", "");
    wrong("message too large for kcp", &large);
    let kcp_go = |more: &str| large.replace("mtu: 50B", &format!("behaviour: kcp-go-5.6, {more}"));
    wrong("message too large for the window of kcp-go", &kcp_go("mtu: 50B"));
    wrong(
        "message too large for kcp-go",
        &kcp_go("mtu: 52B, receive-window: 256").replace("4kB", "8kB"),
    );
    wrong(
        "message too large for a stream of kcp-go",
        &kcp_go("mtu: 50B, stream: true").replace("4kB", "8kB"),
    );
}

#[test]
fn workloads_and_claims() {
    wrong_with("too many messages", "rate: 50/s", "rate: 50000/s");
    let (minute, long) = ("rate: 50/s, size: 600B, duration: 60s", "rate: 1000000/s, size: 600B");
    let hours = |keep| format!("{long}, duration: 1h, keep: {keep}");
    wrong_with("too many messages for a histogram", minute, &hours("histogram"));
    wrong_with("too many messages for a histogram too", minute, &hours("messages"));
    wrong_with("message too small", "size: 600B", "size: 8B");
    wrong_with("no message rate", "rate: 50/s", "rate: 0/s");
    wrong_with("two workloads", "  control:", "  echo: {}\n  control:");
    wrong_with("workload of a later version", "control: { rate", "poll: { rate");
    let claim = |claim: &str| format!("{SMALL}claims:\n  - {claim}\n");
    wrong("claim of an unknown sender", &claim("{ source: a, sender: kpc, p50: 70ms }"));
    wrong("claim without a figure", &claim("{ source: a, sender: kcp }"));
    wrong("claim of no latency", &claim("{ source: a, sender: kcp, p50: 0ms }"));
    wrong("claim of nobody", &claim("{ source: '', sender: kcp, p50: 70ms }"));
    wrong("claim with a negative ratio", &claim("{ source: a, sender: kcp, amplification: -2 }"));
}

#[test]
fn profiles() {
    let scenario =
        |profile: &str| small_with("delay: 25ms", &format!("profile: {profile}")).into_bytes();
    let near = scenario("4g-city-medum");
    wrong_files("missing profile", &[("a.yaml", &near)]);
    let far = scenario("moon");
    wrong_files("missing profile without a near name", &[("a.yaml", &far)]);
    let a = scenario("a");
    wrong_files(
        "profile cycle",
        &[
            ("a.yaml", &a),
            ("profiles/a.yaml", b"based-on: b\nsource: x\n"),
            ("profiles/b.yaml", b"about: b\nbased-on: c\nsource: x\n"),
            ("profiles/c.yaml", b"based-on: a\nsource: x\n"),
        ],
    );
    wrong_files(
        "mistakes in a profile",
        &[("a.yaml", &a), ("profiles/a.yaml", b"delay: 40\nlosss: 2%\n")],
    );
    wrong_files("empty source", &[("a.yaml", &a), ("profiles/a.yaml", b"source: []\n")]);
    wrong_files("binary profile", &[("a.yaml", &a), ("profiles/a.yaml", b"\0\x01")]);
}

#[test]
fn files() {
    wrong_files("empty file", &[("a.yaml", b"")]);
    wrong_files("file with comments only", &[("a.yaml", b"# later\n\n")]);
    wrong_files("10 MB file", &[("a.yaml", &vec![b'#'; 10_000_000])]);
    wrong_files("binary file", &[("a.yaml", b"\x7fELF\0\x01")]);
    wrong_files("not UTF-8", &[("a.yaml", b"version: 1\nname: \xff\n")]);
    wrong_files("missing file", &[("b.yaml", b"")]);
    wrong_files("a list instead of a scenario", &[("a.yaml", b"- 1\n- 2\n")]);
    wrong_files("two documents", &[("a.yaml", b"version: 1\n---\nversion: 1\n")]);
}

#[test]
fn yaml() {
    wrong_with("unclosed brace", "{ delay: 25ms }", "{ delay: 25ms");
    wrong_with("tab for indentation", "  5g:", "\t5g:");
    wrong_with("unknown alias", "delay: 25ms", "delay: *nowhere");
    wrong("alias of itself", "a: &a [*a]\n");
    wrong_with("unknown tag", "delay: 25ms", "delay: !slow 25ms");
    wrong_with("merge key", "{ delay: 25ms }", "{ <<: { delay: 25ms } }");
    wrong_with("a mapping as a key", "  5g:", "  { a: 1 }:");
    wrong_with(
        "nested too deeply",
        "delay: 25ms",
        &format!("delay: {}{}", "[".repeat(20), "]".repeat(20)),
    );
    let line = |n: u8| {
        let earlier = format!("*{}, ", char::from(b'a' + n - 1)).repeat(9);
        format!("{0}: &{0} [{earlier}]\n", char::from(b'a' + n))
    };
    let bomb: String = (1..9).map(line).collect();
    wrong("alias bomb", &format!("a: &a [x, x, x, x, x, x, x, x, x]\n{bomb}"));
}

#[test]
fn several_mistakes_are_told_at_once_in_their_order() {
    wrong(
        "several mistakes at once",
        "\
version: 1
name: Several
paths:
  4g: { delay: 40, losss: 2% }
  5g: { profile: 5g-city-mediun }
timeline:
  - { at: 70s, path: 6g, outage: 5s }
workload:
  control: { rate: 50, size: 600B, duration: 60s, deadline: 250ms }
senders:
  kcp: { kcp: { path: 4g, behavior: ikcp-1.7 } }
  mpquic: { mpquic: { paths: [4g, 7g], scheduler: redundnat } }
",
    );
    let many = (0..200).map(|n| format!("key-{n}: 1\n")).collect::<String>();
    let printed = read(&format!("{SMALL}{many}")).expect_err("wrong keys").to_string();
    assert!(printed.ends_with("… and 150 more"));
}
