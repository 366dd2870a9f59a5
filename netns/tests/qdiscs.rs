//! Queue disciplines on the real kernel, with `tc` of iproute2 as a second opinion.

use std::net::UdpSocket;
use std::time::Duration;

use netns::netem::{Chance, Correlated, Distribution, History, Loss, Options, Rate, Slot, Spacing};
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

/// Set by `scripts/netem-vm`: this kernel is known to have netem, with seeds.
const REQUIRE_NETEM: &str = "NETNS_REQUIRE_NETEM";

fn netem_is_required() -> bool {
    std::env::var_os(REQUIRE_NETEM).is_some()
}

/// What cannot be tested on this kernel is said, and is an error on a kernel that is known to have
/// it.
fn skipped(why: &str) {
    assert!(!netem_is_required(), "this kernel {why}");
    eprintln!("skipped: this kernel {why} (scripts/netem-vm runs the tests on one that does not)");
}

/// Either this kernel has netem, and holds whatever it is asked for, one after the other and
/// changed in place; or it says that it has not.
#[test]
fn netem_is_held_as_asked_or_named_as_missing() {
    let namespace = one_link();
    let mut history = History::default();
    for (number, asked) in one_after_the_other().iter().enumerate() {
        let encoded = asked.encode_after(&mut history).expect("encoded");
        match namespace.set_root_qdisc("here", &encoded) {
            Err(QdiscError::KernelLacks(module)) => {
                assert_eq!((number, module.as_str()), (0, "sch_netem"));
                return skipped("lacks netem");
            }
            result => result.expect("set"),
        }
        let held = namespace.qdiscs().expect("qdiscs");
        let netem = held.iter().find(|qdisc| qdisc.kind == "netem").expect("netem");
        let held = Options::parse(&netem.options).expect("parsed");
        // A kernel before 6.6 takes a seed without a word and holds none.
        let lacking = if held.seed.is_none() && asked.seed.is_some() { &["seed"][..] } else { &[] };
        assert!(lacking.is_empty() || !netem_is_required(), "{number}: the seed was ignored");
        assert_eq!(asked.differences(&held), lacking, "{number}");
        if number == 0 {
            let shown = tc(&namespace);
            assert!(shown.contains(EVERYTHING_AS_TC_SHOWS_IT), "{shown}");
        }
    }
}

/// What the kernel's generator (taus113) and its comparison with the probability come to, by hand:
/// of 25 packets these are lost. Each takes one draw, so one packet that nobody sent would show.
#[test]
fn a_seeded_netem_loses_the_packets_that_its_generator_says() {
    const LOST: [u8; 3] = [5, 12, 24];
    let options = Options {
        loss: Loss::Random(Correlated::of(chance(0.1))),
        seed: Some(42_424_242),
        ..Options::default()
    };
    let [here, there] = ["here", "there"].map(|name| Namespace::new(name).expect("namespace"));
    join(&here, &there);
    match here.set_root_qdisc("net", &options.encode().expect("encoded")) {
        Err(QdiscError::KernelLacks(_)) => return skipped("lacks netem"),
        result => result.expect("set"),
    }
    let held = here.qdiscs().expect("qdiscs").into_iter().find(|qdisc| qdisc.kind == "netem");
    if Options::parse(&held.expect("netem").options).expect("parsed").seed.is_none() {
        return skipped("has no seed for netem");
    }
    let arrived = numbers_that_arrive(&here, &there, 25);
    let expected: Vec<u8> = (1..=25).filter(|number| !LOST.contains(number)).collect();
    assert_eq!(arrived, expected);
}

/// Two hosts that know each other, so that nothing but their datagrams is sent.
fn join(here: &Namespace, there: &Namespace) {
    let end = |namespace, host: u8, other: u8| {
        End::new(namespace, "net", MacAddress::local(host.into()))
            .address(format!("10.0.1.{host}/24").parse().expect("address"))
            .neighbour(([10, 0, 1, other]).into(), MacAddress::local(other.into()))
    };
    let mut topology = Topology::new();
    topology.veth(end(here, 1, 2), end(there, 2, 1));
    topology.build().expect("built");
}

