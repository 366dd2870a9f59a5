//! The program that the published figures were measured with, unmodified, and what it makes of its
//! own measurement: by default it prints half of each round trip as "latency".

use std::error::Error;
use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Output, Stdio};

use crate::clock::wait_until;
use crate::lab::Lab;
use crate::record::{Counts, Phase};
use crate::setup::{MESSAGE_BYTES, Setup};
use crate::trial::Measured;
use crate::tunnel::{self, ECHO_PORT};

/// `--no-rdtsc`: the processor's counter knows nothing of virtual time.
pub fn run(lab: Lab, setup: Setup, seconds: u64) -> Result<Measured, Box<dyn Error>> {
    let echo = tunnel::echo_address(setup.tunnel);
    let server = lab.cloud.command("sockperf").args(["server", "--tcp", "--no-rdtsc"]);
    let server = server.args(address(echo)).stdout(Stdio::null()).stderr(Stdio::null());
    let server = server
        .spawn()
        .map_err(|error| format!("{error}. Install it with: apt-get install sockperf"))?;
    let listens = || -> Result<bool, Box<dyn Error>> {
        let table = lab.cloud.run(|| fs::read_to_string("/proc/thread-self/net/tcp"))??;
        Ok(table.contains(&format!(":{ECHO_PORT:04X} ")))
    };
    if !wait_until(listens)? {
        return Err("sockperf server does not listen after 10 s".into());
    }
    let carrier = tunnel::open(&lab, setup.tunnel)?;
    let log = std::env::temp_dir().join(format!("published-{}.csv", std::process::id()));
    let output = client(&lab, carrier.entrance, seconds, &log)?;
    let text = fs::read_to_string(&log);
    let _ = fs::remove_file(&log);
    drop((carrier, server));
    let round_trips = round_trips(&text?)?;
    let phase = Phase {
        name: "all".to_owned(),
        messages: round_trips.len() as u64,
        up: Counts::default(),
        down: Counts::default(),
        round_trip: Counts::of(round_trips.into_iter()),
    };
    Ok(Measured { lab, phases: vec![phase], wire: None, printed: printed(&output) })
}

fn address(address: SocketAddr) -> [String; 4] {
    let option = |name: &str| name.to_owned();
    [option("-i"), address.ip().to_string(), option("-p"), address.port().to_string()]
}

fn client(
    lab: &Lab,
    entrance: SocketAddr,
    seconds: u64,
    log: &Path,
) -> Result<Output, Box<dyn Error>> {
    let client = lab.vehicle.command("sockperf").args(["ping-pong", "--tcp", "--no-rdtsc"]);
    let client = client.args(address(entrance)).arg("--full-log").arg(log);
    let size = ["-m", &MESSAGE_BYTES.to_string(), "-t", &seconds.to_string()].map(str::to_owned);
    let output = client.args(size).output()?;
    if output.status.success() {
        return Ok(output);
    }
    let said = String::from_utf8_lossy(&output.stdout);
    Err(format!("sockperf ended with {}: {}", output.status, said.trim()).into())
}

/// From the full log: lines of "packet, sent, received" in seconds, below a heading.
fn round_trips(log: &str) -> Result<Vec<u64>, Box<dyn Error>> {
    let rows = log.lines().filter_map(|line| {
        let mut fields = line.split(',').map(str::trim);
        fields.next()?.parse::<u64>().ok()?;
        Some((fields.next()?.parse::<f64>().ok()?, fields.next()?.parse::<f64>().ok()?))
    });
    let round_trips: Vec<u64> =
        rows.map(|(sent, received)| ((received - sent) * 1e9).round() as u64).collect();
    if round_trips.is_empty() {
        return Err("sockperf's full log holds no message".into());
    }
    Ok(round_trips)
}

/// Its lines "---> percentile 99.000 = 91439.872", from microseconds.
fn printed(output: &Output) -> Vec<(f64, f64)> {
    let text = String::from_utf8_lossy(&output.stdout);
    let percentile = |line: &str| {
        let (percentile, value) = line.split_once("percentile ")?.1.split_once('=')?;
        let value: f64 = value.trim().parse().ok()?;
        Some((percentile.trim().parse().ok()?, value / 1000.0))
    };
    text.lines().filter_map(percentile).collect()
}
