//! Queue disciplines on the real kernel, with `tc` of iproute2 as a second opinion.

use std::time::Duration;

use netns::netem::{self, Chance, Correlated};
use netns::{End, MacAddress, Namespace, QdiscError, Topology, tbf};

fn one_link() -> Namespace {
    let namespace = Namespace::new("shaped").expect("namespace");
    let mut topology = Topology::new();
    topology.veth(
        End::new(&namespace, "here", MacAddress::local(1)),
        End::new(&namespace, "there", MacAddress::local(2)),
    );
    topology.build().expect("built");
    namespace
}

fn tc(namespace: &Namespace) -> String {
    let shown = namespace.command("tc").args(["qdisc", "show", "dev", "here"]).output();
    String::from_utf8(shown.expect("tc runs").stdout).expect("text")
}

#[test]
fn a_rate_is_set_changed_and_removed() {
    let namespace = one_link();
    let ten_mbit = tbf::Options { rate: 1_250_000, burst: 32_768, limit: 95_268, peak: None };
    namespace.set_root_qdisc("here", &ten_mbit.encode()).expect("set");
    let shown = tc(&namespace);
    assert!(shown.contains("tbf") && shown.contains("rate 10Mbit burst 32Kb lat 50ms"), "{shown}");

    let peak = tbf::Peak { rate: 7_500_000_000, burst: 1600 };
    let forty_gbit =
        tbf::Options { rate: 5_000_000_000, burst: 125_000, limit: 1_000_000, peak: Some(peak) };
    namespace.set_root_qdisc("here", &forty_gbit.encode()).expect("changed");
    let shown = tc(&namespace);
    assert!(shown.contains("rate 40Gbit") && shown.contains("peakrate 60Gbit"), "{shown}");

    let here = namespace.links().expect("links").into_iter().find(|link| link.name == "here");
    let index = here.expect("the link").index;
    let held = namespace.qdiscs().expect("qdiscs");
    let root = held.iter().find(|qdisc| qdisc.link == index).expect("a root");
    assert!(root.kind == "tbf" && root.root && !root.options.is_empty());

    namespace.remove_root_qdisc("here").expect("removed");
    assert!(tc(&namespace).contains("noqueue"));
}

/// Either this kernel has netem, and holds what it was asked for, or it says that it has not.
#[test]
fn netem_is_held_as_asked_or_named_as_missing() {
    let namespace = one_link();
    let chance = |fraction| Chance::from_fraction(fraction).expect("a fraction");
    let mut history = netem::History::default();
    let asked = netem::Options {
        delay: Duration::from_nanos(40_000_001),
        jitter: Duration::from_millis(10),
        limit: 12_345,
        duplicate: Correlated { probability: chance(0.02), correlation: chance(0.25) },
        rate: Some(netem::Rate {
            bytes_per_second: 12_500_000_000,
            packet_overhead: -14,
            cell_size: 48,
            cell_overhead: 5,
        }),
        ..netem::Options::default()
    };
    let encoded = asked.encode_after(&mut history).expect("encoded");
    match namespace.set_root_qdisc("here", &encoded) {
        Err(QdiscError::KernelLacks(module)) => assert_eq!(module, "sch_netem"),
        result => {
            result.expect("set");
            let held = namespace.qdiscs().expect("qdiscs");
            let netem = held.iter().find(|qdisc| qdisc.kind == "netem").expect("netem");
            let held = netem::Options::parse(&netem.options).expect("parsed");
            assert!(asked.differences(&held).is_empty(), "{held:?}");
        }
    }
}

#[test]
fn a_link_that_is_not_there_is_named() {
    let encoded = netem::Options::default().encode().expect("encoded");
    let error = one_link().set_root_qdisc("nowhere", &encoded).expect_err("no such link");
    let said = "there is no link nowhere in network namespace shaped: ";
    assert!(error.to_string().starts_with(said), "{error}");
}
