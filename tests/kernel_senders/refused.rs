//! What cannot run is refused before it does, with what to do about it.

use std::fs;
use std::process::Command;

use impairlab::engine::sim::Sim;
use impairlab::engine::{Engine, EngineError};
use impairlab::protocol::ProtocolSettings;
use impairlab::protocol::settings::UdpSettings;
use impairlab::scenario::plan::{Plan, SenderPlan};
use netns::Namespace;

use crate::trials::{FIRST, relay, trial, uml};
use crate::{kcptun, mptcp, tcp};

/// The exit codes of `impairlab --help`.
const CANNOT_ANYWHERE: i32 = 2;
const MACHINE_LACKS: i32 = 3;

/// A plan with a sender of each of these names, TCP where it is that of a congestion control.
fn plan(names: &[&str]) -> Plan {
    let sender = |name: &&str| SenderPlan {
        name: (*name).to_owned(),
        protocol: match *name {
            "tcp" => tcp("cubic"),
            "udp" => ProtocolSettings::Udp(UdpSettings { path: FIRST }),
            "mptcp" => mptcp(),
            "kcptun" => kcptun(),
            other => tcp(other),
        },
    };
    let senders = names.iter().map(sender).collect();
    Plan { senders, ..trial(tcp("cubic"), 0.0, 1).plan.as_ref().clone() }
}

fn refusal(result: Result<(), EngineError>) -> String {
    result.expect_err("it cannot run").to_string()
}

#[test]
fn virtual_time_without_a_kernel_says_which_engines_can() {
    let message = refusal(Sim.admit(&plan(&["tcp", "mptcp", "kcptun"])));
    let expected = "engine sim has no kernel, and tcp, mptcp, kcptun need one: use --engine relay, \
        netem or uml";
    assert_eq!(message, expected);
    let expected = "engine sim has no kernel, and tcp needs one: use --engine relay, netem or uml, \
        or run the others (--without tcp)";
    assert_eq!(refusal(Sim.admit(&plan(&["tcp", "udp"]))), expected);
}

#[test]
fn a_congestion_control_that_is_not_there_is_named_with_those_that_are() {
    let Some(relay) = relay() else { return };
    assert!(relay.admit(&plan(&["tcp", "reno"])).is_ok());
    let message = refusal(relay.admit(&plan(&["warp"])));
    assert!(message.contains("no congestion control `warp`; it has reno"), "{message}");
    let Some(uml) = uml() else { return };
    assert!(uml.admit(&plan(&["tcp", "bbr"])).is_ok());
    let message = refusal(uml.admit(&plan(&["tcp", "warp"])));
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
    let plan = plan(&["mptcp"]);
    let message = refusal(machine.run(|| relay.admit(&plan)).expect("entered"));
    assert!(message.contains("net.mptcp.enabled is 0"), "{message}");
    assert_eq!(machine.sysctl("net/mptcp/enabled").expect("read"), "0");
    assert!(relay.admit(&plan).is_ok());
    let arguments = ["run", "--quiet", "--engine", "relay", "--sender", "mptcp"];
    let run = || impairlab(&arguments, SCENARIO, &usual_path());
    let (text, code) = machine.run(run).expect("entered");
    assert!(text.contains("net.mptcp.enabled is 0"), "{text}");
    assert_eq!(code, Some(MACHINE_LACKS), "{text}");
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

fn usual_path() -> String {
    std::env::var("PATH").expect("a PATH")
}

/// What the program prints, and its exit code.
fn impairlab(arguments: &[&str], text: &str, path: &str) -> (String, Option<i32>) {
    let folder = tempfile::tempdir().expect("a folder");
    let scenario = folder.path().join("scenario.yaml");
    fs::write(&scenario, text).expect("written");
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
    let path = usual_path();
    let (text, code) = impairlab(&["check"], SCENARIO, &path);
    assert!(text.contains("; tcp, mptcp, kcptun on relay, netem, uml only"), "{text}");
    assert_eq!(code, Some(0), "{text}");
    let (text, code) = impairlab(&["run", "--quiet", "--engine", "sim"], SCENARIO, &path);
    assert!(text.contains("engine sim has no kernel, and tcp, mptcp, kcptun need one"), "{text}");
    assert_eq!(code, Some(CANNOT_ANYWHERE), "{text}");
    if uml().is_none() {
        return;
    }
    let arguments = ["agree", "--quiet", "--engines", "sim,uml"];
    let (text, code) = impairlab(&arguments, SCENARIO, &path);
    assert!(text.contains("engine sim has no kernel"), "{text}");
    assert_eq!(code, Some(CANNOT_ANYWHERE), "{text}");
}

/// Whichever kernel it is, and whether or not others could have run.
#[test]
fn a_congestion_control_that_is_not_there_ends_the_run_before_it_begins() {
    let scenario = SCENARIO.replace("congestion: reno", "congestion: warp");
    let engines = [("relay", relay().is_some()), ("uml", uml().is_some())];
    for (engine, _) in engines.into_iter().filter(|(_, is_here)| *is_here) {
        let arguments = ["run", "-q", "--engine", engine, "--sender", "udp", "--sender", "mptcp"];
        let (text, code) = impairlab(&arguments, &scenario, &usual_path());
        assert!(text.contains("sender mptcp: ") && text.contains("`warp`"), "{engine}: {text}");
        assert_eq!(code, Some(MACHINE_LACKS), "{engine}: {text}");
    }
}

/// netem's own limits are those of every kernel.
#[test]
fn what_no_netem_can_do_is_refused_before_the_first_trial() {
    let udp = "  udp: { udp: { path: 4g } }\n";
    let senders = SCENARIO.split_once("  udp:").expect("its senders").0;
    let scenario = format!("{senders}{udp}").replace("5g: { delay: 25ms }", "5g: { jitter: 3s }");
    let reason = "path 5g, up: the kernel's netem caps jitter at 2.147483647 s";
    let (text, code) = impairlab(&["check"], &scenario, &usual_path());
    assert!(text.contains(&format!("not on netem and uml: {reason}")), "{text}");
    assert_eq!(code, Some(0), "{text}");
    if uml().is_none() {
        return;
    }
    let arguments = ["run", "--quiet", "--engine", "uml"];
    let (text, code) = impairlab(&arguments, &scenario, &usual_path());
    assert!(text.contains(reason), "{text}");
    assert_eq!(code, Some(CANNOT_ANYWHERE), "{text}");
}

#[test]
fn kcptun_that_is_not_installed_is_missed_before_the_first_trial() {
    if relay().is_none() {
        return;
    }
    let arguments = ["run", "--quiet", "--engine", "relay"];
    let (text, code) = impairlab(&arguments, SCENARIO, "/nonexistent");
    assert!(text.contains("kcptun-client is not installed: it is not in /nonexistent"), "{text}");
    assert!(text.contains("apt-get install kcptun"), "{text}");
    assert_eq!(code, Some(MACHINE_LACKS), "{text}");
}
