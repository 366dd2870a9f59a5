//! Vehicle, middle and cloud: two veth pairs, and a router between them whose netem impairs both
//! ways. It stands on the middle's ends, so that the links of vehicle and cloud count every packet
//! that is sent, those included that netem then loses.

use std::error::Error;
use std::fs;
use std::net::IpAddr;

use impairlab::link::table;
use impairlab::splitmix::{SplitMix64, mix};
use netns::netem::{Chance, Correlated, Distribution, Loss, Options, Rate};
use netns::{End, MacAddress, Namespace, Route, Topology};
use serde::{Deserialize, Serialize};

use crate::setup::{Impairment, Jitter};

/// Where the tunnel's server listens.
pub const CLOUD_ADDRESS: &str = "10.0.2.2";
/// The limit of the published set-up: 40 Mbit/s.
const RATE_BYTES_PER_SECOND: u64 = 5_000_000;
/// Where Debian's iproute2, older ones and others keep the table behind `distribution normal`.
const NORMAL_TABLES: [&str; 3] = [
    "/usr/lib/x86_64-linux-gnu/tc/normal.dist",
    "/usr/lib/tc/normal.dist",
    "/usr/share/tc/normal.dist",
];

pub struct Lab {
    pub vehicle: Namespace,
    pub cloud: Namespace,
    middle: Namespace,
    jitter: Jitter,
    normal: Vec<i16>,
    /// Every change of netem reseeds it, so each takes the next two numbers.
    seeds: SplitMix64,
}

/// What was sent since the lab was made, in IP packets and their bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Sent {
    pub packets: u64,
    pub bytes: u64,
}

/// Both directions, at the senders' links.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Wire {
    pub up: Sent,
    pub down: Sent,
}

impl Lab {
    pub fn new(jitter: Jitter, seed: u64) -> Result<Self, Box<dyn Error>> {
        let [vehicle, middle, cloud] = ["vehicle", "middle", "cloud"].map(Namespace::new);
        let (vehicle, middle, cloud) = (vehicle?, middle?, cloud?);
        wire(&vehicle, &middle, &cloud)?;
        middle.set_sysctl("net/ipv4/ip_forward", "1")?;
        let ends = [(&vehicle, "path"), (&middle, "vehicle"), (&middle, "cloud"), (&cloud, "path")];
        for (namespace, link) in ends {
            // With them on, netem would see several packets of TCP as one.
            namespace.set_offloads(link, false)?;
        }
        let seeds = SplitMix64::new(mix(seed));
        Ok(Self { vehicle, cloud, middle, jitter, normal: normal_table()?, seeds })
    }

    /// Sets netem on both directions, in place, and compares what the kernel holds with it.
    pub fn impair(&mut self, impairment: &Impairment) -> Result<(), Box<dyn Error>> {
        for link in ["cloud", "vehicle"] {
            let asked = self.options(impairment);
            self.middle.set_root_qdisc(link, &asked.encode()?)?;
            let differences = asked.differences(&self.held(link)?);
            if !differences.is_empty() {
                let differences = differences.join(", ");
                return Err(format!("the kernel's netem holds another {differences}").into());
            }
        }
        Ok(())
    }

    fn options(&mut self, impairment: &Impairment) -> Options {
        let loss = Chance::from_fraction(impairment.loss).expect("a loss between 0 and 1");
        let rate = Rate {
            bytes_per_second: RATE_BYTES_PER_SECOND,
            packet_overhead: 0,
            cell_size: 0,
            cell_overhead: 0,
        };
        let distribution = match self.jitter {
            Jitter::Uniform => Distribution::Uniform,
            Jitter::Normal | Jitter::NormalRate => Distribution::Table(self.normal.clone()),
        };
        Options {
            delay: impairment.delay,
            jitter: impairment.jitter,
            distribution,
            loss: Loss::Random(Correlated::of(loss)),
            rate: (self.jitter == Jitter::NormalRate).then_some(rate),
            seed: Some(self.seeds.next()),
            ..Options::default()
        }
    }