/// Of datagrams numbered from 1 to `last`. Without delay they are there as soon as they are sent.
fn numbers_that_arrive(here: &Namespace, there: &Namespace, last: u8) -> Vec<u8> {
    let bind = |namespace: &Namespace, host| {
        let socket = namespace.run(|| UdpSocket::bind((host, 7000))).expect("entered");
        socket.expect("bound")
    };
    let (sender, receiver) = (bind(here, "10.0.1.1"), bind(there, "10.0.1.2"));
    for number in 1..=last {
        assert_eq!(sender.send_to(&[number], "10.0.1.2:7000").expect("sent"), 1);
    }
    receiver.set_read_timeout(Some(Duration::from_secs(2))).expect("timeout");
    let mut byte = [0];
    std::iter::from_fn(|| receiver.recv(&mut byte).is_ok().then_some(byte[0])).collect()
}

/// [`everything`], by iproute2 6.1.
const EVERYTHING_AS_TC_SHOWS_IT: &str = "limit 12345 delay 40ms  10ms 25% loss 1% 30% \
    duplicate 2% 10% reorder 3% 50% corrupt 0.5% 5% rate 100Gbit packetoverhead -14 cellsize 48 \
    celloverhead 5 ecn  gap 5";

/// Everything on, everything off, each model of loss, each kind of slot: nothing of one may stay
/// for the next.
fn one_after_the_other() -> Vec<Options> {
    let table: Vec<i16> = (-100..=100).map(|sample| 80 * sample).collect();
    let ms = Duration::from_millis;
    let slot = |spacing| Some(Slot { spacing, packets: 5, bytes: 9000 });
    let gilbert_elliott = Loss::GilbertElliott {
        to_bad: chance(0.01),
        to_good: chance(0.1),
        in_bad: chance(0.7),
        in_good: chance(0.001),
    };
    let four_state = Loss::FourState {
        p13: chance(0.01),
        p31: chance(0.1),
        p32: chance(0.2),
        p14: chance(0.3),
        p23: chance(0.4),
    };
    vec![
        everything(),
        Options::default(),
        Options { loss: gilbert_elliott, ..Options::default() },
        Options { loss: four_state, seed: Some(1), ..everything() },
        Options {
            distribution: Distribution::Table(table.clone()),
            slot: slot(Spacing::Distributed { delay: ms(5), jitter: ms(2), table }),
            ..everything()
        },
        Options::default(),
        Options { slot: slot(Spacing::Between { min: ms(20), max: ms(30) }), ..everything() },
        Options::default(),
    ]
}

fn everything() -> Options {
    let correlated = |probability, correlation| Correlated {
        probability: chance(probability),
        correlation: chance(correlation),
    };
    Options {
        delay: Duration::from_nanos(40_000_001),
        jitter: Duration::from_millis(10),
        delay_correlation: chance(0.25),
        limit: 12_345,
        loss: Loss::Random(correlated(0.01, 0.3)),
        duplicate: correlated(0.02, 0.1),
        corrupt: correlated(0.005, 0.05),
        reorder: correlated(0.03, 0.5),
        gap: 5,
        rate: Some(Rate {
            bytes_per_second: 12_500_000_000,
            packet_overhead: -14,
            cell_size: 48,
            cell_overhead: 5,
        }),
        ecn: true,
        seed: Some(u64::MAX - 1),
        ..Options::default()
    }
}

fn chance(fraction: f64) -> Chance {
    Chance::from_fraction(fraction).expect("a fraction")
}

#[test]
fn a_link_that_is_not_there_is_named() {
    let encoded = Options::default().encode().expect("encoded");
    let error = one_link().set_root_qdisc("nowhere", &encoded).expect_err("no such link");
    let said = "there is no link nowhere in network namespace shaped: ";
    assert!(error.to_string().starts_with(said), "{error}");
}
