//! What was published, beside each way in which the published set-up could be meant: which path,
//! which jitter, which traffic, and what of a message is called its latency.

use impairlab::statistics::{Quantile, Verdict, judge};

use crate::claims::{SENDERS, Sender};
use crate::figures::{Figure, Measure, Pool};
use crate::report::Runs;
use crate::setup::{Path, Scenario, Setup, name};
use crate::table::{Table, milliseconds};

/// One line for each reading, the nearest to the published figures first. `index` is that of the
/// quantile among [`Quantile::SHOWN`].
pub fn table(sender: &Sender, index: usize, runs: &Runs) -> Table {
    let title = format!("{}: {} of each reading", sender.name, Quantile::SHOWN[index]);
    let [light, medium, heavy] = sender.claims.map(|claim| name(&claim.scenario));
    let heading = ["reading", "latency is the", &light, &medium, &heavy, "furthest"];
    let mut table = Table::new(title, heading);
    let published = sender.claims.map(|claim| format!("**{} ms**", claim.latency_ms[index]));
    let [light, medium, heavy] = published;
    table.row(["**published**".to_owned(), "?".to_owned(), light, medium, heavy, String::new()]);
    let mut lines: Vec<(f64, Vec<String>)> = setups(sender, runs)
        .into_iter()
        .flat_map(|setup| Measure::ALL.map(|measure| (setup, measure)))
        .filter_map(|(setup, measure)| line(sender, index, runs, setup, measure))
        .collect();
    lines.sort_by(|a, b| a.0.total_cmp(&b.0));
    lines.into_iter().for_each(|(_, line)| table.row(line));
    table
}

/// Those that stand for a reading, with the scenario left to vary.
fn setups(sender: &Sender, runs: &Runs) -> Vec<Setup> {
    let is_its = |tunnel| tunnel == sender.tunnel || sender.or.contains(&tunnel);
    let setups = runs.keys().filter(|setup| setup.scenario == Scenario::Light);
    setups.filter(|setup| is_its(setup.tunnel)).copied().collect()
}

/// With how far it is from the claim that it is furthest from, as a ratio's logarithm. `None` if a
/// scenario is missing or has too few messages.
fn line(
    sender: &Sender,
    index: usize,
    runs: &Runs,
    setup: Setup,
    measure: Measure,
) -> Option<(f64, Vec<String>)> {
    let mut furthest = 0.0_f64;
    let mut cells = vec![setup.reading(), measure.label().to_owned()];
    for claim in &sender.claims {
        let runs = runs.get(&Setup { scenario: claim.scenario, ..setup })?;
        let pool = Pool::of(runs, "all", measure)?;
        let quantile = Quantile::SHOWN[index];
        if pool.count() < quantile.samples_needed() {
            return None;
        }
        let (claimed, figure) = (claim.latency_ms[index], pool.figure(quantile));
        let ratio = figure.value / claimed;
        furthest = furthest.max(ratio.ln().abs());
        let (shown, verdict) = (milliseconds(figure), verdict(claimed, figure));
        cells.push(format!("{shown}, {:+.0} % {verdict}", (ratio - 1.0) * 100.0));
    }
    cells.push(format!("{:.0} %", (furthest.exp() - 1.0) * 100.0));
    Some((furthest, cells))
}

fn verdict(claimed: f64, figure: Figure) -> &'static str {
    match judge(claimed, Some(figure.value), figure.interval) {
        Verdict::Agrees => "**agrees**",
        Verdict::Differs => "differs",
        Verdict::Inconclusive => "undecided",
        Verdict::NoInterval | Verdict::NotMeasured => "",
    }
}

/// Where all six published P99 lie in what one reading of both senders measures, the nearest first:
/// whoever measured both in one way must have found both. The second sender may have run on the
/// other path.
pub fn together(runs: &Runs) -> Table {
    let [kcp, mp_quic] = &SENDERS;
    let columns = SENDERS.each_ref().map(|sender| {
        sender.claims.map(|claim| {
            format!("{} {}: {} ms", sender.name, name(&claim.scenario), claim.latency_ms[P99])
        })
    });
    let [[a, b, c], [d, e, f]] = &columns;
    let heading = ["reading", "latency is the", a, b, c, d, e, f];
    let title = "Both senders by one reading: measured P99 against the published, and which \
                 percentile of what was measured the published value is";
    let mut table = Table::new(title, heading);
    let own = setups(kcp, runs).into_iter().filter(|setup| setup.tunnel == kcp.tunnel);
    let mut lines: Vec<(f64, Vec<String>)> = own
        .flat_map(|setup| [Path::FourG, Path::FiveG].map(|path| (setup, path)))
        .flat_map(|(setup, path)| Measure::ALL.map(|measure| (setup, path, measure)))
        .filter_map(|(setup, path, measure)| {
            let other = Setup { path, tunnel: mp_quic.tunnel, ..setup };
            let (mut furthest, mut cells) = places(kcp, runs, setup, measure)?;
            let (its_furthest, its_cells) = places(mp_quic, runs, other, measure)?;
            furthest = furthest.max(its_furthest);
            cells.extend(its_cells);
            let reading = vec![both(&setup, path), measure.label().to_owned()];
            Some((furthest, [reading, cells].concat()))
        })
        .collect();
    lines.sort_by(|a, b| a.0.total_cmp(&b.0));
    lines.into_iter().for_each(|(_, line)| table.row(line));
    table
}

/// The index of P99 among [`Quantile::SHOWN`].
const P99: usize = 1;

fn places(
    sender: &Sender,
    runs: &Runs,
    setup: Setup,
    measure: Measure,
) -> Option<(f64, Vec<String>)> {
    let (mut furthest, mut cells) = (0.0_f64, Vec::new());
    for claim in &sender.claims {
        let runs = runs.get(&Setup { scenario: claim.scenario, ..setup })?;
        let (pool, claimed) = (Pool::of(runs, "all", measure)?, claim.latency_ms[P99]);
        if pool.count() < Quantile::P99.samples_needed() {
            return None;
        }
        let ratio = pool.figure(Quantile::P99).value / claimed;
        furthest = furthest.max(ratio.ln().abs());
        let (percent, percentile) = ((ratio - 1.0) * 100.0, pool.percentile_of(claimed));
        cells.push(format!("{percent:+.0} %, P{percentile:.1}"));
    }
    Some((furthest, cells))
}

/// Such as `4g and 5g, normal, open-loop`.
fn both(setup: &Setup, other: Path) -> String {
    let (jitter, traffic) = (name(&setup.jitter), name(&setup.traffic));
    format!("{} and {}, {jitter}, {traffic}", name(&setup.path), name(&other))
}
