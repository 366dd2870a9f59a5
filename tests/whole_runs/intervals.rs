//! Whether the interval of a single run holds what it promises: how often the figure of very many
//! messages lies in it.

use impairlab::recording::{Recording, Summary};
use impairlab::statistics::{Distribution, Interval, Latency, Quantile};

use super::lab::{plan, simulate};

const QUANTILES: [Quantile; 2] = [Quantile::P50, Quantile::P99];

fn runs(repeat: usize, path: &str, sender: &str) -> Vec<Recording> {
    simulate(&plan(&format!(
        "paths: {{ a: {{ delay: 40ms, jitter: 10ms, {path} }}, b: {{ delay: 30ms, jitter: 20ms }} }}
workload: {{ control: {{ rate: 50/s, size: 600B, duration: 20s, deadline: 250ms }} }}
senders: {{ sender: {sender} }}
repeat: {repeat}"
    )))
}

fn interval(run: &Recording, quantile: Quantile) -> Interval<Latency> {
    let summary = Summary::of(&[run]).expect("there is a run");
    summary.figure(quantile).expect("the quantile is shown").interval
}

/// One that reached further would hold the figure more often than it says. The rank of a quantile
/// is that of so many draws, ± 1.96 standard deviations of a binomial; few messages make the steps
/// of an interval coarse.
fn assert_narrow(own: &Distribution, interval: Interval<Latency>, quantile: Quantile) {
    let within = |latency| interval.low < Some(latency) && Some(latency) < interval.high;
    let inside: u64 = own.counts().filter(|(it, _)| within(*it)).map(|(_, count)| count).sum();
    let (count, share) = (own.count() as f64, quantile.as_f64());
    let deviation = (count * share * (1.0 - share)).sqrt();
    assert!((inside as f64) < 5.0 * deviation, "{quantile}: {inside} of {count}: {interval:?}");
}

/// Of 95 in 100 this much may be missing by chance: four standard deviations.
#[test]
fn it_covers_the_figure_of_many_runs_as_often_as_it_says() {
    const RUNS: usize = 100;
    for sender in [
        "{ udp: { path: a } }",
        "{ udp-arq: { path: a } }",
        "{ replicate: { paths: [a, b], copy: message, udp-arq: {} } }",
    ] {
        let runs = runs(RUNS, "loss: 0.7%", sender);
        let each: Vec<Distribution> = runs.iter().map(|run| run.messages.latencies()).collect();
        for quantile in QUANTILES {
            let truth = Distribution::pooled(&each).quantile(quantile);
            each.iter().zip(&runs).for_each(|(own, run)| {
                assert_narrow(own, interval(run, quantile), quantile);
            });
            let covers = |run: &&Recording| {
                let interval = interval(run, quantile);
                assert!(interval.is_bounded(), "{sender} {quantile}");
                interval.low <= truth && truth <= interval.high
            };
            let covered = runs.iter().filter(covers).count();
            assert!(covered >= 86, "{sender} {quantile}: {covered} of {RUNS}");
        }
    }
}

/// Neighbours are alike there: such an interval would be too narrow.
#[test]
fn there_is_none_where_a_message_says_something_of_the_next() {
    let bursts = "loss: { gilbert-elliott: { p: 1%, r: 30% } }";
    for (path, sender) in [
        ("loss: 2%", "{ quic: { path: a, congestion: newreno, mode: datagram } }"),
        ("loss: 2%", "{ quic: { path: a, mode: stream-per-message } }"),
        ("loss: 2%", "{ replicate: { paths: [a, b], quic: { mode: datagram } } }"),
        ("loss: 2%", "{ kcp: { path: a } }"),
        (bursts, "{ udp: { path: a } }"),
        (bursts, "{ replicate: { paths: [a, b], udp: {} } }"),
        ("loss: { random: 2%, correlation: 50% }", "{ udp: { path: a } }"),
        ("correlation: 50%", "{ udp: { path: a } }"),
        ("order: keep", "{ udp-arq: { path: a } }"),
        ("rate: 1Mbit/s", "{ udp: { path: a } }"),
    ] {
        let run = &runs(1, path, sender)[0];
        for quantile in QUANTILES {
            assert_eq!(interval(run, quantile), Interval::UNKNOWN, "{path}: {sender}");
        }
    }
}