    fn held(&self, link: &str) -> Result<Options, Box<dyn Error>> {
        let index = index(&self.middle, link)?;
        let qdiscs = self.middle.qdiscs()?;
        let netem = qdiscs.iter().find(|qdisc| qdisc.link == index && qdisc.kind == "netem");
        let netem = netem.ok_or("the kernel holds no netem where it was just set")?;
        Ok(Options::parse(&netem.options)?)
    }

    /// What netem has lost, up and down.
    pub fn lost(&self) -> Result<[u32; 2], Box<dyn Error>> {
        let qdiscs = self.middle.qdiscs()?;
        let drops = |link| {
            let index = index(&self.middle, link)?;
            let netem = qdiscs.iter().find(|qdisc| qdisc.link == index && qdisc.kind == "netem");
            Ok::<_, Box<dyn Error>>(netem.map_or(0, |netem| netem.counters.drops))
        };
        Ok([drops("cloud")?, drops("vehicle")?])
    }

    pub fn wire(&self) -> Result<Wire, Box<dyn Error>> {
        Ok(Wire { up: sent(&self.vehicle)?, down: sent(&self.cloud)? })
    }
}

impl Wire {
    pub fn since(&self, earlier: &Wire) -> Wire {
        let sent = |now: Sent, then: Sent| Sent {
            packets: now.packets - then.packets,
            bytes: now.bytes - then.bytes,
        };
        Wire { up: sent(self.up, earlier.up), down: sent(self.down, earlier.down) }
    }
}

/// Static neighbours everywhere: no packet crosses but those of the programs.
fn wire(vehicle: &Namespace, middle: &Namespace, cloud: &Namespace) -> Result<(), Box<dyn Error>> {
    let mac = MacAddress::local;
    let ip = |text: &str| text.parse::<IpAddr>();
    let (towards_vehicle, towards_cloud) = (ip("10.0.1.2")?, ip("10.0.2.1")?);
    let by = |gateway| Ok::<_, Box<dyn Error>>(Route::to("0.0.0.0/0".parse()?).via(gateway));
    let mut topology = Topology::new();
    topology.veth(
        End::new(vehicle, "path", mac(1))
            .address("10.0.1.1/24".parse()?)
            .neighbour(towards_vehicle, mac(2))
            .route(by(towards_vehicle)?),
        End::new(middle, "vehicle", mac(2))
            .address("10.0.1.2/24".parse()?)
            .neighbour(ip("10.0.1.1")?, mac(1)),
    );
    topology.veth(
        End::new(middle, "cloud", mac(3))
            .address("10.0.2.1/24".parse()?)
            .neighbour(ip(CLOUD_ADDRESS)?, mac(4)),
        End::new(cloud, "path", mac(4))
            .address("10.0.2.2/24".parse()?)
            .neighbour(towards_cloud, mac(3))
            .route(by(towards_cloud)?),
    );
    Ok(topology.build()?)
}

fn index(namespace: &Namespace, link: &str) -> Result<u32, Box<dyn Error>> {
    let links = namespace.links()?;
    let link = links.iter().find(|found| found.name == link);
    Ok(link.ok_or("a link of the lab has gone")?.index)
}

/// Of the link `path`, from the kernel's own counters.
fn sent(namespace: &Namespace) -> Result<Sent, Box<dyn Error>> {
    let table = namespace.run(|| fs::read_to_string("/proc/thread-self/net/dev"))??;
    let line = table.lines().find_map(|line| line.trim_start().strip_prefix("path:"));
    let line = line.ok_or("the kernel does not list the link that it counts")?;
    let fields: Result<Vec<u64>, _> = line.split_ascii_whitespace().map(str::parse).collect();
    // Eight of received, then bytes and packets sent.
    let [bytes, packets] = fields?[8..10] else { unreachable!("a range of two") };
    const ETHERNET_HEADER: u64 = 14;
    Ok(Sent { packets, bytes: bytes - ETHERNET_HEADER * packets })
}

fn normal_table() -> Result<Vec<i16>, Box<dyn Error>> {
    let found = NORMAL_TABLES.iter().find_map(|path| fs::read_to_string(path).ok());
    let text = found.ok_or_else(|| {
        let places = NORMAL_TABLES.join(", ");
        format!("no table of normal jitter at {places}: it is in the package iproute2")
    })?;
    Ok(table::parse(&text)?.to_vec())
}
