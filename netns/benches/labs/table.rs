//! What is printed at the end.

use std::fmt::Write;
use std::time::Duration;

use crate::{LABS, ROUNDS};

/// How long one round took.
pub struct Times {
    pub build: Duration,
    /// From the first removal until the kernel has freed the last network namespace.
    pub gone: Duration,
}

pub struct Row {
    name: &'static str,
    labs: usize,
    /// Medians of the rounds, for [`LABS`] labs.
    build_s: f64,
    gone_s: f64,
}

impl Row {
    pub fn new(name: &'static str, labs: usize, rounds: Vec<Times>) -> Self {
        let scale = LABS as f64 / labs as f64;
        let median = |part: fn(&Times) -> Duration| {
            let mut times: Vec<Duration> = rounds.iter().map(part).collect();
            times.sort();
            scale * times[times.len() / 2].as_secs_f64()
        };
        Self {
            name,
            labs,
            build_s: median(|times| times.build),
            gone_s: median(|times| times.gone),
        }
    }
}

/// The first row is what the others are held against.
pub fn text(rows: &[Row]) -> String {
    let mut text = format!(
        "\n{LABS} labs of two paths (3 namespaces and 4 veth pairs each), medians of {ROUNDS} \
         rounds\n\n{:<34}{:>10}{:>10}{:>8}{:>10}{:>10}{:>8}\n",
        "", "built", "a lab", "", "gone", "a lab", ""
    );
    for row in rows {
        let name = match row.labs {
            LABS => row.name.to_owned(),
            labs => format!("{} ({labs} labs, scaled)", row.name),
        };
        let times = |seconds: f64, base: f64| {
            let a_lab_ms = 1e3 * seconds / LABS as f64;
            format!("{seconds:>8.2} s{a_lab_ms:>7.2} ms{:>7.1}x", seconds / base)
        };
        let (build, gone) =
            (times(row.build_s, rows[0].build_s), times(row.gone_s, rows[0].gone_s));
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{name:<34}{build}{gone}");
    }
    text
}
