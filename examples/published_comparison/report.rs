//! The tables that the results make.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;

use impairlab::statistics::Quantile;

use crate::claims::{Claim, SENDERS};
use crate::figures::{Direction, Measure, Pool, amplification};
use crate::readings;
use crate::record::{self, Environment, Line, Run};
use crate::setup::{Path, Scenario, Setup, name};
use crate::table::{Table, milliseconds, ratio};

pub type Runs = BTreeMap<Setup, Vec<Run>>;

pub fn print(files: &[PathBuf]) -> Result<(), Box<dyn Error>> {
    let (environments, runs) = read(files)?;
    let mut page = String::new();
    for Environment { kernel, kcptun, impairlab } in &environments {
        page += &format!("Kernel {kernel}; {kcptun}; impairlab {impairlab}.\n\n");
    }
    // P99 first: the only one that was measured by those who published it.
    for (sender, index) in SENDERS.iter().flat_map(|sender| [1, 0, 2].map(|i| (sender, i))) {
        page += &readings::table(sender, index, &runs).to_string();
    }
    for table in [readings::together, quantiles, outage, cost, sockperf, receipt] {
        page += &table(&runs).to_string();
    }
    Ok(io::stdout().lock().write_all(page.as_bytes())?)
}

fn read(files: &[PathBuf]) -> Result<(Vec<Environment>, Runs), Box<dyn Error>> {
    let (mut environments, mut runs) = (Vec::new(), Runs::new());
    for file in files {
        let wrong = |error: Box<dyn Error>| format!("cannot read {}: {error}", file.display());
        let text = fs::read_to_string(file).map_err(|error| wrong(error.into()))?;
        for line in record::read(&text).map_err(wrong)? {
            match line {
                Line::Environment(environment) => environments.push(environment),
                Line::Run(run) => runs.entry(run.setup).or_default().push(*run),
            }
        }
    }
    if runs.is_empty() {
        return Err("there is no run in these files".into());
    }
    environments.dedup();
    Ok((environments, runs))
}

fn quantiles(runs: &Runs) -> Table {
    let heading = ["scenario and reading", "latency", "runs", "n", "P50", "P90", "P99", "P999"];
    let mut table = Table::new("Every quantile, in ms (95 % interval over runs)", heading);
    for (setup, runs) in runs {
        for measure in [Measure::Up, Measure::Down, Measure::RoundTrip] {
            let Some(pool) = Pool::of(runs, "all", measure) else { continue };
            let count = [runs.len() as u64, pool.count()].map(|count| count.to_string());
            let quantiles = [0.5, 0.9, 0.99, 0.999].map(|share| quantile(&pool, share));
            let place = [setup.to_string(), measure.label().to_owned()];
            table.row(place.into_iter().chain(count).chain(quantiles));
        }
    }
    table
}

fn quantile(pool: &Pool, share: f64) -> String {
    let quantile = Quantile::new(share).expect("a share between 0 and 1");
    let enough = pool.count() >= quantile.samples_needed();
    if enough { milliseconds(pool.figure(quantile)) } else { "too few".to_owned() }
}

fn outage(runs: &Runs) -> Table {
    let heading = ["reading", "messages due", "latency", "n", "P50", "P99", "worst"];
    let mut table = Table::new("Outage of 5 s, in ms", heading);
    for (setup, runs) in runs.iter().filter(|(setup, _)| setup.has_outage()) {
        for phase in ["all", "before", "during", "after"] {
            for measure in [Measure::Up, Measure::RoundTrip] {
                let Some(pool) = Pool::of(runs, phase, measure) else { continue };
                let place = [setup.reading(), phase.to_owned(), measure.label().to_owned()];
                let [p50, p99] = [0.5, 0.99].map(|share| quantile(&pool, share));
                let figures = [pool.count().to_string(), p50, p99, format!("{:.0}", pool.worst())];
                table.row(place.into_iter().chain(figures));
            }
        }
    }
    table
}

fn cost(runs: &Runs) -> Table {
    let title = "Amplification: bytes of IP packets per byte of payload, each direction";
    let mut table = Table::new(title, ["scenario and reading", "up", "down", "published"]);
    for (setup, runs) in runs {
        let cell = |direction| amplification(runs, direction).map(ratio);
        if let (Some(up), Some(down)) = (cell(Direction::Up), cell(Direction::Down)) {
            let published = claim(setup).map(|claim| claim.amplification.to_string());
            table.row([setup.to_string(), up, down, published.unwrap_or("–".to_owned())]);
        }
    }
    table
}

fn claim(setup: &Setup) -> Option<Claim> {
    let sender = SENDERS.iter().find(|sender| sender.tunnel == setup.tunnel)?;
    sender.claims.iter().find(|claim| claim.scenario == setup.scenario).copied()
}

/// The mean over runs of what it printed, beside the round trips of its log.
fn sockperf(runs: &Runs) -> Table {
    let heading =
        ["scenario and reading", "n", "printed P50", "printed P99", "round trip P50", "P99"];
    let mut table =
        Table::new("sockperf: its \"latency\", and the round trips of its log", heading);
    for (setup, runs) in runs.iter().filter(|(_, runs)| !runs[0].printed.is_empty()) {
        let printed = [50.0, 99.0].map(|percentile| {
            let of = |run: &Run| run.printed.iter().find(|found| found.0 == percentile).copied();
            let values: Vec<f64> = runs.iter().filter_map(|run| Some(of(run)?.1)).collect();
            format!("{:.1}", values.iter().sum::<f64>() / values.len() as f64)
        });
        let Some(pool) = Pool::of(runs, "all", Measure::RoundTrip) else { continue };
        let place = [setup.to_string(), pool.count().to_string()];
        let log = [0.5, 0.99].map(|share| quantile(&pool, share));
        table.row(place.into_iter().chain(printed).chain(log));
    }
    table
}

/// Whether netem did what it was asked for.
fn receipt(runs: &Runs) -> Table {
    let heading = ["scenario and path", "packets", "asked", "up", "down"];
    let mut table = Table::new("Loss: asked, and by netem's own count", heading);
    let mut by_link = BTreeMap::<(Scenario, Path), [u64; 4]>::new();
    for (setup, runs) in runs.iter().filter(|(setup, _)| !setup.has_outage()) {
        let sum = by_link.entry((setup.scenario, setup.path)).or_default();
        for run in runs {
            let [up, down] = run.lost.map(u64::from);
            for (sum, value) in sum.iter_mut().zip([up, run.met[0], down, run.met[1]]) {
                *sum += value;
            }
        }
    }
    for ((scenario, path), [up, met_up, down, met_down]) in by_link {
        let share = |lost: u64, met: u64| format!("{:.2} %", 100.0 * lost as f64 / met as f64);
        let place = format!("{} {}", name(&scenario), name(&path));
        let asked = format!("{} %", 100.0 * scenario.impairment(path).loss);
        let packets = (met_up + met_down).to_string();
        table.row([place, packets, asked, share(up, met_up), share(down, met_down)]);
    }
    table
}
