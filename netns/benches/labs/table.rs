//! What is measured, and what is printed at the end.

use std::fmt::Write;
use std::time::{Duration, Instant};

use nix::sys::resource::{Usage, UsageWho, getrusage};

use crate::{LABS, ROUNDS};

/// What one round took.
pub struct Times {
    pub build: Took,
    /// From the first removal until the kernel has freed the last network namespace.
    pub gone: Took,
}

/// What a task took.
#[derive(Clone, Copy)]
pub struct Took {
    wall: Duration,
    /// Of this process and of those that it started; the kernel's own threads are not counted.
    cpu: Duration,
}

impl Took {
    #[expect(clippy::disallowed_methods, reason = "a bench is there to read the clock")]
    pub fn to<T>(task: impl FnOnce() -> T) -> (T, Self) {
        let (start, cpu) = (Instant::now(), cpu_time());
        let result = task();
        (result, Self { wall: start.elapsed(), cpu: cpu_time() - cpu })
    }
}

fn cpu_time() -> Duration {
    let usages = [UsageWho::RUSAGE_SELF, UsageWho::RUSAGE_CHILDREN].map(getrusage);
    let time = |usage: Usage| {
        let (user, system) = (usage.user_time(), usage.system_time());
        [user, system].map(|time| {
            Duration::new(time.tv_sec().unsigned_abs(), 1000 * time.tv_usec().unsigned_abs() as u32)
        })
    };
    usages.into_iter().flat_map(|usage| time(usage.expect("known to every kernel"))).sum()
}

/// Medians of the rounds of one way, in seconds for [`LABS`] labs.
pub struct Row {
    name: String,
    build: [f64; 2],
    gone: [f64; 2],
}

impl Row {
    pub fn new(name: &str, labs: usize, rounds: &[Times]) -> Self {
        let scaled = |part: fn(&Times) -> Took| {
            [|took: Took| took.wall, |took: Took| took.cpu].map(|kind| {
                let mut times: Vec<Duration> =
                    rounds.iter().map(|times| kind(part(times))).collect();
                times.sort();
                times[times.len() / 2].as_secs_f64() * LABS as f64 / labs as f64
            })
        };
        let name = match labs {
            LABS => name.to_owned(),
            labs => format!("{name} ({labs} labs, scaled)"),
        };
        Self { name, build: scaled(|times| times.build), gone: scaled(|times| times.gone) }
    }
}

/// The first row is what the others are held against.
pub fn text(rows: &[Row]) -> String {
    let mut text = format!(
        "\n{LABS} labs of two paths (3 namespaces and 4 veth pairs each), medians of {ROUNDS} \
         rounds\n\n{:35}{:>10}{:>10}{:>7}{:>10}{:>7}{:>10}{:>7}\n",
        "", "built", "a lab", "ratio", "CPU", "ratio", "gone", "ratio"
    );
    for row in rows {
        let ratio = |times: fn(&Row) -> f64| format!("{:>6.1}x", times(row) / times(&rows[0]));
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{:35}{:>8.2} s{:>7.2} ms{}{:>8.2} s{}{:>8.2} s{}",
            row.name,
            row.build[0],
            1e3 * row.build[0] / LABS as f64,
            ratio(|row| row.build[0]),
            row.build[1],
            ratio(|row| row.build[1]),
            row.gone[0],
            ratio(|row| row.gone[0]),
        );
    }
    text
}
