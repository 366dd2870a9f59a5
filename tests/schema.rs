//! The schema that is printed for editors, judged by somebody else's validator: Python's `jsonschema`
//! (Debian package `python3-jsonschema`). Without it the tests are skipped, but not where they are
//! required.

use std::fs;
use std::path::Path;
use std::process::Command;

use impairlab::scenario::load_str;
use impairlab::scenario::schema::schema;
use serde_json::Value;
use tempfile::TempDir;

const VALIDATOR: &str = "jsonschema";
/// Set where a missing validator is a failure.
const REQUIRED: &str = "IMPAIRLAB_SCHEMA_TESTS";

const HEAD: &str = "\
version: 1
name: small
workload: { control: { rate: 50/s, size: 600B, duration: 60s, deadline: 250ms } }
";

/// The schema in a file.
struct Schema(TempDir);

impl Schema {
    /// `None` if there is nobody to judge by it.
    fn new() -> Option<Self> {
        if let Err(error) = Command::new(VALIDATOR).arg("--version").output() {
            assert!(std::env::var_os(REQUIRED).is_none(), "{VALIDATOR} is required: {error}");
            eprintln!("skipped: no {VALIDATOR} here (Debian package python3-jsonschema)");
            return None;
        }
        let folder = tempfile::tempdir().expect("a temporary folder");
        fs::write(folder.path().join("schema"), schema().to_string()).expect("a new file");
        Some(Self(folder))
    }

    /// What is wrong with this; nothing if it is right.
    fn mistakes(&self, yaml: &str) -> String {
        let document: Value = serde_saphyr::from_str(yaml).expect("YAML");
        let [instance, schema] = ["instance", "schema"].map(|name| self.0.path().join(name));
        fs::write(&instance, document.to_string()).expect("a new file");
        let mut command = Command::new(VALIDATOR);
        let output = command.arg("-i").args([&instance, &schema]).output().expect("it was there");
        // Some versions warn on standard error of what has nothing to do with the document.
        if output.status.success() {
            return String::new();
        }
        String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
    }

    /// Whether the reader of scenarios takes it, and whether the schema does.
    fn judge(&self, yaml: &str) -> (bool, bool) {
        let read = load_str(Path::new("small.yaml"), yaml).is_ok();
        (read, self.mistakes(yaml).is_empty())
    }
}

#[test]
fn every_shipped_scenario_and_the_example_of_the_reference_are_right() {
    let Some(schema) = Schema::new() else { return };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    let mut count = 0;
    for entry in fs::read_dir(folder).expect("the shipped scenarios").flatten() {
        if entry.path().extension().is_some_and(|extension| extension == "yaml") {
            let text = fs::read_to_string(entry.path()).expect("a scenario");
            assert_eq!(schema.mistakes(&text), "", "{}", entry.path().display());
            count += 1;
        }
    }
    assert!(count >= 4);
    let reference = include_str!("../scenarios/README.md");
    let (_, example) = reference.split_once("```yaml\n").expect("an example");
    let (example, _) = example.split_once("```").expect("its end");
    assert_eq!(schema.mistakes(example), "");
}

/// A scenario with this path and this sender.
fn scenario(path: &str, sender: &str) -> String {
    format!("{HEAD}paths: {{ a: {path}, b: {{}} }}\nsenders: {{ it: {sender} }}\n")
}

