//! What the user sees while trials run: a bar a trial on a terminal, plain lines elsewhere. A
//! function of the engines' events; goes to standard error, so that standard output holds results
//! only.

use std::io::{IsTerminal, Write};
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::engine::{Event, Progress, Trial};
use crate::recording::Status;
use crate::scenario::plan::Plan;

/// Plain lines come this far apart, in time of the trial.
const LINE_INTERVAL: Duration = Duration::from_secs(10);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Bars,
    Lines,
    Silent,
}

#[derive(Debug)]
pub struct Display {
    mode: Mode,
    bars: MultiProgress,
}

/// The progress of one trial.
#[derive(Debug)]
pub struct TrialDisplay {
    mode: Mode,
    label: String,
    shakes_hands: bool,
    duration: Duration,
    path_names: Vec<String>,
    bar: ProgressBar,
    last_line: Duration,
}

impl Display {
    pub fn new(quiet: bool) -> Self {
        let mode = match (quiet, std::io::stderr().is_terminal()) {
            (true, _) => Mode::Silent,
            (false, true) => Mode::Bars,
            (false, false) => Mode::Lines,
        };
        let target = match mode {
            Mode::Bars => ProgressDrawTarget::stderr(),
            Mode::Lines | Mode::Silent => ProgressDrawTarget::hidden(),
        };
        Self { mode, bars: MultiProgress::with_draw_target(target) }
    }

    /// A line above the bars.
    pub fn say(&self, line: &str) {
        match self.mode {
            Mode::Bars => drop(self.bars.println(line)),
            Mode::Lines => warn(line),
            Mode::Silent => {}
        }
    }

    pub fn trial(&self, trial: &Trial) -> TrialDisplay {
        let duration = trial.plan.workload.periodic().duration;
        let bar = ProgressBar::new(millis(duration)).with_style(bar_style());
        let bar = self.bars.add(bar);
        let label = label(&trial.sender().name, trial.repetition, trial.plan.repeat);
        bar.set_prefix(label.clone());
        bar.set_message("connecting");
        TrialDisplay {
            mode: self.mode,
            label,
            shakes_hands: trial.sender().protocol.shakes_hands(),
            duration,
            path_names: path_names(&trial.plan),
            bar,
            last_line: Duration::ZERO,
        }
    }
}

impl TrialDisplay {
    pub fn event(&mut self, event: &Event) {
        match event {
            Event::Connecting => {}
            Event::Started { handshake } => self.started(*handshake),
            Event::Progress(progress) => self.progress(progress),
        }
    }

    pub fn finish(&self, status: &Status) {
        let line = match status {
            Status::Complete => "done".to_owned(),
            Status::Interrupted { after } => format!("stopped after {:.1} s", after.as_secs_f64()),
            Status::Closed { reason } => format!("the connection was lost: {reason}"),
        };
        self.bar.finish_and_clear();
        self.line(&line);
    }

    pub fn fail(&self) {
        self.bar.finish_and_clear();
    }

    fn started(&self, handshake: Duration) {
        let line = started(self.shakes_hands, handshake);
        self.bar.set_message(line.clone());
        self.line(&line);
    }

    fn progress(&mut self, progress: &Progress) {
        let message = self.describe(progress);
        self.bar.set_position(millis(progress.elapsed.min(self.duration)));
        if progress.elapsed >= self.last_line + LINE_INTERVAL {
            self.last_line = progress.elapsed;
            let elapsed = progress.elapsed.min(self.duration).as_secs();
            let duration = self.duration.as_secs();
            self.line(&format!("{elapsed} s of {duration} s, {message}"));
        }
        self.bar.set_message(message);
    }

    fn describe(&self, progress: &Progress) -> String {
        let latency = match (progress.p50, progress.p99) {
            (Some(p50), Some(p99)) => {
                let (p50, p99) = (p50.as_secs_f64() * 1e3, p99.as_secs_f64() * 1e3);
                format!("P50 {p50:.0} ms, P99 {p99:.0} ms")
            }
            _ => "nothing arrives".to_owned(),
        };
        let (delivered, sent) = (progress.delivered, progress.sent);
        let dark = progress.dark.iter().map(|path| &self.path_names[path.index()]);
        let dark: String = dark.map(|name| format!(", {name} dark")).collect();
        format!("{delivered} of {sent} delivered, {latency}{dark}")
    }

    fn line(&self, text: &str) {
        if self.mode == Mode::Lines {
            warn(&format!("{}: {text}", self.label));
        }
    }
}

/// A line on standard error. Where that is gone there is nobody to tell, and no reason to lose a
/// measurement.
pub fn warn(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Without a handshake that time is how long the lab took.
fn started(shakes_hands: bool, handshake: Duration) -> String {
    match shakes_hands {
        true => format!("connected in {:.1} ms", handshake.as_secs_f64() * 1e3),
        false => "started".to_owned(),
    }
}

fn bar_style() -> ProgressStyle {
    ProgressStyle::with_template("{prefix:<20} {wide_bar} {percent:>3}%  {msg:<55}")
        .expect("the template is valid")
}

/// The number that a run has in the files, of the first and the last.
fn label(sender: &str, repetition: u32, repeat: u32) -> String {
    match repeat {
        1 => sender.to_owned(),
        _ => format!("{sender}, run {repetition} of 0–{}", repeat - 1),
    }
}

fn path_names(plan: &Plan) -> Vec<String> {
    plan.paths.iter().map(|path| path.name.clone()).collect()
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_handshake_takes_a_time() {
        let time = Duration::from_micros(84_250);
        assert_eq!(started(true, time), "connected in 84.2 ms");
        assert_eq!(started(false, time), "started");
    }

    #[test]
    fn a_run_is_named_by_the_number_that_it_has_in_the_files() {
        assert_eq!(label("kcp", 0, 1), "kcp");
        assert_eq!(
            [0, 19].map(|run| label("kcp", run, 20)),
            ["kcp, run 0 of 0–19", "kcp, run 19 of 0–19"]
        );
    }
}
