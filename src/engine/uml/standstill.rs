//! What a guest was doing when its time was up.

use std::fmt;
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use super::job::UPTIME;
use super::mconsole::{self, Running};

/// What a guest that is given up was doing.
#[derive(Debug, Default)]
pub struct Standstill {
    /// What was found running, each once.
    running: Vec<Running>,
    /// The guest's uptime at the first and the last look.
    clocks: Option<(Duration, Duration)>,
    looks: u32,
}

/// At least; …
const LOOKS: u32 = 5;
/// … and at most as long as the clock stands still: the kernel prints it in steps of 4 ms, and a
/// program that only reads it takes seconds for one.
const MOST_LOOKS: u32 = 100;
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);
/// What the kernel calls its idle process.
const IDLE: u32 = 0;

impl Standstill {
    /// Looks several times, since programs that wait for one another take turns.
    pub fn look(folder: &Path, monitor: &Path) -> Self {
        let mut found = Self::default();
        while found.looks < LOOKS || (found.stood_still() && found.looks < MOST_LOOKS) {
            let Ok(Some(running)) = mconsole::running(folder, monitor) else { break };
            found.add(running);
            sleep(BETWEEN_LOOKS);
        }
        found
    }

    fn stood_still(&self) -> bool {
        self.clocks.is_none_or(|(first, last)| first == last)
    }

    fn add(&mut self, running: Running) {
        let first = self.clocks.map_or(running.clock, |(first, _)| first);
        self.clocks = Some((first, running.clock));
        self.looks += 1;
        if !self.running.iter().any(|known| known.process == running.process) {
            self.running.push(running);
        }
    }
}

impl fmt::Display for Standstill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((first, last)) = &self.clocks else {
            return f.write_str("its kernel does not answer any more");
        };
        let at = since_start(*last);
        let went = last.saturating_sub(*first);
        let busy: Vec<String> = self
            .running
            .iter()
            .filter(|running| !is_kernels_own(running))
            .map(|running| format!("{} (process {})", running.program, running.process))
            .collect();
        let busy = busy.join(", ");
        let alone = matches!(self.running.as_slice(), [one] if !is_kernels_own(one));
        let creeps = alone && went < BETWEEN_LOOKS * (self.looks - 1);
        match (went.is_zero(), busy.is_empty()) {
            (true, false) => write!(
                f,
                "its clock stands still at {at}, where this runs: {busy}. Computing takes no time \
                 in a guest: a program that waits in a loop without sleeping waits for ever, and \
                 one that only computes needs more real time"
            ),
            (true, true) => write!(f, "its clock stands still at {at}, and no program runs"),
            (false, false) if creeps => write!(
                f,
                "its clock creeps, at {at}, while this runs: {busy}. It seems to read the clock in \
                 a loop: a reading takes 256 ns of the guest's time and far more of real time, so a \
                 program that waits should sleep"
            ),
            (false, false) => write!(f, "its clock went on, to {at}, while this ran: {busy}"),
            (false, true) => write!(
                f,
                "its clock went on, to {at}, and no program ran: what it waits for may never come"
            ),
        }
    }
}

/// The guest's uptime as its programs count: from the beginning of its job.
fn since_start(uptime: Duration) -> String {
    format!("{:.3} s", uptime.saturating_sub(UPTIME).as_secs_f64())
}

fn is_kernels_own(running: &Running) -> bool {
    let threads = ["swapper", "kworker/", "ksoftirqd/", "rcu_"];
    running.process == IDLE || threads.iter().any(|name| running.program.starts_with(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn standstill(looks: &[(u32, &str, f64)]) -> String {
        let mut found = Standstill::default();
        for &(process, program, clock) in looks {
            let clock = Duration::from_secs_f64(clock);
            found.add(Running { process, program: program.to_owned(), clock });
        }
        found.to_string()
    }

    #[test]
    fn what_a_guest_did_is_said_in_its_own_time() {
        let spins = standstill(&[(31, "spin", 1_012.500_123), (31, "spin", 1_012.500_123)]);
        let expected = "its clock stands still at 12.500 s, where this runs: spin (process 31).";
        assert!(spins.starts_with(expected), "{spins}");
        let reads = standstill(&[(31, "spin", 1012.5), (31, "spin", 1012.525)]);
        let expected = "its clock creeps, at 12.525 s, while this runs: spin (process 31). It seems \
                        to read the clock in a loop";
        assert!(reads.starts_with(expected), "{reads}");
        let works = standstill(&[(31, "work", 1012.5), (31, "work", 1013.0)]);
        assert!(works.starts_with("its clock went on, to 13.000 s, while this ran"), "{works}");
        let two = standstill(&[(31, "one", 1012.5), (32, "two", 1012.525)]);
        assert!(two.ends_with("while this ran: one (process 31), two (process 32)"), "{two}");
        let waits = standstill(&[(0, "swapper", 1500.0), (17, "kworker/0:1", 9000.0)]);
        assert!(waits.starts_with("its clock went on, to 8000.000 s, and no program ran"));
        assert_eq!(standstill(&[]), "its kernel does not answer any more");
    }
}
