use std::fs;

use super::*;

/// Printed for a scenario with these changes.
fn of(changes: &[(&str, &str)]) -> String {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("it.yaml");
    let right = include_str!("../../../scenarios/kernel-senders.yaml").to_owned();
    let text = changes.iter().fold(right, |text, (old, new)| {
        assert!(text.contains(old), "{old}");
        text.replace(old, new)
    });
    fs::write(&path, text).expect("a new file");
    let mut out = Vec::new();
    run(&[path], Colour::Never, &mut out).expect("a Vec takes everything");
    String::from_utf8(out).expect("text")
}

#[test]
fn a_scenario_says_on_which_engines_it_can_run() {
    let senders = "tcp-cubic, tcp-bbr, mptcp, kcptun";
    let kernel = of(&[]);
    assert!(kernel.ends_with(&format!("; {senders} on relay, netem, uml only\n")), "{kernel}");
    let all = of(&SIMPLE);
    assert!(all.ends_with("of 60s; on sim, relay, netem, uml\n"), "{all}");
    let vehicles = of(&[&SIMPLE[..], &[("repeat: 5 ", "vehicles: 3\nrepeat: 5")]].concat());
    assert!(vehicles.ends_with("of 60s; 3 vehicles on sim only\n"), "{vehicles}");
    let jitter = ("{ profile: 5g-city-medium }", "{ jitter: 3s }");
    let wide = of(&[&SIMPLE[..], &[jitter]].concat());
    let reason = "not on netem and uml: path 5g, up: the kernel's netem caps jitter at";
    assert!(wide.contains(reason), "{wide}");
    let later = (
        "workload:",
        "timeline: [{ at: 1s, path: 4g, set: { jitter: 3s }, direction: down }]\nworkload:",
    );
    let wide = of(&[&SIMPLE[..], &[later]].concat());
    assert!(
        wide.contains("not on netem and uml: path 4g, down: the kernel's netem caps"),
        "{wide}"
    );
}

/// Of the senders of that scenario only those without a kernel.
const SIMPLE: [(&str, &str); 4] = [
    ("tcp: { path: 4g, congestion: cubic }", "udp: { path: 4g }"),
    ("tcp: { path: 4g, congestion: bbr }", "udp: { path: 4g }"),
    ("mptcp: { paths: [4g, 5g], congestion: cubic }", "mpquic: { paths: [4g, 5g] }"),
    ("kcptun: { path: 4g, mode: fast3, fec: { data: 3, parity: 2 } }", "udp: { path: 4g }"),
];

#[test]
fn one_wrong_file_does_not_keep_the_others_from_being_checked() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let right = include_str!("../../../scenarios/handover-5s.yaml");
    let wrong = right.replace("outage: 5s", "outage: 5").replace("size: 600B", "size: huge");
    let files = [("right.yaml", right), ("wrong.yaml", &wrong), ("also-right.yaml", right)];
    let paths = files.map(|(name, text)| {
        let path = folder.path().join(name);
        fs::write(&path, text).expect("a new file");
        path
    });
    let mut out = Vec::new();
    let count = run(&paths, Colour::Never, &mut out).expect("a Vec takes everything");
    let printed = String::from_utf8(out).expect("text");
    assert_eq!(count, 1);
    insta::assert_snapshot!(printed.replace(&format!("{}/", folder.path().display()), ""));
}
