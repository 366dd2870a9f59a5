//! The figures of each carrier, as a table or as JSON.

use std::fmt::Write;
use std::time::Duration;

use serde::Serialize;

use super::RATES;

/// One value a round.
#[derive(Debug, Default, Serialize)]
pub struct Figures {
    name: &'static str,
    /// Packets of 1,400 and of 64 bytes a second.
    pub large: Vec<f64>,
    pub small: Vec<f64>,
    /// Bytes a second.
    pub tcp: Vec<f64>,
    pub delays: [Delays; RATES.len()],
}

/// Away from what was asked for, early or late.
#[derive(Debug, Default, Serialize)]
pub struct Delays {
    p50_us: Vec<f64>,
    p99_us: Vec<f64>,
    lost: u64,
}

impl Figures {
    pub fn new(name: &'static str) -> Self {
        Self { name, ..Self::default() }
    }
}

impl Delays {
    pub fn add(&mut self, delays_ns: &[i64], asked: Duration, lost: u64) {
        let error = |delay: &i64| (delay - asked.as_nanos() as i64).abs() as f64 / 1e3;
        let errors: Vec<f64> = delays_ns.iter().map(error).collect();
        self.p50_us.push(quantile(&errors, 0.5));
        self.p99_us.push(quantile(&errors, 0.99));
        self.lost += lost;
    }
}

/// The smallest value that so much of them do not exceed; not a number if there are none.
fn quantile(values: &[f64], quantile: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let rank = (quantile * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.max(1) - 1).copied().unwrap_or(f64::NAN)
}

pub fn json(figures: &[Figures]) -> String {
    serde_json::to_string_pretty(figures).expect("it is plain data")
}

pub fn text(figures: &[Figures]) -> String {
    let mut text =
        format!("{:10} {:>14} {:>14} {:>12}", "", "1400 B pkt/s", "64 B pkt/s", "TCP Gbit/s");
    for rate in RATES {
        let _ = write!(text, " {:>24}", format!("off at {rate}/s P50 / P99"));
    }
    text.push('\n');
    for row in figures {
        let median = |values: &[f64]| quantile(values, 0.5);
        let _ = write!(
            text,
            "{:10} {:>14.0} {:>14.0} {:>12.2}",
            row.name,
            median(&row.large),
            median(&row.small),
            median(&row.tcp) * 8.0 / 1e9
        );
        for Delays { p50_us, p99_us, lost } in &row.delays {
            let mut off = format!("{:.1} / {:.0} µs", median(p50_us), median(p99_us));
            if *lost > 0 {
                let _ = write!(off, ", {lost} lost");
            }
            let _ = write!(text, " {off:>24}");
        }
        text.push('\n');
    }
    text
}
