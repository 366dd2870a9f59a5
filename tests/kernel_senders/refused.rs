//! What cannot run is refused before it does, with what to do about it.

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
