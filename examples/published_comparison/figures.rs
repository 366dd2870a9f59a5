//! Figures of several runs of one setup together, with intervals that take the run as the unit: the
//! messages of one run depend on one another. Milliseconds throughout; lost is infinite.

use std::collections::BTreeMap;

use impairlab::statistics::{Interval, Latency, Quantile, over_runs};

use crate::record::{Counts, Phase, Run};

/// What is taken to be the latency of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Measure {
    /// Vehicle to cloud.
    Up,
    Down,
    RoundTrip,
    /// What sockperf calls latency.
    HalfRoundTrip,
}

impl Measure {
    pub const ALL: [Self; 4] = [Self::Up, Self::Down, Self::RoundTrip, Self::HalfRoundTrip];

    pub const fn label(self) -> &'static str {
        match self {
            Self::Up => "one way, up",
            Self::Down => "one way, down",
            Self::RoundTrip => "round trip",
            Self::HalfRoundTrip => "round trip / 2",
        }
    }

    fn counts(self, phase: &Phase) -> &Counts {
        match self {
            Self::Up => &phase.up,
            Self::Down => &phase.down,
            Self::RoundTrip | Self::HalfRoundTrip => &phase.round_trip,
        }
    }

    const fn factor(self) -> f64 {
        if matches!(self, Self::HalfRoundTrip) { 0.5 } else { 1.0 }
    }
}

#[derive(Debug, Clone, Copy)]
pub struct Figure {
    pub value: f64,
    pub interval: Interval<f64>,
}

/// Every latency of several runs, ascending, and how often each run had it.
pub struct Pool {
    steps: Vec<(Latency, Vec<u64>)>,
    /// Messages of each run.
    messages: Vec<u64>,
    factor: f64,
}

impl Pool {
    /// Of one phase of each run; `None` if nothing was measured in it.
    pub fn of(runs: &[Run], phase: &str, measure: Measure) -> Option<Self> {
        let phases: Vec<&Phase> = runs
            .iter()
            .filter_map(|run| run.phases.iter().find(|found| found.name == phase))
            .filter(|phase| !measure.counts(phase).is_empty())
            .collect();
        let mut steps = BTreeMap::<Latency, Vec<u64>>::new();
        for (run, phase) in phases.iter().enumerate() {
            for (latency, count) in measure.counts(phase).distribution(phase.messages).counts() {
                steps.entry(latency).or_insert_with(|| vec![0; phases.len()])[run] = count;
            }
        }
        let messages = phases.iter().map(|phase| phase.messages).collect();
        let steps: Vec<_> = steps.into_iter().collect();
        (!steps.is_empty()).then_some(Self { steps, messages, factor: measure.factor() })
    }

    pub fn count(&self) -> u64 {
        self.messages.iter().sum()
    }

    pub fn worst(&self) -> f64 {
        let worst = self.steps.last().map_or(f64::NAN, |(latency, _)| latency.as_ms_or_infinity());
        worst * self.factor
    }

    /// The share of messages, in percent, whose latency is not above this.
    pub fn percentile_of(&self, ms: f64) -> f64 {
        let at_most = |latency: &Latency| latency.as_ms_or_infinity() * self.factor <= ms;
        let steps = self.steps.iter().take_while(|(latency, _)| at_most(latency));
        let below: u64 = steps.flat_map(|(_, counts)| counts).sum();
        100.0 * below as f64 / self.count() as f64
    }

    pub fn figure(&self, quantile: Quantile) -> Figure {
        let runs = self.messages.len();
        let once = vec![1; runs];
        Figure {
            value: self.quantile(quantile, &once),
            interval: over_runs(runs, 1, |drawn| self.quantile(quantile, drawn)),
        }
    }

    /// With each run counted as often as it was drawn.
    fn quantile(&self, quantile: Quantile, drawn: &[u64]) -> f64 {
        let weighted =
            |counts: &[u64]| counts.iter().zip(drawn).map(|(n, times)| n * times).sum::<u64>();
        let rank = quantile.rank(weighted(&self.messages));
        let mut up_to = 0;
        let found = self.steps.iter().find(|(_, counts)| {
            up_to += weighted(counts);
            up_to >= rank
        });
        found.map_or(f64::NAN, |(latency, _)| latency.as_ms_or_infinity()) * self.factor
    }
}

/// Bytes of IP packets per byte of payload; `None` if they were not counted.
pub fn amplification(runs: &[Run], direction: Direction) -> Option<Figure> {
    let ratios: Option<Vec<(f64, f64)>> = runs.iter().map(|run| direction.bytes(run)).collect();
    let ratios = ratios.filter(|ratios| !ratios.is_empty())?;
    let ratio = |drawn: &[u64]| {
        let sum = |part: fn(&(f64, f64)) -> f64| {
            ratios.iter().zip(drawn).map(|(run, times)| part(run) * *times as f64).sum::<f64>()
        };
        sum(|run| run.0) / sum(|run| run.1)
    };
    let value = ratio(&vec![1; ratios.len()]);
    Some(Figure { value, interval: over_runs(ratios.len(), 1, ratio) })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    Up,
    Down,
}

impl Direction {
    /// On the wire, and of the payload; the messages and their echoes are as many.
    fn bytes(self, run: &Run) -> Option<(f64, f64)> {
        let wire = run.wire?;
        let sent = if self == Self::Up { wire.up } else { wire.down };
        let messages = run.phases.first()?.messages;
        Some((sent.bytes as f64, messages as f64 * crate::setup::MESSAGE_BYTES as f64))
    }
}
