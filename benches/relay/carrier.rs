//! What stands between sender and receiver: nothing, the relay, or rattan.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use impairlab::engine::relay::{Wire, WirePlan};
use impairlab::link::profile::LinkProfile;
use netns::{End, MacAddress, Namespace, Topology};

use super::endpoint::{Load, Measured};

pub enum Carrier {
    /// One veth pair: the most that the others could do.
    Bare,
    Impairlab,
    /// Its program.
    Rattan(PathBuf),
}

const SENDER: &str = "10.9.0.1";
const RECEIVER: &str = "10.9.0.2";

impl Carrier {
    pub fn name(&self) -> &'static str {
        match self {
            Self::Bare => "bare veth",
            Self::Impairlab => "impairlab",
            Self::Rattan(_) => "rattan",
        }
    }

    /// Lays the network, runs sender and receiver in it, and takes it down.
    pub fn run(&self, load: &Load, delay: Duration) -> Result<Measured, String> {
        let load = serde_json::to_string(load).map_err(|error| error.to_string())?;
        let result = match self {
            Self::Bare => bare(&load),
            Self::Impairlab => impairlab(&load, delay),
            Self::Rattan(program) => rattan(program, &load, delay),
        };
        result.map_err(|error| format!("{}: {error}", self.name()))
    }
}

type Result<T, E = Box<dyn std::error::Error>> = std::result::Result<T, E>;

fn bare(load: &str) -> Result<Measured> {
    let [sender, receiver] = [Namespace::new("sender")?, Namespace::new("receiver")?];
    let mut topology = Topology::new();
    topology.veth(sending_end(&sender)?, receiving_end(&receiver)?);
    topology.build()?;
    through(&sender, &receiver, load)
}

fn impairlab(load: &str, delay: Duration) -> Result<Measured> {
    let [sender, middle, receiver] =
        [Namespace::new("sender")?, Namespace::new("middle")?, Namespace::new("receiver")?];
    let [left, right] = [("left", 3), ("right", 4)]
        .map(|(name, mac)| End::new(&middle, name, MacAddress::local(mac)));
    let interfaces = [left.index(), right.index()];
    let mut topology = Topology::new();
    topology.veth(sending_end(&sender)?, left);
    topology.veth(receiving_end(&receiver)?, right);
    topology.build()?;
    let link = LinkProfile { delay, limit: 100_000, ..LinkProfile::default() };
    let plan = WirePlan { up: link.clone(), down: link, seed: 1, changes: Vec::new() };
    let wire = Wire::start(&middle, interfaces, plan)?;
    let measured = through(&sender, &receiver, load)?;
    let report = wire.end()?;
    if std::env::var_os("BENCH_VERBOSE").is_some() {
        let packets = report.up.delivered + report.down.delivered;
        let each = report.cpu / packets.max(1) as u32;
        eprintln!("{packets} packets, {each:?} of processor time each; {:?}", report.fidelity);
    }
    Ok(measured)
}

/// Each end knows the other, so that there is no ARP.
fn sending_end(namespace: &Namespace) -> Result<End> {
    let end = End::new(namespace, "out", MacAddress::local(1)).address("10.9.0.1/24".parse()?);
    Ok(end.neighbour(RECEIVER.parse()?, MacAddress::local(2)))
}

fn receiving_end(namespace: &Namespace) -> Result<End> {
    let end = End::new(namespace, "in", MacAddress::local(2)).address("10.9.0.2/24".parse()?);
    Ok(end.neighbour(SENDER.parse()?, MacAddress::local(1)))
}

fn through(sender: &Namespace, receiver: &Namespace, load: &str) -> Result<Measured> {
    let this = std::env::current_exe()?;
    let receiving =
        receiver.command(&this).args(["receive", load]).stdout(Stdio::piped()).spawn()?;
    let sent = sender.command(&this).args(["send", load, RECEIVER]).output()?;
    measured(&sent, &receiving.output()?.stdout)
}

/// rattan makes its own three namespaces, of the same shape. It may leave something behind if it
/// fails, so it runs where that goes with it: `scripts/bench-relay` sees to it.
fn rattan(program: &Path, load: &str, delay: Duration) -> Result<Measured> {
    let this = std::env::current_exe()?;
    let folder = tempfile::tempdir()?;
    let config = folder.path().join("rattan.toml");
    std::fs::write(&config, rattan_config(delay))?;
    let this = this.to_str().ok_or("the path of this program is not UTF-8")?;
    let output = Command::new(program)
        .arg("--right-stdout")
        .args(["run", "--config"])
        .arg(&config)
        .args(["--left", this, "send", load])
        .args(["--right", this, "receive", load])
        // It would write warnings where the receiver writes.
        .env("RUST_LOG", "error")
        .stdin(Stdio::null())
        .output()?;
    measured(&output, &output.stdout)
}

/// A delay each way, and nothing else.
fn rattan_config(delay: Duration) -> String {
    format!(
        "[env]\nmode = \"Isolated\"\n\
         [cells.up]\ntype = \"Delay\"\ndelay = \"{0}ms\"\n\
         [cells.down]\ntype = \"Delay\"\ndelay = \"{0}ms\"\n\
         [links]\nleft = \"up\"\nup = \"right\"\nright = \"down\"\ndown = \"left\"\n",
        delay.as_millis()
    )
}

fn measured(sent: &Output, received: &[u8]) -> Result<Measured> {
    if !sent.status.success() {
        return Err(format!("{}: {}", sent.status, String::from_utf8_lossy(&sent.stderr)).into());
    }
    let text = String::from_utf8_lossy(received);
    let last = text.lines().last().unwrap_or_default();
    Ok(serde_json::from_str(last).map_err(|error| format!("{error}: {text}"))?)
}