/// What the reader of scenarios takes, the schema takes, and what it refuses for its form, the
/// schema refuses.
#[test]
fn the_schema_says_what_the_reader_says() {
    let sender = "{ udp: { path: a } }";
    let right = [
        "{ delay: 40ms, jitter: 1.5ms, loss: 2%, rate: 40Mbit/s, queue: 10, ecn: true }",
        "{ profile: 4g-city-medium, ip: 6, up: { loss: { random: 2%, correlation: 25% } } }",
        "{ loss: { gilbert-elliott: { p: 1%, r: 30% } }, rate: none, slot: none }",
        "{ loss: { 4-state: { p13: 1% } }, rate: { rate: 1Mbit/s, burst: 32kB, queue: 250kB } }",
        "{ delay: 1ms, reorder: { probability: 25%, gap: 5 }, slot: { min: 1ms, packets: 5 } }",
        "{ delay: 1ms, distribution: normal, slot: { delay: 1ms, distribution: pareto } }",
        "{ rate: { rate: 1Mbit/s, overhead: -4B, cell: 48B, cell-overhead: 5B }, order: keep }",
        "{ delay: 1ms, jitter: 1ms, distribution: { samples: \"-8192 8192\" } }",
    ];
    let wrong = [
        "{ delay: 40 }",
        "{ delay: 40mss }",
        "{ dealy: 40ms }",
        "{ loss: { gilbert-elliott: { r: 30% } } }",
        "{ loss: { random: 1%, 4-state: { p13: 1% } } }",
        "{ rate: { rate: 1Mbit/s, queue: 250kB } }",
        "{ queue: 0 }",
        "{ distribution: { table: a.dist, samples: \"1\" } }",
        "{ order: kept }",
        "{ up: { ip: 6 } }",
    ];
    let Some(schema) = Schema::new() else { return };
    let judge = |path: &str| schema.judge(&scenario(path, sender));
    right.into_iter().for_each(|path| assert_eq!(judge(path), (true, true), "{path}"));
    wrong.into_iter().for_each(|path| assert_eq!(judge(path), (false, false), "{path}"));
}

/// To the reader a value is the text that it is, with quotes or without.
#[test]
fn quotes_make_no_difference() {
    let whole = |repeat: &str, path: &str, more: &str| {
        let it = scenario(path, "{ udp: { path: a } }");
        format!("{it}repeat: {repeat}\n{more}")
    };
    let sender = |sender: &str| scenario("{}", sender);
    let right = [
        whole("\"5\"", "{}", "seed: '18446744073709551615'\n"),
        whole("\" 5 \"", "{ queue: \"10\", ecn: \"true\", ip: '6' }", ""),
        whole("5", "{ delay: ' 40ms ', order: 'keep', ecn: \"0\" }", "about: 5\n"),
        whole("5", "{}", "claims: [{ source: 7, sender: it, amplification: \"1.7\" }]\n"),
        whole("5", "{}", "").replace("version: 1", "version: \"1\"").replace("small", "404"),
        sender("{ kcp: { path: a, nc: \"0\", resend: '2' } }"),
        sender("{ quic: { path: a, time-threshold: \"1.25\" } }"),
        sender("{ udp: { path: 7 } }").replace(", b:", ", 7:"),
    ];
    let wrong = [
        whole("\"five\"", "{}", ""),
        whole("\"5.0\"", "{}", ""),
        whole("\"-5\"", "{}", ""),
        whole("5", "{ queue: \"\" }", ""),
        whole("5", "{ ecn: \"yes\" }", ""),
        whole("5", "{ ip: \"5\" }", ""),
        whole("5", "{ delay: \"40\" }", ""),
        whole("5", "{}", "about: [5]\n"),
        sender("{ kcp: { path: a, nc: \"off\" } }"),
    ];
    let Some(schema) = Schema::new() else { return };
    right.iter().for_each(|it| assert_eq!(schema.judge(it), (true, true), "{it}"));
    wrong.iter().for_each(|it| assert_eq!(schema.judge(it), (false, false), "{it}"));
}

#[test]
fn senders_are_known_by_their_keys() {
    let right = [
        "{ kcp: { path: a, behaviour: ikcp-1.7, interval: 20ms, nc: 0 } }",
        "{ quic: { path: a, congestion: { fixed-window: 64KiB } } }",
        "{ mpquic: { paths: [a, b], scheduler: minrtt } }",
        "{ replicate: { paths: [a, b], copy: message, quic: { mode: datagram } } }",
    ];
    let wrong = [
        "{ kcp: { path: a, behaviour: ikcp-9 } }",
        "{ kcp: { path: a }, udp: { path: a } }",
        "{ mpquic: { scheduler: minrtt } }",
        "{ replicate: { paths: [a, b], kcp: { path: a } } }",
        "{ replicate: { paths: [a, b], mpquic: { paths: [a] } } }",
        "{ replicate: { paths: [a], udp: {} } }",
    ];
    let Some(schema) = Schema::new() else { return };
    let judge = |sender: &str| schema.judge(&scenario("{}", sender));
    right.into_iter().for_each(|sender| assert_eq!(judge(sender), (true, true), "{sender}"));
    wrong.into_iter().for_each(|sender| assert_eq!(judge(sender), (false, false), "{sender}"));
}
