//! What is run: the published scenarios, and everything that a reader could take the published
//! set-up to have been. Pure values.

use std::fmt;
use std::time::Duration;

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// One way of reading the published set-up, for one of its scenarios.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Setup {
    pub scenario: Scenario,
    pub path: Path,
    pub tunnel: Tunnel,
    pub jitter: Jitter,
    pub traffic: Traffic,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Scenario {
    Light,
    Medium,
    Heavy,
    /// Medium, and 4G loses everything for 5 s.
    Outage,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Path {
    #[serde(rename = "4g")]
    FourG,
    #[serde(rename = "5g")]
    FiveG,
}

/// What carries the TCP connection of the two ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tunnel {
    /// kcptun, mode fast3, with so many data and parity shards; none: no FEC.
    Kcptun { data: u8, parity: u8 },
    /// No tunnel: the kernel's TCP itself crosses the path.
    Tcp,
}

/// What is drawn for the jitter, and whether packets may overtake one another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Jitter {
    /// `delay 40ms 10ms distribution normal`: each packet by itself, so that packets overtake.
    Normal,
    /// The same with `rate 40mbit` in the same netem, which keeps packets in order.
    NormalRate,
    /// `delay 40ms 10ms`: what `tc` does where no distribution is named.
    Uniform,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Traffic {
    /// A message every 20 ms, whatever has become of those before.
    OpenLoop,
    /// The next message when the answer to the last is there.
    PingPong,
    /// The same, by the program sockperf.
    Sockperf,
}

/// One direction of a path; both are the same.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Impairment {
    pub delay: Duration,
    pub jitter: Duration,
    /// Between 0 and 1.
    pub loss: f64,
}

pub const MESSAGE_BYTES: usize = 600;
pub const GAP: Duration = Duration::from_millis(20);
/// After the first measured message.
pub const OUTAGE_BEGINS: Duration = Duration::from_secs(20);
pub const OUTAGE: Duration = Duration::from_secs(5);

impl Scenario {
    pub const LOSSY: [Self; 3] = [Self::Light, Self::Medium, Self::Heavy];

    pub fn impairment(self, path: Path) -> Impairment {
        let (delay, jitter, loss) = match (self, path) {
            (Self::Light, Path::FourG) => (40, 8, 0.005),
            (Self::Light, Path::FiveG) => (25, 5, 0.003),
            (Self::Medium | Self::Outage, Path::FourG) => (40, 10, 0.02),
            (Self::Medium | Self::Outage, Path::FiveG) => (25, 8, 0.015),
            (Self::Heavy, Path::FourG) => (50, 15, 0.05),
            (Self::Heavy, Path::FiveG) => (30, 10, 0.025),
        };
        let [delay, jitter] = [delay, jitter].map(Duration::from_millis);
        Impairment { delay, jitter, loss }
    }
}

impl Setup {
    /// The outage is one of the 4G path.
    pub fn has_outage(&self) -> bool {
        self.scenario == Scenario::Outage && self.path == Path::FourG
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Set {
    /// The published senders (FEC 3+2 and 1+1), measured in the ways that explain something.
    Main,
    /// The outage of scenario 4.
    Outage,
    /// Other paths, jitter, FEC and no tunnel at all.
    Alternatives,
    /// The program sockperf in place of our own ping-pong.
    Sockperf,
}

const KCP: Tunnel = Tunnel::Kcptun { data: 3, parity: 2 };
const MP_QUIC: Tunnel = Tunnel::Kcptun { data: 1, parity: 1 };
const NO_FEC: Tunnel = Tunnel::Kcptun { data: 0, parity: 0 };
const USUAL_FEC: Tunnel = Tunnel::Kcptun { data: 10, parity: 3 };

impl Set {
    pub fn setups(self) -> Vec<Setup> {
        use {Jitter as J, Path as P, Traffic as T};
        let on = |path, tunnel, jitter, traffic| {
            move |scenario| Setup { scenario, path, tunnel, jitter, traffic }
        };
        let lossy = |kinds: &[&dyn Fn(Scenario) -> Setup]| {
            let each = |kind: &&dyn Fn(Scenario) -> Setup| Scenario::LOSSY.map(kind);
            kinds.iter().flat_map(each).collect()
        };
        match self {
            Self::Main => lossy(&[
                &on(P::FourG, KCP, J::Normal, T::OpenLoop),
                &on(P::FourG, MP_QUIC, J::Normal, T::OpenLoop),
                &on(P::FourG, KCP, J::Normal, T::PingPong),
                &on(P::FourG, MP_QUIC, J::Normal, T::PingPong),
                &on(P::FiveG, MP_QUIC, J::Normal, T::OpenLoop),
            ]),
            Self::Outage => vec![
                on(P::FourG, KCP, J::Normal, T::OpenLoop)(Scenario::Outage),
                on(P::FourG, MP_QUIC, J::Normal, T::OpenLoop)(Scenario::Outage),
            ],
            Self::Alternatives => lossy(&[
                &on(P::FourG, KCP, J::NormalRate, T::OpenLoop),
                &on(P::FourG, KCP, J::NormalRate, T::PingPong),
                &on(P::FourG, KCP, J::Uniform, T::OpenLoop),
                &on(P::FourG, KCP, J::Uniform, T::PingPong),
                &on(P::FourG, MP_QUIC, J::NormalRate, T::OpenLoop),
                &on(P::FourG, MP_QUIC, J::NormalRate, T::PingPong),
                &on(P::FourG, MP_QUIC, J::Uniform, T::OpenLoop),
                &on(P::FourG, MP_QUIC, J::Uniform, T::PingPong),
                &on(P::FiveG, MP_QUIC, J::Normal, T::PingPong),
                &on(P::FiveG, MP_QUIC, J::NormalRate, T::OpenLoop),
                &on(P::FiveG, MP_QUIC, J::Uniform, T::OpenLoop),
                &on(P::FourG, NO_FEC, J::Normal, T::OpenLoop),
                &on(P::FourG, NO_FEC, J::Normal, T::PingPong),
                &on(P::FourG, USUAL_FEC, J::Normal, T::OpenLoop),
                &on(P::FourG, Tunnel::Tcp, J::Normal, T::OpenLoop),
                &on(P::FourG, Tunnel::Tcp, J::Normal, T::PingPong),
            ]),
            Self::Sockperf => lossy(&[
                &on(P::FourG, KCP, J::Normal, T::Sockperf),
                &on(P::FourG, MP_QUIC, J::Normal, T::Sockperf),
            ]),
        }
    }
}

impl fmt::Display for Setup {
    /// Such as `medium 4g fec-3+2 normal open-loop`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", name(&self.scenario), self.reading())
    }
}

impl Setup {
    /// Everything but the scenario, such as `4g fec-3+2 normal open-loop`.
    pub fn reading(&self) -> String {
        let tunnel = match self.tunnel {
            Tunnel::Kcptun { data: 0, .. } => "no-fec".to_owned(),
            Tunnel::Kcptun { data, parity } => format!("fec-{data}+{parity}"),
            Tunnel::Tcp => "tcp".to_owned(),
        };
        let (path, jitter) = (name(&self.path), name(&self.jitter));
        format!("{path} {tunnel} {jitter} {}", name(&self.traffic))
    }
}

/// As it is written in the results.
pub fn name(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(name)) => name,
        _ => unreachable!("only enums without fields have names"),
    }
}
