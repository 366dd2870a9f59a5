//! The relay beside a bare veth pair and beside rattan: the same sender and receiver programs in
//! namespaces of the same shape, in turns. `scripts/bench-relay` sets it up and runs it.
//!
//! Every figure is the median of the rounds. Packets a second: what arrives while a sender sends as
//! fast as it can. Delay: a packet's arrival by the receiver's kernel, minus the moment before it
//! was sent, beside the delay asked for.

mod carrier;
mod endpoint;
mod table;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use carrier::Carrier;
use endpoint::{Load, Measured};
use table::Figures;

/// Of the sender; the receiver ends by itself.
const FLOOD: Duration = Duration::from_millis(1500);
const PACED: Duration = Duration::from_secs(3);
const DELAY: Duration = Duration::from_millis(40);
const RATES: [u32; 2] = [1000, 10_000];

struct Options {
    /// rattan's program; without it, it is left out.
    rattan: Option<PathBuf>,
    rounds: usize,
    json: bool,
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    match arguments.next().as_deref() {
        Some("send") => endpoint::send(&arguments.collect::<Vec<_>>()),
        Some("receive") => endpoint::receive(&arguments.collect::<Vec<_>>()),
        // How cargo asks every test and bench program for what it has.
        Some("--list") => return ExitCode::SUCCESS,
        first => {
            let rest = first.map(str::to_owned).into_iter().chain(arguments);
            return run(rest);
        }
    }
    ExitCode::SUCCESS
}

fn run(arguments: impl Iterator<Item = String>) -> ExitCode {
    let options = match options(arguments) {
        Ok(options) => options,
        Err(message) => {
            eprintln!("{message}");
            return ExitCode::from(2);
        }
    };
    match measure(&options) {
        Ok(figures) if options.json => println!("{}", table::json(&figures)),
        Ok(figures) => print!("{}", table::text(&figures)),
        Err(message) => {
            eprintln!("{message}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

fn options(mut arguments: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut options = Options { rattan: None, rounds: 5, json: false };
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            // Added by cargo bench.
            "--bench" => {}
            "--json" => options.json = true,
            "--rattan" => options.rattan = arguments.next().map(PathBuf::from),
            "--rounds" => {
                let rounds = arguments.next().and_then(|text| text.parse().ok());
                options.rounds = rounds.filter(|rounds| *rounds > 0).ok_or("--rounds NUMBER")?;
            }
            other => {
                return Err(format!("{other}: unknown; try --rounds N, --rattan FILE, --json"));
            }
        }
    }
    Ok(options)
}

fn measure(options: &Options) -> Result<Vec<Figures>, String> {
    let mut carriers = vec![Carrier::Bare, Carrier::Impairlab];
    carriers.extend(options.rattan.clone().map(Carrier::Rattan));
    let mut figures: Vec<_> = carriers.iter().map(|carrier| Figures::new(carrier.name())).collect();
    for round in 1..=options.rounds {
        for (carrier, figures) in carriers.iter().zip(&mut figures) {
            eprintln!("round {round} of {}: {}", options.rounds, carrier.name());
            let run = |load: Load, delay| carrier.run(&load, delay);
            let flood = |size| Load::Flood { size, duration: FLOOD };
            figures.large.push(run(flood(1400), Duration::ZERO)?.per_second);
            figures.small.push(run(flood(64), Duration::ZERO)?.per_second);
            figures.tcp.push(run(Load::Tcp { duration: FLOOD }, Duration::ZERO)?.per_second);
            for (rate, delays) in RATES.into_iter().zip(&mut figures.delays) {
                // A bare pair cannot delay: what it adds by itself is shown.
                let delay = if matches!(carrier, Carrier::Bare) { Duration::ZERO } else { DELAY };
                let Measured { delays_ns, lost, .. } =
                    run(Load::Paced { rate, duration: PACED }, delay)?;
                delays.add(&delays_ns, delay, lost);
            }
        }
    }
    Ok(figures)
}
