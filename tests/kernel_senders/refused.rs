//! What cannot run is refused before it does, with what to do about it.

use std::fs;
use std::process::Command;

use impairlab::engine::sim::Sim;
use impairlab::engine::{Engine, EngineError};
use impairlab::protocol::ProtocolSettings;
use impairlab::protocol::settings::UdpSettings;
use impairlab::scenario::plan::SenderPlan;
use netns::Namespace;

use crate::trials::{FIRST, relay, run, trial, uml};
use crate::{kcptun, mptcp, tcp};

fn senders(names: &[&str]) -> Vec<SenderPlan> {
    let sender = |name: &&str| SenderPlan {
        name: (*name).to_owned(),
        protocol: match *name {
            "tcp" => tcp("cubic"),
            "mptcp" => mptcp(),
            "kcptun" => kcptun(),
            other => tcp(other),
        },
    };
    names.iter().map(sender).collect()
}

fn refusal(result: Result<(), EngineError>) -> String {
    result.expect_err("it cannot run").to_string()
}

#[test]
fn virtual_time_without_a_kernel_says_which_engines_can() {
    let message = refusal(Sim.admit(&senders(&["tcp", "mptcp", "kcptun"])));
    let expected = "engine sim has no kernel, and tcp, mptcp, kcptun need one: use --engine relay, \
        netem or uml";
    assert_eq!(message, expected);
    let mut with_another = senders(&["tcp"]);
    let udp = ProtocolSettings::Udp(UdpSettings { path: FIRST });
    with_another.push(SenderPlan { name: "udp".to_owned(), protocol: udp });
    let expected = "engine sim has no kernel, and tcp needs one: use --engine relay, netem or uml, \
        or run the others alone (--sender)";
    assert_eq!(refusal(Sim.admit(&with_another)), expected);
}

#[test]
fn a_congestion_control_that_is_not_there_is_named_with_those_that_are() {
    let Some(relay) = relay() else { return };
    assert!(relay.admit(&senders(&["tcp", "reno"])).is_ok());
    let message = refusal(relay.admit(&senders(&["warp"])));
    assert!(message.contains("no congestion control `warp`; it has reno"), "{message}");
    let Some(uml) = uml() else { return };
    let message = run(&uml, &trial(tcp("warp"), 0.0, 1)).expect_err("there is none").to_string();
    assert!(
        message.contains("no congestion control `warp`") && message.contains("bbr"),
        "{message}"
    );
}

/// In a namespace of its own, which stands for the machine of an administrator who wants none.
#[test]
fn multipath_tcp_that_is_switched_off_stays_off() {
    let Some(relay) = relay() else { return };
    let machine = Namespace::new("machine").expect("made");
    machine.set_sysctl("net/mptcp/enabled", "0").expect("set");
    let senders = senders(&["mptcp"]);
    let message = refusal(machine.run(|| relay.admit(&senders)).expect("entered"));
    assert!(message.contains("net.mptcp.enabled is 0"), "{message}");
    assert_eq!(machine.sysctl("net/mptcp/enabled").expect("read"), "0");
    assert!(relay.admit(&senders).is_ok());
}

const SCENARIO: &str = "\
version: 1
name: kernel-senders
paths: { 4g: { delay: 40ms }, 5g: { delay: 25ms } }
workload: { control: { rate: 50/s, size: 600B, duration: 1s, deadline: 250ms } }
senders:
  udp: { udp: { path: 4g } }
  tcp: { tcp: { path: 4g, user-timeout: 2s } }
  mptcp: { mptcp: { paths: [4g, 5g], congestion: reno } }
  kcptun: { kcptun: { path: 4g, mode: fast3, fec: { data: 3, parity: 2 } } }
";

/// What the program prints, and its exit code.
fn impairlab(arguments: &[&str], path: &str) -> (String, Option<i32>) {
    let folder = tempfile::tempdir().expect("a folder");
    let scenario = folder.path().join("scenario.yaml");
    fs::write(&scenario, SCENARIO).expect("written");
    let mut command = Command::new(env!("CARGO_BIN_EXE_impairlab"));
    command.args(arguments).arg(&scenario).env("PATH", path).env("NO_COLOR", "1");
    let output = command.current_dir(folder.path()).output().expect("it starts");
    let printed = [output.stdout, output.stderr].concat();
    let results = folder.path().join("results");
    assert!(!results.exists(), "nothing ran, and there are results");
    (String::from_utf8_lossy(&printed).into_owned(), output.status.code())
}

#[test]
fn a_scenario_says_where_it_can_run_and_sim_does_not_begin() {
    let path = std::env::var("PATH").expect("a PATH");
    let (text, code) = impairlab(&["check"], &path);
    assert!(text.contains("; tcp, mptcp, kcptun on relay, netem, uml only"), "{text}");
    assert_eq!(code, Some(0), "{text}");
    let (text, code) = impairlab(&["run", "--quiet", "--engine", "sim"], &path);
    assert!(text.contains("engine sim has no kernel, and tcp, mptcp, kcptun need one"), "{text}");
    assert_ne!(code, Some(0), "{text}");
    let (text, _) = impairlab(&["agree", "--quiet", "--engines", "uml,sim"], &path);
    assert!(text.contains("engine sim has no kernel"), "{text}");
}

#[test]
fn kcptun_that_is_not_installed_is_missed_before_the_first_trial() {
    if relay().is_none() {
        return;
    }
    let (text, code) = impairlab(&["run", "--quiet", "--engine", "relay"], "/nonexistent");
    assert!(text.contains("kcptun-client is not installed: it is not in /nonexistent"), "{text}");
    assert!(text.contains("apt-get install kcptun"), "{text}");
    assert_ne!(code, Some(0), "{text}");
}
